//! The safe of this store: what drawers gave it and got from it, what went to a bank, and whether the day is over. `docs/safe.md`.

mod movement;
mod read;

use tillkeep_model::ErrorCode;

use crate::state::Routes;

/// The routes of the safe.
pub(crate) fn routes(routes: Routes) -> Routes {
    use ErrorCode::{
        ApprovalRequired, Conflict, DocumentTooLarge, IdReused, NoOpenSession, StoreNotReady, TooManyMovements,
    };
    routes
        .get("/safe", read::read)
        .about("What should be in the safe, how that comes about, and whether the day of this store is over.")
        .fails(&[StoreNotReady])
        .post("/safe/movements", movement::create)
        .about("Take money from the safe to a bank, or correct what should be in it.")
        .fails(&[
            ApprovalRequired,
            Conflict,
            DocumentTooLarge,
            IdReused,
            NoOpenSession,
            StoreNotReady,
            TooManyMovements,
        ])
}
