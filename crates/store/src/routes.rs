//! The route table of a store.

use std::sync::Arc;

use axum::Router;
use metrics::gauge;
use tillkeep_http::describe::About;
use tillkeep_http::elsewhere::{self, Owner};
use tillkeep_http::routes::{Route, Routes, auth, probes};
use tillkeep_http::{describe, directory, layers};
use tillkeep_model::ErrorCode::{
    ApprovalRequired, ApproverLacksPermission, BadCheckDigit, Conflict, CreditLimitExceeded, DuplicateCode,
    FloatNotDefault, IdReused, InsufficientStock, NegativeStock, NoOpenSession, NotSupportedYet, PinLocked,
    PossibleDuplicate, ProductInactive, ProductNotFound, ReasonReserved, RegisterUnknown, SaleNotFound,
    SessionAlreadyOpen, SessionClosed, SessionOpen, SessionTooOld, StoreNotReady, TenderRule, TooManyRequests,
    TotalMismatch, Underpaid, VarianceNotAccepted, WrongPin,
};
use tillkeep_storage::outbox;

use crate::replica;
use crate::sessions::{close, open, read as sessions};
use crate::sync::handlers;
use crate::{Store, approvals, customers, inventory, pos, registers};

/// What this server says of itself.
pub const ABOUT: About = About {
    title: "Tillkeep store",
    text: "The tills, drawers and stock of one store; it sells without a line to headquarters.",
};

/// The router of a running server.
pub fn router(store: Arc<Store>) -> Router {
    let (router, table) = described();
    layers::wrap(describe::served(router, ABOUT, &table).with_state(store))
}

/// The same with `/metrics`.
pub fn router_with_metrics(store: Arc<Store>) -> Router {
    let (router, table) = described();
    layers::wrap(describe::served(router, ABOUT, &table).with_state(store.clone()).merge(measured(store)))
}

/// `/metrics` alone.
pub fn metrics(store: Arc<Store>) -> Router {
    layers::wrap(measured(store))
}

fn measured(store: Arc<Store>) -> Router {
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
    Routes::new().with(routes).finish()
}

/// The same with what stands outside of permissions: all that the description tells of.
pub fn described() -> (Router<Arc<Store>>, Vec<Route>) {
    Routes::new().with(probes).with(routes).finish()
}

fn routes(routes: Routes<Arc<Store>>) -> Routes<Arc<Store>> {
    routes.with(auth).with(directory::routes).with(till).with(sync_routes)
}

fn sync_routes(routes: Routes<Arc<Store>>) -> Routes<Arc<Store>> {
    routes
        .get("/sync/status", handlers::status)
        .about("How the synchronisation of this store stands.")
        .post("/sync/now", handlers::now)
        .about("Start a cycle and a push at once.")
        .get("/sync/outbox", handlers::list)
        .about("List what waits to be sent.")
        .post("/sync/outbox/{id}/requeue", handlers::requeue)
        .about("Give an entry another ten attempts.")
        .post("/sync/outbox/requeue-all", handlers::requeue_all)
        .about("Give all entries another ten attempts.")
}

/// What a till and the people in the shop use; all of it works without a line.
fn till(routes: Routes<Arc<Store>>) -> Routes<Arc<Store>> {
    routes
        .get("/pos/bootstrap", pos::bootstrap::bootstrap)
        .about("What a till must know before it can sell.")
        .fails(&[RegisterUnknown, StoreNotReady])
        .get("/pos/products", pos::products::list)
        .about("List what can be sold, with prices and levels here.")
        .get("/pos/lookup/{code}", pos::lookup::lookup)
        .about("The product that a scanned or typed code means.")
        .fails(&[ProductNotFound, ProductInactive, BadCheckDigit, StoreNotReady])
        .get("/pos/customers", customers::short_list)
        .about("Look a customer up by a part of name, number, mail address or telephone.")
        .post("/pos/quote", pos::quote::quote)
        .about("What a cart costs, without selling it.")
        .fails(&[NotSupportedYet, ProductInactive, TenderRule, Underpaid, StoreNotReady])
        .post("/pos/approvals", approvals::grant)
        .about("A second person says yes with a PIN: a token for one deed at this terminal.")
        .fails(&[WrongPin, PinLocked, TooManyRequests, ApproverLacksPermission, Conflict, StoreNotReady])
        .post("/pos/sales", pos::sale::create)
        .about("Sell a cart.")
        .fails(&[
            NotSupportedYet,
            ApprovalRequired,
            CreditLimitExceeded,
            ProductInactive,
            TenderRule,
            Underpaid,
            TotalMismatch,
            SessionClosed,
            SessionTooOld,
            InsufficientStock,
            IdReused,
            StoreNotReady,
        ])
        .get("/pos/sales", pos::sales::list)
        .about("List sales; without reports.view_local those of the own open drawers.")
        .get("/pos/sales/{id}", pos::sales::get)
        .about("One sale with its lines and payments.")
        .fails(&[SaleNotFound])
        .get("/pos/sales/by-receipt/{receiptNumber}", pos::sales::by_receipt)
        .about("The sale with a receipt number.")
        .fails(&[SaleNotFound])
        .get("/registers", registers::list)
        .about("List registers with their open drawers.")
        .post("/registers", registers::create)
        .about("Make a register.")
        .fails(&[IdReused, DuplicateCode])
        .patch("/registers/{id}", registers::edit)
        .about("Change a register.")
        .fails(&[SessionOpen, DuplicateCode])
        .post("/registers/{id}/open", open::open)
        .about("Open the drawer of a register.")
        .fails(&[SessionAlreadyOpen, FloatNotDefault, ApprovalRequired, Conflict, StoreNotReady])
        .get("/register-sessions", sessions::list)
        .about("List drawers, open and closed.")
        .get("/register-sessions/current", sessions::current)
        .about("The open drawer of a terminal.")
        .fails(&[NoOpenSession])
        .get("/register-sessions/{id}", sessions::get)
        .about("One drawer.")
        .post("/register-sessions/{id}/close", close::close)
        .about("Close a drawer: its figures are taken and end its selling.")
        .fails(&[SessionClosed, VarianceNotAccepted, ApprovalRequired, StoreNotReady])
        .get("/inventory", inventory::read::list)
        .about("List what this store has of each product.")
        .get("/inventory/adjustments", inventory::read::adjustments)
        .about("List stock changes by hand.")
        .post("/inventory/adjustments", inventory::adjust::create)
        .about("Change a level by hand.")
        .fails(&[IdReused, ReasonReserved, ProductNotFound, NegativeStock, StoreNotReady])
        .get("/inventory/{id}", inventory::read::get)
        .about("What this store has of one product.")
        .fails(&[ProductNotFound])
        .get("/customers", customers::list)
        .about("List customers.")
        .post("/customers", customers::create)
        .about("Make a customer.")
        .fails(&[IdReused, PossibleDuplicate, StoreNotReady])
        .get("/customers/{id}", customers::get)
        .about("One customer.")
        .get("/products", replica::products)
        .about("List products.")
        .get("/products/{id}", replica::product)
        .about("One product.")
        .fails(&[ProductNotFound])
        .get("/departments", replica::departments)
        .about("List departments.")
        .get("/tenders", replica::tenders)
        .about("List tenders.")
        .get("/tax-groups", replica::tax_groups)
        .about("List tax groups with the rates of every store.")
        .get("/stores/{id}", replica::store)
        .about("One store.")
        .with(|routes| elsewhere::routes(routes, Owner::Hq, replica::OWNED_BY_HQ))
}
