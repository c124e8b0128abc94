//! The route table of a store.

use std::sync::Arc;

use axum::Router;
use tillkeep_http::layers;
use tillkeep_http::routes::{Route, Routes, auth, probes};

use crate::replica::{self, Method};
use crate::sessions::{close, open, read as sessions};
use crate::sync::handlers;
use crate::{Store, approvals, customers, inventory, pos, registers};

/// The router of a running server.
pub fn router(store: Arc<Store>) -> Router {
    layers::wrap(probes(table().0)).with_state(store)
}

/// Every route with its protection.
pub fn table() -> (Router<Arc<Store>>, Vec<Route>) {
    Routes::new().with(auth).with(till).with(sync_routes).finish()
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
        .post("/pos/approvals", approvals::grant)
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
        .with(owned_by_hq)
}

fn owned_by_hq(routes: Routes<Arc<Store>>) -> Routes<Arc<Store>> {
    let writes = replica::OWNED_BY_HQ.iter().flat_map(|(path, methods)| methods.iter().map(|method| (*path, *method)));
    writes.fold(routes, |routes, (path, method)| match method {
        Method::Post => routes.post(path, replica::owned_by_hq),
        Method::Put => routes.put(path, replica::owned_by_hq),
        Method::Patch => routes.patch(path, replica::owned_by_hq),
        Method::Delete => routes.delete(path, replica::owned_by_hq),
    })
}
