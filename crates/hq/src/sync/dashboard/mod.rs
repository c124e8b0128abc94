//! How each store and its synchronisation stand: once, or as a stream of events. Specification, sections 2.7 and 2.8.

mod board;
mod metrics;
mod states;
mod stream;

use std::cmp::Reverse;
use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::{Answer, Caller, Params};
use tillkeep_model::Instant;
use tillkeep_model::permission::code::StoresView;
use utoipa::ToSchema;

pub use board::{Board, start};
pub use metrics::StoreMetrics;
use states::{StoreState, Which};

use super::nodes::NodeInfo;
use super::notify::Standing;
use super::unreadable::UnreadableRow;
use crate::Hq;
use crate::replica::{Followed, ReplicaStanding};
use crate::routes::Routes;

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Dashboard {
    generated_at: Instant,
    summary: Summary,
    stores: Vec<StoreState>,
    /// The servers of headquarters that run.
    nodes: Vec<NodeInfo>,
    /// Rows that cannot be read here, and that stores go without until somebody mends them.
    unreadable: Vec<UnreadableRow>,
}

#[derive(Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DashboardSummary)]
struct Summary {
    stores: usize,
    connected: usize,
    pending: i64,
    failed: i64,
    dead_lettered: i64,
    warnings: i64,
    /// Stores that are connected and whose oldest entry has waited for more than five minutes.
    outbox_stuck: usize,
    /// Stores of which two copies run at once.
    running_twice: usize,
    /// Stores that could not store some type.
    unstored: usize,
    /// Active stores that were never heard of.
    never_started: usize,
    notifications: Standing,
    /// Null without a read replica.
    read_replica: Option<ReplicaStanding>,
}

impl Dashboard {
    fn of(hq: &Hq, stores: Vec<StoreState>) -> Self {
        let notifications = hq.notifications.standing().borrow().clone();
        let read_replica = hq.replica.get().map(Followed::standing);
        let mut summary = Summary { stores: stores.len(), notifications, read_replica, ..Summary::default() };
        for state in &stores {
            summary.connected += usize::from(state.connection.connected);
            summary.pending += state.outbox_pending;
            summary.failed += state.error_count;
            summary.dead_lettered += state.dead_lettered;
            summary.warnings += state.warnings;
            summary.outbox_stuck += usize::from(state.outbox_stuck);
            summary.running_twice += usize::from(state.runs_twice_since.is_some());
            summary.never_started += usize::from(state.active && state.first_heard_at.is_none());
            summary.unstored += usize::from(!state.unstored.is_empty());
        }
        let unreadable = hq.unreadable.rows().borrow().clone();
        Self { generated_at: hq.clock.now(), summary, stores, nodes: hq.nodes.list(hq), unreadable }
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = DashboardQuery)]
pub struct Query {
    /// `storeCode` when not said; or `-errorCount`, `-deadLettered`, `-outboxPending`, `-warnings`, `-lastErrorAt`,
    /// `lastSuccessAt`, each from what is worst.
    sort: Option<String>,
    /// Only stores of which something came, or failed, since then.
    #[schema(value_type = Option<Instant>)]
    since: Option<String>,
}

/// `GET /sync/dashboard`
pub async fn dashboard(
    caller: Caller<StoresView>,
    State(hq): State<Arc<Hq>>,
    Params(query): Params<Query>,
) -> Result<Answer<Dashboard>> {
    let since = query.since.as_deref().map(|text| {
        Instant::parse(text).ok_or_else(|| Error::field("since", "must be an instant like 2026-11-20T12:34:56.789Z"))
    });
    let since = since.transpose()?;
    // What stores pulled in the last second is still in memory.
    hq.tracker.flush(&hq).await?;
    let scope = caller.stores();
    let which = scope.as_ref().map_or(Which::All, Which::These);
    let mut dashboard = Dashboard::of(&hq, states::load(&hq, caller.db(), which).await?);
    if let Some(since) = since {
        dashboard.stores.retain(|state| state.newest().is_some_and(|newest| newest >= since));
    }
    sort(&mut dashboard.stores, query.sort.as_deref().unwrap_or("storeCode"))?;
    Ok(Answer(dashboard))
}

/// The stores come sorted by code, and stay so among equals.
fn sort(stores: &mut [StoreState], by: &str) -> Result<()> {
    match by {
        "storeCode" => {}
        "-errorCount" => stores.sort_by_key(|state| Reverse(state.error_count)),
        "-deadLettered" => stores.sort_by_key(|state| Reverse(state.dead_lettered)),
        "-outboxPending" => stores.sort_by_key(|state| Reverse(state.outbox_pending)),
        "-warnings" => stores.sort_by_key(|state| Reverse(state.warnings)),
        "-lastErrorAt" => stores.sort_by_key(|state| Reverse(state.last_error_at)),
        "lastSuccessAt" => stores.sort_by_key(|state| state.last_success_at),
        other => {
            let text = "choose of storeCode, -errorCount, -deadLettered, -outboxPending, -warnings, -lastErrorAt, \
                        lastSuccessAt";
            return Err(Error::field("sort", format!("cannot sort by {other}; {text}")));
        }
    }
    Ok(())
}

/// The routes of the dashboard.
pub fn routes(routes: Routes) -> Routes {
    routes
        .get("/sync/dashboard", dashboard)
        .about("How each store and its synchronisation stand.")
        .get("/sync/dashboard/stream", stream::stream)
        .about("The same as events: a snapshot, then what changes.")
}
