//! `POST /sync/sign-in`: a store asks who typed a PIN there that it cannot verify itself.

use std::sync::Arc;

use axum::extract::State;
use tillkeep_http::Body;
use tillkeep_http::account::sign_in::check_terminal;
use tillkeep_http::auth::ClientAddress;
use tillkeep_http::auth::asked::judge;
use tillkeep_http::auth::throttle::{self, Claimant};
use tillkeep_http::error::{Error, Result};
use tillkeep_model::ErrorCode;
use tillkeep_model::wire::{StoreSignIn, StoreSignedIn};
use tillkeep_storage::audit;
use tillkeep_storage::entity::user;
use tillkeep_storage::staff::GlobalPeople;

use super::lookups;
use super::protocol::Machine;
use super::store_caller::StoreCaller;
use crate::Hq;

/// Characters of a name or a PIN at the most: no store passes on more, and names of refused ones are kept.
const LONGEST: usize = 100;

/// The user with a role that counts in the store, by the counter of that store alone: people whom it verifies itself
/// notice nothing of it.
pub(super) async fn sign_in(
    caller: StoreCaller,
    State(hq): State<Arc<Hq>>,
    ClientAddress(address): ClientAddress,
    Body(asked): Body<StoreSignIn>,
) -> Result<Machine<StoreSignedIn>> {
    check(&asked)?;
    let (auth, store_id) = (&hq.auth, caller.id());
    let mut claimant = Claimant::through(store_id, address);
    claimant.terminal_id.clone_from(&asked.terminal_id);
    let everywhere = GlobalPeople::load(hq.db().reader()).await? != GlobalPeople::Named;
    let judged = judge(auth, store_id, everywhere, &claimant, &asked).await;
    if judged.as_ref().is_err_and(|error| error.code() == ErrorCode::TooManyAttempts) {
        hq.board.mark([store_id]);
    }
    let (attempt, person) = judged?;
    let verifiers = verifiers(&hq, &caller, &person).await;
    let (attempt, (pin_hash, pin_lookup)) = attempt.unless_failed(auth, verifiers).await?;
    let now = auth.clock.now();
    let tx = hq.db().begin_aside().await?;
    attempt.succeeded(&tx, now).await?;
    audit::record(&tx, claimant.audit("login.for_store", Some(person.id)), now).await?;
    tx.commit().await?;
    throttle::judged(auth);
    Ok(Machine(StoreSignedIn {
        user_id: person.id,
        pin_hash,
        pin_lookup,
        pin_changed_at: person.pin_changed_at,
        keep_days: auth.keep_verifier_days,
    }))
}

/// Refuses what no store asks, before anything is counted or written.
fn check(asked: &StoreSignIn) -> Result<()> {
    for (field, text) in [("username", asked.username.as_deref().unwrap_or_default()), ("pin", asked.pin.as_str())] {
        if text.chars().count() > LONGEST {
            return Err(Error::field(field, format!("must have at most {LONGEST} characters")));
        }
    }
    asked.terminal_id.as_deref().map_or(Ok(()), check_terminal)
}

/// What a pull would hand the store to verify this person.
async fn verifiers(hq: &Hq, caller: &StoreCaller, person: &user::Model) -> Result<(String, String)> {
    let without = || Error::new(ErrorCode::InvalidCredentials, "the name or the PIN is wrong");
    let kept = person.pin_hash.as_deref().ok_or_else(without)?;
    let Some((hash, former)) = hq.auth.pins.derived(caller.id(), kept) else {
        // As release 0.1.0 made it, which every store has alike.
        return Ok((kept.to_owned(), person.pin_lookup.clone().unwrap_or_default()));
    };
    let own = lookups::of(hq, caller.id(), &[(person.id, kept.to_owned())]).await?.remove(&person.id);
    Ok((hash, own.unwrap_or(former)))
}
