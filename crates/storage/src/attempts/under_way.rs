//! Attempts that were counted and are not judged yet. One of a server that died before it said whether the PIN was right counts for
//! nothing; a client that hangs up changes nothing, since its server judges all the same.

use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, DbErr, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder, QuerySelect,
};
use tillkeep_model::Instant;
use uuid::Uuid;

use super::policy::{Counted, policy_of};
use super::{Taken, locked, write};
use crate::db::query;
use crate::entity::pin_attempt::Model as Counter;
use crate::entity::pin_attempt_under_way::{Column, Entity, Model};
use crate::{Db, Tx};

/// A PIN is looked at for a moment. What is under way for longer was left by a server that died, or by a fault on the way to the
/// verdict.
const LONGEST_MS: i64 = 15_000;
/// Rows that one round of mending takes at the most.
const AT_ONCE: u64 = 1_000;

/// The run of a server that looks at PINs.
#[derive(Clone, Copy, Debug)]
pub struct Judge {
    id: Uuid,
    /// No other server has this database: whatever another run left is over.
    is_alone: bool,
}

fn is_over(row: &Model, now: Instant) -> bool {
    // A clock that was ahead says nothing of how long it has been.
    !(-LONGEST_MS..LONGEST_MS).contains(&now.millis_since(row.begun_at))
}

impl Judge {
    pub fn new(db: &Db) -> Self {
        Self { id: Uuid::new_v4(), is_alone: db.is_embedded() }
    }

    /// Whether no server will judge it. The own ones stay counted, however long they take: this server lives.
    pub(super) fn is_dead(self, row: &Model, now: Instant) -> bool {
        row.judge_id != self.id && (self.is_alone || is_over(row, now))
    }

    /// Whether it is worth waiting for.
    pub(super) fn is_alive(self, row: &Model, now: Instant) -> bool {
        !self.is_dead(row, now) && !is_over(row, now)
    }
}

pub(super) async fn begin(tx: &Tx, taken: &Taken, judge: Judge, now: Instant) -> Result<(), DbErr> {
    let row = |counted: &Counted| Model {
        attempt_id: taken.id,
        counter_id: counted.id,
        judge_id: judge.id,
        begun_at: now,
        day: counted.day,
        minute_at: counted.minute_at,
        in_a_row: counted.in_a_row,
    };
    let rows = taken.counted.iter().map(|counted| row(counted).into_active_model());
    Entity::insert_many(rows).exec_without_returning(tx).await?;
    Ok(())
}

/// The attempt is judged; the counters in which it was still counted.
pub(super) async fn end(tx: &Tx, attempt: Uuid) -> Result<Vec<Uuid>, DbErr> {
    let sql = "DELETE FROM pin_attempts_under_way WHERE attempt_id = $1 RETURNING counter_id";
    query(tx, sql, [attempt.into()]).await?.iter().map(|row| row.try_get("", "counter_id")).collect()
}

/// What is under way in these counters.
pub(super) async fn of(
    conn: &impl ConnectionTrait,
    counters: impl IntoIterator<Item = Uuid>,
) -> Result<Vec<Model>, DbErr> {
    Entity::find().filter(Column::CounterId.is_in(counters)).all(conn).await
}

/// Takes back from `counters`, which are locked, what no server will judge; whether there was any.
pub(super) async fn take_back(
    tx: &Tx,
    counters: &mut [Counter],
    under_way: &[Model],
    judge: Judge,
    now: Instant,
) -> Result<bool, DbErr> {
    let mut any = false;
    for row in under_way.iter().filter(|row| judge.is_dead(row, now)) {
        // Whoever was quicker has taken it back.
        if Entity::delete_by_id((row.attempt_id, row.counter_id)).exec(tx).await?.rows_affected == 0 {
            continue;
        }
        if let Some(counter) = counters.iter_mut().find(|counter| counter.id == row.counter_id) {
            let counted = Counted { id: counter.id, day: row.day, minute_at: row.minute_at, in_a_row: row.in_a_row };
            policy_of(counter).take_back(counter, &counted, false, now);
            any = true;
        }
    }
    Ok(any)
}

/// Nothing is under way in a counter that begins anew.
pub(super) async fn forget(tx: &Tx, counter: Uuid) -> Result<(), DbErr> {
    Entity::delete_many().filter(Column::CounterId.eq(counter)).exec(tx).await?;
    Ok(())
}

/// Takes back what servers that died have left, wherever it was counted, and forgets what is over.
pub async fn mend(tx: &Tx, judge: Judge, now: Instant) -> Result<(), DbErr> {
    let left = Entity::find().order_by_asc(Column::CounterId).limit(AT_ONCE).all(tx).await?;
    let dead: Vec<Model> = left.into_iter().filter(|row| judge.is_dead(row, now)).collect();
    if !dead.is_empty() {
        let mut counters = locked(tx, dead.iter().map(|row| row.counter_id)).await?;
        take_back(tx, &mut counters, &dead, judge, now).await?;
        write(tx, counters).await?;
    }
    let long = 4 * LONGEST_MS;
    let over =
        Condition::any().add(Column::BegunAt.lt(now.plus_millis(-long))).add(Column::BegunAt.gt(now.plus_millis(long)));
    Entity::delete_many().filter(over).exec(tx).await?;
    Ok(())
}
