//! Folding the write-ahead log into the file, beside the writer: within a commit it would take as long as many commits.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use sea_orm::DbErr;

use super::session::Session;

/// Pages in the log from which on it is folded.
const MANY: i32 = 1_000;
/// Pages at which the writer waits until it is folded, so that it begins anew: under writers that never pause the thread
/// alone does not get to the end of it.
const TOO_MANY: i32 = 16_000;

pub(super) struct Checkpoints {
    bell: Option<SyncSender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Checkpoints {
    /// Starts the thread, which ends with this.
    pub fn start(path: &Path) -> Result<Self, DbErr> {
        let session = Session::open(path, true)?;
        // Its own reads would fold the log within it.
        session.watch_log();
        let (bell, rings) = sync_channel(1);
        let fold = move || {
            while rings.recv().is_ok() {
                fold(&session);
            }
        };
        let thread = thread::Builder::new().name("checkpoints".to_owned()).spawn(fold);
        let thread = thread.map_err(|error| DbErr::Custom(format!("no thread for the write-ahead log: {error}")))?;
        Ok(Self { bell: Some(bell), thread: Some(thread) })
    }

    /// After a commit that left so many pages in the log.
    pub fn committed(&self, pages: i32, writer: &Arc<Session>) {
        if pages >= TOO_MANY {
            fold(writer);
        } else if pages >= MANY
            && let Some(bell) = &self.bell
        {
            let _not_heard_yet = bell.try_send(());
        }
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.bell = None;
        // Its connection is closed when nobody else is at work on the file.
        if let Some(Err(_)) = self.thread.take().map(thread::JoinHandle::join) {
            tracing::error!("the thread of the write-ahead log panicked");
        }
    }
}

fn fold(session: &Session) {
    if let Err(error) = session.checkpoint() {
        // It stays in the log, from where it is read just as well.
        tracing::warn!(%error, "the write-ahead log could not be folded into the database");
    }
}
