//! The numbers of a store's outbox that HQ has an account of: taken, left aside, refused or resolved.

use std::collections::BTreeMap;

use sea_orm::{ConnectionTrait, DbErr};
use serde::Serialize;
use tillkeep_model::Instant;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{Range, Verdict};
use crate::db::query;
use crate::sync_log::kept::OF_STORE;

/// Gaps that are listed at the most.
const GAPS: usize = 200;

/// What the store said of its outbox, newest word.
#[derive(Clone, Debug, Default)]
pub struct Reported {
    pub node_epoch: String,
    /// Of the last handshake.
    pub last_seq: i64,
    pub pending: i64,
    pub dead_lettered: i64,
}

/// The numbers of one database of the store; a store that was reinstalled counts from 1 again.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OutboxEpoch)]
pub struct Numbers {
    pub node_epoch: String,
    pub first_seen_at: Instant,
    pub highest_seq: i64,
    pub count: i64,
    /// Numbers of which HQ has no account; 200 ranges at the most.
    pub missing: Vec<Range>,
}

/// The way from a store's outbox to HQ.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OutboxCompleteness)]
pub struct Outbox {
    pub verdict: Verdict,
    /// `entries_missing`, `entries_refused`, `dead_letters`, `store_has_pending`.
    pub reasons: Vec<&'static str>,
    pub pending: i64,
    pub dead_lettered: i64,
    /// Entries that HQ refused and that wait for a user.
    pub refused: i64,
    /// The oldest first.
    pub epochs: Vec<Numbers>,
}

pub async fn outbox(conn: &impl ConnectionTrait, store: Uuid, reported: &Reported) -> Result<Outbox, DbErr> {
    let mut epochs = epochs(conn, store).await?;
    let mut gaps = gaps(conn, store, &epochs).await?;
    // A store that was set back to a copy goes on counting where the copy ended.
    let mut before = 0;
    for (epoch, lowest) in &mut epochs {
        let start = before.min(lowest.saturating_sub(1));
        if *lowest > start + 1 {
            epoch.missing.push(Range { from: start + 1, to: *lowest - 1 });
        }
        epoch.missing.extend(gaps.remove(&epoch.node_epoch).into_iter().flatten());
        let current = epoch.node_epoch == reported.node_epoch && reported.pending == 0 && reported.dead_lettered == 0;
        if current && reported.last_seq > epoch.highest_seq {
            epoch.missing.push(Range { from: epoch.highest_seq + 1, to: reported.last_seq });
        }
        before = before.max(epoch.highest_seq);
    }
    let epochs: Vec<Numbers> = epochs.into_iter().map(|(epoch, _)| epoch).collect();
    let sql = "SELECT COUNT(*) AS n FROM sync_log WHERE store_id = $1 AND status = 'failed' AND direction = 'push'";
    let rows = query(conn, sql, [store.into()]).await?;
    let refused: i64 = rows.first().map_or(Ok(0), |row| row.try_get("", "n"))?;
    let lost = epochs.iter().any(|epoch| !epoch.missing.is_empty());
    let pending = reported.pending > 0;
    let reasons: Vec<_> = [
        (lost, "entries_missing"),
        (refused > 0, "entries_refused"),
        (reported.dead_lettered > 0, "dead_letters"),
        (pending, "store_has_pending"),
    ]
    .into_iter()
    .filter_map(|(wrong, reason)| wrong.then_some(reason))
    .collect();
    let verdict = match (reasons.is_empty(), pending) {
        (true, _) => Verdict::Complete,
        (false, true) => Verdict::Open,
        (false, false) => Verdict::Incomplete,
    };
    let (pending, dead_lettered) = (reported.pending, reported.dead_lettered);
    Ok(Outbox { verdict, reasons, pending, dead_lettered, refused, epochs })
}

/// The databases of the store, by the time of their first entry, with their lowest numbers. Answered from indexes but for
/// one row of each.
async fn epochs(conn: &impl ConnectionTrait, store: Uuid) -> Result<Vec<(Numbers, i64)>, DbErr> {
    let sql = format!(
        "SELECT g.node_epoch, g.lowest, g.highest, g.n, \
         (SELECT MIN(l.first_seen_at) FROM sync_log l WHERE l.store_id = $1 AND l.node_epoch = g.node_epoch \
          AND l.seq = g.lowest) AS logged, \
         (SELECT MIN(k.first_seen_at) FROM sync_log_nodes n JOIN sync_log_kept k ON k.node = n.id \
          WHERE n.store_id = $1 AND n.node_epoch = g.node_epoch AND k.seq = g.lowest) AS kept FROM \
         (SELECT node_epoch, MIN(seq) AS lowest, MAX(seq) AS highest, COUNT(DISTINCT seq) AS n FROM {OF_STORE} \
          GROUP BY node_epoch) g"
    );
    let mut out = Vec::new();
    for row in query(conn, &sql, [store.into()]).await? {
        let first_seen = |table: &str| row.try_get::<Option<Instant>>("", table);
        let epoch = Numbers {
            node_epoch: row.try_get("", "node_epoch")?,
            first_seen_at: first_seen("logged")?.into_iter().chain(first_seen("kept")?).min().unwrap_or_default(),
            highest_seq: row.try_get("", "highest")?,
            count: row.try_get("", "n")?,
            missing: Vec::new(),
        };
        out.push((epoch, row.try_get("", "lowest")?));
    }
    out.sort_by(|(a, _), (b, _)| (a.first_seen_at, &a.node_epoch).cmp(&(b.first_seen_at, &b.node_epoch)));
    Ok(out)
}

async fn gaps(
    conn: &impl ConnectionTrait,
    store: Uuid,
    epochs: &[(Numbers, i64)],
) -> Result<BTreeMap<String, Vec<Range>>, DbErr> {
    let whole =
        |(epoch, lowest): &(Numbers, i64)| epoch.highest_seq.saturating_sub(*lowest).saturating_add(1) == epoch.count;
    if epochs.iter().all(whole) {
        return Ok(BTreeMap::new());
    }
    let sql = format!(
        "SELECT node_epoch, before, seq FROM (SELECT node_epoch, seq, \
         LAG(seq) OVER (PARTITION BY node_epoch ORDER BY seq) AS before FROM \
         (SELECT DISTINCT node_epoch, seq FROM {OF_STORE}) d) g \
         WHERE seq > before + 1 ORDER BY node_epoch, seq LIMIT {GAPS}"
    );
    let mut out: BTreeMap<String, Vec<Range>> = BTreeMap::new();
    for row in query(conn, &sql, [store.into()]).await? {
        let (before, next): (i64, i64) = (row.try_get("", "before")?, row.try_get("", "seq")?);
        out.entry(row.try_get("", "node_epoch")?).or_default().push(Range { from: before + 1, to: next - 1 });
    }
    Ok(out)
}
