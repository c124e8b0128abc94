//! Types with rows that make sense only together become visible at one moment: tax rates, groups and their rates.
//! `docs/sync.md`, rule D2.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use tillkeep_storage::DbErr;
use tillkeep_storage::apply::Cursor;
use tillkeep_storage::registry::SyncType;
use tillkeep_storage::staged::{self, TypeCursor};

use super::pull::{Moved, NO_HEAD, PullError, attempt};
use super::report;
use crate::Store;

/// How often in one cycle what moved meanwhile is asked for, before the other types go on. What has come stays for the next cycle.
const ROUNDS: usize = 8;

type Heads = BTreeMap<String, i64>;

/// Pulls what moved of `unit`, and makes it visible when headquarters had all of it at one moment.
pub(super) async fn pull(
    store: &Store,
    epoch: &str,
    unit: &[&'static SyncType],
    cursors: &HashMap<String, Cursor>,
    heads: Option<&Heads>,
    moved: &mut Moved,
) -> Result<(), PullError> {
    let Some(heads) = heads else { return without_heads(store, epoch, unit, moved).await };
    // A type that HQ does not know is skipped: it is older than this store.
    let known: Vec<_> = unit.iter().copied().filter(|entity| heads.contains_key(entity.name)).collect();
    let is_behind = |entity: &&SyncType| {
        let visible = cursors.get(entity.name).copied().unwrap_or_default();
        visible.reloading || heads.get(entity.name) != Some(&visible.version)
    };
    if !known.iter().any(is_behind) {
        are_here(store, &known);
        return Ok(());
    }
    let mut heads = Cow::Borrowed(heads);
    for round in 0..ROUNDS {
        let ended = to_the_end(store, epoch, &known, Some(&heads), round == 0, moved).await?;
        let Some(ended) = ended else { return Ok(()) };
        if !ended.iter().any(|place| place.is_staged) {
            are_here(store, &known);
            return Ok(());
        }
        if ended.len() == 1 {
            // One type alone need not rest: what changed after its first page comes again before its end.
            if show(store, &ended, moved).await? {
                return Ok(());
            }
            continue;
        }
        let answer = store.hq.versions(&report::query(store, epoch).await?).await?;
        if answer.epoch != epoch || !answer.resync.is_empty() {
            // Headquarters is another one. What it names is loaded again; the rest is for the next cycle.
            moved.lost.extend(answer.resync);
            return Ok(());
        }
        if is_one_moment(&ended, &heads, &answer.versions) && show(store, &ended, moved).await? {
            return Ok(());
        }
        heads = Cow::Owned(answer.versions);
    }
    never_rest(&known);
    Ok(())
}

/// As [`pull`] from a headquarters that tells no heads: when nothing of them comes any more, all of it was there at one moment.
async fn without_heads(
    store: &Store,
    epoch: &str,
    unit: &[&'static SyncType],
    moved: &mut Moved,
) -> Result<(), PullError> {
    let mut before: Option<Vec<i64>> = None;
    for round in 0..ROUNDS {
        let unknown = moved.unknown.len();
        let Some(ended) = to_the_end(store, epoch, unit, None, round == 0, moved).await? else { return Ok(()) };
        if moved.unknown.len() > unknown {
            // Groups without their rates would be sold untaxed: one of these alone is never unknown.
            let why = moved.unknown.pop();
            moved.unknown.truncate(unknown);
            moved.broken = moved.broken.take().or(why);
            return Ok(());
        }
        let now: Vec<i64> = ended.iter().map(|place| place.cursor.version).collect();
        if !ended.iter().any(|place| place.is_staged) {
            are_here(store, unit);
            return Ok(());
        }
        if (ended.len() == 1 || before.as_ref() == Some(&now)) && show(store, &ended, moved).await? {
            return Ok(());
        }
        before = Some(now);
    }
    never_rest(unit);
    Ok(())
}

fn never_rest(unit: &[&'static SyncType]) {
    let types: Vec<_> = unit.iter().map(|entity| entity.name).collect();
    tracing::info!(types = types.join(", "), "these change all the time: they become visible as soon as they rest");
}

/// Pulls each type that is not at its head, or every one when the heads are unknown; where all of them are then, or
/// nothing when one did not come.
async fn to_the_end(
    store: &Store,
    epoch: &str,
    types: &[&'static SyncType],
    heads: Option<&Heads>,
    is_first: bool,
    moved: &mut Moved,
) -> Result<Option<Vec<TypeCursor>>, PullError> {
    let mut came = true;
    for TypeCursor { entity, cursor, is_staged } in staged::places(store.reader(), types).await? {
        let Some(head) = heads.map_or(Some(&NO_HEAD), |heads| heads.get(entity.name)) else { continue };
        // What lies here since an earlier cycle may be of commits that headquarters has lost: a question says its tag.
        if cursor.version != *head || cursor.reloading || (is_first && is_staged) {
            came &= attempt(store, epoch, entity, cursor, *head, moved).await?;
        }
    }
    let ended = staged::places(store.reader(), types).await?;
    Ok(Some(ended).filter(|ended| came && !ended.iter().any(|place| place.cursor.reloading)))
}

/// Whether headquarters changed nothing of these types since it answered `before`: each was pulled to its end after
/// that, or was there.
fn is_one_moment(ended: &[TypeCursor], before: &Heads, after: &Heads) -> bool {
    ended.iter().all(|TypeCursor { entity, cursor, .. }| {
        let head = after.get(entity.name);
        // A server of headquarters may know less than the one that gave the page.
        head == before.get(entity.name) && head.is_some_and(|head| cursor.version <= *head)
    })
}

/// Makes visible what lies aside; whether that is all for this cycle.
async fn show(store: &Store, ended: &[TypeCursor], moved: &mut Moved) -> Result<bool, PullError> {
    let shown = {
        let _turn = store.sync.applying.lock().await;
        write(store, ended).await
    };
    match shown {
        Ok(None) => Ok(false),
        Ok(Some(rows)) => {
            moved.rows += rows;
            for place in ended.iter().filter(|place| place.is_staged) {
                store.events.moved(place.entity.name);
            }
            store.events.tell_prices();
            are_here(store, &ended.iter().map(|place| place.entity).collect::<Vec<_>>());
            Ok(true)
        }
        Err(error) => {
            let error = PullError::from(error);
            for place in ended.iter().filter(|place| place.is_staged) {
                tracing::error!(entity_type = place.entity.name, %error, "a type could not be made visible");
                store.sync.stored(place.entity.name, error.of_one_type().as_deref());
            }
            moved.broken.get_or_insert(error);
            Ok(true)
        }
    }
}

async fn write(store: &Store, ended: &[TypeCursor]) -> Result<Option<usize>, DbErr> {
    let tx = store.sync_db().begin().await?;
    let rows = staged::show(&tx, ended, store.id, store.clock.now()).await?;
    tx.commit().await?;
    Ok(rows)
}

/// Notes that this store has these types as headquarters has them.
fn are_here(store: &Store, types: &[&'static SyncType]) {
    for entity in types {
        store.sync.stored(entity.name, None);
    }
}
