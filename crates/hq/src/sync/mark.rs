//! The newest mark of HQ's database, in memory: stores are told of it every cycle, and that must cost no query.
//! `docs/sync.md`, rule D8.

use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use tillkeep_storage::{Db, DbErr, marks};
use uuid::Uuid;

use crate::Hq;

/// While something changes, a mark is made so often: what was put back within it goes unnoticed by the mark alone.
const EVERY: Duration = Duration::from_secs(10);
/// Longer than a store keeps what it sent.
const KEEP_MS: i64 = 100 * 24 * 3600 * 1000;

#[derive(Default)]
pub struct Mark(RwLock<Standing>);

#[derive(Clone, Copy, Default)]
struct Standing {
    newest: Option<Uuid>,
    made_at: Option<Duration>,
    /// The sum of all heads when it was made.
    heads: i64,
}

impl Mark {
    pub async fn load(db: &Db) -> Result<Self, DbErr> {
        let newest = marks::newest(db.reader()).await?;
        Ok(Self(RwLock::new(Standing { newest, ..Standing::default() })))
    }

    pub fn newest(&self) -> Option<Uuid> {
        self.get().newest
    }

    fn get(&self) -> Standing {
        *self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes a mark when something changed since the last one and that is long enough ago, or `at_once`.
pub async fn follow(hq: &Hq, at_once: bool) -> Result<(), DbErr> {
    let (standing, heads, uptime) = (hq.mark.get(), hq.heads.sum(), hq.clock.uptime());
    let recent = standing.made_at.is_some_and(|made_at| uptime.saturating_sub(made_at) < EVERY);
    if heads == standing.heads || (recent && !at_once) {
        return Ok(());
    }
    let now = hq.clock.now();
    let tx = hq.db().begin().await?;
    let newest = marks::make(&tx, now, now.plus_millis(-KEEP_MS)).await?;
    tx.commit().await?;
    let made = Standing { newest: Some(newest), made_at: Some(uptime), heads };
    *hq.mark.0.write().unwrap_or_else(PoisonError::into_inner) = made;
    Ok(())
}
