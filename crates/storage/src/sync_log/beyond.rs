//! Refusals of a store that has so many open ones that no further one gets a row: one row for each type counts them. What was
//! refused is at its store, which sends it again when there is room. `docs/sync.md`, rule U12.

use sea_orm::DbErr;
use tillkeep_model::Instant;
use uuid::Uuid;

use super::pending::count_pending;
use super::quota::is_used_up;
use super::words::{FAILED, PUSH};
use crate::Tx;
use crate::db::{self, Turn, execute, query};
use crate::entity::sync_log::{Entity, Model};
use crate::sql::bulk;

/// The code of such a row.
const NOT_KEPT: &str = "not_kept";
const WHY: &str = "so many entries of this store failed that further ones of this type are only counted: they are at their store, which \
                   sends them again when there is room; settle the others first";
/// A row that counts so many counts no further.
const MOST: i32 = 1_000_000_000;

/// What such a row is known by, of the store `$1`. An index finds the few rows that name no entity.
const OPEN: &str =
    "store_id = $1 AND entity_id = '' AND status = 'failed' AND direction = 'push' AND code = 'not_kept'";

/// Counts refusals of a type; true when its row is new.
pub(super) async fn count(tx: &Tx, store: Uuid, entity_type: &str, count: i32, now: Instant) -> Result<bool, DbErr> {
    let sql = format!(
        "UPDATE sync_log SET retry_count = CASE WHEN retry_count < {MOST} THEN retry_count + $3 ELSE retry_count END, \
         last_seen_at = $4 WHERE {OPEN} AND entity_type = $2"
    );
    if execute(tx, &sql, [store.into(), entity_type.into(), count.into(), now.into()]).await? > 0 {
        return Ok(false);
    }
    let row = Model {
        id: Uuid::now_v7(),
        store_id: store,
        direction: PUSH.to_owned(),
        entity_type: entity_type.to_owned(),
        status: FAILED.to_owned(),
        code: Some(NOT_KEPT.to_owned()),
        error: Some(WHY.to_owned()),
        // The first one counts as the try that a row is there for.
        retry_count: count - 1,
        first_seen_at: now,
        last_seen_at: now,
        ..Model::default()
    };
    bulk::insert::<Entity>(tx, vec![row], None).await?;
    Ok(true)
}

async fn are_counted(tx: &Tx, store: Uuid) -> Result<bool, DbErr> {
    Ok(!query(tx, &format!("SELECT id FROM sync_log WHERE {OPEN}"), [store.into()]).await?.is_empty())
}

/// The turn of what comes from one store, of who needs it for [`room_again`].
#[derive(Debug)]
pub struct CountersTurn(bool);

/// Takes the turn in which counters of refusals are settled, where there are any: whoever counts just now is done first or waits. It
/// comes before any row of the log is changed, as in a push, so that the two do not wait for each other.
pub async fn counters_turn(tx: &Tx, store: Uuid) -> Result<CountersTurn, DbErr> {
    let needed = are_counted(tx, store).await?;
    if needed {
        db::take_turn_of(tx, Turn::Push, store).await?;
    }
    Ok(CountersTurn(needed))
}

/// Whether `store` is to send again what was refused and has no row here. While there is no room that would go on without an
/// end; with room again, nothing is left to be counted.
pub async fn room_again(tx: &Tx, store: Uuid, turn: &CountersTurn, now: Instant) -> Result<bool, DbErr> {
    if is_used_up(tx, store).await? {
        return Ok(false);
    }
    if !are_counted(tx, store).await? {
        return Ok(true);
    }
    if !turn.0 {
        // The first one was counted a moment ago: the next handshake has the turn for it.
        return Ok(false);
    }
    let sql = format!(
        "UPDATE sync_log SET status = 'resolved', resolved_at = $2, note = 'there is room again: its store sends them again' \
         WHERE {OPEN}"
    );
    execute(tx, &sql, [store.into(), now.into()]).await?;
    count_pending(tx, store).await?;
    Ok(true)
}
