//! The newest backup, as its disk said last. That disk may be one of another machine, which does not answer at all: a thread of its
//! own waits for it, and nobody else for long.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tillkeep_model::Instant;
use tokio::sync::oneshot;
use tokio::time::timeout;

#[derive(Debug, Default)]
pub(crate) struct NewestBackup {
    /// The disk has not answered yet.
    is_asked: AtomicBool,
    /// What it answered last.
    known: Mutex<Option<Instant>>,
}

/// Held while the disk is at work.
struct Asking(Arc<NewestBackup>);

impl Drop for Asking {
    fn drop(&mut self) {
        self.0.is_asked.store(false, Ordering::Release);
    }
}

impl NewestBackup {
    /// What `look` finds, waited for no longer than `limit`; until it has answered, what was found last. No more than one thread
    /// waits for a disk that is gone, and it is none of the runtime's, which would wait for it when the server stops.
    pub(crate) async fn ask(
        self: &Arc<Self>,
        limit: Duration,
        look: impl FnOnce() -> Option<Instant> + Send + 'static,
    ) -> Option<Instant> {
        if !self.is_asked.swap(true, Ordering::AcqRel) {
            let asking = Asking(self.clone());
            let (answer, answered) = oneshot::channel();
            let work = move || {
                let found = look();
                asking.0.keep(found);
                // Before the answer: whoever hears it may ask again.
                drop(asking);
                let _ = answer.send(());
            };
            match thread::Builder::new().name("backups".to_owned()).spawn(work) {
                Ok(_) => drop(timeout(limit, answered).await),
                Err(error) => tracing::warn!(%error, "no thread to look for backups; it is tried again"),
            }
        }
        *self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, found: Option<Instant>) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = found;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    const LONG: Duration = Duration::from_mins(5);

    #[tokio::test]
    async fn a_disk_that_hangs_is_waited_for_once_and_what_it_said_last_is_remembered() {
        let newest = Arc::new(NewestBackup::default());
        let at = |seconds: i64| Some(Instant::from_millis(seconds * 1000));
        assert_eq!(newest.ask(LONG, move || at(1)).await, at(1));

        // As the disk of a machine that is away, until it comes back.
        let (go, gone) = mpsc::channel::<()>();
        let hung = move || {
            gone.recv().expect("it comes back");
            at(2)
        };
        assert_eq!(newest.ask(Duration::from_millis(20), hung).await, at(1));
        assert_eq!(newest.ask(LONG, || panic!("a second thread looks")).await, at(1));

        go.send(()).expect("it still waits");
        while newest.ask(LONG, move || at(3)).await != at(3) {
            tokio::task::yield_now().await;
        }
    }

    fn parked() -> Option<Instant> {
        loop {
            thread::park();
        }
    }

    #[tokio::test]
    async fn a_disk_that_never_answered_has_no_backup_to_speak_of() {
        let newest = Arc::new(NewestBackup::default());
        assert_eq!(newest.ask(Duration::from_millis(20), parked).await, None);
        // This test ends although the thread that asked never does.
    }
}
