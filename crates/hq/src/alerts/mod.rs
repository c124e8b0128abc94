//! Alerts: what is wrong now, and the webhooks that are told of it. Every server looks at itself, and one of them at all stores; that
//! one posts. What fires is kept in the database, and so is each post, until it was taken or tried for an hour.
//! `docs/operations.md`, "Alerts by webhook".
//!
//! By the same way sales go to other programs, each of them until it was taken. `docs/integrate.md`, "Sales by webhook".

mod address;
mod backups;
mod deliver;
mod event;
mod handles;
mod hooks;
mod kinds;
mod list;
mod look;
mod of_server;
mod post;
mod sales_message;
mod sales_sender;
mod view;
mod what;

use std::sync::Arc;

use tillkeep_model::ErrorCode;

use crate::Hq;
use crate::state::Routes;

pub use deliver::deliver;
pub use look::look;
pub use sales_sender::tell;

/// What other servers of headquarters leave to the one that does it.
const WORK: &str = "alerts";

/// Looks, posts and tells until the server stops.
pub(crate) fn start(hq: &Arc<Hq>) {
    look::start(hq.clone());
    deliver::start(hq.clone());
    sales_sender::start(hq.clone());
}

/// The routes of this room.
pub(crate) fn routes(routes: Routes) -> Routes {
    use ErrorCode::{NotFound, VersionConflict};
    routes
        .get("/alerts", list::list)
        .about("List what is wrong, and what was.")
        .get("/alert-hooks", hooks::list)
        .about("The addresses that alerts or sales are posted to, what waits for each, and what it answered last.")
        .get("/alert-hooks/{id}", hooks::get)
        .about("One address that alerts or sales are posted to.")
        .fails(&[NotFound])
        .post("/alert-hooks", hooks::create)
        .about("Have alerts or sales posted to an address; the secret that they are signed with is shown this once.")
        .patch("/alert-hooks/{id}", hooks::edit)
        .about("Change where alerts or sales are posted to, and which.")
        .fails(&[NotFound, VersionConflict])
        .delete("/alert-hooks/{id}", hooks::delete)
        .about("Remove an address, with what is on its way to it.")
        .fails(&[NotFound, VersionConflict])
        .post("/alert-hooks/{id}/test", hooks::test)
        .about("Post a test to an address at once; what came back.")
        .fails(&[NotFound])
        .post("/alert-hooks/{id}/rotate-secret", hooks::rotate_secret)
        .about("Give an address another secret, shown this once; the one before signs nothing from then on.")
        .fails(&[NotFound])
}
