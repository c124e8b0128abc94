//! The store's outbox: what HQ has not confirmed yet. Specification, section 3; `docs/sync.md`, "Up: from stores
//! to HQ".

mod left_here;

use std::collections::{BTreeMap, HashMap};

use sea_orm::{ConnectionTrait, DbErr, EntityTrait, IntoActiveModel, Value};
use serde::Serialize;
use tillkeep_model::Instant;
use tillkeep_model::wire::{MAX_ATTEMPTS, MAX_ENVELOPE_BYTES, Number, OutboxState, SentRange};
use uuid::Uuid;

use crate::db::{execute, models, query};
use crate::document::customer;
use crate::entity::outbox::{Entity, Model};
use crate::many::{execute_in, execute_rows};
use crate::registry::{Scope, SyncType};
use crate::series::{OUTBOX, OUTBOX_TIME};
use crate::{Tx, accounts, fault, pull, registry, series, settings};
pub use left_here::{applied, documents_left_here, left_here};

/// A change to be sent to HQ.
pub struct Entry<'a, D = serde_json::Value> {
    pub entity_type: &'a str,
    pub entity_id: Uuid,
    /// `create`, `update`, `void` or `delete`.
    pub action: &'a str,
    /// The full entity as it travels, children inside.
    pub data: &'a D,
    pub created_at: Instant,
    /// The parent that must have been taken first.
    pub depends_on: Option<Uuid>,
}

/// Bytes of an envelope around its document, and more.
const AROUND: usize = 4096;
/// Bytes that a new document leaves for what becomes of it, such as why it was voided and what was given back: money that came
/// back would else be refused for its length.
const LATER: usize = 16 << 10;
const TOO_LARGE: &str = "the document is larger than headquarters takes";

/// Whether a document was not written because no envelope could carry it.
pub fn is_too_large(error: &DbErr) -> bool {
    matches!(error, DbErr::Custom(text) if text == TOO_LARGE)
}

const COLUMNS: &str = "seq, node_epoch, entity_type, entity_id, depends_on, action, payload, timestamp, attempts, \
                       last_error, created_at, last_attempt_at, dead_lettered_at, changed";

/// The identity of this database. A database that finds out that it was restored or cloned takes another one, so that
/// what it makes from then on is not taken for what the other copy made under the same numbers.
pub async fn node_epoch(tx: &Tx) -> Result<String, DbErr> {
    settings::get_or_set(tx, settings::EPOCH, || Uuid::new_v4().to_string()).await
}

/// The place of an entry: its number, without a gap, and its time, which rises with it (rules U8 and U13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutboxPosition {
    pub seq: i64,
    timestamp: Instant,
}

async fn take_place(
    tx: &Tx,
    names: &[&str],
    earliest: Instant,
) -> Result<(BTreeMap<String, i64>, OutboxPosition), DbErr> {
    let taken = series::next_at(tx, names, OUTBOX_TIME, earliest.millis()).await?;
    let last = |name: &str| taken.get(name).copied().ok_or_else(|| DbErr::RecordNotFound(name.to_owned()));
    let place = OutboxPosition { seq: last(OUTBOX)?, timestamp: Instant::from_millis(last(OUTBOX_TIME)?) };
    Ok((taken, place))
}

/// The next number of `series`, and the place of the entry of its document, in one statement.
pub(crate) async fn place_and_number(tx: &Tx, series: &str, earliest: Instant) -> Result<(i64, OutboxPosition), DbErr> {
    let (taken, place) = take_place(tx, &[series, OUTBOX], earliest).await?;
    let number = taken.get(series).copied().ok_or_else(|| DbErr::RecordNotFound(series.to_owned()))?;
    Ok((number, place))
}

/// The highest number of an entry, sent or not; 0 when there is none.
pub async fn highest(conn: &impl ConnectionTrait) -> Result<i64, DbErr> {
    let sql = "SELECT MAX(seq) AS last FROM (SELECT MAX(seq) AS seq FROM sync_outbox \
               UNION ALL SELECT MAX(seq) FROM sync_outbox_sent) s";
    let rows = query(conn, sql, []).await?;
    rows.first().map_or(Ok(0), |row| Ok(row.try_get::<Option<i64>>("", "last")?.unwrap_or_default()))
}

/// When the last entry was made, sent or not.
pub async fn last_made(conn: &impl ConnectionTrait) -> Result<Option<Instant>, DbErr> {
    let sql = "SELECT created_at FROM (SELECT seq, created_at FROM sync_outbox WHERE seq = (SELECT MAX(seq) FROM sync_outbox) \
               UNION ALL SELECT seq, created_at FROM sync_outbox_sent \
               WHERE seq = (SELECT MAX(seq) FROM sync_outbox_sent)) s ORDER BY seq DESC LIMIT 1";
    let rows = query(conn, sql, []).await?;
    rows.first().map(|row| row.try_get("", "created_at")).transpose()
}

/// Queues `entry` in the transaction of its document (rule U1), at the next place. The timestamp is fixed with that, once:
/// `max(now, created_at, last entry's + 1 ms)` (rule U8).
pub async fn enqueue<D: Serialize>(tx: &Tx, entry: &Entry<'_, D>, now: Instant) -> Result<i64, DbErr> {
    let (_, place) = take_place(tx, &[OUTBOX], now.max(entry.created_at)).await?;
    enqueue_at(tx, place, entry, now).await?;
    Ok(place.seq)
}

/// As [`enqueue`], at a place that was taken with the number of the document.
pub async fn enqueue_at<D: Serialize>(
    tx: &Tx,
    place: OutboxPosition,
    entry: &Entry<'_, D>,
    now: Instant,
) -> Result<(), DbErr> {
    fault::point("outbox.enqueue")?;
    let payload = serde_json::to_string(entry.data).map_err(|error| DbErr::Json(error.to_string()))?;
    let later = if entry.action == "create" { LATER } else { 0 };
    if payload.len() > MAX_ENVELOPE_BYTES - AROUND - later {
        return Err(DbErr::Custom(TOO_LARGE.to_owned()));
    }
    let values: [Value; 9] = [
        settings::EPOCH.into(),
        place.seq.into(),
        entry.entity_type.into(),
        entry.entity_id.into(),
        entry.depends_on.into(),
        entry.action.into(),
        payload.into(),
        place.timestamp.into(),
        now.into(),
    ];
    let sql = "INSERT INTO sync_outbox (node_epoch, seq, entity_type, entity_id, depends_on, action, payload, timestamp, \
               attempts, created_at) SELECT value, $2, $3, $4, $5, $6, $7, $8, 0, $9 FROM sync_state WHERE key = $1";
    if execute(tx, sql, values.clone()).await? == 0 {
        // A database that was never asked for its identity.
        node_epoch(tx).await?;
        execute(tx, sql, values).await?;
    }
    Ok(())
}

/// Queues documents of one type, as they are now, set-wise; they count as unsent work.
pub(crate) async fn enqueue_documents(
    tx: &Tx,
    entity: &SyncType,
    documents: Vec<(Uuid, String)>,
    now: Instant,
) -> Result<(), DbErr> {
    let count = i64::try_from(documents.len()).unwrap_or(i64::MAX);
    if count == 0 {
        return Ok(());
    }
    let seq = series::take(tx, OUTBOX, count).await? - count + 1;
    let last = series::all(tx).await?.get(OUTBOX_TIME).copied().unwrap_or_default();
    let millis = now.millis().max(last + 1);
    series::raise(tx, OUTBOX_TIME, millis + count - 1).await?;
    let node_epoch = node_epoch(tx).await?;
    let ids: Vec<Uuid> = documents.iter().map(|(id, _)| *id).collect();
    let entries = (0..).zip(documents).map(|(number, (entity_id, payload))| Model {
        seq: seq + number,
        node_epoch: node_epoch.clone(),
        entity_type: entity.name.to_owned(),
        entity_id,
        action: "create".to_owned(),
        payload,
        timestamp: Instant::from_millis(millis + number),
        created_at: now,
        ..Model::default()
    });
    Entity::insert_many(entries.map(IntoActiveModel::into_active_model)).exec_without_returning(tx).await?;
    let sql = format!("UPDATE {} SET synced = FALSE WHERE id IN ($list)", entity.name);
    execute_in(tx, &sql, &[], ids).await?;
    Ok(())
}

/// What may be sent: the oldest of each entity, while none before it is unsent, failed or dead (rule U4).
fn sendable() -> String {
    format!(
        "SELECT o.* FROM sync_outbox o WHERE o.attempts < {MAX_ATTEMPTS} \
         AND NOT EXISTS (SELECT 1 FROM sync_outbox e \
                         WHERE e.entity_type = o.entity_type AND e.entity_id = o.entity_id AND e.seq < o.seq) \
         AND (o.depends_on IS NULL OR NOT EXISTS (SELECT 1 FROM sync_outbox p WHERE p.entity_id = o.depends_on))"
    )
}

/// The next entries to send together. A failed one rests for `rest_ms`.
pub async fn batch(conn: &impl ConnectionTrait, limit: usize, now: Instant, rest_ms: i64) -> Result<Vec<Model>, DbErr> {
    batch_after(conn, 0, limit, now, rest_ms).await
}

/// As [`batch`], of those that come after number `after`.
pub async fn batch_after(
    conn: &impl ConnectionTrait,
    after: i64,
    limit: usize,
    now: Instant,
    rest_ms: i64,
) -> Result<Vec<Model>, DbErr> {
    let sql = format!(
        "{} AND o.waits_alone_since IS NULL AND (o.attempts = 0 OR o.last_attempt_at <= $1 OR o.last_attempt_at > $3) \
         AND o.seq > $4 ORDER BY o.seq LIMIT $2",
        sendable()
    );
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    // An attempt in the future was made by a clock that has been put right since.
    let values: [Value; 4] = [now.plus_millis(-rest_ms).into(), limit.into(), now.into(), after.into()];
    read(conn, &sql, values).await
}

/// The next of the `customers` that wait alone, or of all others: in turn, from number `after` on and then from the first again.
pub async fn alone(
    conn: &impl ConnectionTrait,
    customers: bool,
    after: i64,
    limit: usize,
) -> Result<Vec<Model>, DbErr> {
    let (sendable, is) = (sendable(), if customers { "=" } else { "<>" });
    let sql = format!(
        "{sendable} AND o.waits_alone_since IS NOT NULL AND o.entity_type {is} '{}' \
         ORDER BY CASE WHEN o.seq > $1 THEN 0 ELSE 1 END, o.seq LIMIT $2",
        customer::TYPE
    );
    read(conn, &sql, [after.into(), i64::try_from(limit).unwrap_or(i64::MAX).into()]).await
}

async fn read<const N: usize>(conn: &impl ConnectionTrait, sql: &str, values: [Value; N]) -> Result<Vec<Model>, DbErr> {
    models(conn, sql, values).await
}

/// HQ took these: they leave the outbox, and their rows are `synced` unless a later change of theirs waits.
pub async fn confirm(tx: &Tx, entries: &[&Model], now: Instant) -> Result<(), DbErr> {
    if entries.is_empty() {
        return Ok(());
    }
    fault::point("outbox.confirm")?;
    let seqs = || entries.iter().map(|entry| entry.seq);
    let sql = format!(
        "INSERT INTO sync_outbox_sent ({COLUMNS}, sent_at) SELECT {COLUMNS}, $1 FROM sync_outbox WHERE seq IN ($list)"
    );
    execute_in(tx, &sql, &[now.into()], seqs()).await?;
    execute_in(tx, "DELETE FROM sync_outbox WHERE seq IN ($list)", &[], seqs()).await?;
    let mut by_type: HashMap<&str, Vec<Uuid>> = HashMap::new();
    for entry in entries {
        by_type.entry(entry.entity_type.as_str()).or_default().push(entry.entity_id);
    }
    for (entity_type, ids) in by_type {
        let Some(entity) = registry::find(entity_type) else { continue };
        let sql = format!(
            "UPDATE {table} SET synced = TRUE WHERE id IN ($list) AND NOT EXISTS (SELECT 1 FROM sync_outbox o \
             WHERE o.entity_type = '{table}' AND o.entity_id = {table}.id)",
            table = entity.name,
        );
        execute_in(tx, &sql, &[], ids).await?;
    }
    fault::point("outbox.confirmed")
}

/// There was no verdict on this one while HQ answered other requests: it waits alone from now on, and counts nothing.
pub async fn set_aside(tx: &Tx, entry: &Model, why: &str, now: Instant) -> Result<(), DbErr> {
    let sql = "UPDATE sync_outbox SET waits_alone_since = COALESCE(waits_alone_since, $1), last_attempt_at = $1, \
               last_error = $2 WHERE seq = $3";
    execute(tx, sql, [now.into(), why.into(), entry.seq.into()]).await?;
    Ok(())
}

/// How long an entry waits alone before people are shown.
const STUCK_AFTER_MS: i64 = 15 * 60 * 1000;

/// How many entries have waited alone for a quarter of an hour.
pub async fn stuck(conn: &impl ConnectionTrait, now: Instant) -> Result<i64, DbErr> {
    // One that waits since the future began to by a clock that has been put right.
    let sql = "SELECT COUNT(*) AS n FROM sync_outbox WHERE waits_alone_since <= $1 OR waits_alone_since > $2";
    let rows = query(conn, sql, [now.plus_millis(-STUCK_AFTER_MS).into(), now.into()]).await?;
    rows.first().map_or(Ok(0), |row| row.try_get("", "n"))
}

/// HQ refused this one: an attempt counts, and the tenth one makes it a dead letter (true).
pub async fn refuse(tx: &Tx, entry: &Model, error: &str, now: Instant) -> Result<bool, DbErr> {
    fault::point("outbox.refuse")?;
    let sql = format!(
        "UPDATE sync_outbox SET attempts = attempts + 1, last_error = $1, last_attempt_at = $2, \
         waits_alone_since = NULL, dead_lettered_at = CASE WHEN attempts + 1 >= {MAX_ATTEMPTS} THEN $2 ELSE NULL END WHERE seq = $3"
    );
    execute(tx, &sql, [error.into(), now.into(), entry.seq.into()]).await?;
    Ok(entry.attempts + 1 >= MAX_ATTEMPTS)
}

/// Puts what was sent from number `from` on back into the outbox: HQ has lost it. Its rows count as unsent work again, so
/// that no reload takes them away before they are sent.
pub async fn resend(tx: &Tx, from: i64) -> Result<u64, DbErr> {
    let columns =
        COLUMNS.replace("attempts, last_error", "0, NULL").replace("last_attempt_at, dead_lettered_at", "NULL, NULL");
    let sql = format!("INSERT INTO sync_outbox ({COLUMNS}) SELECT {columns} FROM sync_outbox_sent WHERE seq >= $1");
    let count = execute(tx, &sql, [from.into()]).await?;
    execute(tx, "DELETE FROM sync_outbox_sent WHERE seq >= $1", [from.into()]).await?;
    fault::point("outbox.resend")?;
    for entity in registry::ALL.iter().filter(|entity| entity.is_pushed()) {
        let sql = format!(
            "UPDATE {table} SET synced = FALSE WHERE id IN \
             (SELECT entity_id FROM sync_outbox WHERE entity_type = '{table}' AND seq >= $1)",
            table = entity.name
        );
        execute(tx, &sql, [from.into()]).await?;
    }
    accounts::charge_again(tx).await?;
    Ok(count)
}

/// What was sent, one range for each database that this store has had.
pub async fn sent(conn: &impl ConnectionTrait) -> Result<Vec<SentRange>, DbErr> {
    let sql = "SELECT s.node_epoch, s.first, s.last, (SELECT MIN(w.seq) FROM sync_outbox_sent w \
               WHERE w.node_epoch = s.node_epoch AND w.payload <> '') AS whole_from, \
               (SELECT COUNT(*) FROM sync_outbox_sent r \
               WHERE r.node_epoch = s.node_epoch AND r.seq > s.last - $1 AND r.seq <= s.last) AS recent \
               FROM (SELECT node_epoch, MIN(seq) AS first, MAX(seq) AS last FROM sync_outbox_sent GROUP BY node_epoch) s";
    query(conn, sql, [SentRange::RECENT.into()])
        .await?
        .iter()
        .map(|row| {
            Ok(SentRange {
                node_epoch: row.try_get("", "node_epoch")?,
                first: row.try_get("", "first")?,
                last: row.try_get("", "last")?,
                recent: row.try_get("", "recent")?,
                whole_from: row.try_get("", "whole_from")?,
            })
        })
        .collect()
}

/// Forgets the content of what HQ has said to have for long (`up_to` of each database), as far as it was sent before `before`
/// by the clock here too: each of the two clocks may be wrong for a day. The numbers stay.
pub async fn forget_content(tx: &Tx, up_to: &[Number], before: Instant) -> Result<u64, DbErr> {
    let mut count = 0;
    for Number { seq, node_epoch } in up_to {
        let sql = "UPDATE sync_outbox_sent SET payload = '' WHERE node_epoch = $1 AND seq <= $2 AND payload <> '' \
                   AND seq < COALESCE((SELECT MIN(seq) FROM sync_outbox_sent WHERE node_epoch = $1 AND payload <> '' \
                   AND sent_at >= $3), $2 + 1)";
        count += execute(tx, sql, [node_epoch.as_str().into(), (*seq).into(), before.into()]).await?;
    }
    Ok(count)
}

/// Gives entries of which the content was forgotten that of their documents as they are now; those that have no document any more
/// come back without one. Of rows that others write too HQ takes this only if it lacks the row.
pub async fn make_again(tx: &Tx, entries: &mut [Model]) -> Result<(), DbErr> {
    for entity in registry::ALL.iter().filter(|entity| entity.is_pushed()) {
        let lacks = |entry: &&Model| entry.payload.is_empty() && entry.entity_type == entity.name;
        let ids: Vec<Uuid> = entries.iter().filter(lacks).map(|entry| entry.entity_id).collect();
        if ids.is_empty() {
            continue;
        }
        let (mut rows, mut left_out) = pull::parted(entity.table.read_having(tx, "id", &ids, false).await?);
        let mut children = pull::children(tx, entity, &mut rows, &mut left_out).await?;
        for row in left_out {
            tracing::error!(entity_type = entity.name, id = ?row.id, "a document cannot be read, and is not made again");
        }
        let texts = pull::texts(&rows, &mut children, entity)?;
        let texts: HashMap<Uuid, String> = rows.iter().filter_map(|row| row.uuid("id")).zip(texts).collect();
        let mut made: Vec<[Value; 3]> = Vec::new();
        for entry in entries.iter_mut().filter(|entry| lacks(&&**entry)) {
            let Some(text) = texts.get(&entry.entity_id) else { continue };
            entry.payload.clone_from(text);
            entry.changed = (entity.scope == Scope::Everyone).then(|| "[]".to_owned());
            made.push([entry.seq.into(), text.as_str().into(), entry.changed.clone().into()]);
        }
        let sql = "UPDATE sync_outbox SET payload = v.column2, changed = v.column3 FROM (VALUES $rows) AS v \
                   WHERE seq = v.column1";
        execute_rows(tx, sql, &[], "(?, ?, ?)", made).await?;
    }
    Ok(())
}

/// Dead letters. What was refused at all has an index, which the databases use only for what says so.
fn is_dead() -> String {
    format!("attempts > 0 AND attempts >= {MAX_ATTEMPTS}")
}

/// How full the outbox is, and since when the oldest entry waits that is not dead nor behind a dead one of its entity:
/// what waits behind a dead letter waits for a user, who is notified of that one.
pub async fn state(conn: &impl ConnectionTrait) -> Result<OutboxState, DbErr> {
    // From indexes but for the oldest: what waits is as much as a store sold since it lost its line.
    let is_dead = is_dead();
    let sql = format!(
        "SELECT (SELECT COUNT(*) FROM sync_outbox) AS total, \
         (SELECT COUNT(*) FROM sync_outbox WHERE {is_dead}) AS dead, \
         (SELECT created_at FROM sync_outbox WHERE attempts < {MAX_ATTEMPTS} AND seq NOT IN (SELECT w.seq FROM \
         (SELECT entity_type, entity_id, seq FROM sync_outbox WHERE {is_dead}) d \
         JOIN sync_outbox w ON w.entity_type = d.entity_type AND w.entity_id = d.entity_id AND w.seq > d.seq) \
         ORDER BY seq LIMIT 1) AS oldest"
    );
    let rows = query(conn, &sql, []).await?;
    let Some(row) = rows.first() else { return Ok(OutboxState::default()) };
    let (total, dead): (i64, i64) = (row.try_get("", "total")?, row.try_get("", "dead")?);
    Ok(OutboxState { pending: total - dead, dead_lettered: dead, oldest: row.try_get("", "oldest")? })
}

const AGAIN: &str =
    "UPDATE sync_outbox SET attempts = 0, dead_lettered_at = NULL, last_attempt_at = NULL WHERE attempts > 0";

/// Gives refused entries (all of them, or the one with `seq`) another ten attempts.
pub async fn requeue(tx: &Tx, seq: Option<i64>) -> Result<u64, DbErr> {
    execute(tx, &format!("{AGAIN} AND ($1 IS NULL OR seq = $1)"), [seq.into()]).await
}

/// The oldest dead letters.
pub async fn dead(conn: &impl ConnectionTrait) -> Result<Vec<Number>, DbErr> {
    let sql =
        format!("SELECT seq, node_epoch FROM sync_outbox WHERE {} ORDER BY seq LIMIT {}", is_dead(), Number::MOST);
    let rows = query(conn, &sql, []).await?;
    rows.iter()
        .map(|row| Ok(Number { seq: row.try_get("", "seq")?, node_epoch: row.try_get("", "node_epoch")? }))
        .collect()
}

/// Gives these dead letters another ten attempts.
pub async fn go_again(tx: &Tx, seqs: &[i64]) -> Result<u64, DbErr> {
    execute_in(tx, &format!("{AGAIN} AND seq IN ($list)"), &[], seqs.iter().copied()).await
}

/// Whether an earlier entry of the same entity is in the outbox.
pub async fn waits_behind(conn: &impl ConnectionTrait, entry: &Model) -> Result<bool, DbErr> {
    let sql = "SELECT seq FROM sync_outbox WHERE entity_type = $1 AND entity_id = $2 AND seq < $3 LIMIT 1";
    let values = [entry.entity_type.as_str().into(), entry.entity_id.into(), entry.seq.into()];
    Ok(!query(conn, sql, values).await?.is_empty())
}

/// One entry, by its number.
pub async fn find(conn: &impl ConnectionTrait, seq: i64) -> Result<Option<Model>, DbErr> {
    crate::entity::outbox::Entity::find_by_id(seq).one(conn).await
}
