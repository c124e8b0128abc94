//! Logging refusals: each envelope has one failed row, however often it comes.

use std::collections::{BTreeMap, HashMap, HashSet};

use sea_orm::{ColumnTrait, Condition, DbErr, EntityTrait, QueryFilter, QuerySelect};
use tillkeep_model::Instant;
use uuid::Uuid;

use super::beyond;
use super::quota::Quota;
use super::words::{FAILED, PUSH, RESOLVED, STATUS_INSERT, UNKNOWN};
use crate::entity::sync_log::{Column, Entity, Model};
use crate::envelope::dated::Dated;
use crate::envelope::{Rejection, Sender, clip, tidy};
use crate::many::execute_rows;
use crate::sql::bulk;
use crate::{Tx, fault, registry};

/// Logs refusals: one failed row for each envelope, with the error and time of the newest try. An envelope that
/// a user settled by hand stays so. Tries are counted as its store counts them: one by hand is none.
pub async fn reject(tx: &Tx, sender: &Sender, refused: &[Rejection], now: Instant) -> Result<(), DbErr> {
    if refused.is_empty() {
        return Ok(());
    }
    let store = sender.store_id;
    fault::point("push.refusals")?;
    let known = KnownHashes::load(tx, store, refused).await?;
    let mut quota = Quota::load(tx, store).await?;
    let mut counts: BTreeMap<&'static str, Refused> = BTreeMap::new();
    let mut beyond: BTreeMap<&'static str, i32> = BTreeMap::new();
    let (mut rows, mut fresh, mut dropped) = (Vec::new(), HashSet::new(), 0_u64);
    let mut again: BTreeMap<Uuid, String> = BTreeMap::new();
    for refusal in refused {
        if known.is_settled(&refusal.hash) {
            continue;
        }
        let error = clip(refusal.result.error.as_deref().unwrap_or_default());
        let count = counts.entry(counted_as(&refusal.result.entity_type)).or_default();
        count.error.clone_from(&error);
        if let Some(row) = known.failed.get(&refusal.hash) {
            again.insert(*row, error);
        } else if !fresh.insert(&refusal.hash) {
            // The same one twice in this request.
        } else if quota.is_used_up() {
            *beyond.entry(counted_as(&refusal.result.entity_type)).or_default() += 1;
        } else {
            let bytes = refusal.kept.bytes();
            count.fresh += 1;
            let mut row = Model { error: Some(error), ..row(refusal, store, now) };
            if quota.takes(bytes) {
                count.bytes += bytes;
            } else {
                dropped += 1;
                (row.envelope, row.beginning) = (None, None);
            }
            rows.push(row);
        }
    }
    if dropped > 0 {
        tracing::warn!(%store, dropped, "the store has too many failed entries: payloads are not kept");
    }
    for (entity_type, count) in beyond {
        let refused = counts.entry(entity_type).or_default();
        refused.fresh += i32::from(beyond::count(tx, store, entity_type, count, now).await?);
    }
    bulk::insert::<Entity>(tx, rows, None).await?;
    refused_again(tx, sender, again, now).await?;
    count_refused(tx, store, &counts, now).await
}

/// The hashes of envelopes that the log has already.
struct KnownHashes {
    /// With its row.
    failed: HashMap<String, Uuid>,
    by_hand: HashSet<String>,
}

impl KnownHashes {
    async fn load(tx: &Tx, store: Uuid, refused: &[Rejection]) -> Result<Self, DbErr> {
        let by_hand = Condition::all().add(Column::Status.eq(RESOLVED)).add(Column::ResolvedBy.is_not_null());
        let rows: Vec<(String, Uuid, String)> = Entity::find()
            .select_only()
            .columns([Column::Hash, Column::Id, Column::Status])
            .filter(Column::StoreId.eq(store))
            .filter(Column::EntityId.is_in(refused.iter().map(|refusal| tidy(&refusal.result.entity_id))))
            .filter(Column::Hash.is_in(refused.iter().map(|refusal| refusal.hash.clone())))
            .filter(Condition::any().add(Column::Status.eq(FAILED)).add(by_hand))
            .into_tuple()
            .all(tx)
            .await?;
        let (failed, by_hand): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(_, _, status)| status == FAILED);
        let failed = failed.into_iter().map(|(hash, row, _)| (hash, row)).collect();
        Ok(Self { failed, by_hand: by_hand.into_iter().map(|(hash, ..)| hash).collect() })
    }

    /// A user settled it by hand, and it did not fail since.
    fn is_settled(&self, hash: &str) -> bool {
        self.by_hand.contains(hash) && !self.failed.contains_key(hash)
    }
}

fn row(refusal: &Rejection, store: Uuid, now: Instant) -> Model {
    let dated = refusal.envelope_at.map(|said| Dated::new(said, now));
    Model {
        id: Uuid::now_v7(),
        store_id: store,
        direction: PUSH.to_owned(),
        entity_type: tidy(&refusal.result.entity_type),
        entity_id: tidy(&refusal.result.entity_id),
        action: tidy(&refusal.action),
        status: FAILED.to_owned(),
        code: refusal.result.code.clone(),
        envelope: refusal.kept.envelope.clone(),
        beginning: refusal.kept.beginning.clone(),
        length: i64::try_from(refusal.kept.length).ok(),
        hash: refusal.hash.clone(),
        envelope_at: dated.map(|dated| dated.at),
        said_at: dated.and_then(|dated| dated.said),
        seq: refusal.seq,
        node_epoch: refusal.node_epoch.as_deref().map(tidy),
        first_seen_at: now,
        last_seen_at: now,
        ..Model::default()
    }
}

/// The type that a counter is kept under: a store may send any word, and must not make a row of each.
fn counted_as(entity_type: &str) -> &'static str {
    registry::find(entity_type).map_or(UNKNOWN, |entity| entity.name)
}

/// Refusals of one type.
#[derive(Default)]
struct Refused {
    error: String,
    /// Those that were not in the log before.
    fresh: i32,
    bytes: i64,
}

/// Raises the counters of what waits for a user: to count it again would take as long as there is much of it.
async fn count_refused(
    tx: &Tx,
    store: Uuid,
    counts: &BTreeMap<&'static str, Refused>,
    now: Instant,
) -> Result<(), DbErr> {
    let sql = format!(
        "{STATUS_INSERT} VALUES $rows ON CONFLICT (store_id, entity_type, direction) \
         DO UPDATE SET last_error_at = excluded.last_error_at, last_error = excluded.last_error, \
         pending_count = sync_status.pending_count + excluded.pending_count, \
         pending_bytes = sync_status.pending_bytes + excluded.pending_bytes"
    );
    let rows = counts.iter().map(|(entity_type, Refused { error, fresh, bytes })| {
        [(*entity_type).into(), error.as_str().into(), (*fresh).into(), (*bytes).into()]
    });
    let before = [store.into(), PUSH.into(), now.into()];
    execute_rows(tx, &sql, &before, "($1, ?, $2, NULL, $3, ?, ?, ?, 0, 0, 0)", rows).await?;
    Ok(())
}

/// Notes of types that the database fails on an entry of them, and why: no verdict, so that nothing waits for a user.
pub async fn put_off(
    tx: &Tx,
    store: Uuid,
    failing: &BTreeMap<&'static str, &'static str>,
    now: Instant,
) -> Result<(), DbErr> {
    let counts = failing.iter().map(|(entity_type, why)| {
        let error = format!("headquarters could not store an entry, which its store sends again: {why}");
        (*entity_type, Refused { error, ..Refused::default() })
    });
    count_refused(tx, store, &counts.collect(), now).await
}

/// Envelopes that were refused before: each keeps its one row, which takes the newest reason.
async fn refused_again(tx: &Tx, sender: &Sender, again: BTreeMap<Uuid, String>, now: Instant) -> Result<(), DbErr> {
    let tries = i32::from(sender.by_hand.is_none());
    let rows = again.into_iter().map(|(row, error)| [row.into(), error.into()]);
    execute_rows(tx, SAID_AGAIN, &[now.into(), tries.into()], "(?, ?)", rows).await?;
    Ok(())
}

/// By the key of each row: by its hash it would be looked for among all that failed of its store.
const SAID_AGAIN: &str = "UPDATE sync_log SET error = t.column2, last_seen_at = $1, retry_count = retry_count + $2 \
                          FROM (VALUES $rows) AS t WHERE sync_log.id = t.column1";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Db, Side, raw};

    #[tokio::test]
    async fn what_is_refused_again_is_found_by_its_key_and_not_among_all_that_failed() {
        let dir = tempfile::tempdir().expect("a directory");
        let db = Db::open_file(&dir.path().join("hq.db"), Side::Hq).await.expect("a database");
        let sql = format!("EXPLAIN QUERY PLAN {}", SAID_AGAIN.replace("$rows", "('i', 'e'), ('i', 'e')"));
        let before = ["now".into(), 1.into()];
        let plan = raw::query(db.reader(), &sql, before).await.expect("a plan");
        let lines: Vec<String> = plan.iter().map(|row| row.try_get("", "detail").expect("a line")).collect();
        let found = "SEARCH sync_log USING INDEX sqlite_autoindex_sync_log_1 (id=?)";
        assert!(lines.iter().any(|line| line.contains(found)), "{lines:?}");
    }
}
