//! The store-side sync routes: how the line is, what waits, and another try.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;
use tillkeep_http::answer::Paging;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::{Answer, Caller, List, Params};
use tillkeep_model::Instant;
use tillkeep_model::permission::code::{StoresEdit, StoresView};
use tillkeep_model::wire::MAX_ATTEMPTS;
use tillkeep_storage::entity::outbox as outbox_row;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect};
use tillkeep_storage::{apply, audit, outbox};
use uuid::Uuid;

use crate::Store;
use crate::lists::Segment;

/// `GET /sync/status`
pub async fn status(caller: Caller<StoresView>, State(store): State<Arc<Store>>) -> Result<Answer<serde_json::Value>> {
    let cursors = apply::cursors(caller.db().reader()).await?;
    let versions: std::collections::BTreeMap<_, _> =
        cursors.into_iter().map(|(name, cursor)| (name, cursor.version)).collect();
    Ok(Answer(json!({
        "storeId": store.id,
        "storeCode": store.code,
        "hqUrl": store.settings.hq_url,
        "line": store.sync.line(),
        "outbox": outbox::state(caller.db().reader()).await?,
        "versions": versions,
        "syncIntervalMs": u64::try_from(store.settings.sync_interval.as_millis()).unwrap_or(u64::MAX),
        "serverVersion": env!("CARGO_PKG_VERSION"),
    })))
}

/// `POST /sync/now`: a cycle and a push, at once; the answer does not wait for them.
pub async fn now(caller: Caller<StoresEdit>, State(store): State<Arc<Store>>) -> Result<Answer<serde_json::Value>> {
    drop(caller);
    store.sync.cycle_bell.notify_one();
    store.outbox_bell.notify_one();
    Ok(Answer(json!({"started": true})))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OutboxQuery {
    status: Option<String>,
    page: Option<u64>,
    page_size: Option<u64>,
}

/// An entry as people see it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OutboxEntry {
    /// Its number is its id.
    id: i64,
    entity_type: String,
    entity_id: Uuid,
    action: String,
    status: &'static str,
    attempts: i32,
    last_error: Option<String>,
    timestamp: Instant,
    last_attempt_at: Option<Instant>,
    dead_lettered_at: Option<Instant>,
    data: Option<Box<RawValue>>,
}

const fn status_of(attempts: i32) -> &'static str {
    match attempts {
        0 => "pending",
        MAX_ATTEMPTS.. => "dead",
        _ => "failed",
    }
}

/// `GET /sync/outbox?status=pending|failed|dead`
pub async fn list(caller: Caller<StoresView>, Params(query): Params<OutboxQuery>) -> Result<List<OutboxEntry>> {
    use outbox_row::Column;
    let paging = Paging::of(query.page, query.page_size)?;
    let mut select = outbox_row::Entity::find();
    select = match query.status.as_deref() {
        None => select,
        Some("pending") => select.filter(Column::Attempts.eq(0)),
        Some("failed") => select.filter(Column::Attempts.between(1, MAX_ATTEMPTS - 1)),
        Some("dead") => select.filter(Column::Attempts.gte(MAX_ATTEMPTS)),
        Some(_) => return Err(Error::field("status", "must be one of pending, failed, dead")),
    };
    let total = select.clone().count(caller.db().reader()).await?;
    let rows = select
        .order_by_asc(Column::Seq)
        .limit(paging.size)
        .offset(paging.offset())
        .all(caller.db().reader())
        .await?
        .into_iter()
        .map(|row| OutboxEntry {
            id: row.seq,
            entity_type: row.entity_type,
            entity_id: row.entity_id,
            action: row.action,
            status: status_of(row.attempts),
            attempts: row.attempts,
            last_error: row.last_error,
            timestamp: row.timestamp,
            last_attempt_at: row.last_attempt_at,
            dead_lettered_at: row.dead_lettered_at,
            data: RawValue::from_string(row.payload).ok(),
        })
        .collect();
    Ok(List { rows, total, paging })
}

/// `POST /sync/outbox/{id}/requeue`: another ten attempts.
pub async fn requeue(
    caller: Caller<StoresEdit>,
    State(store): State<Arc<Store>>,
    Segment(id): Segment,
) -> Result<Answer<serde_json::Value>> {
    let seq: i64 = id.parse().map_err(|_| Error::not_found("entry"))?;
    if outbox::find(caller.db().reader(), seq).await?.is_none() {
        return Err(Error::not_found("entry"));
    }
    again(&caller, &store, Some(seq)).await
}

/// `POST /sync/outbox/requeue-all`
pub async fn requeue_all(
    caller: Caller<StoresEdit>,
    State(store): State<Arc<Store>>,
) -> Result<Answer<serde_json::Value>> {
    again(&caller, &store, None).await
}

async fn again(caller: &Caller<StoresEdit>, store: &Store, seq: Option<i64>) -> Result<Answer<serde_json::Value>> {
    let tx = caller.db().begin().await?;
    let requeued = outbox::requeue(&tx, seq).await?;
    let entry = audit::Entry {
        entity_type: Some("sync_outbox"),
        entity_id: seq.map(|seq| seq.to_string()),
        details: json!({"requeued": requeued}),
        ..caller.audit("outbox.requeue")
    };
    audit::record(&tx, entry, caller.now()).await?;
    store.commit(tx).await?;
    Ok(Answer(json!({"requeued": requeued})))
}
