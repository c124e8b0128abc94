//! The route table of headquarters.

use std::sync::Arc;

use axum::Router;
use metrics::gauge;
use tillkeep_http::elsewhere::{self, Method, Owner, Writes};
use tillkeep_http::routes::{Route, Routes, auth, probes};
use tillkeep_http::{directory, layers};
use tillkeep_model::permission::code::{
    CustomersEdit, CustomersView, PosSell, ProductsCreate, ProductsDelete, ProductsEdit, ProductsView, RolesManage,
    TaxesManage, TaxesView, TendersManage, TendersView,
};
use tillkeep_storage::entity::{customer, department, product, role, tax_group, tax_rate, tender};

use crate::backoffice::{customers, plain, products, roles, sales, store_prices, stores, tax_groups, users};
use crate::{Hq, sync};

/// The router of a running server.
pub fn router(hq: Arc<Hq>) -> Router {
    layers::wrap(probes(table().0)).with_state(hq)
}

/// `/metrics`, on the same address or on another one.
pub fn metrics(hq: Arc<Hq>) -> Router {
    tillkeep_http::metrics::router(hq, async |hq: Arc<Hq>| {
        let connected = u32::try_from(hq.hub.len()).unwrap_or(u32::MAX);
        gauge!("tillkeep_stores_connected").set(connected);
    })
}

/// Every route with its protection.
pub fn table() -> (Router<Arc<Hq>>, Vec<Route>) {
    Routes::new().with(auth).with(directory::routes).with(backoffice).with(sync_routes).finish()
}

fn backoffice(routes: Routes<Arc<Hq>>) -> Routes<Arc<Hq>> {
    routes.with(chain).with(taxes).with(catalog).with(people).with(documents)
}

fn chain(routes: Routes<Arc<Hq>>) -> Routes<Arc<Hq>> {
    routes
        .get("/stores/{id}", stores::get)
        .post("/stores", stores::create)
        .patch("/stores/{id}", stores::edit)
        .post("/stores/{id}/activate", stores::activate)
        .post("/stores/{id}/deactivate", stores::deactivate)
        .post("/stores/{id}/provision", stores::provision)
        .post("/stores/{id}/revoke-token", stores::revoke_token)
}

fn taxes(routes: Routes<Arc<Hq>>) -> Routes<Arc<Hq>> {
    routes
        .get("/tax-rates", plain::list::<tax_rate::Entity, TaxesView>)
        .post("/tax-rates", plain::create::<tax_rate::Entity, TaxesManage>)
        .patch("/tax-rates/{id}", plain::edit::<tax_rate::Entity, TaxesManage>)
        .delete("/tax-rates/{id}", plain::delete::<tax_rate::Entity, TaxesManage>)
        .get("/tax-groups", tax_groups::list)
        .post("/tax-groups", tax_groups::create)
        .patch("/tax-groups/{id}", tax_groups::edit)
        .put("/tax-groups/{id}/rates", tax_groups::put_rates)
        .delete("/tax-groups/{id}", plain::delete::<tax_group::Entity, TaxesManage>)
        .get("/tenders", plain::list::<tender::Entity, (TendersView, PosSell)>)
        .get("/tenders/{id}", plain::get::<tender::Entity, TendersView>)
        .post("/tenders", plain::create::<tender::Entity, TendersManage>)
        .patch("/tenders/{id}", plain::edit::<tender::Entity, TendersManage>)
        .delete("/tenders/{id}", plain::delete::<tender::Entity, TendersManage>)
}

fn catalog(routes: Routes<Arc<Hq>>) -> Routes<Arc<Hq>> {
    routes
        .get("/departments", plain::list::<department::Entity, (ProductsView, PosSell)>)
        .get("/departments/{id}", plain::get::<department::Entity, (ProductsView, PosSell)>)
        .post("/departments", plain::create::<department::Entity, ProductsCreate>)
        .patch("/departments/{id}", plain::edit::<department::Entity, ProductsEdit>)
        .delete("/departments/{id}", plain::delete::<department::Entity, ProductsDelete>)
        .get("/products", plain::list::<product::Entity, ProductsView>)
        .get("/products/{id}", plain::get::<product::Entity, ProductsView>)
        .get("/products/by-barcode/{code}", products::by_barcode)
        .post("/products", plain::create::<product::Entity, ProductsCreate>)
        .patch("/products/{id}", plain::edit::<product::Entity, ProductsEdit>)
        .delete("/products/{id}", plain::delete::<product::Entity, ProductsDelete>)
        .post("/products/{id}/restore", products::restore)
        .get("/store-prices", store_prices::list)
        .put("/store-prices/{storeId}/{productId}", store_prices::put)
        .delete("/store-prices/{storeId}/{productId}", store_prices::delete)
}

fn people(routes: Routes<Arc<Hq>>) -> Routes<Arc<Hq>> {
    routes
        .get("/customers", plain::list::<customer::Entity, CustomersView>)
        .get("/customers/{id}", plain::get::<customer::Entity, CustomersView>)
        .post("/customers", customers::create)
        .patch("/customers/{id}", plain::edit::<customer::Entity, CustomersEdit>)
        .delete("/customers/{id}", plain::delete::<customer::Entity, CustomersEdit>)
        .post("/users", users::create)
        .patch("/users/{id}", users::edit)
        .post("/users/{id}/pin", users::set_pin)
        .post("/users/{id}/activate", users::activate)
        .post("/users/{id}/deactivate", users::deactivate)
        .post("/users/{id}/roles", users::assign)
        .delete("/users/{id}/roles/{assignmentId}", users::unassign)
        .post("/roles", roles::create)
        .patch("/roles/{id}", roles::edit)
        .put("/roles/{id}/permissions", roles::put_permissions)
        .delete("/roles/{id}", plain::delete::<role::Entity, RolesManage>)
}

fn documents(routes: Routes<Arc<Hq>>) -> Routes<Arc<Hq>> {
    routes
        .get("/sales", sales::list)
        .get("/sales/{id}", sales::get)
        .with(|routes| elsewhere::routes(routes, Owner::Store, OWNED_BY_STORES))
}

fn sync_routes(routes: Routes<Arc<Hq>>) -> Routes<Arc<Hq>> {
    routes
        .sync("POST", "/sync/handshake", sync::handshake)
        .sync("GET", "/sync/versions", sync::versions)
        .sync("GET", "/sync/pull", sync::pull)
        .sync("POST", "/sync/push", sync::push)
        .sync("GET", "/sync/ws", sync::socket)
        .get("/sync/dashboard", sync::dashboard::dashboard)
        .get("/sync/errors", sync::error_list)
        .post("/sync/retry/{id}", sync::retry)
        .post("/sync/resolve/{id}", sync::resolve)
        .post("/sync/retry-all", sync::retry_all)
}

/// What only a store writes: it happens there, and reaches headquarters through the outbox.
const OWNED_BY_STORES: Writes = &[
    ("/pos/quote", &[Method::Post]),
    ("/pos/approvals", &[Method::Post]),
    ("/pos/sales", &[Method::Post]),
    ("/pos/sales/{id}/void", &[Method::Post]),
    ("/pos/sales/{id}/refunds", &[Method::Post]),
    ("/pos/refunds", &[Method::Post]),
    ("/pos/exchanges", &[Method::Post]),
    ("/pos/parked-carts", &[Method::Post]),
    ("/registers", &[Method::Post]),
    ("/registers/{id}", &[Method::Patch]),
    ("/registers/{id}/open", &[Method::Post]),
    ("/registers/{id}/no-sale", &[Method::Post]),
    ("/register-sessions/{id}/cash-movements", &[Method::Post]),
    ("/register-sessions/{id}/count", &[Method::Post]),
    ("/register-sessions/{id}/close", &[Method::Post]),
    ("/register-sessions/{id}/force-close", &[Method::Post]),
    ("/register-sessions/{id}/reassign", &[Method::Post]),
    ("/inventory/adjustments", &[Method::Post]),
    ("/inventory/adjustments/bulk", &[Method::Post]),
    ("/inventory/counts", &[Method::Post]),
    ("/transfers", &[Method::Post]),
    ("/transfers/{id}", &[Method::Patch]),
];
