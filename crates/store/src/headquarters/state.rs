//! What the sync client knows of itself, for people and for the till.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tillkeep_model::Instant;
use tillkeep_storage::{Db, db};
use tokio::sync::Notify;
use uuid::Uuid;

use super::gate::Gate;
use super::line::Line;
use super::page_size::PageSize;
use super::standing::Standing;

/// Shared by the parts of the client.
pub struct SyncState {
    /// The database, for what the sync client writes: people go first.
    pub(crate) db: Db,
    line: Mutex<Line>,
    /// When the sender ended a round, and when a cycle got through, by the clock that never goes back.
    life: Mutex<(Duration, Option<Duration>)>,
    /// Rung to start a cycle at once.
    pub cycle_bell: Notify,
    /// Rung when a cycle got through: whoever waits out a lost line need not wait on.
    pub(crate) line_back: Notify,
    /// Rung when rows of people came.
    pub(crate) people_changed: Notify,
    /// Rung when this store speaks with another token: the socket comes again with it.
    pub(crate) token_changed: Notify,
    /// HQ answered when it was last asked.
    has_line: AtomicBool,
    /// Rung when HQ announced a change. Notifications that come together are one cycle.
    pub(crate) announced: Notify,
    /// A handshake is due: at the start, after a lost line, when HQ asks for it.
    pub(crate) handshake_due: std::sync::atomic::AtomicBool,
    /// Documents of this store's own are to be fetched from HQ.
    pub(crate) restore_due: std::sync::atomic::AtomicBool,
    pub(crate) page_size: Arc<PageSize>,
    /// Held while a batch is on its way and settled: one sender at a time, and no pull reads what it may be changing.
    pub sending: Gate,
    /// Types at which a cycle ended, until they come.
    last: Mutex<BTreeSet<&'static str>>,
    /// One lock over applying pulls and applying push results. `docs/sync.md`, rule D7.
    pub(crate) applying: tokio::sync::Mutex<()>,
    /// Random for each start, see [`super::standing`].
    pub(crate) instance: Uuid,
    /// That of headquarters' last answer to a handshake of this process.
    nonce: Mutex<Option<Uuid>>,
}

impl SyncState {
    pub fn new(Standing { instance, refused }: Standing, db: Db) -> Self {
        Self {
            db,
            line: Mutex::new(Line { runs_elsewhere: refused, ..Line::default() }),
            life: Mutex::default(),
            cycle_bell: Notify::new(),
            line_back: Notify::new(),
            people_changed: Notify::new(),
            token_changed: Notify::new(),
            has_line: false.into(),
            announced: Notify::new(),
            handshake_due: true.into(),
            restore_due: false.into(),
            page_size: Arc::default(),
            sending: Gate::default(),
            last: Mutex::default(),
            applying: tokio::sync::Mutex::default(),
            instance,
            nonce: Mutex::default(),
        }
    }
}

impl SyncState {
    /// Registers were made, or tills enrolled or revoked: headquarters hears of it in a handshake.
    pub(crate) fn tills_changed(&self) {
        self.handshake_due.store(true, Ordering::Release);
        self.cycle_bell.notify_one();
    }

    /// Whether a page or the outcome of a push is being written.
    pub fn is_applying(&self) -> bool {
        self.applying.try_lock().is_err()
    }

    /// Whether headquarters refuses this copy of the store.
    pub fn is_refused(&self) -> bool {
        self.line.lock().unwrap_or_else(PoisonError::into_inner).runs_elsewhere
    }

    /// Notes whether headquarters refuses this copy; whether it did before.
    pub(crate) fn refuses(&self, refused: bool) -> bool {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut line.runs_elsewhere, refused)
    }

    pub(crate) fn nonce(&self) -> Option<Uuid> {
        *self.nonce.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn answered(&self, nonce: Option<Uuid>) {
        *self.nonce.lock().unwrap_or_else(PoisonError::into_inner) = nonce;
    }

    pub fn line(&self) -> Line {
        self.line.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn update(&self, change: impl FnOnce(&mut Line)) {
        change(&mut self.line.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// A cycle ended at this type.
    pub(crate) fn puts_last(&self, entity_type: &'static str) {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).insert(entity_type);
    }

    /// The types to ask for last.
    pub(crate) fn last(&self) -> BTreeSet<&'static str> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A type could not be stored, or is here again as headquarters has it.
    pub(crate) fn stored(&self, entity_type: &str, unstored: Option<&str>) {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).remove(entity_type);
        self.update(|line| {
            line.loading.remove(entity_type);
            match unstored {
                Some(why) => line.unstored.insert(entity_type.to_owned(), why.to_owned()),
                None => line.unstored.remove(entity_type),
            };
        });
    }

    /// A type is loaded again: whether it can be stored is not known yet.
    pub(crate) fn starts_over(&self, entity_type: &str) {
        self.update(|line| drop(line.unstored.remove(entity_type)));
    }

    /// The sender ended a round, well or not.
    pub(crate) fn progressed(&self, uptime: Duration) {
        self.life.lock().unwrap_or_else(PoisonError::into_inner).0 = uptime;
    }

    /// Whether HQ answered when it was last asked.
    pub fn has_line(&self) -> bool {
        self.has_line.load(Ordering::Acquire)
    }

    pub(crate) fn lost_line(&self) {
        self.has_line.store(false, Ordering::Release);
    }

    /// A cycle got through.
    pub(crate) fn cycled(&self, uptime: Duration) {
        self.has_line.store(true, Ordering::Release);
        self.life.lock().unwrap_or_else(PoisonError::into_inner).1 = Some(uptime);
    }

    pub(crate) fn signs_of_life(&self) -> (Duration, Option<Duration>) {
        *self.life.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn failed(&self, error: &impl std::fmt::Display, now: Instant) {
        let text = db::in_words(&error.to_string()).into_owned();
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        // Once a change, not once a try: a night without a line is one line in the log.
        if line.last_error.as_deref() != Some(text.as_str()) {
            tracing::warn!(error = text, "sync");
        }
        line.last_error = Some(text);
        line.last_error_at = Some(now);
    }

    pub(crate) fn reached(&self, now: Instant) {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        line.last_contact_at = Some(now);
        if line.last_error.take().is_some() {
            tracing::info!("sync: headquarters answers again");
        }
    }
}
