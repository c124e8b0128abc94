//! Attempts to sign in, counted before the PIN is looked at, so that guessing ends soon. `docs/security.md`.
//!
//! An attempt falls into one or more buckets (its device or its address; its account there and anywhere). One
//! transaction looks at all of them and counts the attempt as a wrong one; [`succeeded`] takes that back. A guesser who
//! sends many at once therefore gets no more tries than one who waits for each answer.

mod policy;

use std::collections::{BTreeMap, HashMap};

use sea_orm::sea_query::OnConflict;
use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, DbErr, EntityTrait, FromQueryResult, IntoActiveModel, Iterable,
    PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select,
};
use tillkeep_model::{Instant, ids};
use uuid::Uuid;

use crate::Tx;
use crate::entity::pin_attempt::{Column, Entity, Model};
use policy::Counted;
pub use policy::{Kind, POLICIES, Policy};

/// Rows that one round of pruning takes at the most.
const PRUNED_AT_ONCE: u64 = 5_000;

/// One counter that an attempt falls into.
#[derive(Clone, Debug)]
pub struct Bucket {
    pub kind: Kind,
    pub subject: String,
    pub store_id: Option<Uuid>,
    /// The person an account bucket is about, when there is one.
    pub user_id: Option<Uuid>,
}

impl Bucket {
    pub fn new(kind: Kind, subject: impl Into<String>) -> Self {
        Self { kind, subject: subject.into(), store_id: None, user_id: None }
    }

    #[must_use]
    pub fn at(mut self, store_id: Uuid) -> Self {
        self.store_id = Some(store_id);
        self
    }

    fn id(&self) -> Uuid {
        let store = self.store_id.unwrap_or_default();
        ids::named(&format!("pin_attempts:{}:{store}:{}", self.kind.policy().name, self.subject))
    }

    fn empty(&self) -> Model {
        Model {
            id: self.id(),
            kind: self.kind.policy().name.to_owned(),
            subject: self.subject.clone(),
            store_id: self.store_id,
            user_id: self.user_id,
            ..Model::default()
        }
    }
}

/// An attempt that was counted as a wrong one.
#[derive(Debug)]
#[must_use = "an attempt that is not settled stays a wrong one"]
pub struct Taken(Vec<Counted>);

/// What becomes of an attempt.
#[derive(Debug)]
pub enum Decision {
    Go(Taken),
    Wait(Refusal),
}

/// An attempt that nobody looks at.
#[derive(Debug)]
pub struct Refusal {
    /// When the last of its buckets is free.
    pub until: Instant,
    /// The buckets whose trouble was not announced yet.
    pub new: Vec<Model>,
}

impl Refusal {
    /// Whole seconds until the last of its buckets is free.
    pub fn seconds(&self, now: Instant) -> u64 {
        seconds(self.until, now)
    }
}

/// Whole seconds from `now` to `until`.
pub fn seconds(until: Instant, now: Instant) -> u64 {
    u64::try_from(until.millis_since(now)).unwrap_or_default().div_ceil(1000)
}

/// When an attempt may come again, if one of its buckets is blocked and that is announced already. Only reads, so that
/// a flood of refused attempts holds up no writer; `None` decides nothing.
pub async fn known_block(
    conn: &impl ConnectionTrait,
    buckets: &[Bucket],
    now: Instant,
) -> Result<Option<Instant>, DbErr> {
    let rows = Entity::find().filter(Column::Id.is_in(buckets.iter().map(Bucket::id))).all(conn).await?;
    let refusal = refusal(rows, now);
    Ok(refusal.filter(|refusal| refusal.new.is_empty()).map(|refusal| refusal.until))
}

fn refusal(rows: impl IntoIterator<Item = Model>, now: Instant) -> Option<Refusal> {
    let blocked: Vec<Model> = rows
        .into_iter()
        .filter(|row| row.blocked_until.is_some_and(|until| policy::policy_of(row).blocks(until, now)))
        .collect();
    let until = blocked.iter().filter_map(|row| row.blocked_until).max()?;
    Some(Refusal { until, new: blocked.into_iter().filter(|row| !row.announced).collect() })
}

/// Looks at all buckets and, when none is blocked, counts the attempt as a wrong one in each. A refused attempt counts
/// in none; the buckets it names as new are announced from then on.
pub async fn take(tx: &Tx, buckets: &[Bucket], now: Instant) -> Result<Decision, DbErr> {
    // Two buckets may be one.
    let empty: BTreeMap<Uuid, Model> = buckets.iter().map(|bucket| (bucket.id(), bucket.empty())).collect();
    let users: HashMap<Uuid, Option<Uuid>> = empty.values().map(|row| (row.id, row.user_id)).collect();
    let mut rows = made_or_locked(tx, empty.into_values()).await?;
    if let Some(refusal) = refusal(rows.iter().cloned(), now) {
        let new = refusal.new.iter().map(|row| row.id);
        Entity::update_many()
            .set(crate::entity::pin_attempt::ActiveModel {
                announced: sea_orm::ActiveValue::Set(true),
                ..Default::default()
            })
            .filter(Column::Id.is_in(new))
            .exec(tx)
            .await?;
        return Ok(Decision::Wait(refusal));
    }
    for row in &mut rows {
        policy::policy_of(row).count(row, now);
        row.user_id = users.get(&row.id).copied().flatten();
    }
    let taken = rows.iter().map(Counted::new).collect();
    write(tx, rows).await?;
    Ok(Decision::Go(Taken(taken)))
}

/// The attempt was a right one: it counts no more and ends the waits, but what was wrong today stays counted.
pub async fn succeeded(tx: &Tx, taken: &Taken, now: Instant) -> Result<(), DbErr> {
    settle(tx, taken, true, now).await
}

/// Nobody looked at the PIN after all: the attempt counts no more, and that is all.
pub async fn withdrawn(tx: &Tx, taken: &Taken, now: Instant) -> Result<(), DbErr> {
    settle(tx, taken, false, now).await
}

async fn settle(tx: &Tx, taken: &Taken, right: bool, now: Instant) -> Result<(), DbErr> {
    // A row that is gone was unlocked in the meantime.
    let mut rows = locked(tx, taken.0.iter().map(|counted| counted.id)).await?;
    for row in &mut rows {
        if let Some(counted) = taken.0.iter().find(|counted| counted.id == row.id) {
            policy::policy_of(row).take_back(row, counted, right, now);
        }
    }
    write(tx, rows).await
}

/// Writes what became of rows that are there and locked.
async fn write(tx: &Tx, rows: Vec<Model>) -> Result<(), DbErr> {
    if rows.is_empty() {
        return Ok(());
    }
    let changing = Column::iter().filter(|column| !matches!(column, Column::Id));
    Entity::insert_many(rows.into_iter().map(IntoActiveModel::into_active_model))
        .on_conflict(OnConflict::column(Column::Id).update_columns(changing).to_owned())
        .exec_without_returning(tx)
        .await?;
    Ok(())
}

/// The rows of these ids, each made or locked before the next: by one statement and in the order in which they come, so that
/// no two attempts wait for each other, whichever of their rows are there.
async fn made_or_locked(tx: &Tx, empty: impl Iterator<Item = Model>) -> Result<Vec<Model>, DbErr> {
    let mut insert = Entity::insert_many(empty.map(IntoActiveModel::into_active_model))
        // What conflicts is locked when it is written, and this writes what is there.
        .on_conflict(OnConflict::column(Column::Id).update_column(Column::Kind).to_owned())
        .into_query();
    insert.returning_all();
    tx.query_all(&insert).await?.iter().map(|row| Model::from_query_result(row, "")).collect()
}

async fn locked(tx: &Tx, ids: impl IntoIterator<Item = Uuid>) -> Result<Vec<Model>, DbErr> {
    Entity::find().filter(Column::Id.is_in(ids)).order_by_asc(Column::Id).lock_exclusive().all(tx).await
}

fn blocked(now: Instant, scope: Condition) -> Select<Entity> {
    Entity::find().filter(Column::BlockedUntil.gt(now)).filter(scope)
}

/// One page of what is blocked now within `scope`, the longest first, and how many there are.
pub async fn locks(
    conn: &impl ConnectionTrait,
    scope: Condition,
    now: Instant,
    offset: u64,
    limit: u64,
) -> Result<(Vec<Model>, u64), DbErr> {
    let total = blocked(now, scope.clone()).count(conn).await?;
    let page = blocked(now, scope).order_by_desc(Column::BlockedUntil).order_by_asc(Column::Id);
    Ok((page.offset(offset).limit(limit).all(conn).await?, total))
}

/// Frees what is blocked, counters included; `None` when nothing of that id within `scope` is blocked.
pub async fn unlock(tx: &Tx, scope: Condition, id: Uuid, now: Instant) -> Result<Option<Model>, DbErr> {
    let found = blocked(now, scope).filter(Column::Id.eq(id)).lock_exclusive().one(tx).await?;
    if found.is_some() {
        Entity::delete_by_id(id).exec(tx).await?;
    }
    Ok(found)
}

/// Nothing of this person's accounts is counted any more.
pub async fn forget(tx: &Tx, user_id: Uuid) -> Result<(), DbErr> {
    Entity::delete_many().filter(Column::UserId.eq(user_id)).exec(tx).await?;
    Ok(())
}

/// Forgets what says nothing any more: counters that block nobody and to which a day added nothing. The number of rows.
pub async fn prune(tx: &Tx, now: Instant) -> Result<u64, DbErr> {
    let over = Condition::any().add(Column::BlockedUntil.is_null()).add(Column::BlockedUntil.lte(now));
    let quiet = Column::MinuteAt.lte(now.plus_millis(-policy::DAY));
    let old = Entity::find().filter(Column::Day.lt(policy::day_of(now))).filter(quiet).filter(over);
    // In the order in which attempts lock, so that none of them waits for this in a circle.
    let old = old.order_by_asc(Column::Id).limit(PRUNED_AT_ONCE).lock_exclusive().all(tx).await?;
    let done = Entity::delete_many().filter(Column::Id.is_in(old.into_iter().map(|row| row.id))).exec(tx).await?;
    Ok(done.rows_affected)
}
