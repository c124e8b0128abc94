//! The sync server. Specification, sections 3 to 6; the rules are in `docs/sync.md`.

mod body;
mod change_pin;
mod collisions;
mod completeness;
mod continuity;
pub(crate) mod dashboard;
pub(crate) mod deliver;
mod ending;
mod errors;
pub(crate) mod freshness;
mod handles;
mod handover;
mod handshake;
mod heard_elsewhere;
mod history;
pub(crate) mod judge;
pub mod leave;
mod left_out;
mod lookups;
mod lost;
mod own_documents;
mod pictures;
mod pin_key;
mod processes;
mod protocol;
mod pull;
mod push;
mod refunds;
mod renumber;
mod retry;
mod rollout;
pub mod rounds;
pub mod servers;
mod settle;
mod sign_in;
mod socket;
pub mod standing;
mod store_caller;
pub(crate) mod upkeep;
mod versions;

use tillkeep_model::ErrorCode;

use crate::state::Routes;

/// The routes of the sync protocol, and those of the people who watch it.
pub fn routes(routes: Routes) -> Routes {
    routes.with(of_stores).with(refunds::of_stores).with(dashboard::routes).with(of_people).with(refunds::of_people)
}

/// What a store asks with its token.
fn of_stores(routes: Routes) -> Routes {
    use ErrorCode::{
        ChangeAtHeadquarters, CursorAhead, EpochChanged, HistoryChanged, InvalidCredentials, PinNotAllowed,
        StoreRunsElsewhere, TooManyAttempts, TooManyRequests, UnknownEntityType,
    };
    routes
        .sync("POST", "/sync/handshake", handshake::handshake)
        .about("A store says who it is and learns what changed for it.")
        .fails(&[StoreRunsElsewhere])
        .sync("GET", "/sync/versions", versions::versions)
        .about("The newest version of each type, for the store of the token.")
        .sync("GET", "/sync/pull", pull::pull)
        .about("Rows of one type above a version, by rising version.")
        .fails(&[UnknownEntityType, EpochChanged, CursorAhead, HistoryChanged])
        .sync("GET", "/sync/own-documents", own_documents::own_documents)
        .about("What headquarters has of the store's own, for a store that lost its database.")
        .fails(&[UnknownEntityType])
        .sync("POST", "/sync/push", push::push)
        .about("Apply what happened at a store; each envelope is judged on its own.")
        .sync("POST", "/sync/change-pin", change_pin::change_pin)
        .about("Change the PIN of a user who works in the store and typed the present one there.")
        .fails(&[ChangeAtHeadquarters, InvalidCredentials, PinNotAllowed, TooManyAttempts, TooManyRequests])
        .sync("POST", "/sync/sign-in", sign_in::sign_in)
        .about("Who typed a PIN in the store that it cannot verify itself.")
        .fails(&[InvalidCredentials, TooManyAttempts, TooManyRequests])
        .sync("GET", "/sync/pictures/{hash}", pictures::picture)
        .about("A picture of a product that a till of the store asks for.")
        .sync("GET", "/sync/ws", socket::socket)
        .about("The channel that tells a store when to pull.")
}

fn of_people(routes: Routes) -> Routes {
    use ErrorCode::{Duplicate, NotANumber, NotFailed, NotFound, PayloadNotKept, UnknownEntityType};
    routes
        .get("/sync/rollout", rollout::rollout)
        .about("Which stores have a version of a type.")
        .fails(&[UnknownEntityType])
        .get("/sync/completeness", completeness::completeness)
        .about("What headquarters has of the business days of a store, and what is missing.")
        .fails(&[NotFound])
        .get("/sync/history", history::history)
        .about("How many entries of a store were taken and failed, by hour or day.")
        .fails(&[NotFound])
        .get("/sync/errors", errors::list)
        .about("List what stores sent that was not applied, or that was and that an operator should look at, and what they could not keep.")
        .post("/sync/retry/{id}", retry::retry)
        .about("Apply a failed entry once more.")
        .fails(&[NotFailed, PayloadNotKept])
        .post("/sync/resolve/{id}", settle::resolve)
        .about("Settle a failed entry, or the warning of one that was taken, by hand; nothing is applied.")
        .fails(&[NotFailed])
        .post("/sync/errors/{id}/renumber", renumber::renumber)
        .about("Give a refused customer another number, and apply the entry once more.")
        .fails(&[NotFailed, NotANumber, PayloadNotKept, Duplicate])
        .post("/sync/retry-all", retry::retry_all)
        .about("Apply all failed entries once more.")
}
