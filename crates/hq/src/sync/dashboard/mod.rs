//! How each store and its synchronisation stand: once, or as a stream of events. Specification, sections 2.7 and 2.8.

pub(crate) mod metrics;
mod overview;
pub(crate) mod states;
mod stream;
mod updates;

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::State;
use serde::Deserialize;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::{Answer, Caller, Params};
use tillkeep_model::Instant;
use tillkeep_model::permission::code::StoresView;
use utoipa::ToSchema;
use uuid::Uuid;

use super::rounds;
use crate::Hq;
use crate::live::store_state::StoreState;
use crate::state::Routes;
use overview::Dashboard;
use states::Which;
pub(crate) use updates::start;

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = DashboardQuery)]
pub(crate) struct Query {
    /// `storeCode` when not said; or `-severity`, `-errorCount`, `-deadLettered`, `-outboxPending`, `-warnings`, `-lastErrorAt`,
    /// `lastSuccessAt`, each from what is worst.
    sort: Option<String>,
    /// Only stores of which something came, or failed, since then.
    #[schema(value_type = Option<Instant>)]
    since: Option<String>,
    /// Only this store.
    store_id: Option<Uuid>,
}

/// `GET /sync/dashboard`
pub(crate) async fn dashboard(
    caller: Caller<StoresView>,
    State(hq): State<Arc<Hq>>,
    Params(query): Params<Query>,
) -> Result<Answer<Dashboard>> {
    let since = query.since.as_deref().map(|text| {
        Instant::parse(text).ok_or_else(|| Error::field("since", "must be an instant like 2026-11-20T12:34:56.789Z"))
    });
    let since = since.transpose()?;
    // What stores pulled in the last second is still in memory.
    rounds::flush(&hq).await?;
    let mut scope = caller.stores();
    if let Some(id) = query.store_id {
        caller.at_store(id)?;
        scope = Some(BTreeSet::from([id]));
    }
    let which = scope.as_ref().map_or(Which::All, Which::These);
    let mut dashboard = Dashboard::new(&hq, states::overview(&hq, caller.reader(), which).await?);
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
        "-severity" => stores.sort_by_key(|state| Reverse(state.severity)),
        "-errorCount" => stores.sort_by_key(|state| Reverse(state.error_count)),
        "-deadLettered" => stores.sort_by_key(|state| Reverse(state.dead_lettered)),
        "-outboxPending" => stores.sort_by_key(|state| Reverse(state.outbox_pending)),
        "-warnings" => stores.sort_by_key(|state| Reverse(state.warnings)),
        "-lastErrorAt" => stores.sort_by_key(|state| Reverse(state.last_error_at)),
        "lastSuccessAt" => stores.sort_by_key(|state| state.last_success_at),
        other => {
            let text = "choose of storeCode, -severity, -errorCount, -deadLettered, -outboxPending, -warnings, -lastErrorAt, \
                        lastSuccessAt";
            return Err(Error::field("sort", format!("cannot sort by {other}; {text}")));
        }
    }
    Ok(())
}

/// The routes of the dashboard.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .get("/sync/dashboard", dashboard)
        .about("How each store and its synchronisation stand.")
        .get("/sync/dashboard/stream", stream::stream)
        .about("The same as events: a snapshot, then what changes.")
}
