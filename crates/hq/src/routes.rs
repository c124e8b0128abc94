//! The route table of headquarters.

use std::sync::Arc;

use axum::Router;
use metrics::{counter, gauge};
use tillkeep_http::account;
use tillkeep_http::describe::About;
use tillkeep_http::elsewhere::{self, Owner, WriteRoute};
use tillkeep_http::routes::{Route, Shown};
use tillkeep_http::{describe, directory, factors, layers, probes, shelf};
use tillkeep_model::permission::code::{UsersEdit, UsersManageRoles};

use crate::state::Routes;
use crate::{Hq, alerts, backoffice, reports, security, sync};

/// What this server says of itself.
pub const ABOUT: About = About {
    title: "Tillkeep headquarters",
    text: "Master data, people and stores of the chain, what its stores sold, and the synchronisation with them.",
    examples: include_str!("../../../docs/generated/examples-hq.json"),
};

/// The router of a running server. `stores` is what a store writes (its `routes::writes`), which is refused here.
pub fn router(hq: Arc<Hq>, stores: &[WriteRoute]) -> Router {
    router_with(hq, stores, Shown::default())
}

/// The same of one that shows other things besides.
pub fn router_with(hq: Arc<Hq>, stores: &[WriteRoute], shown: Shown) -> Router {
    let (router, _) = described(stores);
    let is_behind_tls = hq.is_behind_tls();
    let router = if shown.docs {
        let stores = stores.to_vec();
        describe::served(router, ABOUT, move || described(&stores).1)
    } else {
        router
    };
    let router = tillkeep_web::headquarters(router).with_state(hq.clone());
    let router =
        if shown.metrics { router.merge(tillkeep_http::metrics::of_this_machine(measured(hq))) } else { router };
    let router = layers::wrap(router);
    if is_behind_tls { layers::behind_tls(router) } else { router }
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
        gauge!("tillkeep_stores_running_twice").set(count(hq.copies.count(hq.shared_now())));
        if let Some(ahead_ms) = hq.nodes.clock_offset_ms() {
            gauge!("tillkeep_hq_clock_offset_seconds").set(i32::try_from(ahead_ms / 1000).unwrap_or(i32::MAX));
        }
        gauge!("tillkeep_oldest_pending_seconds").set(u32::try_from(waiting.oldest_ms / 1000).unwrap_or(u32::MAX));
        gauge!("tillkeep_push_queue_envelopes").set(u32::try_from(hq.pushes.len()).unwrap_or(u32::MAX));
        counter!("tillkeep_push_turned_away_total").absolute(hq.pushes.refused());
        gauge!("tillkeep_dashboard_streams").set(u32::try_from(hq.board.streams()).unwrap_or(u32::MAX));
        gauge!("tillkeep_unreadable_rows").set(count(hq.unreadable.count()));
        hq.notifications.measure();
        if let Some(followed) = hq.replica.get() {
            followed.measure();
        }
        gauge!("tillkeep_pull_pages_bytes").set(u32::try_from(hq.pages.bytes()).unwrap_or(u32::MAX));
        sync::dashboard::metrics::lines(&hq).await
    })
}

/// Every route with its protection.
pub fn table(stores: &[WriteRoute]) -> (Router<Arc<Hq>>, Vec<Route>) {
    elsewhere::refuse(own(Routes::new()), Owner::Store, stores).finish()
}

/// The same with what stands outside of permissions: all that the description tells of.
pub fn described(stores: &[WriteRoute]) -> (Router<Arc<Hq>>, Vec<Route>) {
    elsewhere::refuse(Routes::new().with(probes::routes).with(own), Owner::Store, stores).finish()
}

/// What people write here, for stores to refuse.
pub fn writes() -> Vec<WriteRoute> {
    own(Routes::new()).writes()
}

fn own(routes: Routes) -> Routes {
    routes
        .with(account::routes)
        .with(account::locks::<_, UsersEdit>)
        .with(factors::routes)
        .with(directory::routes)
        .with(directory::audit_log::routes::<_, UsersManageRoles>)
        .with(shelf::routes)
        .with(backoffice::routes)
        .with(reports::routes)
        .with(security::routes)
        .with(alerts::routes)
        .with(sync::routes)
}
