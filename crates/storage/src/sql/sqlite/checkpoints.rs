//! Folding the write-ahead log into the file, beside the writer: within a commit it would take as long as many commits.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use sea_orm::DbErr;

use super::session::Session;

/// Pages that come into the log between two folds of the thread.
const MANY: i32 = 4_000;
/// Pages at which the log is to start over. Only the writer can have it do so: under writers and readers that never pause, the
/// thread alone does not get to the end of it. All who write wait for what the writer folds then, so that the thread folds again
/// and again before, until [`FEW`] are left; past [`FAR_TOO_MANY`] the writer waits for it no longer.
const TOO_MANY: i32 = 12_000;
const FEW: i32 = 200;
const FAR_TOO_MANY: i32 = 16_000;
/// How long the writer waits then for those who still read from the log, when there is time to try again and when not. While one
/// reads for minutes, it does so after [`MORE`] pages.
const BRIEFLY: Duration = Duration::from_millis(10);
const PATIENCE: Duration = Duration::from_millis(200);
const MORE: i32 = 4_000;
/// How often the thread folds what came while it folded.
const ROUNDS: usize = 4;

pub(super) struct Checkpoints {
    bell: Option<SyncSender<()>>,
    thread: Option<thread::JoinHandle<()>>,
    /// Pages in the log after the last commit, and how many of them the thread has folded.
    pages: Arc<AtomicI32>,
    folded: Arc<AtomicI32>,
    /// At how many the thread hears of it, and at how many the writer waits for it no longer.
    next: i32,
    next_restart: i32,
}

impl Checkpoints {
    /// Starts the thread, which ends with this.
    pub(super) fn start(path: &Path) -> Result<Self, DbErr> {
        let session = Session::open(path, true)?;
        // Its own reads would fold the log within it.
        session.watch_log();
        session.keep_few_pages()?;
        let (bell, rings) = sync_channel(1);
        let (pages, folded) = (Arc::new(AtomicI32::new(0)), Arc::new(AtomicI32::new(0)));
        let fold = {
            let (pages, folded) = (pages.clone(), folded.clone());
            move || {
                while rings.recv().is_ok() {
                    fold(&session, &pages, &folded);
                }
            }
        };
        let thread = thread::Builder::new().name("checkpoints".to_owned()).spawn(fold);
        let thread = thread.map_err(|error| DbErr::Custom(format!("no thread for the write-ahead log: {error}")))?;
        Ok(Self { bell: Some(bell), thread: Some(thread), pages, folded, next: MANY, next_restart: FAR_TOO_MANY })
    }

    /// After a commit that left so many pages in the log.
    pub(super) fn committed(&mut self, pages: i32, writer: &Session) {
        if pages < self.pages.swap(pages, Ordering::Relaxed) {
            // It has started over.
            self.folded.store(0, Ordering::Relaxed);
            (self.next, self.next_restart) = (MANY, FAR_TOO_MANY);
        }
        if pages >= self.next_restart {
            heed(writer.restart_log(PATIENCE));
            self.next_restart = pages + MORE;
        } else if pages >= TOO_MANY && pages - self.folded.load(Ordering::Relaxed) <= FEW {
            heed(writer.restart_log(BRIEFLY));
            // Where readers were in the way, the thread comes first again.
            self.folded.store(0, Ordering::Relaxed);
        } else if pages >= self.next
            && let Some(bell) = &self.bell
        {
            let _not_heard_yet = bell.try_send(());
            self.next = pages + MANY;
        }
    }
}

/// Folds what is in the log; once it is to start over, also what came meanwhile, which is less each time.
fn fold(session: &Session, pages: &AtomicI32, folded: &AtomicI32) {
    for _ in 0..ROUNDS {
        let Some(here) = heed(session.checkpoint()) else { return };
        folded.store(here, Ordering::Relaxed);
        let pages = pages.load(Ordering::Relaxed);
        if pages < TOO_MANY || pages - here <= FEW {
            return;
        }
    }
}

/// What is not folded stays in the log, from where it is read just as well.
fn heed<T>(folded: Result<T, DbErr>) -> Option<T> {
    folded.inspect_err(|error| tracing::warn!(%error, "the write-ahead log could not be folded into the database")).ok()
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.bell = None;
        // Its connection is closed when no other one is at work on the file.
        if let Some(Err(_)) = self.thread.take().map(thread::JoinHandle::join) {
            tracing::error!("the thread of the write-ahead log panicked");
        }
    }
}
