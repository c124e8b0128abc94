//! When each session was used last: in memory with each request, in the database now and then. Of sessions that are too many
//! the one goes that was used least recently.

#![expect(clippy::disallowed_methods, reason = "sessions stay at their server")]

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tillkeep_model::Instant;
use tillkeep_storage::entity::session::{Column, Entity};
use tillkeep_storage::sea_orm::sea_query::{Expr, LockBehavior, LockType};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use tillkeep_storage::{Db, DbErr};
use uuid::Uuid;

/// A session that goes on being used is noted again after so long.
const NOTED_EVERY_MS: i64 = 5 * 60 * 1000;
/// The same where other servers judge by it.
const NOTED_EVERY_OF_SEVERAL_MS: i64 = 10 * 1000;
/// Sessions of one statement at the most.
const AT_ONCE: usize = 500;
/// One that was not used for so long is not kept in memory any more.
const KEPT_MS: i64 = 24 * 3600 * 1000;

#[derive(Clone, Copy)]
struct Use {
    at: Instant,
    /// What the database has of it, as far as this server wrote it.
    noted: Option<Instant>,
}

#[derive(Default)]
pub(super) struct LastUsed(Mutex<HashMap<Uuid, Use>>);

impl LastUsed {
    fn lock(&self) -> MutexGuard<'_, HashMap<Uuid, Use>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request came with a token of this session.
    pub(super) fn used(&self, session: Uuid, now: Instant) {
        self.lock().entry(session).or_insert(Use { at: now, noted: None }).at = now;
    }

    /// When this server saw a request of it last.
    pub(super) fn at(&self, session: Uuid) -> Option<Instant> {
        self.lock().get(&session).map(|used| used.at)
    }

    pub(super) fn forget_old(&self, now: Instant) {
        self.lock().retain(|_, used| now.millis_since(used.at) < KEPT_MS);
    }

    /// Writes the first use of each session and then one in a while, for the other servers and for the time after a start.
    pub(super) async fn note(&self, db: &Db, now: Instant) -> Result<(), DbErr> {
        let every = if db.is_embedded() { NOTED_EVERY_MS } else { NOTED_EVERY_OF_SEVERAL_MS };
        let is_due = |used: &Use| used.noted.is_none_or(|noted| used.at.millis_since(noted) >= every);
        let due: Vec<Uuid> = self.lock().iter().filter(|(_, used)| is_due(used)).map(|(id, _)| *id).collect();
        for part in due.chunks(AT_ONCE) {
            let tx = db.begin_aside().await?;
            // Waits for no lock: whoever ends sessions locks many of them, in another order.
            let free: Vec<Uuid> = Entity::find()
                .select_only()
                .column(Column::Id)
                .filter(Column::Id.is_in(part.iter().copied()))
                .lock_with_behavior(LockType::Update, LockBehavior::SkipLocked)
                .into_tuple()
                .all(&tx)
                .await?;
            Entity::update_many()
                .col_expr(Column::LastUsedAt, Expr::value(now))
                .filter(Column::Id.is_in(free.iter().copied()))
                .exec(&tx)
                .await?;
            tx.commit().await?;
            let mut known = self.lock();
            for session in free {
                if let Some(used) = known.get_mut(&session) {
                    used.noted = Some(now);
                }
            }
        }
        Ok(())
    }
}
