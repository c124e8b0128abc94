//! `GET /sync/dashboard`: every store with its connection and counters. Specification, sections 2.7 and 2.8.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use tillkeep_http::error::Result;
use tillkeep_http::{Answer, Caller};
use tillkeep_model::Instant;
use tillkeep_model::permission::code::StoresView;
use tillkeep_storage::entity::{store, store_node, sync_status};
use tillkeep_storage::registry;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::Hq;

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Dashboard {
    generated_at: Instant,
    summary: Summary,
    stores: Vec<StoreState>,
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
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DashboardStore)]
struct StoreState {
    store_id: Uuid,
    store_code: String,
    store_name: String,
    active: bool,
    connection: ConnectionInfo,
    last_success_at: Option<Instant>,
    last_error_at: Option<Instant>,
    last_error: Option<String>,
    error_count: i64,
    outbox_pending: i64,
    dead_lettered: i64,
    clock_offset_ms: Option<i64>,
    data_age_seconds: Option<i64>,
    sync: Vec<TypeState>,
}

/// Specification, section 2.8.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = StoreConnection)]
struct ConnectionInfo {
    store_id: Uuid,
    connected: bool,
    store_code: String,
    /// Seconds since the store server started.
    uptime: f64,
    last_heartbeat_at: Option<Instant>,
    connected_at: Option<Instant>,
    seconds_since_heartbeat: Option<i64>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DashboardType)]
struct TypeState {
    entity_type: String,
    direction: String,
    last_success_at: Option<Instant>,
    last_error_at: Option<Instant>,
    last_error: Option<String>,
    pending_count: i32,
    total_pushed: i64,
    total_pulled: i64,
    version: i64,
    head_version: i64,
}

pub async fn dashboard(caller: Caller<StoresView>, State(hq): State<Arc<Hq>>) -> Result<Answer<Dashboard>> {
    // What stores pulled in the last second is still in memory.
    hq.tracker.flush(&hq).await?;
    let now = hq.clock.now();
    let mut select = store::Entity::find().filter(store::Column::DeletedAt.is_null()).order_by_asc(store::Column::Code);
    if let Some(stores) = caller.stores() {
        select = select.filter(store::Column::Id.is_in(stores));
    }
    let conn = caller.db().snapshot().await?;
    let stores = select.all(&conn).await?;
    let mut status: HashMap<Uuid, Vec<sync_status::Model>> = HashMap::new();
    let order = (sync_status::Column::Direction, sync_status::Column::EntityType);
    let rows = sync_status::Entity::find().order_by_asc(order.0).order_by_asc(order.1).all(&conn).await?;
    for row in rows {
        status.entry(row.store_id).or_default().push(row);
    }
    let mut nodes: HashMap<Uuid, store_node::Model> =
        store_node::Entity::find().all(&conn).await?.into_iter().map(|row| (row.store_id, row)).collect();
    let mut summary = Summary { stores: stores.len(), ..Summary::default() };
    let mut shown = Vec::with_capacity(stores.len());
    for store in stores {
        let state = state_of(
            &hq,
            &store,
            status.remove(&store.id).unwrap_or_default(),
            &nodes.remove(&store.id).unwrap_or_default(),
            now,
        );
        summary.connected += usize::from(state.connection.connected);
        summary.pending += state.outbox_pending;
        summary.failed += state.error_count;
        summary.dead_lettered += state.dead_lettered;
        shown.push(state);
    }
    Ok(Answer(Dashboard { generated_at: now, summary, stores: shown }))
}

fn state_of(
    hq: &Hq,
    store: &store::Model,
    status: Vec<sync_status::Model>,
    node: &store_node::Model,
    now: Instant,
) -> StoreState {
    let connection = hq.hub.of(store.id);
    let heartbeat = connection.as_ref().and_then(|connection| connection.heartbeat());
    let last_heartbeat_at = heartbeat.as_ref().map(|(at, _)| *at);
    let beat = heartbeat.as_ref().map(|(_, beat)| beat);
    let last_seen = hq.tracker.last_seen(store.id).max(node.last_seen_at);
    let newest = |field: fn(&sync_status::Model) -> Option<Instant>| status.iter().filter_map(field).max();
    let last_error = status.iter().filter(|row| row.last_error_at.is_some()).max_by_key(|row| row.last_error_at);
    StoreState {
        connection: ConnectionInfo {
            store_id: store.id,
            connected: connection.is_some(),
            store_code: store.code.clone(),
            uptime: beat.map_or(0.0, |beat| beat.uptime),
            last_heartbeat_at,
            connected_at: connection.as_ref().map(|connection| connection.connected_at),
            seconds_since_heartbeat: last_heartbeat_at.map(|at| now.millis_since(at) / 1000),
        },
        store_id: store.id,
        store_code: store.code.clone(),
        store_name: store.name.clone(),
        active: store.is_active,
        last_success_at: newest(|row| row.last_success_at),
        last_error_at: newest(|row| row.last_error_at),
        last_error: last_error.and_then(|row| row.last_error.clone()),
        error_count: status.iter().map(|row| i64::from(row.pending_count)).sum(),
        outbox_pending: beat.and_then(|beat| beat.outbox_pending).unwrap_or(node.outbox_pending),
        dead_lettered: beat.and_then(|beat| beat.dead_lettered).unwrap_or(node.dead_lettered),
        clock_offset_ms: node.clock_offset_ms,
        data_age_seconds: last_seen.map(|at| now.millis_since(at) / 1000),
        sync: status
            .into_iter()
            .map(|row| TypeState {
                head_version: registry::find(&row.entity_type).map_or(0, |entity| hq.heads.of(entity, store.id)),
                version: row.last_since_version,
                entity_type: row.entity_type,
                direction: row.direction,
                last_success_at: row.last_success_at,
                last_error_at: row.last_error_at,
                last_error: row.last_error,
                pending_count: row.pending_count,
                total_pushed: row.total_pushed,
                total_pulled: row.total_pulled,
            })
            .collect(),
    }
}
