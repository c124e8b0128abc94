//! What stays of successes that leave the log: enough that an envelope has no effect when it comes again, however late, and
//! that its number is missing nowhere. `docs/sync.md`, rule U13.
//!
//! Whoever asks for numbers reads both tables, through [`OF_DATABASE`] and [`OF_STORE`]. A row moves from one to the other in
//! one transaction; who needs two statements reads the log first.

use std::collections::{BTreeMap, BTreeSet};

use sea_orm::sea_query::{Expr, OnConflict};
use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, Order, QueryFilter, QueryOrder, QuerySelect};
use tillkeep_model::Instant;
use uuid::Uuid;

use super::words::{NOTHING_NEW, SKIPPED, SUCCESS};
use crate::db::{Turn, execute, query, take_turn};
use crate::entity::{sync_log, sync_log_kept, sync_log_node};
use crate::many::execute_in;
use crate::sql::bulk;
use crate::{Db, Tx, fault};

/// The numbered entries of one database of a store, `$1` and `$2`, to be selected from: `seq`, `first_seen_at`.
pub(crate) const OF_DATABASE: &str = "(SELECT seq, first_seen_at FROM sync_log \
     WHERE store_id = $1 AND node_epoch = $2 AND seq IS NOT NULL \
     UNION ALL SELECT k.seq, k.first_seen_at FROM sync_log_kept k WHERE k.seq > 0 \
     AND k.node = (SELECT n.id FROM sync_log_nodes n WHERE n.store_id = $1 AND n.node_epoch = $2)) AS entries";

/// The same of all databases of the store `$1`: `node_epoch`, `seq`.
pub(crate) const OF_STORE: &str = "(SELECT node_epoch, seq FROM sync_log \
     WHERE store_id = $1 AND seq IS NOT NULL AND node_epoch IS NOT NULL \
     UNION ALL SELECT n.node_epoch, k.seq FROM sync_log_nodes n JOIN sync_log_kept k ON k.node = n.id \
     WHERE n.store_id = $1 AND n.node_epoch <> '' AND k.seq > 0) AS entries";

/// The part of a hash that is kept.
pub(crate) fn half_of(hash: &str) -> Option<Uuid> {
    hash.get(..32).and_then(|half| Uuid::try_parse(half).ok())
}

/// Rows of the log that one transaction moves: a fraction of a second, for which a push of `SQLite` waits.
pub const AT_ONCE: u64 = 1000;

/// What one transaction has moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    pub rows: u64,
    /// From when on there may be more of this store.
    pub next: Option<Instant>,
}

/// The stores with successes that were first seen before then.
pub async fn stores_before(conn: &impl ConnectionTrait, before: Instant) -> Result<Vec<Uuid>, DbErr> {
    let sql = format!(
        "SELECT s.id FROM stores s WHERE EXISTS (SELECT 1 FROM sync_log l WHERE l.store_id = s.id \
         AND l.first_seen_at < $1 AND l.status IN ('{SUCCESS}', '{SKIPPED}')) ORDER BY s.code"
    );
    query(conn, &sql, [before.into()]).await?.iter().map(|row| row.try_get("", "id")).collect()
}

/// Moves the oldest successes of a store, first seen from `from` until before `before`, into the narrow table. What was refused
/// stays in the log, settled or not.
pub async fn prune(db: &Db, store: Uuid, from: Instant, before: Instant) -> Result<Batch, DbErr> {
    use sync_log::Column;
    let tx = db.begin_aside().await?;
    // Of two servers at once the second finds what the first one left.
    take_turn(&tx, Turn::Prune).await?;
    let old = sync_log::Entity::find()
        .filter(Column::StoreId.eq(store))
        .filter(Column::FirstSeenAt.gte(from))
        .filter(Column::FirstSeenAt.lt(before))
        .filter(Column::Status.is_in([SUCCESS, SKIPPED]))
        .filter(Column::ToAcknowledge.eq(false))
        .filter(Column::ResolvedBy.is_null())
        .order_by(Column::FirstSeenAt, Order::Asc)
        .limit(AT_ONCE)
        .lock_exclusive()
        .all(&tx)
        .await?;
    let next = old.last().filter(|_| u64::try_from(old.len()) == Ok(AT_ONCE)).map(|row| row.first_seen_at);
    let nodes = nodes(&tx, store, &old).await?;
    let (mut kept, mut gone) = (BTreeMap::new(), Vec::with_capacity(old.len()));
    for row in &old {
        // All that a push logs as a success has these; what another writer wrote otherwise stays.
        let Some(narrow) = nodes.get(epoch_of(row)).and_then(|node| narrow(row, node)) else { continue };
        gone.push(row.id);
        let entry = kept.entry((narrow.node, narrow.seq, narrow.hash));
        entry.and_modify(|known| add(known, &narrow)).or_insert(narrow);
    }
    insert(&tx, kept.into_values().collect()).await?;
    fault::point("prune.kept")?;
    let rows = u64::try_from(gone.len()).unwrap_or_default();
    execute_in(&tx, "DELETE FROM sync_log WHERE id IN ($list)", &[], gone).await?;
    tx.commit().await?;
    // Where nothing can be moved, there is nothing to come back for.
    Ok(Batch { rows, next: next.filter(|_| rows > 0) })
}

fn epoch_of(row: &sync_log::Model) -> &str {
    row.node_epoch.as_deref().unwrap_or_default()
}

/// The databases of the rows under their numbers, with new ones for those that have none.
async fn nodes(
    tx: &Tx,
    store_id: Uuid,
    rows: &[sync_log::Model],
) -> Result<BTreeMap<String, sync_log_node::Model>, DbErr> {
    use sync_log_node::{Column, Entity, Model};
    let known = Entity::find().filter(Column::StoreId.eq(store_id)).order_by(Column::Id, Order::Asc).all(tx).await?;
    let mut store = known.first().map(|node| node.store);
    let mut nodes: BTreeMap<String, Model> = known.into_iter().map(|node| (node.node_epoch.clone(), node)).collect();
    let highest = query(tx, "SELECT COALESCE(MAX(id), 0) AS last FROM sync_log_nodes", []).await?;
    let mut last: i32 = highest.first().map_or(Ok(0), |row| row.try_get("", "last"))?;
    let mut changed = BTreeSet::new();
    for row in rows {
        let node = nodes.entry(epoch_of(row).to_owned()).or_insert_with(|| {
            last += 1;
            let store = *store.get_or_insert(last);
            Model { id: last, store, store_id, node_epoch: epoch_of(row).to_owned(), ..Model::default() }
        });
        node.kept_until = node.kept_until.max(row.first_seen_at);
        node.envelope_until = node.envelope_until.max(row.envelope_at.unwrap_or_default());
        changed.insert(node.node_epoch.clone());
    }
    let changed: Vec<_> = nodes.values().filter(|node| changed.contains(&node.node_epoch)).cloned().collect();
    let newer = OnConflict::column(Column::Id).update_columns([Column::KeptUntil, Column::EnvelopeUntil]).to_owned();
    bulk::insert::<Entity>(tx, changed, Some(newer)).await?;
    Ok(nodes)
}

/// What is kept of a row.
fn narrow(row: &sync_log::Model, node: &sync_log_node::Model) -> Option<sync_log_kept::Model> {
    let applied = row.status == SUCCESS || row.note.as_deref() == Some(NOTHING_NEW);
    Some(sync_log_kept::Model {
        node: node.id,
        store: node.store,
        seq: row.seq.unwrap_or_default(),
        envelope_at: row.envelope_at?,
        said_at: row.said_at,
        first_seen_at: row.first_seen_at,
        hash: half_of(&row.hash)?,
        entity_id: row.entity_id.parse().ok()?,
        applied: applied.into(),
        warned: row.warning.is_some().into(),
        entity_type: row.entity_type.clone(),
    })
}

/// The same envelope came again.
fn add(known: &mut sync_log_kept::Model, again: &sync_log_kept::Model) {
    known.applied = known.applied.saturating_add(again.applied);
    known.warned = known.warned.saturating_add(again.warned);
}

async fn insert(tx: &Tx, rows: Vec<sync_log_kept::Model>) -> Result<(), DbErr> {
    use sync_log_kept::{Column, Entity};
    let again = OnConflict::columns([Column::Node, Column::Seq, Column::Hash])
        .value(Column::Applied, Expr::cust("sync_log_kept.applied + excluded.applied"))
        .value(Column::Warned, Expr::cust("sync_log_kept.warned + excluded.warned"))
        .to_owned();
    bulk::insert::<Entity>(tx, rows, Some(again)).await?;
    Ok(())
}

/// The databases of `store` with the highest number of each.
pub(crate) async fn highest(conn: &impl ConnectionTrait, store: Uuid) -> Result<BTreeMap<String, i64>, DbErr> {
    let sql = "SELECT node_epoch, last FROM (SELECT n.node_epoch AS node_epoch, \
               (SELECT MAX(k.seq) FROM sync_log_kept k WHERE k.node = n.id) AS last FROM sync_log_nodes n \
               WHERE n.store_id = $1 AND n.node_epoch <> '') AS nodes WHERE last > 0";
    let rows = query(conn, sql, [store.into()]).await?;
    rows.iter().map(|row| Ok((row.try_get("", "node_epoch")?, row.try_get("", "last")?))).collect()
}

/// Numbers of a store above `last` are none from now on. See [`crate::known_numbers::set`].
pub(crate) async fn forget_numbers(tx: &Tx, store: Uuid, last: i64) -> Result<(), DbErr> {
    const ABOVE: &str = "seq > $2 AND node IN (SELECT id FROM sync_log_nodes WHERE store_id = $1)";
    // One envelope may have come with two numbers, and has none after this.
    let without = format!(
        "INSERT INTO sync_log_kept (node, store, seq, envelope_at, said_at, first_seen_at, hash, entity_id, applied, warned, \
         entity_type) SELECT node, store, 0, MIN(envelope_at), said_at, MIN(first_seen_at), hash, entity_id, MAX(applied), \
         MAX(warned), entity_type FROM sync_log_kept WHERE {ABOVE} \
         GROUP BY node, store, said_at, hash, entity_id, entity_type ON CONFLICT (node, seq, hash) DO NOTHING"
    );
    execute(tx, &without, [store.into(), last.into()]).await?;
    execute(tx, &format!("DELETE FROM sync_log_kept WHERE {ABOVE}"), [store.into(), last.into()]).await?;
    Ok(())
}
