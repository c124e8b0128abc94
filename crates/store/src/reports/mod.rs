//! Reports of drawers: an X of an open one, the Z of each close, a ZZ of several. [`crate::sessions::totals`] makes the figures.

mod asked;
mod prints;
mod x;
mod z;
mod zz;

use tillkeep_model::ErrorCode;

use crate::state::Routes;

/// The routes of reports.
pub(crate) fn routes(routes: Routes) -> Routes {
    use ErrorCode::{
        DocumentTooLarge, IdReused, NoOpenSession, NotFound, NothingToReport, PrinterUnknown, Scope, SessionOpen,
        StoreNotReady, WrongTerminal,
    };
    routes
        .get("/reports/x", x::show)
        .about(
            "The figures of an open drawer as they are now; nothing is reset. Who may not know what should be in a drawer that is \
             closed blind gets an X without amounts.",
        )
        .fails(&[NoOpenSession, NotFound, Scope, StoreNotReady])
        .get("/reports/z", z::list)
        .about("List the Z reports of closed drawers.")
        .get("/reports/z/{sessionId}", z::show)
        .about("The Z report of a drawer as its close stored it; every form but JSON is marked as a copy.")
        .fails(&[SessionOpen, StoreNotReady])
        .post("/reports/zz", zz::make)
        .about("Add up all Z reports of a register, or of the whole store, since the last time.")
        .fails(&[IdReused, NotFound, NothingToReport, SessionOpen, DocumentTooLarge, StoreNotReady])
        .get("/reports/zz", zz::list)
        .about("List the ZZ reports of this store, with their totals.")
        .get("/reports/zz/{id}", zz::show)
        .about("One ZZ report, by its id.")
        .fails(&[StoreNotReady])
        .post("/pos/prints", prints::ask)
        .about("Print an X, a Z or a ZZ; each paper of a Z but the first is marked as a copy and counted.")
        .fails(&[IdReused, NoOpenSession, NotFound, Scope, SessionOpen, PrinterUnknown, StoreNotReady, WrongTerminal])
}
