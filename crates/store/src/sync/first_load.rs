//! The first load of a type. Page after page is asked for and read while those before them are written, and what has come is written
//! together: pages of the file that many rows share, as those of an index, are written once for all of them, which is a fourth of the
//! time and more than half of the bytes. `docs/sync.md`, *A store's cycle*.

use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use tillkeep_storage::apply::{self, Cursor};
use tillkeep_storage::registry::SyncType;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use super::page::{Page, PullError, arrived, done, keep};
use super::progress::Progress;
use crate::Store;
use crate::headquarters::{HqClient, PageSize};

/// Rows that are written together: more of them gain nothing.
const ROWS: usize = 2000;
/// Pages that are here before they are written; with three of them a load took a fifth longer, and no less memory.
const AHEAD: usize = 8;
/// How long pages that are here wait for a further one: over a slow line each is written as it comes.
const PATIENCE: Duration = Duration::from_millis(100);

/// What came of a first load.
pub(super) struct Loaded {
    pub rows: usize,
    /// All of the type is here; else it goes on page by page from where the cursor is.
    pub is_complete: bool,
}

/// Whether `entity` has nothing here yet, and may be loaded so. A runtime of one thread does one thing after the other all the same.
pub(super) fn is_due(entity: &SyncType, cursor: Cursor) -> bool {
    let one_by_one = entity.is_pushed() || entity.is_staged() || entity.replace_all;
    let threads = Handle::current().runtime_flavor() != RuntimeFlavor::CurrentThread;
    cursor.version == 0 && !cursor.reloading && !one_by_one && threads
}

/// Loads a type from `from` on.
pub(super) async fn load(
    store: &Store,
    epoch: &str,
    entity: &'static SyncType,
    from: Cursor,
    head: i64,
) -> Result<Loaded, PullError> {
    let has = Arc::new(AtomicI64::new(from.version));
    let (send, coming) = mpsc::channel(AHEAD);
    let asking = Asking {
        hq: store.hq.clone(),
        sizes: store.sync.page_size.clone(),
        epoch: epoch.to_owned(),
        entity,
        head,
        has: has.clone(),
    };
    let _asking = AbortOnDropHandle::new(tokio::spawn(asking.run(from, send)));
    let mut pages = Pages { coming, next: None };
    let (mut loaded, mut progress) = (Loaded { rows: 0, is_complete: false }, None);
    loop {
        let (gathered, broken) = pages.gather().await;
        let (Some(first), Some(last)) = (gathered.first(), gathered.last()) else {
            return broken.map_or(Ok(loaded), Err);
        };
        let (here, has_more, are_several) = (last.next(), last.read.answer.has_more, gathered.len() > 1);
        if progress.is_none() {
            progress = Progress::begin(store, entity, first.from, &first.read.answer).await?;
        }
        let (kept, written) = keep(store, entity, gathered).await;
        loaded.rows += kept.rows;
        if let Some(progress) = &mut progress {
            progress.kept(kept.rows);
        }
        match written {
            Err(PullError::Database(error)) if are_several => {
                // Those before the one that cannot be stored are kept when they come alone.
                tracing::debug!(entity_type = entity.name, %error, "pages are written one by one");
                return Ok(loaded);
            }
            written => written?,
        }
        if kept.is_of_before {
            return Ok(loaded);
        }
        // What came before the line broke is here.
        if let Some(error) = broken {
            return Err(error);
        }
        if !has_more {
            tracing::debug!(entity_type = entity.name, rows = loaded.rows, version = here.version, "loaded");
            loaded.is_complete = true;
            return Ok(loaded);
        }
        has.store(here.version, Ordering::Release);
    }
}

/// A page that is being read.
type Reading = AbortOnDropHandle<Result<Page, PullError>>;

/// Who asks headquarters for page after page.
struct Asking {
    hq: HqClient,
    sizes: Arc<PageSize>,
    epoch: String,
    entity: &'static SyncType,
    head: i64,
    /// Up to which version the store has the type.
    has: Arc<AtomicI64>,
}

impl Asking {
    /// Asks until all have come, one does not come, or nobody wants them any more. Each is read while the next is on its way.
    async fn run(self, mut from: Cursor, coming: mpsc::Sender<Reading>) {
        let Self { hq, sizes, epoch, entity, head, has } = self;
        // Without a place for it no page is asked for.
        while let Ok(place) = coming.reserve().await {
            let size = sizes.get(entity.name);
            let asked = hq.pull(entity.name, from, has.load(Ordering::Acquire), size, &epoch).await;
            let mut answer = match sizes.note(entity.name, size, asked) {
                Ok(answer) => answer,
                Err(error) => {
                    let broken: Result<Page, PullError> = Err(error.into());
                    return place.send(AbortOnDropHandle::new(tokio::spawn(ready(broken))));
                }
            };
            arrived(&sizes, entity, &mut answer, head);
            let (next, has_more) = (from.after(&answer), answer.has_more);
            let read = async move { Ok::<Page, PullError>(Page { from, read: apply::Page::read(entity, answer)? }) };
            place.send(AbortOnDropHandle::new(tokio::spawn(read)));
            if !has_more {
                return;
            }
            from = next;
        }
    }
}

/// Pages in the order of their versions.
struct Pages {
    coming: mpsc::Receiver<Reading>,
    /// The next one, while it is read.
    next: Option<Reading>,
}

impl Pages {
    /// The next page; none after the last one. Who stops to wait for it gets it the next time.
    async fn next(&mut self) -> Option<Result<Page, PullError>> {
        if self.next.is_none() {
            self.next = self.coming.recv().await;
        }
        let ended = self.next.as_mut()?.await;
        self.next = None;
        Some(done(ended).await)
    }

    /// Pages that come one behind the other, and why no further one does.
    async fn gather(&mut self) -> (Vec<Page>, Option<PullError>) {
        let (mut pages, mut rows): (Vec<Page>, usize) = (Vec::new(), 0);
        while rows < ROWS && pages.len() < AHEAD && pages.last().is_none_or(|page| page.read.answer.has_more) {
            let next = if pages.is_empty() {
                self.next().await
            } else {
                match timeout(PATIENCE, self.next()).await {
                    Ok(next) => next,
                    Err(_) => break,
                }
            };
            match next {
                Some(Ok(page)) => {
                    rows += page.read.rows();
                    pages.push(page);
                }
                Some(Err(error)) => return (pages, Some(error)),
                None => break,
            }
        }
        (pages, None)
    }
}
