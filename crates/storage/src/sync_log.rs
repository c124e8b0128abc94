//! The log of entity operations and the counters per store, type and direction. Specification, section 2.7.

pub mod kept;
mod priors;
mod pulled;
pub mod warnings;

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;

use sea_orm::sea_query::{Alias, Expr, ExprTrait, Query};
use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, DbErr, EntityTrait, IntoActiveModel, Iterable, QueryFilter, QueryOrder,
    QuerySelect, Value,
};
use tillkeep_model::Instant;
use tillkeep_model::wire::{Applied, MAX_ENVELOPE_BYTES, PushResult};
use uuid::Uuid;

use crate::db::{execute, placeholders, query, rows_per_statement};
use crate::entity::sync_log::{Column, Entity, Model};
use crate::entity::sync_status;
use crate::push::{Incoming, Sender, Verdict};
use crate::{Tx, fault};
pub use priors::{Prior, Priors, priors};
pub use pulled::{Has, Pulled, record_pulls, record_quiet, versions_of_stores};

pub const SUCCESS: &str = "success";
pub const FAILED: &str = "failed";
pub const SKIPPED: &str = "skipped";
pub const RESOLVED: &str = "resolved";
pub const RETRIED: &str = "retried";
/// The type that everything is counted under which is none of the registry's.
pub const UNKNOWN: &str = "unknown";
/// The direction of what stores send.
pub const PUSH: &str = "push";
/// The direction of what stores fetch.
pub const PULL: &str = "pull";

/// What the log keeps of an envelope that was refused.
#[derive(Clone, Debug)]
pub struct Kept {
    /// All of it, when it can be tried again.
    pub envelope: Option<String>,
    /// Else how it begins.
    pub beginning: Option<String>,
    pub length: usize,
}

impl Kept {
    fn bytes(&self) -> i64 {
        let text = self.envelope.as_ref().or(self.beginning.as_ref());
        i64::try_from(text.map_or(0, String::len)).unwrap_or(i64::MAX)
    }
}

/// Failed entries of one store of which more is kept than that there were, and their bytes.
const MOST_FAILURES: i64 = 10_000;
const MOST_BYTES: i64 = 64 << 20;

/// Whether the next payload of a store may not be kept any more, by its counters.
pub fn is_full(sent: &[&sync_status::Model]) -> bool {
    let failures: i64 = sent.iter().map(|row| i64::from(row.pending_count)).sum();
    let bytes: i64 = sent.iter().map(|row| row.pending_bytes).sum();
    failures >= MOST_FAILURES || bytes > MOST_BYTES - i64::try_from(MAX_ENVELOPE_BYTES).unwrap_or_default()
}

/// What of this is kept for a store whose failures take so much room already.
#[derive(Clone, Copy)]
struct Quota {
    failures: i64,
    bytes: i64,
}

impl Quota {
    async fn of(tx: &Tx, store: Uuid) -> Result<Self, DbErr> {
        let sql = "SELECT CAST(COALESCE(SUM(pending_count), 0) AS BIGINT) AS failures, \
                   CAST(COALESCE(SUM(pending_bytes), 0) AS BIGINT) AS bytes FROM sync_status \
                   WHERE store_id = $1 AND direction = $2";
        let rows = query(tx, sql, [store.into(), PUSH.into()]).await?;
        let row = rows.first().ok_or_else(|| DbErr::RecordNotFound("sync_status".to_owned()))?;
        Ok(Self { failures: row.try_get("", "failures")?, bytes: row.try_get("", "bytes")? })
    }

    /// Whether there is room for the payload of one more; it counts from now on.
    fn takes(&mut self, bytes: i64) -> bool {
        self.failures += 1;
        let fits = self.failures <= MOST_FAILURES && self.bytes + bytes <= MOST_BYTES;
        self.bytes += if fits { bytes } else { 0 };
        fits
    }
}

/// An envelope that was refused before or instead of being applied.
#[derive(Clone, Debug)]
pub struct Rejection {
    pub result: PushResult,
    pub action: String,
    pub hash: String,
    pub kept: Kept,
    /// Its own time, where that could be read.
    pub envelope_at: Option<Instant>,
    pub seq: Option<i64>,
    pub node_epoch: Option<String>,
}

/// What is noted of an envelope that came again after somebody had settled it.
const SETTLED_BEFORE: &str = "somebody had settled this envelope before it came again";

/// How the note begins of an envelope of which nothing was taken; a macro, as statements that are constants name it too.
macro_rules! nothing_taken {
    () => {
        "nothing of it was taken"
    };
}
pub(crate) use nothing_taken;

/// What is noted of an envelope that was looked at column by column, and of which nothing was taken.
const NOTHING_NEW: &str = concat!(nothing_taken!(), ": headquarters has the same, or it is not the store's to say");

/// Logs a batch with its verdicts, closes older failures of what now went through, and raises the counters. True when a
/// failure was closed.
pub async fn record(
    tx: &Tx,
    sender: &Sender,
    batch: &[Incoming<'_>],
    verdicts: &[Verdict],
    priors: &Priors,
    now: Instant,
) -> Result<bool, DbErr> {
    let store = sender.store_id;
    let mut rows = Vec::with_capacity(batch.len());
    let mut refused = Vec::new();
    let mut healed = Vec::new();
    let mut taken: BTreeMap<&str, i64> = BTreeMap::new();
    for (incoming, verdict) in batch.iter().zip(verdicts) {
        let Verdict::Taken { applied, warnings, left } = verdict else {
            refused.push(incoming.rejection(verdict));
            continue;
        };
        // The same envelope again is a success of its type, and nothing more was pushed.
        let again = *left && *applied == Applied::Duplicate;
        *taken.entry(incoming.entity.name).or_default() += i64::from(!again);
        let settled = priors.is_settled(incoming);
        // What somebody settled went nowhere, so that it closes nothing.
        let id = Uuid::now_v7();
        if !settled && priors.get(incoming).is_some_and(|prior| prior.has_failures) {
            healed.push((incoming.id.to_string(), id));
        }
        let aside = matches!(applied, Applied::Skipped | Applied::Duplicate);
        let warned = (!warnings.is_empty()).then(|| incoming.looked_at());
        let note = if settled { Some(SETTLED_BEFORE) } else { (aside && !left).then_some(NOTHING_NEW) };
        rows.push(
            Model {
                id,
                store_id: store,
                direction: PUSH.to_owned(),
                entity_type: incoming.entity.name.to_owned(),
                entity_id: incoming.id.to_string(),
                action: tidy(&incoming.action),
                status: if aside { SKIPPED } else { SUCCESS }.to_owned(),
                warning: warned.as_ref().map(|_| warnings.join(", ")),
                length: warned.as_ref().and_then(|kept| i64::try_from(kept.length).ok()),
                envelope: warned.as_ref().and_then(|kept| kept.envelope.clone()),
                beginning: warned.and_then(|kept| kept.beginning),
                hash: incoming.hash.clone(),
                envelope_at: Some(incoming.timestamp),
                seq: incoming.seq,
                node_epoch: incoming.node_epoch.as_deref().map(tidy),
                note: note.map(str::to_owned),
                first_seen_at: now,
                last_seen_at: now,
                ..Model::default()
            }
            .into_active_model(),
        );
    }
    insert(tx, rows).await?;
    let closed = heal(tx, store, &healed, now).await?;
    count_pushed(tx, store, &taken, now).await?;
    if closed {
        count_pending(tx, store).await?;
    }
    reject(tx, sender, &refused, now).await?;
    Ok(closed)
}

async fn insert(tx: &Tx, rows: Vec<crate::entity::sync_log::ActiveModel>) -> Result<(), DbErr> {
    let mut rows = rows.into_iter();
    loop {
        let chunk: Vec<_> = rows.by_ref().take(rows_per_statement(26)).collect();
        if chunk.is_empty() {
            return Ok(());
        }
        Entity::insert_many(chunk).exec_without_returning(tx).await?;
    }
}

/// Successes whose failures are looked for at once: each of these is compared with each of those.
const HEALED_AT_ONCE: usize = 50;

/// Rule U12: a success closes the older failures of that entity, and their store learns of it: its dead letter holds up
/// whatever follows. A newer one stays open, which is the case when an old entry is tried again. `taken` are entities with the
/// rows of their successes, those of this batch alone: earlier ones have closed theirs, however many there are. True when one was
/// closed.
async fn heal(tx: &Tx, store: Uuid, taken: &[(String, Uuid)], now: Instant) -> Result<bool, DbErr> {
    // Numbers have an order within one database of the store; else the time of an envelope decides, or when one that could
    // not be read was first seen.
    const IS_OLDER: &str = "t.entity_id = sync_log.entity_id AND t.entity_type = sync_log.entity_type AND \
         CASE WHEN t.node_epoch = sync_log.node_epoch AND t.seq IS NOT NULL AND sync_log.seq IS NOT NULL \
         THEN sync_log.seq <= t.seq \
         ELSE COALESCE(sync_log.envelope_at, sync_log.first_seen_at) <= t.envelope_at END";
    let mut closed = 0;
    for chunk in taken.chunks(HEALED_AT_ONCE) {
        let mut newer = Query::select();
        let success = Alias::new("t");
        newer.expr(Expr::val(1)).from_as(Entity, success.clone());
        newer.and_where(Expr::col((success, Column::Id)).is_in(chunk.iter().map(|(_, row)| *row)));
        let is_older = Expr::exists(newer.and_where(Expr::cust(IS_OLDER)).take());
        closed += Entity::update_many()
            .col_expr(Column::Status, Expr::value(RESOLVED))
            .col_expr(Column::ResolvedAt, Expr::value(now))
            .col_expr(Column::Note, Expr::value("a later envelope of this entity went through"))
            .col_expr(Column::Envelope, Expr::value(None::<String>))
            .col_expr(Column::Beginning, Expr::value(None::<String>))
            .col_expr(Column::ToAcknowledge, Expr::cust("seq IS NOT NULL"))
            .filter(Column::StoreId.eq(store))
            .filter(Column::Status.eq(FAILED))
            .filter(Column::EntityId.is_in(chunk.iter().map(|(entity, _)| entity.as_str())))
            .filter(is_older)
            .exec(tx)
            .await?
            .rows_affected;
    }
    Ok(closed > 0)
}

/// The type that a counter is kept under: a store may send any word, and must not make a row of each.
fn counted_as(entity_type: &str) -> &'static str {
    crate::registry::find(entity_type).map_or(UNKNOWN, |entity| entity.name)
}

/// Text of a sender for a column of the log, which keeps neither a NUL nor what is too long for an index.
pub(crate) fn tidy(text: &str) -> String {
    text.chars().filter(|letter| *letter != '\0').take(100).collect()
}

/// Letters of an error that are kept and answered: what somebody reads, however much of what it was sent it repeats.
const ERROR: usize = 400;

/// An error as it is kept and answered.
pub(crate) fn clip(error: &str) -> String {
    let mut letters = error.chars().filter(|letter| *letter != '\0');
    let mut text: String = letters.by_ref().take(ERROR).collect();
    if letters.next().is_some() {
        text.push('…');
    }
    text
}

/// Logs refusals: one failed row for each envelope, whose error and time follow the newest try. An envelope that
/// somebody settled by hand stays so. Tries are counted as its store counts them: one by hand is none.
pub async fn reject(tx: &Tx, sender: &Sender, refused: &[Rejection], now: Instant) -> Result<(), DbErr> {
    if refused.is_empty() {
        return Ok(());
    }
    let store = sender.store_id;
    fault::point("push.refusals")?;
    let by_hand = Condition::all().add(Column::Status.eq(RESOLVED)).add(Column::ResolvedBy.is_not_null());
    let seen: Vec<(String, String)> = Entity::find()
        .select_only()
        .columns([Column::Hash, Column::Status])
        .filter(Column::StoreId.eq(store))
        .filter(Column::EntityId.is_in(refused.iter().map(|refusal| tidy(&refusal.result.entity_id))))
        .filter(Column::Hash.is_in(refused.iter().map(|refusal| refusal.hash.clone())))
        .filter(Condition::any().add(Column::Status.eq(FAILED)).add(by_hand))
        .into_tuple()
        .all(tx)
        .await?;
    let (known, settled): (Vec<_>, Vec<_>) = seen.into_iter().partition(|(_, status)| status == FAILED);
    let hashes = |rows: Vec<(String, String)>| rows.into_iter().map(|(hash, _)| hash).collect::<HashSet<_>>();
    let (known, settled) = (hashes(known), hashes(settled));
    let mut rows = Vec::new();
    let mut counts: BTreeMap<&'static str, Refused> = BTreeMap::new();
    let mut fresh = HashSet::new();
    let mut again: BTreeMap<&str, String> = BTreeMap::new();
    let mut quota = Quota::of(tx, store).await?;
    let mut dropped = 0_u64;
    for refusal in refused {
        if settled.contains(&refusal.hash) && !known.contains(&refusal.hash) {
            continue;
        }
        let error = clip(refusal.result.error.as_deref().unwrap_or_default());
        let count = counts.entry(counted_as(&refusal.result.entity_type)).or_default();
        count.error.clone_from(&error);
        if known.contains(&refusal.hash) {
            again.insert(&refusal.hash, error);
        } else if fresh.insert(&refusal.hash) {
            let bytes = refusal.kept.bytes();
            let Kept { mut envelope, mut beginning, length } = refusal.kept.clone();
            count.fresh += 1;
            if quota.takes(bytes) {
                count.bytes += bytes;
            } else {
                dropped += 1;
                (envelope, beginning) = (None, None);
            }
            rows.push(
                Model {
                    id: Uuid::now_v7(),
                    store_id: store,
                    direction: PUSH.to_owned(),
                    entity_type: tidy(&refusal.result.entity_type),
                    entity_id: tidy(&refusal.result.entity_id),
                    action: tidy(&refusal.action),
                    status: FAILED.to_owned(),
                    code: refusal.result.code.clone(),
                    error: Some(error),
                    envelope,
                    beginning,
                    length: i64::try_from(length).ok(),
                    hash: refusal.hash.clone(),
                    envelope_at: refusal.envelope_at,
                    seq: refusal.seq,
                    node_epoch: refusal.node_epoch.as_deref().map(tidy),
                    first_seen_at: now,
                    last_seen_at: now,
                    ..Model::default()
                }
                .into_active_model(),
            );
        }
    }
    if dropped > 0 {
        tracing::warn!(%store, dropped, "the store has too many failed entries: payloads are not kept");
    }
    insert(tx, rows).await?;
    refused_again(tx, sender, &again.into_iter().collect::<Vec<_>>(), now).await?;
    count_refused(tx, store, &counts, now).await
}

/// Refusals of one type.
#[derive(Default)]
struct Refused {
    error: String,
    /// Those that were not in the log before.
    fresh: i32,
    bytes: i64,
}

/// Raises the counters of what waits for somebody: to count it anew would take as long as there is much of it.
async fn count_refused(
    tx: &Tx,
    store: Uuid,
    counts: &BTreeMap<&'static str, Refused>,
    now: Instant,
) -> Result<(), DbErr> {
    if counts.is_empty() {
        return Ok(());
    }
    let mut values: Vec<Value> = Vec::with_capacity(counts.len() * 7);
    let mut tuples = Vec::with_capacity(counts.len());
    for (entity_type, Refused { error, fresh, bytes }) in counts {
        let at = values.len();
        tuples.push(format!("({}, NULL, {}, 0, 0, 0)", placeholders(at + 1, 3), placeholders(at + 4, 4)));
        values.extend([store.into(), (*entity_type).into(), PUSH.into(), now.into()]);
        values.extend([error.as_str().into(), (*fresh).into(), (*bytes).into()]);
    }
    let sql = format!(
        "{STATUS_INSERT} VALUES {} ON CONFLICT (store_id, entity_type, direction) \
         DO UPDATE SET last_error_at = excluded.last_error_at, last_error = excluded.last_error, \
         pending_count = sync_status.pending_count + excluded.pending_count, \
         pending_bytes = sync_status.pending_bytes + excluded.pending_bytes",
        tuples.join(", ")
    );
    execute(tx, &sql, values).await?;
    Ok(())
}

/// Envelopes that were refused before: each keeps its one row, which takes the newest reason.
async fn refused_again(tx: &Tx, sender: &Sender, again: &[(&str, String)], now: Instant) -> Result<(), DbErr> {
    let tries = i32::from(sender.by_hand.is_none());
    for chunk in again.chunks(rows_per_statement(3)) {
        let mut values: Vec<Value> = vec![sender.store_id.into(), now.into()];
        let mut cases = String::new();
        for (hash, error) in chunk {
            write!(cases, " WHEN ${} THEN ${}", values.len() + 1, values.len() + 2).unwrap_or_default();
            values.extend([(*hash).into(), error.as_str().into()]);
        }
        let list = placeholders(values.len() + 1, chunk.len());
        values.extend(chunk.iter().map(|(hash, _)| Value::from(*hash)));
        let sql = format!(
            "UPDATE sync_log SET error = CASE hash{cases} ELSE error END, last_seen_at = $2, \
             retry_count = retry_count + {tries} WHERE store_id = $1 AND status = '{FAILED}' AND hash IN ({list})"
        );
        execute(tx, &sql, values).await?;
    }
    Ok(())
}

const STATUS_INSERT: &str = "INSERT INTO sync_status (store_id, entity_type, direction, last_success_at, \
     last_error_at, last_error, pending_count, pending_bytes, total_pushed, total_pulled, last_since_version)";

async fn count_pushed(tx: &Tx, store: Uuid, taken: &BTreeMap<&str, i64>, now: Instant) -> Result<(), DbErr> {
    if taken.is_empty() {
        return Ok(());
    }
    let mut values: Vec<Value> = Vec::new();
    let mut tuples = Vec::new();
    for (entity_type, count) in taken {
        tuples.push(format!("({}, NULL, NULL, 0, 0, ${}, 0, 0)", placeholders(values.len() + 1, 4), values.len() + 5));
        values.extend([store.into(), (*entity_type).into(), PUSH.into(), Value::from(now), (*count).into()]);
    }
    let sql = format!(
        "{STATUS_INSERT} VALUES {} ON CONFLICT (store_id, entity_type, direction) DO UPDATE SET \
         last_success_at = excluded.last_success_at, total_pushed = sync_status.total_pushed + excluded.total_pushed",
        tuples.join(", ")
    );
    execute(tx, &sql, values).await?;
    Ok(())
}

/// `pending_count` is what waits for somebody: the failed entries of the type.
pub async fn count_pending(conn: &impl ConnectionTrait, store: Uuid) -> Result<(), DbErr> {
    let names = crate::registry::ALL.iter().map(|entity| format!("'{}'", entity.name)).collect::<Vec<_>>().join(", ");
    let of = |what: &str| {
        format!(
            "(SELECT {what} FROM sync_log l WHERE l.store_id = $1 AND l.status = '{FAILED}' \
             AND sync_status.entity_type = CASE WHEN l.entity_type IN ({names}) THEN l.entity_type ELSE '{UNKNOWN}' END)"
        )
    };
    let bytes = "CAST(COALESCE(SUM(OCTET_LENGTH(COALESCE(l.envelope, l.beginning, ''))), 0) AS BIGINT)";
    let sql = format!(
        "UPDATE sync_status SET pending_count = {}, pending_bytes = {} WHERE store_id = $1 AND direction = '{PUSH}'",
        of("COUNT(*)"),
        of(bytes)
    );
    execute(conn, &sql, [store.into()]).await?;
    Ok(())
}

/// Failed entries told of in one go at the most.
const NEWEST: u64 = 200;

/// The newest failed entries that were first seen since then, without what was sent.
pub async fn failed_since(conn: &impl ConnectionTrait, since: Instant) -> Result<Vec<Model>, DbErr> {
    Entity::find()
        .select_only()
        .columns(Column::iter().filter(|column| !matches!(column, Column::Envelope | Column::Beginning)))
        .expr_as(Expr::cust("CAST(NULL AS TEXT)"), "envelope")
        .expr_as(Expr::cust("CAST(NULL AS TEXT)"), "beginning")
        .filter(Column::Status.eq(FAILED))
        .filter(Column::FirstSeenAt.gte(since))
        .order_by_desc(Column::FirstSeenAt)
        .limit(NEWEST)
        .all(conn)
        .await
}
