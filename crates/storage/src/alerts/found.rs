//! What is wrong by the rows of stores, found for all of them in one statement each.

use std::collections::HashMap;

use sea_orm::{ConnectionTrait, DbErr};
use tillkeep_model::Instant;
use tillkeep_model::state::SessionStatus;
use uuid::Uuid;

use crate::attempts::Kind;
use crate::db::query;
use crate::fiscal::CHAIN_BROKEN;

/// What is missing of a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    pub since: Instant,
    /// Documents of its drawers, or entries of its outbox where those are more.
    pub missing: i64,
}

/// The stores of which something is missing, how much and since when: drawers of business days from `from` (such as `2026-11-20`) on that
/// were closed before `until` with more documents than headquarters has of them, and entries up to the last one that a store named,
/// though nothing of it waits. `docs/sync.md`, rule U13.
pub async fn gaps(conn: &impl ConnectionTrait, from: &str, until: Instant) -> Result<HashMap<Uuid, Gap>, DbErr> {
    // More may have come than were counted: a void is the row of its sale, and a copy that ran on has its own.
    let of_drawers = "SELECT m.store_id, MIN(m.closed_at) AS since, CAST(SUM(m.sale_count - m.here) AS BIGINT) AS missing FROM \
                      (SELECT s.store_id, s.closed_at, s.sale_count, (SELECT COUNT(*) FROM sales d \
                       WHERE d.register_session_id = s.id AND d.store_id = s.store_id) AS here FROM register_sessions s \
                       WHERE s.business_date >= $2 AND s.status = $1 AND s.closed_at < $3) m \
                      WHERE m.sale_count > m.here GROUP BY m.store_id";
    let closed = SessionStatus::Closed.word();
    let mut found = HashMap::new();
    for row in query(conn, of_drawers, [closed.into(), from.into(), until.into()]).await? {
        let gap = Gap { since: row.try_get("", "since")?, missing: row.try_get("", "missing")? };
        found.insert(row.try_get("", "store_id")?, gap);
    }
    let of_outboxes = "SELECT m.store_id, m.since, m.last_seq, m.logged, m.kept FROM \
                       (SELECT n.store_id, n.handshake_at AS since, n.last_seq, COALESCE((SELECT MAX(l.seq) FROM sync_log l \
                        WHERE l.store_id = n.store_id AND l.node_epoch = n.node_epoch), 0) AS logged, \
                        COALESCE((SELECT MAX(k.seq) FROM sync_log_nodes o JOIN sync_log_kept k ON k.node = o.id \
                        WHERE o.store_id = n.store_id AND o.node_epoch = n.node_epoch), 0) AS kept FROM store_nodes n \
                        WHERE n.outbox_pending = 0 AND n.dead_lettered = 0 AND n.node_epoch <> '' AND n.handshake_at < $1 \
                        AND n.outbox_at >= n.handshake_at) m \
                       WHERE m.last_seq > m.logged AND m.last_seq > m.kept";
    for row in query(conn, of_outboxes, [until.into()]).await? {
        let (last, logged, kept): (i64, i64, i64) =
            (row.try_get("", "last_seq")?, row.try_get("", "logged")?, row.try_get("", "kept")?);
        let gap = Gap { since: row.try_get("", "since")?, missing: last.saturating_sub(logged.max(kept)) };
        // What is missing of a drawer is an entry too.
        let known = found.entry(row.try_get("", "store_id")?).or_insert(gap);
        known.missing = known.missing.max(gap.missing);
    }
    Ok(found)
}

/// The stores with documents that broke a chain when they came since then, and that nobody has looked at, with the first moment.
/// `docs/chain.md`.
pub async fn broken_chains(conn: &impl ConnectionTrait, since: Instant) -> Result<HashMap<Uuid, Instant>, DbErr> {
    let sql = format!(
        "SELECT store_id, MIN(last_seen_at) AS since FROM sync_log WHERE warning IS NOT NULL AND warning_settled_at IS NULL \
         AND last_seen_at >= $1 AND warning LIKE '%{CHAIN_BROKEN}%' GROUP BY store_id"
    );
    let rows = query(conn, &sql, [since.into()]).await?;
    rows.iter().map(|row| Ok((row.try_get("", "store_id")?, row.try_get("", "since")?))).collect()
}

/// How many counters of wrong PINs and codes at headquarters make somebody wait until `until` or later.
pub async fn locked(conn: &impl ConnectionTrait, until: Instant) -> Result<i64, DbErr> {
    let sql = "SELECT COUNT(*) AS n FROM pin_attempts WHERE blocked_until >= $1 AND kind <> $2";
    let of_stores = Kind::StoreSignIn.policy().name;
    query(conn, sql, [until.into(), of_stores.into()]).await?.first().map_or(Ok(0), |row| row.try_get("", "n"))
}
