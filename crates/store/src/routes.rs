//! The route table of a store.

use std::sync::Arc;

use axum::Router;
use metrics::gauge;
use tillkeep_http::describe::About;
use tillkeep_http::elsewhere::{self, Owner, WriteRoute};
use tillkeep_http::routes::{Route, Shown};
use tillkeep_http::{account, describe, directory, layers, probes, shelf};
use tillkeep_model::AlarmCode;
use tillkeep_model::permission::code::{ReportsZReport, UsersEdit, UsersManageRoles};
use tillkeep_model::words::SignatureState;
use tillkeep_storage::fiscal::signatures;
use tillkeep_storage::{attempts, outbox};

use crate::state::Routes;
use crate::sync::{handlers, people};
use crate::{Store, customers, devices, inventory, paper, pos, registers, replica, reports, safe, sessions};

/// What this server says of itself.
pub const ABOUT: About = About {
    title: "Tillkeep store",
    text: "The tills, drawers and stock of one store; it sells without a line to headquarters.",
    examples: include_str!("../../../docs/generated/examples-store.json"),
};

/// The router of a running server. `hq` is what headquarters writes (its `routes::writes`), which is refused here.
pub fn router(store: Arc<Store>, hq: &[WriteRoute]) -> Router {
    router_with(store, hq, Shown::default())
}

/// The same of one that shows other things besides.
pub fn router_with(store: Arc<Store>, hq: &[WriteRoute], shown: Shown) -> Router {
    people::connect(&store);
    let (router, _) = described(hq);
    let router = if shown.docs {
        let hq = hq.to_vec();
        describe::served(router, ABOUT, move || described(&hq).1)
    } else {
        router
    };
    let router = tillkeep_web::store(router).with_state(store.clone());
    let router =
        if shown.metrics { router.merge(tillkeep_http::metrics::of_this_machine(measured(store))) } else { router };
    layers::wrap(router)
}

/// `/metrics` alone.
pub fn metrics(store: Arc<Store>) -> Router {
    layers::wrap(measured(store))
}

fn measured(store: Arc<Store>) -> Router {
    tillkeep_http::metrics::router(store, async |store: Arc<Store>| {
        let line = store.sync.line();
        gauge!("tillkeep_hq_connected").set(f64::from(u8::from(line.connected)));
        gauge!("tillkeep_unstored_types").set(count(i64::try_from(line.unstored.len()).unwrap_or(i64::MAX)));
        let alarms = store.alarms.all();
        for code in AlarmCode::ALL {
            let is_raised = alarms.iter().any(|alarm| alarm.code == code);
            gauge!("tillkeep_alarms", "alarm" => code.as_str()).set(f64::from(u8::from(is_raised)));
        }
        if let Ok(state) = outbox::state(store.reader()).await {
            gauge!("tillkeep_outbox_pending").set(count(state.pending));
            gauge!("tillkeep_outbox_dead_letters").set(count(state.dead_lettered));
        }
        if let Ok(people) = attempts::people_locked(store.reader(), store.clock.now()).await {
            gauge!("tillkeep_people_locked").set(count(people));
        }
        if let Ok(open) = signatures::open(store.reader()).await {
            let states = [(SignatureState::Waiting, open.waiting), (SignatureState::CouldNotSign, open.could_not_sign)];
            for (state, entries) in states {
                gauge!("tillkeep_unsigned_documents", "state" => state.word()).set(count(entries));
            }
        }
        String::new()
    })
}

/// A number of entries as a gauge has it.
fn count(entries: i64) -> f64 {
    f64::from(u32::try_from(entries).unwrap_or(u32::MAX))
}

/// Every route with its protection.
pub fn table(hq: &[WriteRoute]) -> (Router<Arc<Store>>, Vec<Route>) {
    elsewhere::refuse(own(Routes::new()), Owner::Hq, hq).finish()
}

/// The same with what stands outside of permissions: all that the description tells of.
pub fn described(hq: &[WriteRoute]) -> (Router<Arc<Store>>, Vec<Route>) {
    elsewhere::refuse(Routes::new().with(probes::routes).with(own), Owner::Hq, hq).finish()
}

/// What people write here, for headquarters to refuse.
pub fn writes() -> Vec<WriteRoute> {
    own(Routes::new()).writes()
}

fn own(routes: Routes) -> Routes {
    routes
        .with(account::routes)
        // What a shop must be able to do without headquarters, its manager does.
        .with(account::locks::<_, (UsersEdit, ReportsZReport)>)
        .with(directory::routes)
        .with(directory::audit_log::routes::<_, (UsersManageRoles, ReportsZReport)>)
        .with(shelf::routes)
        .with(pos::routes)
        .with(paper::routes)
        .with(registers::routes)
        .with(devices::routes)
        .with(sessions::routes)
        .with(reports::routes)
        .with(safe::routes)
        .with(inventory::routes)
        .with(customers::routes)
        .with(replica::routes)
        .with(handlers::routes)
}
