//! What all streams of the dashboard are shown, in memory while there are viewers. What changes is marked where it
//! happens and read once for everybody, at most once a second; without a stream nothing is read or kept.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tillkeep_model::Instant;
use tokio::sync::{Notify, broadcast};
use tokio::time::Interval;
use uuid::Uuid;

use super::store_state::StoreState;

/// Streams at once.
const STREAMS: usize = 64;
/// Those of one person.
const OF_A_PERSON: usize = 4;
/// Updates that a stream may be behind before it is shown everything again.
const BEHIND: usize = 16;

/// The stores of which a stream gets the changes; `None` is all of them.
pub(crate) type Scope = Option<BTreeSet<Uuid>>;

/// What changed at one moment, each part as JSON with the store it belongs to.
pub(crate) struct Update {
    pub at: Instant,
    pub stores: Vec<(Uuid, String)>,
    /// Stores that are not there any more.
    pub gone: Vec<Uuid>,
    pub failed: Vec<(Uuid, String)>,
}

pub struct Board {
    streams: AtomicUsize,
    /// The streams of each person who has one.
    people: Mutex<HashMap<Uuid, usize>>,
    marked: Mutex<Marked>,
    wake: Notify,
    pub(crate) shown: tokio::sync::Mutex<Option<Shown>>,
    pub(crate) updates: broadcast::Sender<Arc<Update>>,
}

#[derive(Default)]
pub(crate) struct Marked {
    /// The first stream came: nothing was marked before it, so that what is still kept says nothing.
    pub begun: bool,
    pub all: bool,
    pub stores: BTreeSet<Uuid>,
}

#[derive(Default)]
pub(crate) struct Shown {
    pub stores: BTreeMap<Uuid, StoreState>,
    /// Failed entries that were shown, with when they were first seen.
    pub failed: HashMap<Uuid, Instant>,
}

impl Default for Board {
    fn default() -> Self {
        Self {
            streams: AtomicUsize::new(0),
            people: Mutex::default(),
            marked: Mutex::default(),
            wake: Notify::new(),
            shown: tokio::sync::Mutex::default(),
            updates: broadcast::channel(BEHIND).0,
        }
    }
}

impl Board {
    fn people(&self) -> MutexGuard<'_, HashMap<Uuid, usize>> {
        self.people.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn marked(&self) -> MutexGuard<'_, Marked> {
        self.marked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Open streams.
    pub fn streams(&self) -> usize {
        self.streams.load(Ordering::Acquire)
    }

    /// Something that is shown of these stores may have changed. Costs nothing without viewers.
    pub fn mark(&self, stores: impl IntoIterator<Item = Uuid>) {
        if self.streams() > 0 {
            let mut marked = self.marked();
            let before = marked.stores.len();
            marked.stores.extend(stores);
            if marked.stores.len() > before {
                self.wake.notify_one();
            }
        }
    }

    /// As [`Board::mark`], for every store.
    pub fn mark_all(&self) {
        if self.streams() > 0 {
            self.marked().all = true;
            self.wake.notify_one();
        }
    }

    /// Counts one more stream of `person`, if there is a place for it. Whoever got it gives it back with [`Board::leave`].
    pub(crate) fn enter(&self, person: Uuid) -> bool {
        let more = |streams| (streams < STREAMS).then_some(streams + 1);
        // Held until `begun` says so: who comes second must not find what the first one does away with.
        let mut marked = self.marked();
        let mut people = self.people();
        let own = people.get(&person).copied().unwrap_or_default();
        if own >= OF_A_PERSON {
            return false;
        }
        let Ok(before) = self.streams.fetch_update(Ordering::AcqRel, Ordering::Acquire, more) else { return false };
        marked.begun |= before == 0;
        people.insert(person, own + 1);
        true
    }

    /// A stream of `person` ended.
    pub(crate) fn leave(&self, person: Uuid) {
        self.streams.fetch_sub(1, Ordering::AcqRel);
        let mut people = self.people();
        if let Some(streams) = people.get_mut(&person) {
            *streams -= 1;
            if *streams == 0 {
                people.remove(&person);
            }
        }
        drop(people);
        // Whoever was the last one leaves nothing behind.
        self.wake.notify_one();
    }

    /// Waits until something is marked. All is when it is time for it, which nothing else that happens puts off.
    pub(crate) async fn woken(&self, read_all: &mut Interval) {
        tokio::select! {
            () = self.wake.notified() => {}
            _ = read_all.tick() => self.mark_all(),
        }
    }
}

pub(crate) fn sees(scope: &Scope, store_id: Uuid) -> bool {
    scope.as_ref().is_none_or(|stores| stores.contains(&store_id))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::{Instant as Moment, interval_at, sleep};

    use super::*;

    #[tokio::test]
    async fn everything_is_read_again_in_time_however_much_is_marked() {
        let board = Board::default();
        board.streams.store(1, Ordering::Release);
        let every = Duration::from_millis(100);
        let mut read_all = interval_at(Moment::now() + every, every);
        let mut times = 0;
        for _ in 0..200 {
            board.mark([Uuid::now_v7()]);
            board.woken(&mut read_all).await;
            times += u32::from(std::mem::take(&mut *board.marked()).all);
            if times == 2 {
                return;
            }
            sleep(Duration::from_millis(10)).await;
        }
        panic!("it was read again {times} times");
    }
}
