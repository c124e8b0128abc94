//! A request that carries a key, while it is being answered: its transaction writes the key.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use sea_orm::{ConnectionTrait, DbErr};
use tillkeep_model::Instant;
use uuid::Uuid;

use crate::db::execute;

tokio::task_local! {
    static CURRENT: Option<Arc<KeyedRequest>>;
}

/// A request with a key while it is being answered.
#[derive(Debug)]
pub struct KeyedRequest {
    pub id: String,
    /// Tells it from others with the same key.
    pub(crate) holder: Uuid,
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

impl KeyedRequest {
    pub fn new(id: String, route: &'static str, request_hash: String, now: Instant, expires_at: Instant) -> Arc<Self> {
        let outcome = AtomicU8::new(Outcome::Nothing as u8);
        Arc::new(Self { id, holder: Uuid::new_v4(), route, request_hash, now, expires_at, outcome })
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

/// Runs `work` so that its first commit writes the key of `keyed`.
pub async fn within<F: Future>(keyed: Arc<KeyedRequest>, work: F) -> F::Output {
    CURRENT.scope(Some(keyed), work).await
}

/// Runs `work` without the key of the request: it commits piece by piece, and may be done again. [`crate::idempotency::done`] writes the key
/// when all of it is there.
pub async fn aside<F: Future>(work: F) -> F::Output {
    CURRENT.scope(None, work).await
}

/// The keyed request that this task answers.
pub(crate) fn current() -> Option<Arc<KeyedRequest>> {
    CURRENT.try_with(Clone::clone).ok().flatten()
}

/// Whether a commit was refused because of its key.
pub fn is_taken(error: &DbErr) -> bool {
    matches!(error, DbErr::Custom(text) if text == TAKEN)
}
