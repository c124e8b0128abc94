//! What HQ knows of the installation behind a store: its database's identity, its ticket, its clock, its outbox.

use std::collections::BTreeMap;

use sea_orm::sea_query::OnConflict;
use sea_orm::{ConnectionTrait, DbErr, EntityTrait, IntoActiveModel, Iterable, Value};
use tillkeep_model::Instant;
use tillkeep_model::wire::{Acknowledged, SentRange};
use uuid::Uuid;

use crate::db::{execute, query, rows_per_statement};
use crate::entity::store_node::{Column, Entity, Model};

pub async fn find(conn: &impl ConnectionTrait, store: Uuid) -> Result<Option<Model>, DbErr> {
    Entity::find_by_id(store).one(conn).await
}

/// Writes the whole row.
pub async fn save(conn: &impl ConnectionTrait, row: Model) -> Result<(), DbErr> {
    let update = Column::iter().filter(|column| !matches!(column, Column::StoreId));
    Entity::insert(row.into_active_model())
        .on_conflict(OnConflict::column(Column::StoreId).update_columns(update).to_owned())
        .exec_without_returning(conn)
        .await?;
    Ok(())
}

/// Notes when stores were last heard of, set-wise.
pub async fn seen(conn: &impl ConnectionTrait, seen: &[(Uuid, Instant)]) -> Result<(), DbErr> {
    for chunk in seen.chunks(rows_per_statement(2)) {
        let tuples: Vec<String> = (0..chunk.len())
            .map(|index| format!("(${}, '', '', '', 0, '', '', '', 0, 0, ${})", 2 * index + 1, 2 * index + 2))
            .collect();
        let values: Vec<Value> = chunk.iter().flat_map(|(store, at)| [(*store).into(), (*at).into()]).collect();
        let sql = format!(
            "INSERT INTO store_nodes (store_id, node_epoch, ticket, last_ticket, last_seq, store_version, fingerprints, \
             told_fingerprints, outbox_pending, dead_lettered, last_seen_at) VALUES {} \
             ON CONFLICT (store_id) DO UPDATE SET last_seen_at = excluded.last_seen_at",
            tuples.join(", ")
        );
        execute(conn, &sql, values).await?;
    }
    Ok(())
}

/// Databases of one store that are looked at: each time that it is put back or cloned there is one more.
const EPOCHS: usize = 100;

/// The newest of what a store says it has sent. Each range costs a query, and how many there are is the store's word.
fn newest(sent: &[SentRange]) -> Vec<&SentRange> {
    let mut ranges: Vec<&SentRange> = sent.iter().collect();
    ranges.sort_unstable_by_key(|range| std::cmp::Reverse(range.last));
    ranges.truncate(EPOCHS);
    ranges
}

/// What HQ lacks of what a store says it has sent: the lowest number of it. `None` when nothing is missing.
///
/// Entries that still wait in the store's outbox lie between those that were sent, and are found missing too: what comes
/// of this is sending more than needed, never less.
pub async fn lowest_missing(
    conn: &impl ConnectionTrait,
    store: Uuid,
    sent: &[SentRange],
) -> Result<Option<i64>, DbErr> {
    let mut missing: Option<i64> = None;
    for range in newest(sent) {
        let sql = "SELECT MIN(l.seq) AS first, (SELECT MIN(g.seq) + 1 FROM sync_log g WHERE g.store_id = $1 \
                   AND g.node_epoch = $2 AND g.seq >= $3 AND g.seq < $4 AND NOT EXISTS (SELECT 1 FROM sync_log n \
                   WHERE n.store_id = $1 AND n.node_epoch = $2 AND n.seq = g.seq + 1)) AS gap \
                   FROM sync_log l WHERE l.store_id = $1 AND l.node_epoch = $2 AND l.seq >= $3 AND l.seq <= $4";
        let values = [store.into(), range.node_epoch.as_str().into(), range.first.into(), range.last.into()];
        for row in query(conn, sql, values).await? {
            let (first, gap): (Option<i64>, Option<i64>) = (row.try_get("", "first")?, row.try_get("", "gap")?);
            let lowest = if first == Some(range.first) { gap } else { Some(range.first) };
            missing = [missing, lowest].into_iter().flatten().min();
        }
    }
    Ok(missing)
}

/// Whether HQ has less of the newest numbers than a store has sent: then HQ was put back.
pub async fn lacks_recent(conn: &impl ConnectionTrait, store: Uuid, sent: &[SentRange]) -> Result<bool, DbErr> {
    for range in newest(sent) {
        let sql = "SELECT COUNT(DISTINCT seq) AS n FROM sync_log WHERE store_id = $1 AND node_epoch = $2 \
                   AND seq > $3 AND seq <= $4";
        let from = range.last.saturating_sub(SentRange::RECENT);
        let values = [store.into(), range.node_epoch.as_str().into(), from.into(), range.last.into()];
        let have = query(conn, sql, values).await?;
        let have: i64 = have.first().map_or(Ok(0), |row| row.try_get("", "n"))?;
        if have < range.recent {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a store has given one of the numbers `from..=to` to two entries: then it was put back to an older copy and went on
/// from there, as if what it had sent since had never been.
pub async fn numbers_twice(
    conn: &impl ConnectionTrait,
    store: Uuid,
    node_epoch: &str,
    from: i64,
    to: i64,
) -> Result<bool, DbErr> {
    let sql = "SELECT seq FROM sync_log WHERE store_id = $1 AND node_epoch = $2 AND seq >= $3 AND seq <= $4 \
               GROUP BY seq HAVING COUNT(DISTINCT hash) > 1 LIMIT 1";
    Ok(!query(conn, sql, [store.into(), node_epoch.into(), from.into(), to.into()]).await?.is_empty())
}

/// The databases that `store` has had, with the highest number of each: one step through the index for each of them.
pub async fn epochs(conn: &impl ConnectionTrait, store: Uuid) -> Result<BTreeMap<String, i64>, DbErr> {
    let sql = "WITH RECURSIVE e(epoch) AS (\
               SELECT MIN(node_epoch) FROM sync_log WHERE store_id = $1 AND seq IS NOT NULL \
               UNION ALL SELECT (SELECT MIN(node_epoch) FROM sync_log WHERE store_id = $1 AND node_epoch > e.epoch \
               AND seq IS NOT NULL) FROM e WHERE e.epoch IS NOT NULL) \
               SELECT e.epoch AS epoch, (SELECT MAX(seq) FROM sync_log WHERE store_id = $1 AND node_epoch = e.epoch) \
               AS last FROM e WHERE e.epoch IS NOT NULL LIMIT 1000";
    query(conn, sql, [store.into()])
        .await?
        .iter()
        .map(|row| Ok((row.try_get("", "epoch")?, row.try_get("", "last")?)))
        .collect()
}

/// Outbox entries that somebody settled at HQ and `store` does not know of yet. They are told with `ticket`, and count as
/// told when it comes back: [`acknowledged`].
pub async fn to_acknowledge(conn: &impl ConnectionTrait, store: Uuid, ticket: &str) -> Result<Vec<Settled>, DbErr> {
    use tillkeep_model::wire::Outcome;
    // Noted first: what somebody settles from here on was not told.
    let sql = "UPDATE sync_log SET told_in = $2 WHERE store_id = $1 AND to_acknowledge AND seq IS NOT NULL";
    if execute(conn, sql, [store.into(), ticket.into()]).await? == 0 {
        return Ok(Vec::new());
    }
    let sql = "SELECT seq, node_epoch, entity_type, entity_id, status, resolved_by FROM sync_log WHERE store_id = $1 \
               AND to_acknowledge AND seq IS NOT NULL AND told_in = $2 ORDER BY seq";
    query(conn, sql, [store.into(), ticket.into()])
        .await?
        .iter()
        .map(|row| {
            let status: String = row.try_get("", "status")?;
            // What a later envelope closed was nobody's decision to leave it: HQ has the row.
            let by_hand = row.try_get::<Option<Uuid>>("", "resolved_by")?.is_some();
            let left = by_hand && status != crate::sync_log::RETRIED;
            let outcome = if left { Outcome::Resolved } else { Outcome::Ok };
            let told = Acknowledged {
                seq: row.try_get("", "seq")?,
                outcome,
                node_epoch: row.try_get("", "node_epoch")?,
                entity_id: row.try_get("", "entity_id")?,
            };
            Ok(Settled { entity_type: row.try_get("", "entity_type")?, told })
        })
        .collect()
}

/// An entry that was settled, and its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    pub entity_type: String,
    pub told: Acknowledged,
}

/// The store presented `ticket`: it has what was told with it.
pub async fn acknowledged(conn: &impl ConnectionTrait, store: Uuid, ticket: &str) -> Result<(), DbErr> {
    let sql = "UPDATE sync_log SET to_acknowledge = FALSE WHERE store_id = $1 AND to_acknowledge AND told_in = $2";
    execute(conn, sql, [store.into(), ticket.into()]).await?;
    Ok(())
}

/// The stores that are still to be told something.
pub async fn stores_to_tell(conn: &impl ConnectionTrait) -> Result<Vec<Uuid>, DbErr> {
    let sql = "SELECT DISTINCT store_id FROM sync_log WHERE to_acknowledge";
    query(conn, sql, []).await?.iter().map(|row| row.try_get("", "store_id")).collect()
}
