//! What the streams of the dashboard are shown is read, and what changed is sent to all of them at once.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use tillkeep_storage::{DbErr, sync_log};
use tokio::sync::broadcast;
use tokio::time::{Instant as Moment, interval_at, sleep};
use uuid::Uuid;

use super::overview::Dashboard;
use super::states::{self, Which};
use crate::Hq;
use crate::live::board::{Scope, Shown, Update, sees};
use crate::live::overview::Reading;
use crate::live::store_state::StoreState;
use crate::sync::errors::FailedEntry;

/// Changes are gathered for so long after the last ones were sent.
const GATHER: Duration = Duration::from_secs(1);
/// Everything is read again so often: what another process at headquarters did is not marked here.
const READ_ALL_EVERY: Duration = Duration::from_mins(1);
/// More marked stores than this are read as all are.
const MANY: usize = 1000;
/// How far back failed entries are looked for: a push is stamped before it waits for the database.
const LOOK_BACK_MS: i64 = 60_000;

/// A place among the streams, given back when it is dropped.
pub(super) struct StreamSlot {
    hq: Arc<Hq>,
    person: Uuid,
}

impl StreamSlot {
    /// A place for one more stream, if there is one.
    pub(super) fn take(hq: &Arc<Hq>, person: Uuid) -> Option<Self> {
        hq.board.enter(person).then(|| Self { hq: hq.clone(), person })
    }
}

impl Drop for StreamSlot {
    fn drop(&mut self) {
        self.hq.board.leave(self.person);
    }
}

/// What is shown now to a viewer with `scope`, and what changes from then on.
pub(super) async fn watch(hq: &Hq, scope: &Scope) -> Result<(Dashboard, broadcast::Receiver<Arc<Update>>), DbErr> {
    let board = &hq.board;
    let mut shown = board.shown.lock().await;
    if std::mem::take(&mut board.marked().begun) {
        *shown = None;
    }
    if shown.is_none() {
        *shown = Some(first(hq).await?);
    }
    // No update passes between the two: each is sent with this lock held.
    let updates = board.updates.subscribe();
    let seen = |state: &&StoreState| sees(scope, state.store_id);
    let mut stores: Vec<StoreState> =
        shown.iter().flat_map(|shown| shown.stores.values()).filter(seen).cloned().collect();
    stores.sort_by(|one, other| one.store_code.cmp(&other.store_code));
    Ok((Dashboard::new(hq, Reading { at: hq.clock.now(), states: stores }), updates))
}

async fn first(hq: &Hq) -> Result<Shown, DbErr> {
    let states = states::load(hq, hq.db().reader(), Which::All).await?;
    let failed = sync_log::failed_since(hq.db().reader(), hq.clock.now().plus_millis(-LOOK_BACK_MS)).await?;
    Ok(Shown {
        stores: states.into_iter().map(|state| (state.store_id, state)).collect(),
        failed: failed.into_iter().map(|row| (row.id, row.first_seen_at)).collect(),
    })
}

/// Tells of changes until the server stops.
pub(crate) fn start(hq: Arc<Hq>) {
    tokio::spawn(async move {
        let mut read_all = interval_at(Moment::now() + READ_ALL_EVERY, READ_ALL_EVERY);
        loop {
            tokio::select! {
                () = hq.board.woken(&mut read_all) => {}
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
    let states = states::load(hq, hq.db().reader(), which).await?;
    let now = hq.clock.now();
    let since = now.plus_millis(-LOOK_BACK_MS);
    let failed = if states.iter().any(|state| state.error_count > 0) {
        sync_log::failed_since(hq.db().reader(), since).await?
    } else {
        Vec::new()
    };
    // Nothing fails from here on: what is kept as shown is sent as well.
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
        // Of another store: it is marked too, and sent with the next update.
        let Some(code) = codes.get(&store_id).filter(|_| !shown.failed.contains_key(&id)) else { continue };
        update.failed.push((store_id, json(&FailedEntry::new(row, code.clone(), None))?));
        shown.failed.insert(id, first_seen_at);
    }
    if !(update.stores.is_empty() && update.gone.is_empty() && update.failed.is_empty()) {
        // No viewer listens when the last stream has just ended.
        drop(board.updates.send(Arc::new(update)));
    }
    Ok(())
}

fn json(value: &impl serde::Serialize) -> Result<String, DbErr> {
    serde_json::to_string(value).map_err(|error| DbErr::Json(error.to_string()))
}
