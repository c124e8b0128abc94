//! Drawers from their opening to their close.

pub(crate) mod close;
pub(crate) mod counts;
pub(crate) mod drawer;
pub(crate) mod open;
pub(crate) mod read;
pub(crate) mod selling;
pub(crate) mod totals;
pub(crate) mod view;

use tillkeep_model::ErrorCode;

use crate::state::Routes;

/// The routes of drawers.
pub(crate) fn routes(routes: Routes) -> Routes {
    use ErrorCode::{
        ApprovalRequired, Conflict, DocumentTooLarge, FloatNotDefault, NoOpenSession, SessionAlreadyOpen,
        SessionClosed, StoreNotReady, VarianceNotAccepted, WrongTerminal,
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
        .about("One drawer.")
        .post("/register-sessions/{id}/close", close::close)
        .about("Close a drawer: its figures are taken and end its selling.")
        .fails(&[SessionClosed, VarianceNotAccepted, ApprovalRequired, DocumentTooLarge, StoreNotReady, WrongTerminal])
}
