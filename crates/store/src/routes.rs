//! The route table of a store.

use std::sync::Arc;

use axum::Router;
use tillkeep_http::layers;
use tillkeep_http::routes::{Route, Routes, auth};

use crate::Store;

/// The router of a running server.
pub fn router(store: Arc<Store>) -> Router {
    layers::wrap(table().0).with_state(store)
}

/// Every route with its protection.
pub fn table() -> (Router<Arc<Store>>, Vec<Route>) {
    Routes::new().with(auth).finish()
}
