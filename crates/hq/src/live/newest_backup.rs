//! The newest backup, as its disk said last. That disk may be one of another machine, which does not answer at all: a thread of its
//! own waits for it, and nobody else for long.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tillkeep_model::Instant;
use tillkeep_storage::disk::{SlowDisk, Unanswered};

#[derive(Debug, Default)]
pub(crate) struct NewestBackup {
    disk: SlowDisk,
    /// What it answered last.
    known: Arc<Mutex<Option<Instant>>>,
}

impl NewestBackup {
    /// What `look` finds, waited for no longer than `limit`; until it has answered, what was found last.
    pub(crate) async fn ask(
        &self,
        limit: Duration,
        look: impl FnOnce() -> Option<Instant> + Send + 'static,
    ) -> Option<Instant> {
        let known = self.known.clone();
        // A late answer is kept as well.
        let looked = move || {
            let found = look();
            *known.lock().unwrap_or_else(PoisonError::into_inner) = found;
        };
        match self.disk.ask(limit, looked).await {
            Ok(()) | Err(Unanswered::Before | Unanswered::Late) => {}
            Err(error) => tracing::warn!(%error, "the disk of backups cannot be asked; it is tried again"),
        }
        *self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    const LONG: Duration = Duration::from_mins(5);

    #[tokio::test]
    async fn a_disk_that_hangs_is_waited_for_once_and_what_it_said_last_is_remembered() {
        let newest = NewestBackup::default();
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
        let newest = NewestBackup::default();
        assert_eq!(newest.ask(Duration::from_millis(20), parked).await, None);
        // This test ends although the thread that asked never does.
    }
}
