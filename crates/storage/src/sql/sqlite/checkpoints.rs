//! Folding the write-ahead log into the file, beside the writer: within a commit it would take as long as many commits.

use std::path::Path;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use sea_orm::DbErr;

use super::session::Session;

/// Pages that come into the log between two folds of the thread.
const MANY: i32 = 4_000;
/// Pages at which the writer itself has the log start over: under writers and readers that never pause, the thread alone
/// does not get to the end of it.
const TOO_MANY: i32 = 16_000;
/// How long the writer waits then for those who still read from the log. While one reads for minutes, it tries again
/// after [`MORE`] pages.
const PATIENCE: Duration = Duration::from_millis(200);
const MORE: i32 = 4_000;

pub(super) struct Checkpoints {
    bell: Option<SyncSender<()>>,
    thread: Option<thread::JoinHandle<()>>,
    /// Pages in the log after the last commit.
    pages: i32,
    /// At how many the thread hears of it, and at how many the writer does it itself.
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
        let fold = move || {
            while rings.recv().is_ok() {
                heed(session.checkpoint());
            }
        };
        let thread = thread::Builder::new().name("checkpoints".to_owned()).spawn(fold);
        let thread = thread.map_err(|error| DbErr::Custom(format!("no thread for the write-ahead log: {error}")))?;
        Ok(Self { bell: Some(bell), thread: Some(thread), pages: 0, next: MANY, next_restart: TOO_MANY })
    }

    /// After a commit that left so many pages in the log.
    pub(super) fn committed(&mut self, pages: i32, writer: &Session) {
        if pages < self.pages {
            // It has started over.
            (self.next, self.next_restart) = (MANY, TOO_MANY);
        }
        self.pages = pages;
        if pages >= self.next_restart {
            heed(writer.restart_log(PATIENCE));
            self.next_restart = pages + MORE;
        } else if pages >= self.next
            && let Some(bell) = &self.bell
        {
            let _not_heard_yet = bell.try_send(());
            self.next = pages + MANY;
        }
    }
}

/// What is not folded stays in the log, from where it is read just as well.
fn heed<T>(folded: Result<T, DbErr>) {
    if let Err(error) = folded {
        tracing::warn!(%error, "the write-ahead log could not be folded into the database");
    }
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
