//! I9: the numbers of a store's entries have no hole, and what the store believes to be sent is at headquarters.

use std::collections::BTreeMap;

use sea_orm::{DbErr, Value};
use tillkeep_model::Instant;
use uuid::Uuid;

use super::finding::{Found, Options};
use super::pages::Pages;
use super::runs::Runs;
use super::source::Source;
use crate::Side;
use crate::db::{Row, query};

/// Sent entries are kept so long; what is missing before the oldest kept one was forgotten.
const KEPT_MS: i64 = 89 * 24 * 3600 * 1000;

#[derive(Default)]
struct Numbers {
    waiting: Runs,
    sent: Runs,
    /// Sent after the moment from which on nothing is judged.
    fresh: Runs,
    at_hq: Runs,
}

/// Numbers by the node epochs under which entries were made.
type Epochs = BTreeMap<String, Numbers>;

/// When the first and the last entry were made.
type Times = Option<(Instant, Instant)>;

fn note(epochs: &mut Epochs, times: &mut Times, row: &Row, of: fn(&mut Numbers) -> &mut Runs) -> Result<(), DbErr> {
    let numbers = epochs.entry(row.try_get("", "node_epoch")?).or_default();
    of(numbers).insert(row.try_get("", "seq")?);
    let made: Instant = row.try_get("", "created_at")?;
    *times = Some(times.map_or((made, made), |(oldest, newest)| (oldest.min(made), newest.max(made))));
    Ok(())
}

/// What is in the outbox, and what was sent.
async fn at_store(store: &Source, options: &Options) -> Result<(Epochs, Times), DbErr> {
    let (mut epochs, mut times) = (Epochs::new(), None);
    let sql = "SELECT seq, created_at, node_epoch FROM sync_outbox WHERE $behind";
    let mut pages = Pages::by_seq(store, sql, []);
    while let Some(rows) = pages.page().await? {
        for row in rows {
            note(&mut epochs, &mut times, &row, |numbers| &mut numbers.waiting)?;
        }
    }
    let sql = "SELECT seq, created_at, sent_at, node_epoch FROM sync_outbox_sent WHERE $behind";
    let mut pages = Pages::by_seq(store, sql, []);
    while let Some(rows) = pages.page().await? {
        for row in rows {
            let sent: Instant = row.try_get("", "sent_at")?;
            let is_fresh = options.moving_since.is_some_and(|since| sent >= since);
            let of: fn(&mut Numbers) -> &mut Runs =
                if is_fresh { |numbers| &mut numbers.fresh } else { |numbers| &mut numbers.sent };
            note(&mut epochs, &mut times, &row, of)?;
        }
    }
    Ok((epochs, times))
}

/// Adds what headquarters has noted, of the log and of what was pruned from it.
async fn at_hq(hq: &Source, store: &Source, epochs: &mut Epochs) -> Result<(), DbErr> {
    // Another installation of this store is judged where its database is.
    let mut note = |epoch: &str, seq: i64| {
        if let Some(numbers) = epochs.get_mut(epoch) {
            numbers.at_hq.insert(seq);
        }
    };
    let sql = "SELECT id, node_epoch, seq FROM sync_log WHERE store_id = $1 AND seq IS NOT NULL AND node_epoch IS NOT NULL \
               AND $behind";
    let key = [("node_epoch", Value::from("")), ("seq", i64::MIN.into()), ("id", Uuid::nil().into())];
    let mut pages = Pages::new(hq, sql, [store.store.into()], &key);
    while let Some(rows) = pages.page().await? {
        for row in rows {
            note(&row.try_get::<String>("", "node_epoch")?, row.try_get("", "seq")?);
        }
    }
    let sql = "SELECT id, node_epoch FROM sync_log_nodes WHERE store_id = $1 AND node_epoch <> ''";
    let mut nodes: BTreeMap<i32, String> = BTreeMap::new();
    for row in query(&hq.conn, sql, [store.store.into()]).await? {
        nodes.insert(row.try_get("", "id")?, row.try_get("", "node_epoch")?);
    }
    // Node by node, of which a store has a few: of several at once each page would begin anew with each of them.
    let sql = "SELECT seq, hash FROM sync_log_kept WHERE node = $1 AND $behind";
    let key = [("seq", Value::from(1_i64)), ("hash", Uuid::nil().into())];
    for (node, epoch) in &nodes {
        let mut pages = Pages::new(hq, sql, [(*node).into()], &key);
        while let Some(rows) = pages.page().await? {
            for row in rows {
                note(epoch, row.try_get("", "seq")?);
            }
        }
    }
    Ok(())
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
    let (mut epochs, times) = at_store(store, options).await?;
    if let Some(hq) = hq {
        at_hq(hq, store, &mut epochs).await?;
    }
    let forgotten = times.is_some_and(|(oldest, newest)| newest.millis_since(oldest) > KEPT_MS);
    let firsts = |numbers: &Numbers| [numbers.waiting.first(), numbers.sent.first(), numbers.at_hq.first()];
    let first = epochs.values().flat_map(firsts).flatten().min().unwrap_or(1);
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
    let known: Runs = [waiting, sent, fresh, at_hq].into_iter().flat_map(Runs::iter).collect();
    for seq in known.missing(known.first().unwrap_or_default()) {
        found.add(store.store, "sync_outbox", seq, "this number was given, and no entry has it");
    }
    if with_hq {
        for seq in sent.iter().filter(|seq| !at_hq.contains(*seq)) {
            found.add(store.store, "sync_outbox_sent", seq, "is marked as sent, and headquarters never noted it");
        }
    }
    if options.settled {
        for seq in waiting.iter() {
            found.add(store.store, "sync_outbox", seq, "still waits");
        }
    }
}
