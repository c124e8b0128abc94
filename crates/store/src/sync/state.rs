//! What the sync client knows of itself, for people and for the till.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use tillkeep_model::Instant;
use tokio::sync::Notify;
use utoipa::ToSchema;
use uuid::Uuid;

use super::client::HqError;
use super::elsewhere::Standing;
use super::progress::Loading;

/// The line to HQ as this store sees it.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SyncLine)]
pub struct Line {
    /// The socket stands.
    pub connected: bool,
    pub last_contact_at: Option<Instant>,
    pub last_cycle_at: Option<Instant>,
    pub last_push_at: Option<Instant>,
    pub last_error_at: Option<Instant>,
    pub last_error: Option<String>,
    /// HQ's clock minus ours, in milliseconds, at the last handshake.
    pub clock_offset_ms: Option<i64>,
    /// HQ's epoch at the last handshake.
    pub epoch: Option<String>,
    /// Over how many milliseconds a notified pull is spread.
    pub notify_delay_ms: u64,
    /// Types that could not be stored when they were last pulled, with why; headquarters is told with each cycle.
    pub unstored: BTreeMap<String, String>,
    /// Types of which a load is under way.
    pub loading: BTreeMap<String, Loading>,
    /// Another copy of this store runs, which headquarters heard before this one: nothing is sold here.
    pub runs_elsewhere: bool,
}

/// Shared by the parts of the client.
pub struct SyncState {
    line: Mutex<Line>,
    /// When the sender ended a round, and when a cycle got through, by the clock that never goes back.
    life: Mutex<(Duration, Option<Duration>)>,
    /// Rung to start a cycle at once.
    pub cycle_bell: Notify,
    /// Rung when a cycle got through: whoever waits out a lost line need not wait on.
    pub(super) line_back: Notify,
    /// Rung when rows of people came.
    pub(super) people_changed: Notify,
    /// HQ answered when it was last asked.
    has_line: AtomicBool,
    /// Rung when HQ told of a change. Notifications that come together are one cycle.
    pub(super) told: Notify,
    /// A handshake is due: at the start, after a lost line, when HQ asks for it.
    pub(super) handshake_due: std::sync::atomic::AtomicBool,
    /// Documents of this store's own are to be fetched from HQ.
    pub(super) restore_due: std::sync::atomic::AtomicBool,
    pub(super) page_size: PageSize,
    /// Held while a batch is on its way and settled: one sender at a time, and nobody pulls what it may be changing.
    pub sending: Gate,
    /// Types at which a cycle ended, until they come.
    last: Mutex<BTreeSet<&'static str>>,
    /// One lock over applying pulls and applying push results. `docs/sync.md`, rule D7.
    pub(super) applying: tokio::sync::Mutex<()>,
    /// Random for each start, see [`super::elsewhere`].
    pub(super) instance: Uuid,
    /// That of headquarters' last answer to a handshake of this process.
    nonce: Mutex<Option<Uuid>>,
}

/// Rows of the next page of a type: fewer while the line does not carry one in the time of a request. What is small enough
/// stays so until all of the type is here, whatever other types come meanwhile.
#[derive(Default)]
pub(super) struct PageSize(Mutex<BTreeMap<&'static str, u64>>);

impl PageSize {
    /// What headquarters sends at the most.
    const MOST: u64 = 500;

    fn sizes(&self) -> MutexGuard<'_, BTreeMap<&'static str, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn of(&self, entity_type: &str) -> u64 {
        self.sizes().get(entity_type).copied().unwrap_or(Self::MOST)
    }

    /// Takes what became of the request of a page of so many rows.
    pub(super) fn note<T>(
        &self,
        entity_type: &'static str,
        rows: u64,
        answer: Result<T, HqError>,
    ) -> Result<T, HqError> {
        if matches!(answer, Err(HqError::Unreachable(_))) {
            self.sizes().insert(entity_type, (rows / 2).max(1));
        }
        answer
    }

    /// All of the type is here.
    pub(super) fn done(&self, entity_type: &str) {
        self.sizes().remove(entity_type);
    }
}

/// A lock that can be asked how many wait for it: in virtual time somebody must know who waits for whom.
#[derive(Default)]
pub struct Gate {
    lock: tokio::sync::Mutex<()>,
    waiting: AtomicUsize,
}

/// Counts one who waits.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Gate {
    pub async fn enter(&self) -> tokio::sync::MutexGuard<'_, ()> {
        if let Ok(inside) = self.lock.try_lock() {
            return inside;
        }
        self.waiting.fetch_add(1, Ordering::AcqRel);
        let _counted = Waiting(&self.waiting);
        self.lock.lock().await
    }

    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Acquire)
    }
}

impl SyncState {
    pub fn new(Standing { instance, refused }: Standing) -> Self {
        Self {
            line: Mutex::new(Line { runs_elsewhere: refused, ..Line::default() }),
            life: Mutex::default(),
            cycle_bell: Notify::new(),
            line_back: Notify::new(),
            people_changed: Notify::new(),
            has_line: false.into(),
            told: Notify::new(),
            handshake_due: true.into(),
            restore_due: false.into(),
            page_size: PageSize::default(),
            sending: Gate::default(),
            last: Mutex::default(),
            applying: tokio::sync::Mutex::default(),
            instance,
            nonce: Mutex::default(),
        }
    }
}

impl SyncState {
    /// Whether a page or the outcome of a push is being written.
    pub fn is_applying(&self) -> bool {
        self.applying.try_lock().is_err()
    }

    /// Whether headquarters refuses this copy of the store.
    pub fn is_refused(&self) -> bool {
        self.line.lock().unwrap_or_else(PoisonError::into_inner).runs_elsewhere
    }

    /// Notes whether headquarters refuses this copy; whether it did before.
    pub(super) fn refuses(&self, refused: bool) -> bool {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut line.runs_elsewhere, refused)
    }

    pub(super) fn nonce(&self) -> Option<Uuid> {
        *self.nonce.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn answered(&self, nonce: Option<Uuid>) {
        *self.nonce.lock().unwrap_or_else(PoisonError::into_inner) = nonce;
    }

    pub fn line(&self) -> Line {
        self.line.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn update(&self, change: impl FnOnce(&mut Line)) {
        change(&mut self.line.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// A cycle ended at this type.
    pub(super) fn puts_last(&self, entity_type: &'static str) {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).insert(entity_type);
    }

    /// The types to ask for last.
    pub(super) fn last(&self) -> BTreeSet<&'static str> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A type could not be stored, or is here again as headquarters has it.
    pub(super) fn stored(&self, entity_type: &str, unstored: Option<&str>) {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).remove(entity_type);
        self.update(|line| {
            line.loading.remove(entity_type);
            match unstored {
                Some(why) => line.unstored.insert(entity_type.to_owned(), why.to_owned()),
                None => line.unstored.remove(entity_type),
            };
        });
    }

    /// The sender ended a round, well or not.
    pub(super) fn progressed(&self, uptime: Duration) {
        self.life.lock().unwrap_or_else(PoisonError::into_inner).0 = uptime;
    }

    /// Whether HQ answered when it was last asked.
    pub fn has_line(&self) -> bool {
        self.has_line.load(Ordering::Acquire)
    }

    pub(super) fn lost_line(&self) {
        self.has_line.store(false, Ordering::Release);
    }

    /// A cycle got through.
    pub(super) fn cycled(&self, uptime: Duration) {
        self.has_line.store(true, Ordering::Release);
        self.life.lock().unwrap_or_else(PoisonError::into_inner).1 = Some(uptime);
    }

    pub(super) fn signs_of_life(&self) -> (Duration, Option<Duration>) {
        *self.life.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn failed(&self, error: &impl std::fmt::Display, now: Instant) {
        let text = error.to_string();
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        // Once a change, not once a try: a night without a line is one line in the log.
        if line.last_error.as_deref() != Some(text.as_str()) {
            tracing::warn!(error = text, "sync");
        }
        line.last_error = Some(text);
        line.last_error_at = Some(now);
    }

    pub(super) fn reached(&self, now: Instant) {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        line.last_contact_at = Some(now);
        if line.last_error.take().is_some() {
            tracing::info!("sync: headquarters answers again");
        }
    }
}
