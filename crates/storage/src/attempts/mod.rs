//! Attempts to sign in, counted before the PIN is looked at, so that guessing ends soon. `docs/security.md`.
//!
//! An attempt falls into one or more buckets (its device or its address; its account there and anywhere). One
//! transaction looks at all of them and counts the attempt as a wrong one; [`succeeded`] takes that back. A guesser who
//! sends many at once therefore gets no more tries than one who waits for each answer. Until it is judged it is under way:
//! whoever finds a bucket blocked meanwhile may wait for that.

mod policy;
mod under_way;

use std::collections::{BTreeMap, HashMap};

use sea_orm::sea_query::OnConflict;
use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, DbErr, EntityTrait, FromQueryResult, IntoActiveModel, Iterable,
    PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select,
};
use serde::{Deserialize, Serialize};
use tillkeep_model::{Instant, ids};
use uuid::Uuid;

use crate::Tx;
use crate::db::query;
use crate::entity::pin_attempt::{Column, Entity, Model};
use policy::Counted;
pub use policy::{Kind, POLICIES, Policy};
pub use under_way::{Judge, mend};

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
#[derive(Debug, Serialize, Deserialize)]
#[must_use = "an attempt that is not settled stays a wrong one"]
pub struct Taken {
    id: Uuid,
    counted: Vec<Counted>,
}

/// What becomes of an attempt.
#[derive(Debug)]
pub enum Decision {
    Go(Taken),
    /// A bucket is blocked as long as attempts are not judged that came before.
    UnderWay,
    Wait(Refusal),
}

/// What a look at the buckets says without a lock on them.
#[derive(Debug)]
pub enum Look {
    /// It decides nothing.
    Unclear,
    /// As [`Decision::UnderWay`].
    UnderWay,
    /// Blocked until then, which is announced already.
    Blocked(Instant),
}

/// An attempt that is not looked at.
#[derive(Debug)]
pub struct Refusal {
    /// When the last of its buckets is free.
    pub until: Instant,
    /// The buckets of which the trouble was not announced yet.
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

/// What is known of an attempt before it is taken. Only reads, so that a flood of refused attempts holds up no writer.
pub async fn look(conn: &impl ConnectionTrait, buckets: &[Bucket], judge: Judge, now: Instant) -> Result<Look, DbErr> {
    let rows = Entity::find().filter(Column::Id.is_in(buckets.iter().map(Bucket::id))).all(conn).await?;
    let blocked = blocked_of(&rows, now);
    let Some(refusal) = refusal(&blocked) else { return Ok(Look::Unclear) };
    let under_way = under_way::of(conn, blocked.iter().map(|row| row.id)).await?;
    Ok(if under_way.iter().any(|row| judge.is_dead(row, now)) {
        Look::Unclear
    } else if under_way.iter().any(|row| judge.is_alive(row, now)) {
        Look::UnderWay
    } else if refusal.new.is_empty() {
        Look::Blocked(refusal.until)
    } else {
        Look::Unclear
    })
}

/// Those of `rows` that are blocked.
fn blocked_of(rows: &[Model], now: Instant) -> Vec<Model> {
    let blocks = |row: &&Model| row.blocked_until.is_some_and(|until| policy::policy_of(row).blocks(until, now));
    rows.iter().filter(blocks).cloned().collect()
}

fn refusal(blocked: &[Model]) -> Option<Refusal> {
    let until = blocked.iter().filter_map(|row| row.blocked_until).max()?;
    Some(Refusal { until, new: blocked.iter().filter(|row| !row.announced).cloned().collect() })
}

/// Looks at all buckets and, when none is blocked, counts the attempt as a wrong one in each. A refused attempt counts
/// in none; the buckets it names as new are announced from then on.
pub async fn take(tx: &Tx, buckets: &[Bucket], judge: Judge, now: Instant) -> Result<Decision, DbErr> {
    let mut rows = made_or_locked(tx, buckets).await?;
    if !blocked_of(&rows, now).is_empty() {
        let under_way = under_way::of(tx, rows.iter().map(|row| row.id)).await?;
        if under_way::take_back(tx, &mut rows, &under_way, judge, now).await? {
            write(tx, rows.clone()).await?;
        }
        let is_blocked = |counter| blocked_of(&rows, now).iter().any(|row| row.id == counter);
        if under_way.iter().any(|row| judge.is_alive(row, now) && is_blocked(row.counter_id)) {
            return Ok(Decision::UnderWay);
        }
        if let Some(refusal) = announced(tx, &rows, now).await? {
            return Ok(Decision::Wait(refusal));
        }
    }
    let taken = Taken { id: Uuid::now_v7(), counted: counted(tx, rows, now).await? };
    under_way::begin(tx, &taken, judge, now).await?;
    Ok(Decision::Go(taken))
}

/// As [`take`], for what counts for good and is not judged.
pub async fn count(tx: &Tx, buckets: &[Bucket], now: Instant) -> Result<Option<Refusal>, DbErr> {
    let rows = made_or_locked(tx, buckets).await?;
    let refusal = announced(tx, &rows, now).await?;
    if refusal.is_none() {
        counted(tx, rows, now).await?;
    }
    Ok(refusal)
}

/// The refusal, when some of `rows` are blocked: what is new of it is announced from then on.
async fn announced(tx: &Tx, rows: &[Model], now: Instant) -> Result<Option<Refusal>, DbErr> {
    let Some(refusal) = refusal(&blocked_of(rows, now)) else { return Ok(None) };
    Entity::update_many()
        .set(crate::entity::pin_attempt::ActiveModel {
            announced: sea_orm::ActiveValue::Set(true),
            ..Default::default()
        })
        .filter(Column::Id.is_in(refusal.new.iter().map(|row| row.id)))
        .exec(tx)
        .await?;
    Ok(Some(refusal))
}

/// Counts a wrong one in each of `rows`.
async fn counted(tx: &Tx, mut rows: Vec<Model>, now: Instant) -> Result<Vec<Counted>, DbErr> {
    for row in &mut rows {
        policy::policy_of(row).count(row, now);
    }
    let counted = rows.iter().map(Counted::new).collect();
    write(tx, rows).await?;
    Ok(counted)
}

/// What was found out about an attempt.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Right,
    Wrong,
    Nothing,
}

/// The attempt was a right one: it counts no more and ends the waits, but what was wrong today stays counted.
pub async fn succeeded(tx: &Tx, taken: &Taken, now: Instant) -> Result<(), DbErr> {
    settle(tx, taken, |_| Verdict::Right, now).await
}

/// Locks the counters of several attempts that are settled together, so that no two who do so wait for each other.
pub async fn hold(tx: &Tx, taken: impl IntoIterator<Item = &Taken>) -> Result<(), DbErr> {
    let counted = taken.into_iter().flat_map(|taken| taken.counted.iter().map(|counted| counted.id));
    locked(tx, counted.collect::<Vec<_>>()).await?;
    Ok(())
}

/// All of `taken` were right, and so was `earlier`, which could not be judged at its time: it was left counted as a wrong one.
pub async fn succeeded_after(tx: &Tx, taken: &[Taken], earlier: Option<&Taken>, now: Instant) -> Result<(), DbErr> {
    hold(tx, taken.iter().chain(earlier)).await?;
    for taken in taken {
        succeeded(tx, taken, now).await?;
    }
    let Some(earlier) = earlier else { return Ok(()) };
    let mut rows = locked(tx, earlier.counted.iter().map(|counted| counted.id)).await?;
    for row in &mut rows {
        if let Some(counted) = earlier.counted.iter().find(|counted| counted.id == row.id) {
            policy::policy_of(row).take_back(row, counted, true, now);
        }
    }
    write(tx, rows).await
}

/// The attempt was a wrong one, as it was counted.
pub async fn failed(tx: &Tx, taken: &Taken, now: Instant) -> Result<(), DbErr> {
    settle(tx, taken, |_| Verdict::Wrong, now).await
}

/// The PIN was not looked at after all: the attempt counts no more, and that is all.
pub async fn withdrawn(tx: &Tx, taken: &Taken, now: Instant) -> Result<(), DbErr> {
    settle(tx, taken, |_| Verdict::Nothing, now).await
}

/// A PIN that was proposed counts for good as what it was, accepted or refused, and not as the other.
pub async fn proposed(tx: &Tx, taken: &Taken, accepted: bool, now: Instant) -> Result<(), DbErr> {
    let other = if accepted { Kind::ProposalRefused } else { Kind::ProposalAccepted };
    let verdict = |row: &Model| if row.kind == other.policy().name { Verdict::Nothing } else { Verdict::Wrong };
    settle(tx, taken, verdict, now).await
}

async fn settle(tx: &Tx, taken: &Taken, verdict: impl Fn(&Model) -> Verdict, now: Instant) -> Result<(), DbErr> {
    // A row that is gone was unlocked in the meantime.
    let mut rows = locked(tx, taken.counted.iter().map(|counted| counted.id)).await?;
    let still = under_way::end(tx, taken.id).await?;
    let mut changed = Vec::new();
    for mut row in rows.drain(..) {
        let Some(counted) = taken.counted.iter().find(|counted| counted.id == row.id) else { continue };
        let (policy, verdict) = (policy::policy_of(&row), verdict(&row));
        // This server stood still for so long that another one took it for dead, and what it counted back.
        let is_counted = still.contains(&row.id);
        match verdict {
            Verdict::Wrong if !is_counted => policy.count(&mut row, now),
            Verdict::Wrong => continue,
            Verdict::Nothing if !is_counted => continue,
            Verdict::Right if !is_counted => {
                policy.count(&mut row, now);
                let counted = Counted::new(&row);
                policy.take_back(&mut row, &counted, true, now);
            }
            Verdict::Right | Verdict::Nothing => policy.take_back(&mut row, counted, verdict == Verdict::Right, now),
        }
        changed.push(row);
    }
    write(tx, changed).await
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

/// The rows of these buckets, each made or locked before the next: by one statement and in the order in which they come, so that
/// no two attempts wait for each other, whichever of their rows are there.
async fn made_or_locked(tx: &Tx, buckets: &[Bucket]) -> Result<Vec<Model>, DbErr> {
    // Two buckets may be one.
    let empty: BTreeMap<Uuid, Model> = buckets.iter().map(|bucket| (bucket.id(), bucket.empty())).collect();
    let users: HashMap<Uuid, Option<Uuid>> = empty.values().map(|row| (row.id, row.user_id)).collect();
    let mut insert = Entity::insert_many(empty.into_values().map(IntoActiveModel::into_active_model))
        // What conflicts is locked when it is written, and this writes what is there.
        .on_conflict(OnConflict::column(Column::Id).update_column(Column::Kind).to_owned())
        .into_query();
    insert.returning_all();
    let found = tx.query_all(&insert).await?;
    let mut rows = found.iter().map(|row| Model::from_query_result(row, "")).collect::<Result<Vec<_>, _>>()?;
    for row in &mut rows {
        row.user_id = users.get(&row.id).copied().flatten();
    }
    Ok(rows)
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

/// How many people have to wait after wrong PINs of their name.
pub async fn people_locked(conn: &impl ConnectionTrait, now: Instant) -> Result<i64, DbErr> {
    let sql = "SELECT COUNT(DISTINCT user_id) AS n FROM pin_attempts WHERE blocked_until > $1 AND kind IN ($2, $3)";
    let [here, anywhere] = [Kind::Account, Kind::AccountAnywhere].map(|kind| kind.policy().name);
    let rows = query(conn, sql, [now.into(), here.into(), anywhere.into()]).await?;
    rows.first().map_or(Ok(0), |row| row.try_get("", "n"))
}

/// The stores of which headquarters judges no attempt now, each since when.
pub async fn stopped(conn: &impl ConnectionTrait, now: Instant) -> Result<HashMap<Uuid, Instant>, DbErr> {
    let policy = Kind::StoreSignIn.policy();
    let rows = blocked(now, Condition::all().add(Column::Kind.eq(policy.name))).all(conn).await?;
    let since = |row: Model| Some((row.store_id?, row.blocked_until?.plus_millis(-policy.minute)));
    Ok(rows.into_iter().filter_map(since).collect())
}

/// Frees what is blocked, counters included; `None` when nothing of that id within `scope` is blocked.
pub async fn unlock(tx: &Tx, scope: Condition, id: Uuid, now: Instant) -> Result<Option<Model>, DbErr> {
    let found = blocked(now, scope).filter(Column::Id.eq(id)).lock_exclusive().one(tx).await?;
    if found.is_some() {
        Entity::delete_by_id(id).exec(tx).await?;
        under_way::forget(tx, id).await?;
    }
    Ok(found)
}

/// Nothing of this person's accounts is counted any more.
pub async fn forget(tx: &Tx, user_id: Uuid) -> Result<(), DbErr> {
    Entity::delete_many().filter(Column::UserId.eq(user_id)).exec(tx).await?;
    Ok(())
}

/// Forgets what says nothing any more: counters without a block to which a day added nothing. The number of rows.
pub async fn prune(tx: &Tx, now: Instant) -> Result<u64, DbErr> {
    let over = Condition::any().add(Column::BlockedUntil.is_null()).add(Column::BlockedUntil.lte(now));
    let quiet = Column::MinuteAt.lte(now.plus_millis(-policy::DAY));
    let old = Entity::find().filter(Column::Day.lt(policy::day_of(now))).filter(quiet).filter(over);
    // In the order in which attempts lock, so that none of them waits for this in a circle.
    let old = old.order_by_asc(Column::Id).limit(PRUNED_AT_ONCE).lock_exclusive().all(tx).await?;
    let done = Entity::delete_many().filter(Column::Id.is_in(old.into_iter().map(|row| row.id))).exec(tx).await?;
    Ok(done.rows_affected)
}
