//! What stores did lately, kept in memory and written every second, set-wise: a pull writes nothing itself.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tillkeep_model::Instant;
use tillkeep_model::wire::close;
use tillkeep_storage::sync_log::{self, Pulled};
use tillkeep_storage::{DbErr, db, fault, nodes};
use uuid::Uuid;

use super::mark;
use crate::Hq;

/// How often what was noted is written.
const WRITE_EVERY: Duration = Duration::from_secs(1);

#[derive(Default)]
pub struct Tracker(Mutex<Noted>);

#[derive(Default)]
struct Noted {
    pulled: HashMap<(Uuid, &'static str), Pulled>,
    seen: HashMap<Uuid, Instant>,
    /// The version that each store said to have, as far as it is written or in `pulled`: most reports say nothing new.
    had: HashMap<(Uuid, &'static str), i64>,
}

impl Tracker {
    fn lock(&self) -> std::sync::MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A store pulled `rows` of a type, having `since` before.
    pub fn pulled(&self, store_id: Uuid, entity_type: &'static str, rows: usize, since: i64, now: Instant) {
        let mut noted = self.lock();
        noted.had.insert((store_id, entity_type), since);
        let entry = noted.pulled.entry((store_id, entity_type)).or_default();
        entry.rows += i64::try_from(rows).unwrap_or_default();
        entry.since = since;
        entry.at = Some(now);
    }

    /// A store said up to which version it has types.
    pub fn has(&self, store_id: Uuid, versions: impl IntoIterator<Item = (&'static str, i64)>) {
        let mut noted = self.lock();
        for (entity_type, version) in versions {
            if noted.had.insert((store_id, entity_type), version) != Some(version) {
                noted.pulled.entry((store_id, entity_type)).or_default().since = version;
            }
        }
    }

    /// A store was heard of.
    pub fn seen(&self, store_id: Uuid, now: Instant) {
        self.lock().seen.insert(store_id, now);
    }

    /// When a store was last heard of since this server started, if it is not written yet.
    pub fn last_seen(&self, store_id: Uuid) -> Option<Instant> {
        self.lock().seen.get(&store_id).copied()
    }

    /// Writes what was noted.
    pub async fn flush(&self, hq: &Hq) -> Result<(), DbErr> {
        fault::point("tracker.flush")?;
        let (pulled, seen) = {
            let mut noted = self.lock();
            (std::mem::take(&mut noted.pulled), std::mem::take(&mut noted.seen))
        };
        if pulled.is_empty() && seen.is_empty() {
            return Ok(());
        }
        let pulled: Vec<_> = pulled.into_iter().collect();
        let seen: Vec<_> = seen.into_iter().collect();
        let written = write(hq, &pulled, &seen).await;
        if written.is_err() {
            // What was not written is news again when the store says it the next time.
            let mut noted = self.lock();
            for (key, _) in &pulled {
                noted.had.remove(key);
            }
        }
        hq.board.mark(pulled.iter().map(|((store_id, _), _)| *store_id));
        written
    }
}

async fn write(hq: &Hq, pulled: &[((Uuid, &'static str), Pulled)], seen: &[(Uuid, Instant)]) -> Result<(), DbErr> {
    let written = db::again(async || {
        let tx = hq.sync_db().begin().await?;
        sync_log::record_pulls(&tx, pulled).await?;
        nodes::seen(&tx, seen).await?;
        tx.commit().await
    });
    written.await.map(|_| ())
}

/// Writes until the server stops, and once more then.
pub fn start(hq: Arc<Hq>) {
    tokio::spawn(async move {
        loop {
            let stopping = tokio::select! {
                () = tokio::time::sleep(WRITE_EVERY) => false,
                () = hq.stop.cancelled() => true,
            };
            hq.settle_doubt().await;
            note(&hq, stopping).await;
            if stopping {
                return;
            }
        }
    });
}

/// One round of the background work.
pub async fn note(hq: &Hq, stopping: bool) {
    // A token in its grace ends by the clock alone, and the socket opened with it must not outlive it.
    hq.hub.close_over(hq.clock.now(), close::REVOKED);
    if let Err(error) = mark::follow(hq, stopping).await {
        tracing::warn!(%error, "a mark could not be made; the next one will be");
    }
    if let Err(error) = hq.tracker.flush(hq).await {
        tracing::warn!(%error, "what stores pulled could not be written; it is counted no more");
    }
}
