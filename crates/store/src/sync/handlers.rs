//! The store-side sync routes: how the line is, what waits, and another try.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;
use tillkeep_http::answer::Paging;
use tillkeep_http::costs;
use tillkeep_http::documents::sales;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::extract::Segment;
use tillkeep_http::{Answer, Caller, List, Params};
use tillkeep_model::permission::code::{ReportsZReport, StoresEdit, StoresView};
use tillkeep_model::wire::{MAX_ATTEMPTS, OutboxState};
use tillkeep_model::{Alarm, Instant};
use tillkeep_storage::entity::outbox::{self as outbox_row, Column};
use tillkeep_storage::entity::{register_session, sale};
use tillkeep_storage::sea_orm::{
    ColumnTrait, Condition, EntityName, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect,
};
use tillkeep_storage::{apply, outbox};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::Store;
use crate::act::Log;
use crate::headquarters::Line;
use crate::sessions::view::knows;
use crate::state::Routes;

/// The table of what waits to be sent.
const OUTBOX: &str = "sync_outbox";

/// How the synchronisation of this store stands.
#[derive(Serialize, ToSchema)]
#[schema(as = SyncStatus)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Status {
    store_id: Uuid,
    store_code: String,
    hq_url: String,
    line: Line,
    outbox: OutboxState,
    /// Entries that have waited alone for a quarter of an hour: headquarters gives no verdict on them, and the others go on.
    outbox_stuck: i64,
    /// What is wrong though the store goes on; headquarters gets it with each cycle.
    alarms: Vec<Alarm>,
    /// The version of each type up to which it was pulled.
    versions: BTreeMap<String, i64>,
    sync_interval_ms: u64,
    server_version: &'static str,
}

#[derive(Serialize, ToSchema)]
#[schema(as = SyncStarted)]
pub(crate) struct Started {
    started: bool,
}

/// How many entries wait again.
#[derive(Serialize, ToSchema)]
pub(crate) struct Requeued {
    requeued: u64,
}

/// The state of an entry: never tried, tried without success, or given up.
#[derive(Clone, Copy, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum OutboxStatus {
    Pending,
    Failed,
    Dead,
}

impl OutboxStatus {
    const fn after(attempts: i32) -> Self {
        match attempts {
            0 => Self::Pending,
            MAX_ATTEMPTS.. => Self::Dead,
            _ => Self::Failed,
        }
    }

    /// The entries in this state.
    fn filter(self) -> Condition {
        // What was refused as its index says it.
        let refused = Condition::all().add(Column::Attempts.gt(0));
        match self {
            Self::Pending => Condition::all().add(Column::Attempts.eq(0)),
            Self::Failed => refused.add(Column::Attempts.lt(MAX_ATTEMPTS)),
            Self::Dead => refused.add(Column::Attempts.gte(MAX_ATTEMPTS)),
        }
    }
}

/// Who sees how a shop stands with headquarters: its manager too.
type See = (StoresView, ReportsZReport);

/// `GET /sync/status`
pub(crate) async fn status(caller: Caller<See>, State(store): State<Arc<Store>>) -> Result<Answer<Status>> {
    let cursors = apply::cursors(caller.reader()).await?;
    Ok(Answer(Status {
        store_id: store.id,
        store_code: store.code.clone(),
        hq_url: store.settings.hq_url.clone(),
        line: store.sync.line(),
        outbox: outbox::state(caller.reader()).await?,
        outbox_stuck: outbox::stuck(caller.reader(), store.clock.now()).await?,
        alarms: store.alarms.all(),
        versions: cursors.into_iter().map(|(name, cursor)| (name.clone(), cursor.version)).collect(),
        sync_interval_ms: u64::try_from(store.settings.sync_interval.as_millis()).unwrap_or(u64::MAX),
        server_version: env!("CARGO_PKG_VERSION"),
    }))
}

/// `POST /sync/now`: a cycle and a push, at once; the answer does not wait for them.
pub(crate) async fn now(caller: Caller<StoresEdit>, State(store): State<Arc<Store>>) -> Result<Answer<Started>> {
    drop(caller);
    store.sync.cycle_bell.notify_one();
    store.outbox_bell.notify_one();
    Ok(Answer(Started { started: true }))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct OutboxQuery {
    status: Option<OutboxStatus>,
    #[schema(minimum = 1, maximum = 1_000_000)]
    page: Option<u64>,
    #[schema(minimum = 1, maximum = 200)]
    page_size: Option<u64>,
}

/// An entry as people see it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OutboxEntry {
    /// Its number is its id.
    id: i64,
    entity_type: String,
    entity_id: Uuid,
    action: String,
    status: OutboxStatus,
    attempts: i32,
    last_error: Option<String>,
    timestamp: Instant,
    last_attempt_at: Option<Instant>,
    dead_lettered_at: Option<Instant>,
    /// Since when it is sent alone, because there was no verdict on it while headquarters answered other requests.
    waits_alone_since: Option<Instant>,
    #[schema(value_type = Option<Object>)]
    data: Option<Box<RawValue>>,
}

/// `GET /sync/outbox?status=pending|failed|dead`
pub(crate) async fn list(
    caller: Caller<See>,
    State(store): State<Arc<Store>>,
    Params(query): Params<OutboxQuery>,
) -> Result<List<OutboxEntry>> {
    let knows = knows(&caller, &store).await?;
    let paging = Paging::new(query.page, query.page_size)?;
    let select = outbox_row::Entity::find().filter(Condition::all().add_option(query.status.map(OutboxStatus::filter)));
    let total = select.clone().count(caller.reader()).await?;
    let rows = select
        .order_by_asc(Column::Seq)
        .limit(paging.size)
        .offset(paging.offset())
        .all(caller.reader())
        .await?
        .into_iter()
        .map(|row| OutboxEntry {
            data: shown(&row.entity_type, row.payload, knows).and_then(costs::stored_document),
            id: row.seq,
            entity_type: row.entity_type,
            entity_id: row.entity_id,
            action: row.action,
            status: OutboxStatus::after(row.attempts),
            attempts: row.attempts,
            last_error: row.last_error,
            timestamp: row.timestamp,
            last_attempt_at: row.last_attempt_at,
            dead_lettered_at: row.dead_lettered_at,
            waits_alone_since: row.waits_alone_since,
        })
        .collect();
    Ok(List::new(rows, total, paging))
}

/// What an entry carries, to a user who `knows` what should be in the drawers or does not: their figures are in it too, and how
/// each sale was paid.
fn shown(entity_type: &str, payload: String, knows: bool) -> Option<String> {
    if knows {
        return Some(payload);
    }
    if entity_type == register_session::Entity.table_name() {
        return None;
    }
    if entity_type == sale::Entity.table_name() {
        return serde_json::from_str(&payload).ok().map(|sale| sales::told(sale).to_string());
    }
    Some(payload)
}

/// `POST /sync/outbox/{id}/requeue`: another ten attempts.
pub(crate) async fn requeue(
    caller: Caller<StoresEdit>,
    State(store): State<Arc<Store>>,
    Segment(id): Segment,
) -> Result<Answer<Requeued>> {
    let seq: i64 = id.parse().map_err(|_| Error::not_found("entry"))?;
    if outbox::find(caller.reader(), seq).await?.is_none() {
        return Err(Error::not_found("entry"));
    }
    retry(&caller, &store, Some(seq)).await
}

/// `POST /sync/outbox/requeue-all`
pub(crate) async fn requeue_all(
    caller: Caller<StoresEdit>,
    State(store): State<Arc<Store>>,
) -> Result<Answer<Requeued>> {
    retry(&caller, &store, None).await
}

/// One entry, or all of them.
async fn retry(caller: &Caller<StoresEdit>, store: &Store, seq: Option<i64>) -> Result<Answer<Requeued>> {
    let act = store.act(caller, "outbox.requeue");
    let act = match seq {
        Some(seq) => act.about(OUTBOX, &seq),
        None => act.about_all(OUTBOX),
    };
    let requeued = act.run(move |tx| {
        Box::pin(async move {
            let requeued = outbox::requeue(tx, seq).await?;
            Ok((requeued, Log::Line(json!({"requeued": requeued}))))
        })
    });
    Ok(Answer(Requeued { requeued: requeued.await? }))
}

/// The routes of the people who watch the synchronisation of their store.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .get("/sync/status", status)
        .about("How the synchronisation of this store stands.")
        .post("/sync/now", now)
        .about("Start a cycle and a push at once.")
        .get("/sync/outbox", list)
        .about("List what waits to be sent.")
        .post("/sync/outbox/{id}/requeue", requeue)
        .about("Give an entry another ten attempts.")
        .post("/sync/outbox/requeue-all", requeue_all)
        .about("Give all entries another ten attempts.")
}
