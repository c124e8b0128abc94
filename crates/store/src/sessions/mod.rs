//! Drawers from their opening to their close.

pub(crate) mod close;
pub(crate) mod count;
pub(crate) mod counts;
mod denominations;
pub(crate) mod drawer;
mod ending;
pub(crate) mod force;
pub(crate) mod movements;
pub(crate) mod no_sale;
pub(crate) mod open;
mod parked;
pub(crate) mod read;
pub(crate) mod reassign;
pub(crate) mod selling;
pub(crate) mod totals;
pub(crate) mod view;

use tillkeep_model::ErrorCode;

use crate::state::Routes;

/// The routes of drawers.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes.with(opening).with(moving_cash).with(counting).with(ending)
}

fn opening(routes: Routes) -> Routes {
    use ErrorCode::{
        ApprovalRequired, Conflict, DocumentTooLarge, FloatNotDefault, NoOpenSession, SessionAlreadyOpen,
        SessionClosed, StoreNotReady, WrongTerminal,
    };
    routes
        .post("/registers/{id}/open", open::open)
        .about("Open the drawer of a register.")
        .fails(&[
            SessionAlreadyOpen,
            FloatNotDefault,
            ApprovalRequired,
            Conflict,
            DocumentTooLarge,
            StoreNotReady,
            WrongTerminal,
        ])
        .get("/register-sessions", read::list)
        .about("List drawers, open and closed.")
        .get("/register-sessions/current", read::current)
        .about("The open drawer of a terminal.")
        .fails(&[NoOpenSession])
        .get("/register-sessions/{id}", read::get)
        .about("One drawer, by its id.")
        .post("/register-sessions/{id}/reassign", reassign::reassign)
        .about("Hand an open drawer to another user; nothing is counted, and whose it was is kept.")
        .fails(&[SessionClosed, Conflict, DocumentTooLarge])
}

fn moving_cash(routes: Routes) -> Routes {
    use ErrorCode::{
        ApprovalRequired, DocumentTooLarge, IdReused, SessionClosed, StoreNotReady, TooManyMovements, WrongTerminal,
    };
    const FAILS: &[ErrorCode] =
        &[SessionClosed, TooManyMovements, ApprovalRequired, IdReused, DocumentTooLarge, StoreNotReady, WrongTerminal];
    routes
        .post("/register-sessions/{id}/cash-movements", movements::create)
        .about(
            "Put cash into an open drawer, or take it out: paid in, paid out, dropped into the safe, or change added.",
        )
        .fails(FAILS)
        .post("/registers/{id}/no-sale", no_sale::open)
        .about("Open a drawer for no sale, with a reason; it is counted.")
        .fails(FAILS)
}

fn counting(routes: Routes) -> Routes {
    use ErrorCode::{DocumentTooLarge, NotCounted, NotOwnSession, SessionClosed, StoreNotReady, TenderMissing};
    routes
        .post("/register-sessions/{id}/count", count::count)
        .about("Count a drawer, which stops its selling, or go back to selling; each count is kept.")
        .fails(&[SessionClosed, NotOwnSession, NotCounted, TenderMissing, DocumentTooLarge, StoreNotReady])
}

fn ending(routes: Routes) -> Routes {
    use ErrorCode::{
        AlreadyClosed, ApprovalRequired, DocumentTooLarge, NotCounted, ParkedCartsOpen, SessionClosed, StoreNotReady,
        TenderMissing, VarianceNotAccepted, WrongTerminal,
    };
    routes
        .post("/register-sessions/{id}/close", close::close)
        .about("Close a drawer: its figures are taken and end its selling.")
        .fails(&[
            SessionClosed,
            NotCounted,
            TenderMissing,
            ParkedCartsOpen,
            VarianceNotAccepted,
            ApprovalRequired,
            DocumentTooLarge,
            StoreNotReady,
            WrongTerminal,
        ])
        .post("/register-sessions/{id}/force-close", force::close)
        .about("Close a drawer that nobody counts, with a reason; what was in it is unknown.")
        .fails(&[AlreadyClosed, DocumentTooLarge, StoreNotReady])
}
