//! Pulling one type; rows and cursor land in one transaction. `docs/sync.md`, rules D2, D8, D9.

use tillkeep_storage::apply::{self, Cursor};
use tillkeep_storage::registry::{self, Caches, SyncType};
use tillkeep_storage::{DbErr, Tx, staged};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio_util::task::AbortOnDropHandle;

use super::first_load;
pub(super) use super::page::PullError;
use super::page::{Page, arrived, done, keep_one};
use super::progress::Progress;
use crate::Store;
use crate::headquarters::HqError;

/// What became of a pull of all that moved.
#[derive(Default)]
pub(super) struct Moved {
    pub rows: usize,
    /// Types of which HQ lost what is here.
    pub lost: Vec<String>,
    /// The first type that could not be got or stored.
    pub broken: Option<PullError>,
    /// What was said of types that no answer of headquarters named.
    pub unknown: Vec<PullError>,
}

/// What it means for the other types that one did not come.
enum Verdict {
    /// They are pulled: of this one HQ lost what is here.
    Lost,
    /// They are pulled: HQ does not know this one, and no answer named it.
    Unknown,
    /// They are pulled: this is wrong with this one, in words for headquarters.
    Broken(String),
    /// They are pulled: one answer of a busy headquarters says nothing of the next type.
    Busy,
    /// They are not pulled.
    Stop,
}

impl Moved {
    fn verdict_of(&self, error: &PullError, head: i64) -> Verdict {
        let was_busy = self.broken.as_ref().is_some_and(PullError::is_busy);
        match (error, error.of_one_type()) {
            (PullError::Hq(HqError::HistoryChanged), _) => Verdict::Lost,
            _ if head == NO_HEAD && error.is_of_an_unknown_type() => Verdict::Unknown,
            (_, Some(why)) => Verdict::Broken(why),
            _ if error.is_busy() && !was_busy => Verdict::Busy,
            _ => Verdict::Stop,
        }
    }
}

/// The head of a type of unknown version.
pub(super) const NO_HEAD: i64 = i64::MIN;

/// Pulls one type from `cursor` to its head; whether all of it came. Why not is noted, unless it is a reason to pull nothing more.
pub(super) async fn attempt(
    store: &Store,
    epoch: &str,
    entity: &'static SyncType,
    cursor: Cursor,
    head: i64,
    moved: &mut Moved,
) -> Result<bool, PullError> {
    let pulled = one(store, epoch, entity, cursor, head).await;
    // Also when the line broke: what came until then is here.
    store.events.tell_prices();
    let error = match pulled {
        Ok(rows) => {
            // What lies aside is nothing to anybody yet.
            moved.rows += if entity.is_staged() { 0 } else { rows };
            return Ok(true);
        }
        Err(error) => error,
    };
    if error.may_be_of_one_type() {
        store.sync.puts_last(entity.name);
    }
    match moved.verdict_of(&error, head) {
        Verdict::Lost => {
            store.sync.stored(entity.name, None);
            moved.lost.push(entity.name.to_owned());
        }
        Verdict::Unknown => {
            moved.unknown.push(error);
            return Ok(true);
        }
        Verdict::Broken(why) => {
            tracing::error!(entity_type = entity.name, %error, "a type could not be stored");
            store.sync.stored(entity.name, Some(&why));
            moved.broken.get_or_insert(error);
        }
        Verdict::Busy => moved.broken = Some(error),
        Verdict::Stop => return Err(error),
    }
    Ok(false)
}

/// Pulls one type from `cursor` to its head. While a page is written the next one is on its way.
async fn one(
    store: &Store,
    epoch: &str,
    entity: &'static SyncType,
    cursor: Cursor,
    head: i64,
) -> Result<usize, PullError> {
    let (mut cursor, mut ahead, mut count, mut progress) = (cursor, None, 0, None);
    if first_load::is_due(entity, cursor) {
        let loaded = first_load::load(store, epoch, entity, cursor, head).await?;
        if loaded.is_complete {
            return Ok(loaded.rows);
        }
        count = loaded.rows;
        cursor = staged::cursor(store.reader(), entity).await?;
    }
    let mut here = visible(store, entity, cursor).await?;
    loop {
        // A row that comes while its entry is under way would be left aside, and the entry gone when it is: neither this
        // page nor a later one would bring it again (rule D6). Such a page is not fetched ahead of the gate either.
        let _gate = if entity.is_pushed() { Some(store.sync.sending.enter().await) } else { None };
        let page = match ahead.take() {
            Some(page) => page?,
            None => fetch(store, epoch, entity, cursor, here, head).await?,
        };
        let (next, has_more) = (page.next(), page.read.answer.has_more);
        if progress.is_none() {
            progress = Progress::begin(store, entity, cursor, &page.read.answer).await?;
        }
        let kept = if has_more && !entity.is_pushed() {
            // That the next one does not come takes nothing from this one; without this one it is not waited for.
            let fetched = async { Ok(fetch(store, epoch, entity, next, here, head).await) };
            let (fetched, kept) = tokio::try_join!(biased; fetched, keep_one(store, entity, page))?;
            ahead = Some(fetched);
            kept
        } else {
            keep_one(store, entity, page).await?
        };
        if kept.is_of_before {
            // What was fetched is so as well.
            (ahead, progress) = (None, None);
            cursor = staged::cursor(store.reader(), entity).await?;
            here = visible(store, entity, cursor).await?;
            continue;
        }
        count += kept.rows;
        cursor = next;
        if !entity.is_staged() {
            here = cursor;
        }
        if let Some(progress) = &mut progress {
            progress.kept(kept.rows);
        }
        if !has_more {
            tracing::debug!(entity_type = entity.name, rows = count, version = cursor.version, "pulled");
            return Ok(count);
        }
    }
}

/// How far people here have a type that was pulled up to `cursor`.
async fn visible(store: &Store, entity: &SyncType, cursor: Cursor) -> Result<Cursor, DbErr> {
    if entity.is_staged() { apply::cursor(store.reader(), entity).await } else { Ok(cursor) }
}

/// Asks for the page after `from`; `here` is how far this store has the type.
async fn fetch(
    store: &Store,
    epoch: &str,
    entity: &'static SyncType,
    from: Cursor,
    here: Cursor,
    head: i64,
) -> Result<Page, PullError> {
    let pages = &store.sync.page_size;
    let size = pages.get(entity.name);
    let (hq, epoch) = (store.hq.clone(), epoch.to_owned());
    let asked = beside(async move {
        let answer = hq.pull(entity.name, from, here.version, size, &epoch).await;
        answer.map(|answer| apply::Page::read(entity, answer))
    });
    let mut read = pages.note(entity.name, size, asked.await)??;
    arrived(pages, entity, &mut read.answer, head);
    Ok(Page { from, read })
}

/// Runs `work` in a task of its own, which ends when no caller waits for it any more: a page is written without a
/// pause, and in the same task the next one would neither arrive nor be read meanwhile. A runtime of one thread does
/// one thing after the other all the same, and who moves its time must see who waits.
async fn beside<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> T {
    if Handle::current().runtime_flavor() == RuntimeFlavor::CurrentThread {
        return work.await;
    }
    done(AbortOnDropHandle::new(tokio::spawn(work)).await).await
}

/// A withdrawn permission or person counts from the next request on.
impl Caches for Store {
    fn forget_permissions(&self) {
        self.auth.invalidate();
    }

    fn forget_people(&self) {
        self.auth.sessions.forget();
        self.sync.people_changed.notify_waiters();
    }

    /// Settings of stores are read of the database whenever that changed.
    fn forget_stores(&self) {}
}

/// Starts types over: each row that HQ does not send again goes, unsent local work stays.
pub(super) async fn reload(store: &Store, wanted: impl Fn(&SyncType) -> bool) -> Result<(), DbErr> {
    let _turn = store.sync.applying.lock().await;
    let tx: Tx = store.sync_db().begin().await?;
    for entity in registry::pulled().filter(|entity| wanted(entity)) {
        apply::begin_reload(&tx, entity).await?;
    }
    tx.commit().await?;
    Ok(())
}
