//! Which numbers of the databases of a store are here, and whether one was given twice.

use std::collections::BTreeMap;

use sea_orm::{ConnectionTrait, DbErr};
use tillkeep_model::Instant;
use tillkeep_model::wire::{Number, SentRange};
use uuid::Uuid;

use crate::db::query;
use crate::envelope::UNREAD;
use crate::sync_log::kept::{OF_DATABASE, highest};

/// Databases of one store that are looked at: each time that it is restored or cloned there is one more.
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
        let sql = format!(
            "SELECT MIN(seq) AS first, \
             MIN(CASE WHEN seq < $4 AND (next IS NULL OR next > seq + 1) THEN seq + 1 END) AS gap \
             FROM (SELECT seq, LEAD(seq) OVER (ORDER BY seq) AS next FROM {OF_DATABASE} \
             WHERE seq >= $3 AND seq <= $4) AS numbers"
        );
        let values = [store.into(), range.node_epoch.as_str().into(), range.first.into(), range.last.into()];
        for row in query(conn, &sql, values).await? {
            let (first, gap): (Option<i64>, Option<i64>) = (row.try_get("", "first")?, row.try_get("", "gap")?);
            let lowest = if first == Some(range.first) { gap } else { Some(range.first) };
            missing = [missing, lowest].into_iter().flatten().min();
        }
    }
    Ok(missing)
}

/// Numbers of one database of a store that one handshake lets it forget the content of.
const FORGOTTEN_AT_ONCE: i64 = 5000;

/// Up to which number of each of its databases HQ has had everything since before `before`, as far as the store still has it
/// whole.
pub async fn long_kept(
    conn: &impl ConnectionTrait,
    store: Uuid,
    sent: &[SentRange],
    before: Instant,
) -> Result<Vec<Number>, DbErr> {
    let mut out = Vec::new();
    for range in newest(sent) {
        let Some(first) = range.whole_from else { continue };
        let last = range.last.min(first.saturating_add(FORGOTTEN_AT_ONCE - 1));
        let sql = format!(
            "SELECT MIN(seq) AS young FROM {OF_DATABASE} WHERE seq >= $3 AND seq <= $4 AND first_seen_at >= $5"
        );
        let values = [store.into(), range.node_epoch.as_str().into(), first.into(), last.into(), before.into()];
        let rows = query(conn, &sql, values).await?;
        let young: Option<i64> = rows.first().map_or(Ok(None), |row| row.try_get("", "young"))?;
        let last = young.map_or(last, |young| young - 1);
        let old = [SentRange { first, last, ..range.clone() }];
        let missing = if last < first { Some(first) } else { lowest_missing(conn, store, &old).await? };
        let seq = missing.map_or(last, |missing| missing - 1);
        if seq >= first {
            out.push(Number { seq, node_epoch: range.node_epoch.clone() });
        }
    }
    Ok(out)
}

/// Whether HQ has less of the newest numbers than a store has sent: then HQ was restored.
pub async fn lacks_recent(conn: &impl ConnectionTrait, store: Uuid, sent: &[SentRange]) -> Result<bool, DbErr> {
    for range in newest(sent) {
        let sql = format!("SELECT COUNT(DISTINCT seq) AS n FROM {OF_DATABASE} WHERE seq > $3 AND seq <= $4");
        let from = range.last.saturating_sub(SentRange::RECENT);
        let values = [store.into(), range.node_epoch.as_str().into(), from.into(), range.last.into()];
        let have = query(conn, &sql, values).await?;
        let have: i64 = have.first().map_or(Ok(0), |row| row.try_get("", "n"))?;
        if have < range.recent {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a store has given one of the numbers `from..=to` to two entries: then it was restored to an older copy and went on
/// from there, as if what it had sent since had never been.
pub async fn numbers_twice(
    conn: &impl ConnectionTrait,
    store: Uuid,
    node_epoch: &str,
    from: i64,
    to: i64,
) -> Result<bool, DbErr> {
    // Known by what an entry is of and when it was made, which every release reads alike. What could not be read says nothing:
    // a newer release may read the same envelope. Nor does the content, which may be made again from the document. One that
    // was pruned is known from another one by its time alone, months before that of whatever comes now.
    let sql = format!(
        "SELECT seq FROM (SELECT seq, COALESCE(said_at, envelope_at) AS envelope_at, \
         entity_type || ' ' || entity_id || ' ' || action || ' ' || CAST(COALESCE(said_at, envelope_at) AS TEXT) AS entry FROM sync_log \
         WHERE store_id = $1 AND node_epoch = $2 AND seq >= $3 AND seq <= $4 \
         AND (code IS NULL OR code NOT IN ({UNREAD})) UNION ALL \
         SELECT k.seq, COALESCE(k.said_at, k.envelope_at), CAST(NULL AS TEXT) FROM sync_log_kept k WHERE k.seq >= $3 AND k.seq <= $4 \
         AND k.node = (SELECT n.id FROM sync_log_nodes n WHERE n.store_id = $1 AND n.node_epoch = $2)) AS entries \
         GROUP BY seq HAVING COUNT(DISTINCT entry) > 1 OR COUNT(DISTINCT envelope_at) > 1 LIMIT 1"
    );
    Ok(!query(conn, &sql, [store.into(), node_epoch.into(), from.into(), to.into()]).await?.is_empty())
}

/// The databases that `store` has had, with the highest number of each: one step through an index for each of them.
pub async fn epochs(conn: &impl ConnectionTrait, store: Uuid) -> Result<BTreeMap<String, i64>, DbErr> {
    let sql = "WITH RECURSIVE e(epoch) AS (\
               SELECT MIN(node_epoch) FROM sync_log WHERE store_id = $1 AND seq IS NOT NULL \
               UNION ALL SELECT (SELECT MIN(node_epoch) FROM sync_log WHERE store_id = $1 AND node_epoch > e.epoch \
               AND seq IS NOT NULL) FROM e WHERE e.epoch IS NOT NULL) \
               SELECT e.epoch AS epoch, (SELECT MAX(seq) FROM sync_log WHERE store_id = $1 AND node_epoch = e.epoch) \
               AS last FROM e WHERE e.epoch IS NOT NULL LIMIT 1000";
    // The log first: what is pruned meanwhile is found in both.
    let logged = query(conn, sql, [store.into()]).await?;
    let mut epochs = highest(conn, store).await?;
    for row in logged {
        let last: i64 = row.try_get("", "last")?;
        let highest = epochs.entry(row.try_get("", "epoch")?).or_default();
        *highest = last.max(*highest);
    }
    Ok(epochs)
}
