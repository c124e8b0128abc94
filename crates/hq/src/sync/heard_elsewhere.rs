//! What a store heard from another server of headquarters: it is never answered from heads below that here.
//! `docs/sync.md`, "Several servers of headquarters".

use axum::http::HeaderMap;
use tillkeep_http::error::Result;
use tillkeep_storage::{Change, registry};
use uuid::Uuid;

use crate::Hq;

/// The header with types and versions: `products:4711,tenders:3`.
const HEADER: &str = "tillkeep-told";

/// Reads from the database what `headers` name beyond the heads in memory.
pub(super) async fn heed(hq: &Hq, store_id: Uuid, headers: &HeaderMap) -> Result<()> {
    let Some(text) = headers.get(HEADER).and_then(|value| value.to_str().ok()) else { return Ok(()) };
    let beyond: Vec<Change> = text.split(',').filter_map(|item| beyond(hq, store_id, item)).collect();
    if !beyond.is_empty() {
        let missed = hq.heads.missed_of(hq.sync_db(), &beyond).await?;
        hq.learn(&missed);
        hq.notifications.tell_sockets(&missed);
    }
    Ok(())
}

fn beyond(hq: &Hq, store_id: Uuid, item: &str) -> Option<Change> {
    let (name, version) = item.trim().split_once(':')?;
    let entity = registry::find(name).filter(|entity| entity.is_pulled())?;
    let version = version.parse().ok()?;
    let scope = Some(registry::counter_scope(entity, store_id)).filter(|scope| !scope.is_nil());
    (version > hq.heads.get(entity, store_id).version).then_some(Change {
        entity_type: entity.name,
        store: scope,
        version,
        tag: None,
    })
}
