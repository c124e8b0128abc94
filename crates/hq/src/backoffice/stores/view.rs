//! A store with what is known of its synchronisation.

use serde::Serialize;
use tillkeep_http::Caller;
use tillkeep_http::error::Result;
use tillkeep_model::Instant;
use tillkeep_model::permission::Requirement;
use tillkeep_storage::entity::store::{Entity, Model};
use tillkeep_storage::entity::{store_node, sync_status};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use tillkeep_storage::{Connection, sync_log};
use utoipa::ToSchema;
use uuid::Uuid;

use super::fields::KIND;
use crate::Hq;
use crate::backoffice::rows;
use crate::sync::rounds;

/// A store with what is known of its synchronisation.
#[derive(Serialize, ToSchema)]
#[schema(as = StoreWithSync)]
pub(crate) struct StoreView {
    #[serde(flatten)]
    store: Model,
    sync: SyncState,
}

#[derive(Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = StoreSync)]
pub(super) struct SyncState {
    pub last_success_at: Option<Instant>,
    /// Pending or failed entries that HQ knows of.
    pub pending_count: i64,
    /// What the store itself last said of its outbox.
    pub outbox_pending: i64,
    pub dead_lettered: i64,
    pub last_seen_at: Option<Instant>,
    pub connected: bool,
}

pub(super) async fn sync_state(hq: &Hq, conn: &Connection, store_id: Uuid) -> Result<SyncState> {
    // What the store did in the last second is still in memory.
    rounds::flush(hq).await?;
    let conn = conn.begin().await?;
    let status = sync_status::Entity::find().filter(sync_status::Column::StoreId.eq(store_id)).all(&conn).await?;
    let node = store_node::Entity::find_by_id(store_id).one(&conn).await?.unwrap_or_default();
    let heard = hq.tracker.heard(store_id, &node, hq.nodes.id);
    let connected = hq.is_connected(store_id, &heard);
    let outbox = heard.said.map(|(_, said)| said.outbox).unwrap_or_default();
    let sent = status.iter().filter(|row| row.direction == sync_log::PUSH);
    Ok(SyncState {
        last_success_at: status.iter().filter_map(|row| row.last_success_at).max(),
        pending_count: sent.map(|row| i64::from(row.pending_count)).sum(),
        outbox_pending: outbox.pending,
        dead_lettered: outbox.dead_lettered,
        last_seen_at: heard.at,
        connected,
    })
}

pub(super) async fn view(hq: &Hq, conn: &Connection, store: Model) -> Result<StoreView> {
    Ok(StoreView { sync: sync_state(hq, conn, store.id).await?, store })
}

/// The store of a route about one store, refused before it is looked up: who may not act there does not learn whether
/// it exists.
pub(super) async fn of_caller<P: Requirement>(caller: &Caller<P>, id: Uuid) -> Result<Model> {
    caller.at_store(id)?;
    rows::find::<Entity>(caller.reader(), &KIND, id).await
}
