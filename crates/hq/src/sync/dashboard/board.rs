//! What all streams of the dashboard are shown, in memory while somebody looks. What changes is marked where it happens
//! and read once for everybody, at most once a second; without a stream nothing is read or kept.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tillkeep_model::Instant;
use tillkeep_storage::{DbErr, sync_log};
use tokio::sync::{Notify, broadcast};
use tokio::time::{Instant as Moment, Interval, interval_at, sleep};
use uuid::Uuid;

use super::Dashboard;
use super::states::{self, StoreState, Which};
use crate::Hq;
use crate::sync::errors::FailedEntry;

/// Changes are gathered for so long after the last ones were told.
const GATHER: Duration = Duration::from_secs(1);
/// Everything is read anew so often: what another process at headquarters did is not marked here.
const READ_ANEW: Duration = Duration::from_mins(1);
/// Streams at once.
const STREAMS: usize = 64;
/// Those of one person.
const OF_A_PERSON: usize = 4;
/// Updates that a stream may be behind before it is shown everything again.
const BEHIND: usize = 16;
/// More marked stores than this are read as all are.
const MANY: usize = 1000;
/// How far back failed entries are looked for: a push is stamped before it waits for the database.
const LOOK_BACK_MS: i64 = 60_000;

/// The stores whose changes a stream is told; `None` is all of them.
pub(super) type Scope = Option<BTreeSet<Uuid>>;

/// What changed at one moment, each part as JSON with the store it belongs to.
pub(super) struct Update {
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
    shown: tokio::sync::Mutex<Option<Shown>>,
    updates: broadcast::Sender<Arc<Update>>,
}

#[derive(Default)]
struct Marked {
    /// The first stream came: nothing was marked before it, so that what is still kept says nothing.
    begun: bool,
    all: bool,
    stores: BTreeSet<Uuid>,
}

#[derive(Default)]
struct Shown {
    stores: BTreeMap<Uuid, StoreState>,
    /// Failed entries that were told of, with when they were first seen.
    failed: HashMap<Uuid, Instant>,
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

/// A place among the streams, given back when it is dropped.
pub(super) struct Place {
    hq: Arc<Hq>,
    person: Uuid,
}

impl Drop for Place {
    fn drop(&mut self) {
        let board = &self.hq.board;
        board.streams.fetch_sub(1, Ordering::AcqRel);
        let mut people = board.people();
        if let Some(streams) = people.get_mut(&self.person) {
            *streams -= 1;
            if *streams == 0 {
                people.remove(&self.person);
            }
        }
        drop(people);
        // Whoever was the last one leaves nothing behind.
        board.wake.notify_one();
    }
}

impl Board {
    fn people(&self) -> MutexGuard<'_, HashMap<Uuid, usize>> {
        self.people.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn marked(&self) -> MutexGuard<'_, Marked> {
        self.marked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Open streams.
    pub fn streams(&self) -> usize {
        self.streams.load(Ordering::Acquire)
    }

    /// Something that is shown of these stores may have changed. Costs nothing while nobody looks.
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

    /// A place for one more stream, if there is one.
    pub(super) fn place(hq: &Arc<Hq>, person: Uuid) -> Option<Place> {
        let more = |streams| (streams < STREAMS).then_some(streams + 1);
        // Held until `begun` says so: who comes second must not find what the first one does away with.
        let mut marked = hq.board.marked();
        let mut people = hq.board.people();
        let own = people.get(&person).copied().unwrap_or_default();
        if own >= OF_A_PERSON {
            return None;
        }
        let before = hq.board.streams.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok()?;
        marked.begun |= before == 0;
        people.insert(person, own + 1);
        drop((marked, people));
        Some(Place { hq: hq.clone(), person })
    }

    /// Waits until something is marked. All is when it is time for it, which nothing else that happens puts off.
    async fn woken(&self, read_anew: &mut Interval) {
        tokio::select! {
            () = self.wake.notified() => {}
            _ = read_anew.tick() => self.mark_all(),
        }
    }

    /// What is shown now to somebody with `scope`, and what changes from then on.
    pub(super) async fn watch(
        &self,
        hq: &Hq,
        scope: &Scope,
    ) -> Result<(Dashboard, broadcast::Receiver<Arc<Update>>), DbErr> {
        let mut shown = self.shown.lock().await;
        if std::mem::take(&mut self.marked().begun) {
            *shown = None;
        }
        if shown.is_none() {
            *shown = Some(first(hq).await?);
        }
        // No update passes between the two: each is told with this lock held.
        let updates = self.updates.subscribe();
        let seen = |state: &&StoreState| sees(scope, state.store_id);
        let mut stores: Vec<StoreState> =
            shown.iter().flat_map(|shown| shown.stores.values()).filter(seen).cloned().collect();
        stores.sort_by(|one, other| one.store_code.cmp(&other.store_code));
        Ok((Dashboard::of(hq, stores), updates))
    }
}

pub(super) fn sees(scope: &Scope, store_id: Uuid) -> bool {
    scope.as_ref().is_none_or(|stores| stores.contains(&store_id))
}

async fn first(hq: &Hq) -> Result<Shown, DbErr> {
    let states = states::load(hq, hq.db(), Which::All).await?;
    let failed = sync_log::failed_since(hq.db().reader(), hq.clock.now().plus_millis(-LOOK_BACK_MS)).await?;
    Ok(Shown {
        stores: states.into_iter().map(|state| (state.store_id, state)).collect(),
        failed: failed.into_iter().map(|row| (row.id, row.first_seen_at)).collect(),
    })
}

/// Tells of changes until the server stops.
pub fn start(hq: Arc<Hq>) {
    tokio::spawn(async move {
        let mut read_anew = interval_at(Moment::now() + READ_ANEW, READ_ANEW);
        loop {
            tokio::select! {
                () = hq.board.woken(&mut read_anew) => {}
                () = hq.stop.cancelled() => return,
            }
            if let Err(error) = refresh(&hq).await {
                tracing::warn!(%error, "the dashboard could not be read; it is tried again");
                hq.board.mark_all();
            }
            tokio::select! {
                () = sleep(GATHER) => {}
                () = hq.stop.cancelled() => return,
            }
        }
    });
}

/// Reads what is marked and tells the streams what is new in it.
async fn refresh(hq: &Hq) -> Result<(), DbErr> {
    let board = &hq.board;
    let mut kept = board.shown.lock().await;
    let marked = std::mem::take(&mut *board.marked());
    if marked.begun || board.streams() == 0 {
        *kept = None;
    }
    let Some(shown) = kept.as_mut().filter(|_| marked.all || !marked.stores.is_empty()) else { return Ok(()) };
    let which = if marked.all || marked.stores.len() > MANY { Which::All } else { Which::These(&marked.stores) };
    let states = states::load(hq, hq.db(), which).await?;
    let now = hq.clock.now();
    let since = now.plus_millis(-LOOK_BACK_MS);
    let failed = if states.iter().any(|state| state.error_count > 0) {
        sync_log::failed_since(hq.db().reader(), since).await?
    } else {
        Vec::new()
    };
    // Nothing fails from here on: what is kept as shown is told as well.
    let mut update = Update { at: now, stores: Vec::new(), gone: Vec::new(), failed: Vec::new() };
    let there: BTreeSet<Uuid> = states.iter().map(|state| state.store_id).collect();
    let read = |id: &Uuid| matches!(which, Which::All) || marked.stores.contains(id);
    update.gone.extend(shown.stores.keys().filter(|id| read(id) && !there.contains(id)));
    for id in &update.gone {
        shown.stores.remove(id);
    }
    let mut codes = HashMap::new();
    for state in states {
        if state.error_count > 0 {
            codes.insert(state.store_id, state.store_code.clone());
        }
        let news = shown.stores.get(&state.store_id).map_or_else(|| Some(state.clone()), |older| state.news(older));
        if let Some(news) = news {
            update.stores.push((state.store_id, json(&news)?));
        }
        shown.stores.insert(state.store_id, state);
    }
    shown.failed.retain(|_, first_seen_at| *first_seen_at >= since);
    for row in failed {
        let (id, store_id, first_seen_at) = (row.id, row.store_id, row.first_seen_at);
        // Of another store: it is marked too, and told with the next update.
        let Some(code) = codes.get(&store_id).filter(|_| !shown.failed.contains_key(&id)) else { continue };
        update.failed.push((store_id, json(&FailedEntry::of(row, code.clone(), None))?));
        shown.failed.insert(id, first_seen_at);
    }
    if !(update.stores.is_empty() && update.gone.is_empty() && update.failed.is_empty()) {
        // Nobody listens when the last stream has just ended.
        drop(board.updates.send(Arc::new(update)));
    }
    Ok(())
}

fn json(value: &impl serde::Serialize) -> Result<String, DbErr> {
    serde_json::to_string(value).map_err(|error| DbErr::Json(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn everything_is_read_anew_in_time_however_much_is_marked() {
        let board = Board::default();
        board.streams.store(1, Ordering::Release);
        let every = Duration::from_millis(100);
        let mut read_anew = interval_at(Moment::now() + every, every);
        let mut times = 0;
        for _ in 0..200 {
            board.mark([Uuid::now_v7()]);
            board.woken(&mut read_anew).await;
            times += u32::from(std::mem::take(&mut *board.marked()).all);
            if times == 2 {
                return;
            }
            sleep(Duration::from_millis(10)).await;
        }
        panic!("it was read anew {times} times");
    }
}
