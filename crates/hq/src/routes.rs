//! The route table of headquarters.

use std::sync::Arc;

use axum::Router;
use tillkeep_http::layers;
use tillkeep_http::routes::{Route, Routes, auth};

use crate::Hq;
use crate::backoffice::departments;

/// The router of a running server.
pub fn router(hq: Arc<Hq>) -> Router {
    layers::wrap(table().0).with_state(hq)
}

/// Every route with its protection.
pub fn table() -> (Router<Arc<Hq>>, Vec<Route>) {
    Routes::new().with(auth).with(backoffice).finish()
}

fn backoffice(routes: Routes<Arc<Hq>>) -> Routes<Arc<Hq>> {
    routes
        .get("/departments", departments::list)
        .get("/departments/{id}", departments::get)
        .post("/departments", departments::create)
        .patch("/departments/{id}", departments::edit)
        .delete("/departments/{id}", departments::delete)
}
