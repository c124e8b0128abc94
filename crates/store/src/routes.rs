//! The route table of a store.

use std::sync::Arc;

use axum::Router;
use metrics::gauge;
use tillkeep_http::elsewhere::{self, Owner};
use tillkeep_http::routes::{Route, Routes, auth, probes};
use tillkeep_http::{directory, layers};
use tillkeep_storage::outbox;

use crate::replica;
use crate::sessions::{close, open, read as sessions};
use crate::sync::handlers;
use crate::{Store, customers, inventory, pos, registers};

/// The router of a running server.
pub fn router(store: Arc<Store>) -> Router {
    layers::wrap(probes(table().0)).with_state(store)
}

/// `/metrics`, on the same address or on another one.
pub fn metrics(store: Arc<Store>) -> Router {
    tillkeep_http::metrics::router(store, async |store: Arc<Store>| {
        gauge!("tillkeep_hq_connected").set(f64::from(u8::from(store.sync.line().connected)));
        if let Ok(state) = outbox::state(store.db().reader()).await {
            gauge!("tillkeep_outbox_pending").set(count(state.pending));
            gauge!("tillkeep_outbox_dead_letters").set(count(state.dead_lettered));
        }
    })
}

/// A number of entries as a gauge has it.
fn count(entries: i64) -> f64 {
    f64::from(u32::try_from(entries).unwrap_or(u32::MAX))
}

/// Every route with its protection.
pub fn table() -> (Router<Arc<Store>>, Vec<Route>) {
    Routes::new().with(auth).with(directory::routes).with(till).with(sync_routes).finish()
}

fn sync_routes(routes: Routes<Arc<Store>>) -> Routes<Arc<Store>> {
    routes
        .get("/sync/status", handlers::status)
        .post("/sync/now", handlers::now)
        .get("/sync/outbox", handlers::list)
        .post("/sync/outbox/{id}/requeue", handlers::requeue)
        .post("/sync/outbox/requeue-all", handlers::requeue_all)
}

/// What a till and the people in the shop use; all of it works without a line.
fn till(routes: Routes<Arc<Store>>) -> Routes<Arc<Store>> {
    routes
        .get("/pos/bootstrap", pos::bootstrap::bootstrap)
        .get("/pos/products", pos::products::list)
        .get("/pos/lookup/{code}", pos::lookup::lookup)
        .get("/pos/customers", customers::short_list)
        .post("/pos/quote", pos::quote::quote)
        .post("/pos/sales", pos::sale::create)
        .get("/pos/sales", pos::sales::list)
        .get("/pos/sales/{id}", pos::sales::get)
        .get("/pos/sales/by-receipt/{receiptNumber}", pos::sales::by_receipt)
        .get("/registers", registers::list)
        .post("/registers", registers::create)
        .patch("/registers/{id}", registers::edit)
        .post("/registers/{id}/open", open::open)
        .get("/register-sessions", sessions::list)
        .get("/register-sessions/current", sessions::current)
        .get("/register-sessions/{id}", sessions::get)
        .post("/register-sessions/{id}/close", close::close)
        .get("/inventory", inventory::read::list)
        .get("/inventory/adjustments", inventory::read::adjustments)
        .post("/inventory/adjustments", inventory::adjust::create)
        .get("/inventory/{id}", inventory::read::get)
        .get("/customers", customers::list)
        .post("/customers", customers::create)
        .get("/customers/{id}", customers::get)
        .get("/products", replica::products)
        .get("/products/{id}", replica::product)
        .get("/departments", replica::departments)
        .get("/tenders", replica::tenders)
        .get("/tax-groups", replica::tax_groups)
        .get("/stores/{id}", replica::store)
        .with(|routes| elsewhere::routes(routes, Owner::Hq, replica::OWNED_BY_HQ))
}
