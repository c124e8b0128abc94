//! Requests that carry a key of their client's making. The key is a row in the transaction of what the request did, so
//! that a repetition finds it whatever became of the answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter};
use tillkeep_model::Instant;

use crate::Db;
use crate::db::execute;
use crate::entity::idempotency_key::{Column, Entity, Model};

tokio::task_local! {
    static CURRENT: Option<Arc<Deed>>;
}

/// A request with a key while it is being answered.
#[derive(Debug)]
pub struct Deed {
    pub id: String,
    pub route: &'static str,
    pub request_hash: String,
    pub now: Instant,
    pub expires_at: Instant,
    outcome: AtomicU8,
}

/// What a request with a key has done so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Nothing,
    /// It committed, and its key with it.
    Done,
    /// Another request with this key committed first, and this one was not let.
    Taken,
}

/// What [`crate::Tx::commit`] says when another request with the same key was first.
const TAKEN: &str = "another request with this idempotency key was first";

impl Deed {
    pub fn new(id: String, route: &'static str, request_hash: String, now: Instant, expires_at: Instant) -> Arc<Self> {
        let outcome = AtomicU8::new(Outcome::Nothing as u8);
        Arc::new(Self { id, route, request_hash, now, expires_at, outcome })
    }

    pub fn outcome(&self) -> Outcome {
        match self.outcome.load(Ordering::Acquire) {
            done if done == Outcome::Done as u8 => Outcome::Done,
            taken if taken == Outcome::Taken as u8 => Outcome::Taken,
            _ => Outcome::Nothing,
        }
    }

    fn set(&self, outcome: Outcome) {
        self.outcome.store(outcome as u8, Ordering::Release);
    }

    /// Writes the key as part of a transaction, once. Of two transactions with one key the second waits here for the
    /// first, and is refused when that commits.
    pub(crate) async fn write(&self, conn: &impl ConnectionTrait) -> Result<(), DbErr> {
        if self.outcome() == Outcome::Done {
            return Ok(());
        }
        let sql = "INSERT INTO idempotency_keys (id, route, request_hash, created_at, expires_at) \
                   VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO UPDATE SET request_hash = excluded.request_hash, \
                   status = NULL, answer = NULL, created_at = excluded.created_at, expires_at = excluded.expires_at \
                   WHERE idempotency_keys.expires_at <= excluded.created_at";
        let values = [
            self.id.as_str().into(),
            self.route.into(),
            self.request_hash.as_str().into(),
            self.now.into(),
            self.expires_at.into(),
        ];
        if execute(conn, sql, values).await? == 0 {
            self.set(Outcome::Taken);
            return Err(DbErr::Custom(TAKEN.to_owned()));
        }
        Ok(())
    }

    /// The transaction with the key is committed.
    pub(crate) fn written(&self) {
        self.set(Outcome::Done);
    }
}

/// Runs `work` so that its first commit writes the key of `deed`.
pub async fn within<F: Future>(deed: Arc<Deed>, work: F) -> F::Output {
    CURRENT.scope(Some(deed), work).await
}

/// Runs `work` without the key of the request: it commits piece by piece, and may be done again. [`done`] writes the key
/// when all of it is there.
pub async fn aside<F: Future>(work: F) -> F::Output {
    CURRENT.scope(None, work).await
}

/// Writes the key of a request whose work went [`aside`].
pub async fn done(db: &Db) -> Result<(), DbErr> {
    if current().is_some() {
        db.begin().await?.commit().await?;
    }
    Ok(())
}

/// The keyed request that this task answers.
pub(crate) fn current() -> Option<Arc<Deed>> {
    CURRENT.try_with(Clone::clone).ok().flatten()
}

/// Whether a commit was refused because of its key.
pub fn is_taken(error: &DbErr) -> bool {
    matches!(error, DbErr::Custom(text) if text == TAKEN)
}

/// The row of a key that still counts.
pub async fn find(conn: &impl ConnectionTrait, id: &str, now: Instant) -> Result<Option<Model>, DbErr> {
    Entity::find_by_id(id.to_owned()).filter(Column::ExpiresAt.gt(now)).one(conn).await
}

/// Keeps the answer of a request that was done.
pub async fn keep_answer(db: &Db, id: &str, status: u16, answer: &str) -> Result<(), DbErr> {
    let tx = db.begin_aside().await?;
    let status = i16::try_from(status).ok();
    let sql = "UPDATE idempotency_keys SET status = $2, answer = $3 WHERE id = $1";
    execute(&tx, sql, [id.into(), status.into(), answer.into()]).await?;
    tx.commit().await?;
    Ok(())
}

/// Lets a key be tried again: its request was refused after all, and what it committed says no more than that.
pub async fn release(db: &Db, id: &str) -> Result<(), DbErr> {
    let tx = db.begin_aside().await?;
    Entity::delete_by_id(id.to_owned()).exec(&tx).await?;
    tx.commit().await?;
    Ok(())
}

/// Removes the keys that count no more.
pub async fn prune(conn: &impl ConnectionTrait, now: Instant) -> Result<u64, DbErr> {
    Ok(Entity::delete_many().filter(Column::ExpiresAt.lte(now)).exec(conn).await?.rows_affected)
}
