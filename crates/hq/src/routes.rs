//! The route table of headquarters.

use std::sync::Arc;

use axum::Router;
use metrics::{counter, gauge};
use tillkeep_http::describe::About;
use tillkeep_http::elsewhere::{self, Method, Owner, Writes};
use tillkeep_http::routes::{Route, Routes, auth, probes};
use tillkeep_http::{describe, directory, layers};
use tillkeep_model::ErrorCode::{
    AlreadyProvisioned, BelowMinPrice, CodeLocked, CurrencyLocked, CursorAhead, DuplicateBarcode, DuplicateCode,
    DuplicateSku, EpochChanged, Escalation, FirstRateCompound, IdReused, InUse, KindLocked, LastAdmin, LastCashTender,
    NeedsValueLedger, NotFailed, NotFound, PendingData, PinNotAllowed, PossibleDuplicate, SaleNotFound,
    SecondCashTender, SelfDeactivation, StoreNotReady, SystemRole, TooManyAttempts, TooManyRates, TooManyRequests,
    UnknownEntityType, UnknownPermission, UsernameTaken, Validation, VersionConflict,
};
use tillkeep_model::permission::code::{
    CustomersEdit, CustomersView, PosSell, ProductsCreate, ProductsDelete, ProductsEdit, ProductsView, RolesManage,
    TaxesManage, TaxesView, TendersManage, TendersView,
};
use tillkeep_storage::entity::{customer, department, product, role, tax_group, tax_rate, tender};

use crate::backoffice::{customers, plain, products, roles, sales, store_prices, stores, tax_groups, users};
use crate::{Hq, sync};

/// What this server says of itself.
pub const ABOUT: About = About {
    title: "Tillkeep headquarters",
    text: "Master data, people and stores of the chain, what its stores sold, and the synchronisation with them.",
};

/// The router of a running server.
pub fn router(hq: Arc<Hq>) -> Router {
    let (router, table) = described();
    layers::wrap(served(router, &table).with_state(hq))
}

/// The same with `/metrics`.
pub fn router_with_metrics(hq: Arc<Hq>) -> Router {
    let (router, table) = described();
    layers::wrap(served(router, &table).with_state(hq.clone()).merge(measured(hq)))
}

/// With what is not of the interface: its description, and the web client.
fn served(router: Router<Arc<Hq>>, table: &[Route]) -> Router<Arc<Hq>> {
    tillkeep_web::served(describe::served(router, ABOUT, table))
}

/// `/metrics` alone.
pub fn metrics(hq: Arc<Hq>) -> Router {
    layers::wrap(measured(hq))
}

fn measured(hq: Arc<Hq>) -> Router {
    tillkeep_http::metrics::router(hq, async |hq: Arc<Hq>| {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let connected = hq.hub.stores();
        let waiting = hq.tracker.waiting(&connected, hq.clock.now());
        gauge!("tillkeep_stores_connected").set(count(connected.len()));
        gauge!("tillkeep_stores_outbox_stuck").set(count(waiting.stuck));
        gauge!("tillkeep_oldest_pending_seconds").set(u32::try_from(waiting.oldest_ms / 1000).unwrap_or(u32::MAX));
        gauge!("tillkeep_push_queue_envelopes").set(u32::try_from(hq.pushes.len()).unwrap_or(u32::MAX));
        counter!("tillkeep_push_turned_away_total").absolute(hq.pushes.refused());
        gauge!("tillkeep_dashboard_streams").set(u32::try_from(hq.board.streams()).unwrap_or(u32::MAX));
        hq.notifications.measure();
        gauge!("tillkeep_pull_pages_bytes").set(u32::try_from(hq.pages.bytes()).unwrap_or(u32::MAX));
    })
}

/// Every route with its protection.
pub fn table() -> (Router<Arc<Hq>>, Vec<Route>) {
    Routes::new().with(routes).finish()
}

/// The same with what stands outside of permissions: all that the description tells of.
pub fn described() -> (Router<Arc<Hq>>, Vec<Route>) {
    Routes::new().with(probes).with(routes).finish()
}

fn routes(routes: Routes<Arc<Hq>>) -> Routes<Arc<Hq>> {
    routes.with(auth).with(directory::routes).with(backoffice).with(sync_routes)
}

fn backoffice(routes: Routes<Arc<Hq>>) -> Routes<Arc<Hq>> {
    routes.with(chain).with(taxes).with(catalog).with(people).with(documents)
}

fn chain(routes: Routes<Arc<Hq>>) -> Routes<Arc<Hq>> {
    routes
        .get("/stores/{id}", stores::get)
        .about("One store with the state of its synchronisation.")
        .post("/stores", stores::create)
        .about("Make a store; it is not in use before it is activated or provisioned.")
        .fails(&[IdReused, DuplicateCode])
        .patch("/stores/{id}", stores::edit)
        .about("Change the settings of a store.")
        .fails(&[VersionConflict, DuplicateCode, CodeLocked, CurrencyLocked])
        .post("/stores/{id}/activate", stores::activate)
        .about("Take a store into use.")
        .post("/stores/{id}/deactivate", stores::deactivate)
        .about("Take a store out of use.")
        .fails(&[PendingData])
        .post("/stores/{id}/provision", stores::provision)
        .about("Give a store its sync token, shown this once.")
        .fails(&[AlreadyProvisioned])
        .post("/stores/{id}/revoke-token", stores::revoke_token)
        .about("End the sync token of a store.")
}

fn taxes(routes: Routes<Arc<Hq>>) -> Routes<Arc<Hq>> {
    routes
        .get("/tax-rates", plain::list::<tax_rate::Entity, TaxesView>)
        .about("List tax rates.")
        .post("/tax-rates", plain::create::<tax_rate::Entity, TaxesManage>)
        .about("Make a tax rate.")
        .fails(&[IdReused, DuplicateCode])
        .patch("/tax-rates/{id}", plain::edit::<tax_rate::Entity, TaxesManage>)
        .about("Change a tax rate.")
        .fails(&[VersionConflict, DuplicateCode])
        .delete("/tax-rates/{id}", plain::delete::<tax_rate::Entity, TaxesManage>)
        .about("Delete a tax rate.")
        .fails(&[VersionConflict, InUse])
        .get("/tax-groups", tax_groups::list)
        .about("List tax groups with their rates.")
        .post("/tax-groups", tax_groups::create)
        .about("Make a tax group, with its rates.")
        .fails(&[IdReused, DuplicateCode, FirstRateCompound, TooManyRates])
        .patch("/tax-groups/{id}", tax_groups::edit)
        .about("Change a tax group.")
        .fails(&[VersionConflict, DuplicateCode])
        .put("/tax-groups/{id}/rates", tax_groups::put_rates)
        .about("Replace the rates of a tax group.")
        .fails(&[VersionConflict, FirstRateCompound, TooManyRates])
        .delete("/tax-groups/{id}", plain::delete::<tax_group::Entity, TaxesManage>)
        .about("Delete a tax group.")
        .fails(&[VersionConflict, InUse])
        .get("/tenders", plain::list::<tender::Entity, (TendersView, PosSell)>)
        .about("List tenders.")
        .get("/tenders/{id}", plain::get::<tender::Entity, TendersView>)
        .about("One tender.")
        .post("/tenders", plain::create::<tender::Entity, TendersManage>)
        .about("Make a tender.")
        .fails(&[IdReused, DuplicateCode, SecondCashTender, NeedsValueLedger])
        .patch("/tenders/{id}", plain::edit::<tender::Entity, TendersManage>)
        .about("Change a tender.")
        .fails(&[VersionConflict, DuplicateCode, KindLocked, SecondCashTender, LastCashTender, NeedsValueLedger])
        .delete("/tenders/{id}", plain::delete::<tender::Entity, TendersManage>)
        .about("Delete a tender.")
        .fails(&[VersionConflict, LastCashTender])
}

fn catalog(routes: Routes<Arc<Hq>>) -> Routes<Arc<Hq>> {
    routes
        .get("/departments", plain::list::<department::Entity, (ProductsView, PosSell)>)
        .about("List departments.")
        .get("/departments/{id}", plain::get::<department::Entity, (ProductsView, PosSell)>)
        .about("One department.")
        .post("/departments", plain::create::<department::Entity, ProductsCreate>)
        .about("Make a department.")
        .fails(&[IdReused, DuplicateCode])
        .patch("/departments/{id}", plain::edit::<department::Entity, ProductsEdit>)
        .about("Change a department.")
        .fails(&[VersionConflict, DuplicateCode])
        .delete("/departments/{id}", plain::delete::<department::Entity, ProductsDelete>)
        .about("Delete a department.")
        .fails(&[VersionConflict, InUse])
        .get("/products", plain::list::<product::Entity, ProductsView>)
        .about("List products.")
        .get("/products/{id}", plain::get::<product::Entity, ProductsView>)
        .about("One product.")
        .get("/products/by-barcode/{code}", products::by_barcode)
        .about("The product with a barcode.")
        .post("/products", plain::create::<product::Entity, ProductsCreate>)
        .about("Make a product.")
        .fails(&[IdReused, DuplicateSku, DuplicateBarcode])
        .patch("/products/{id}", plain::edit::<product::Entity, ProductsEdit>)
        .about("Change a product.")
        .fails(&[VersionConflict, DuplicateSku, DuplicateBarcode])
        .delete("/products/{id}", plain::delete::<product::Entity, ProductsDelete>)
        .about("Delete a product.")
        .fails(&[VersionConflict])
        .post("/products/{id}/restore", products::restore)
        .about("Bring a deleted product back.")
        .fails(&[DuplicateSku, DuplicateBarcode, Validation])
        .get("/store-prices", store_prices::list)
        .about("List prices of products in stores, next to those of the chain.")
        .put("/store-prices/{storeId}/{productId}", store_prices::put)
        .about("Set what a product costs in one store, or its levels there.")
        .fails(&[VersionConflict, BelowMinPrice])
        .delete("/store-prices/{storeId}/{productId}", store_prices::delete)
        .about("Charge the price of the chain again.")
        .fails(&[VersionConflict, Validation])
}

fn people(routes: Routes<Arc<Hq>>) -> Routes<Arc<Hq>> {
    routes
        .get("/customers", plain::list::<customer::Entity, CustomersView>)
        .about("List customers.")
        .get("/customers/{id}", plain::get::<customer::Entity, CustomersView>)
        .about("One customer.")
        .post("/customers", customers::create)
        .about("Make a customer.")
        .fails(&[IdReused, PossibleDuplicate, StoreNotReady])
        .patch("/customers/{id}", plain::edit::<customer::Entity, CustomersEdit>)
        .about("Change a customer.")
        .fails(&[VersionConflict])
        .delete("/customers/{id}", plain::delete::<customer::Entity, CustomersEdit>)
        .about("Delete a customer.")
        .fails(&[VersionConflict, InUse])
        .post("/users", users::create)
        .about("Make a user with a PIN and roles.")
        .fails(&[IdReused, UsernameTaken, PinNotAllowed, Escalation, TooManyRequests])
        .patch("/users/{id}", users::edit)
        .about("Change a user.")
        .fails(&[VersionConflict, UsernameTaken, LastAdmin, SelfDeactivation, PinNotAllowed, Escalation])
        .post("/users/{id}/pin", users::set_pin)
        .about("Set the PIN of a user; their sessions end.")
        .fails(&[PinNotAllowed, Escalation, TooManyRequests, TooManyAttempts, SelfDeactivation])
        .post("/users/{id}/activate", users::activate)
        .about("Let a user sign in again.")
        .fails(&[PinNotAllowed, Validation, UsernameTaken, Escalation])
        .post("/users/{id}/deactivate", users::deactivate)
        .about("Keep a user from signing in; their sessions end.")
        .fails(&[LastAdmin, SelfDeactivation, Validation, UsernameTaken, Escalation])
        .delete("/users/{id}", users::delete)
        .about("Delete a user: roles and sessions end, the name is free again.")
        .fails(&[VersionConflict, LastAdmin, SelfDeactivation, Escalation])
        .post("/users/{id}/roles", users::assign)
        .about("Give a user a role.")
        .fails(&[Escalation])
        .delete("/users/{id}/roles/{assignmentId}", users::unassign)
        .about("Take a role away from a user.")
        .fails(&[LastAdmin])
        .post("/roles", roles::create)
        .about("Make a role.")
        .fails(&[IdReused, DuplicateCode, UnknownPermission, Escalation])
        .patch("/roles/{id}", roles::edit)
        .about("Change the name of a role.")
        .fails(&[VersionConflict, DuplicateCode, SystemRole])
        .put("/roles/{id}/permissions", roles::put_permissions)
        .about("Replace what a role holds.")
        .fails(&[VersionConflict, SystemRole, UnknownPermission, Escalation])
        .delete("/roles/{id}", plain::delete::<role::Entity, RolesManage>)
        .about("Delete a role.")
        .fails(&[VersionConflict, SystemRole, InUse])
}

fn documents(routes: Routes<Arc<Hq>>) -> Routes<Arc<Hq>> {
    routes
        .get("/sales", sales::list)
        .about("List the sales of all stores.")
        .get("/sales/{id}", sales::get)
        .about("One sale with its lines and payments.")
        .fails(&[SaleNotFound])
        .with(|routes| elsewhere::routes(routes, Owner::Store, OWNED_BY_STORES))
}

fn sync_routes(routes: Routes<Arc<Hq>>) -> Routes<Arc<Hq>> {
    routes
        .sync("POST", "/sync/handshake", sync::handshake)
        .about("A store says who it is and learns what changed for it.")
        .sync("GET", "/sync/versions", sync::versions)
        .about("The newest version of each type, for the store of the token.")
        .sync("GET", "/sync/pull", sync::pull)
        .about("Rows of one type above a version, by rising version.")
        .fails(&[UnknownEntityType, EpochChanged, CursorAhead])
        .sync("GET", "/sync/own-documents", sync::own_documents)
        .about("What headquarters has of the store's own, for a store that lost its database.")
        .fails(&[UnknownEntityType])
        .sync("POST", "/sync/push", sync::push)
        .about("Apply what happened at a store; each envelope is judged on its own.")
        .sync("GET", "/sync/ws", sync::socket)
        .about("The channel that tells a store when to pull.")
        .get("/sync/rollout", sync::rollout)
        .about("Which stores have a version of a type.")
        .fails(&[UnknownEntityType])
        .get("/sync/dashboard", sync::dashboard::dashboard)
        .about("How each store and its synchronisation stand.")
        .get("/sync/completeness", sync::completeness)
        .about("What headquarters has of the business days of a store, and what is missing.")
        .fails(&[NotFound])
        .get("/sync/history", sync::history)
        .about("How many entries of a store were taken and failed, by hour or day.")
        .fails(&[NotFound])
        .get("/sync/dashboard/stream", sync::dashboard::stream)
        .about("The same as events: a snapshot, then what changes.")
        .get("/sync/errors", sync::error_list)
        .about("List what stores sent that was not applied.")
        .post("/sync/retry/{id}", sync::retry)
        .about("Apply a failed entry once more.")
        .fails(&[NotFailed])
        .post("/sync/resolve/{id}", sync::resolve)
        .about("Settle a failed entry by hand; nothing is applied.")
        .fails(&[NotFailed])
        .post("/sync/retry-all", sync::retry_all)
        .about("Apply all failed entries once more.")
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
