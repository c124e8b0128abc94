//! I9: the numbers of a store's entries have no hole, and what the store believes to be sent is at headquarters.

use std::collections::{BTreeMap, BTreeSet};

use sea_orm::DbErr;
use tillkeep_model::Instant;

use super::finding::{Found, Options};
use super::source::Source;
use crate::Side;
use crate::db::query;
use crate::sync_log::kept::OF_STORE;

/// Sent entries are kept so long; what is missing before the oldest kept one was forgotten.
const KEPT_MS: i64 = 89 * 24 * 3600 * 1000;

#[derive(Default)]
struct Numbers {
    waiting: BTreeSet<i64>,
    sent: BTreeSet<i64>,
    /// Sent after the moment from which on nothing is judged.
    fresh: BTreeSet<i64>,
    at_hq: BTreeSet<i64>,
}

pub(super) async fn gapless(
    store: &Source,
    hq: Option<&Source>,
    options: &Options,
    found: &mut Found,
) -> Result<(), DbErr> {
    if store.side != Side::Store {
        return Ok(());
    }
    let mut epochs: BTreeMap<String, Numbers> = BTreeMap::new();
    let (mut oldest, mut newest): (Option<Instant>, Option<Instant>) = (None, None);
    let sql = "SELECT seq, created_at, NULL AS sent_at, node_epoch FROM sync_outbox \
               UNION ALL SELECT seq, created_at, sent_at, node_epoch FROM sync_outbox_sent";
    for row in query(&store.conn, sql, []).await? {
        // An entry is of the node epoch it was made under.
        let numbers = epochs.entry(row.try_get("", "node_epoch")?).or_default();
        let seq: i64 = row.try_get("", "seq")?;
        let made: Instant = row.try_get("", "created_at")?;
        oldest = Some(oldest.map_or(made, |at| at.min(made)));
        newest = newest.max(Some(made));
        match row.try_get::<Option<Instant>>("", "sent_at")? {
            None => numbers.waiting.insert(seq),
            Some(at) if options.moving_since.is_some_and(|since| at >= since) => numbers.fresh.insert(seq),
            Some(_) => numbers.sent.insert(seq),
        };
    }
    if let Some(hq) = hq {
        let sql = format!("SELECT DISTINCT node_epoch, seq FROM {OF_STORE}");
        for row in query(&hq.conn, &sql, [store.store.into()]).await? {
            let of: String = row.try_get("", "node_epoch")?;
            // Another installation of this store is judged where its database is.
            if let Some(numbers) = epochs.get_mut(&of) {
                numbers.at_hq.insert(row.try_get("", "seq")?);
            }
        }
    }
    let forgotten = match (oldest, newest) {
        (Some(oldest), Some(newest)) => newest.millis_since(oldest) > KEPT_MS,
        _ => false,
    };
    let first = epochs.values().flat_map(|numbers| numbers.waiting.iter().chain(&numbers.sent).chain(&numbers.at_hq));
    let first = first.min().copied().unwrap_or(1);
    if first > 1 && !forgotten && epochs.len() == 1 && hq.is_some() {
        found.add(store.store, "sync_outbox", first - 1, "the numbers do not begin at 1");
    }
    for numbers in epochs.values() {
        judge(store, hq.is_some(), options, numbers, found);
    }
    Ok(())
}

fn judge(store: &Source, with_hq: bool, options: &Options, numbers: &Numbers, found: &mut Found) {
    let Numbers { waiting, sent, fresh, at_hq } = numbers;
    let known: BTreeSet<i64> = waiting.iter().chain(sent).chain(fresh).chain(at_hq).copied().collect();
    let (Some(first), Some(last)) = (known.first(), known.last()) else { return };
    for seq in (*first..=*last).filter(|seq| !known.contains(seq)) {
        found.add(store.store, "sync_outbox", seq, "this number was given, and no entry has it");
    }
    if with_hq {
        for seq in sent.difference(at_hq) {
            found.add(store.store, "sync_outbox_sent", seq, "is marked as sent, and headquarters never noted it");
        }
    }
    if options.settled {
        for seq in waiting {
            found.add(store.store, "sync_outbox", seq, "still waits");
        }
    }
}
