//! The disk below a directory: how much room it has, and how to ask one that may not answer.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

/// Room on a disk.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Bytes for whoever is not the administrator of the machine.
    pub free: u64,
    pub size: u64,
    /// Files that can still be made; of a file system that counts none both are 0.
    pub free_files: u64,
    pub files: u64,
}

/// The room on the disk of `directory`. A disk may take its time.
pub fn room(directory: &Path) -> io::Result<Room> {
    let of = rustix::fs::statvfs(directory)?;
    Ok(Room {
        free: of.f_bavail.saturating_mul(of.f_frsize),
        size: of.f_blocks.saturating_mul(of.f_frsize),
        free_files: of.f_favail,
        files: of.f_files,
    })
}

/// Why a disk did not answer.
#[derive(Debug, thiserror::Error)]
pub enum Unanswered {
    #[error("it has not answered since it was asked before")]
    Before,
    #[error("it did not answer in time")]
    Late,
    #[error("no thread to wait for it: {0}")]
    NoThread(#[from] io::Error),
    #[error("the thread that waited for it ended")]
    Ended,
}

/// A disk that may be one of another machine, which is slow or does not answer at all.
#[derive(Clone, Debug, Default)]
pub struct SlowDisk {
    /// It has not answered yet.
    is_asked: Arc<AtomicBool>,
}

/// Held while the disk is at work.
struct Asking(Arc<AtomicBool>);

impl Drop for Asking {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl SlowDisk {
    /// Has `work` done on a thread of its own, and waits for it no longer than `limit`. What takes longer goes on without anybody
    /// waiting, and the disk is asked for nothing else until it has answered: no more than one thread waits for a disk that is gone.
    ///
    /// The thread is none of the runtime's, which would wait for it when the server stops.
    pub async fn ask<T: Send + 'static>(
        &self,
        limit: Duration,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Unanswered> {
        if self.is_asked.swap(true, Ordering::AcqRel) {
            return Err(Unanswered::Before);
        }
        let asking = Asking(self.is_asked.clone());
        let (answer, answered) = oneshot::channel();
        let work = move || {
            let done = work();
            // Before the answer: whoever hears it may ask again.
            drop(asking);
            drop(answer.send(done));
        };
        thread::Builder::new().name("disk".to_owned()).spawn(work)?;
        match timeout(limit, answered).await {
            Ok(answer) => answer.map_err(|_| Unanswered::Ended),
            Err(_) => Err(Unanswered::Late),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    const LONG: Duration = Duration::from_mins(5);

    #[tokio::test]
    async fn a_disk_that_does_not_answer_is_waited_for_once_and_no_longer_than_the_limit() {
        let disk = SlowDisk::default();
        assert_eq!(disk.ask(LONG, || 7).await.expect("an answer"), 7);

        let (go, gone) = mpsc::channel::<()>();
        let hung = disk.ask(Duration::from_millis(20), move || gone.recv().is_ok()).await;
        assert!(matches!(hung, Err(Unanswered::Late)), "{hung:?}");
        let second = disk.ask(LONG, || panic!("a second thread waits")).await;
        assert!(matches!(second, Err::<(), _>(Unanswered::Before)), "{second:?}");

        go.send(()).expect("it still waits");
        while disk.ask(LONG, || ()).await.is_err() {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn work_that_panics_leaves_the_disk_free() {
        let disk = SlowDisk::default();
        let broken = disk.ask(LONG, || panic!("a bug")).await;
        assert!(matches!(broken, Err::<(), _>(Unanswered::Ended)), "{broken:?}");
        // The flag goes with the thread, whose end nobody is told of.
        while disk.ask(LONG, || ()).await.is_err() {
            tokio::task::yield_now().await;
        }
    }

    #[test]
    fn a_disk_says_how_much_room_it_has() {
        let dir = tempfile::tempdir().expect("a directory");
        let room = room(dir.path()).expect("the disk says it");
        assert!(0 < room.free && room.free <= room.size, "{room:?}");
        assert!(super::room(&dir.path().join("nothing")).is_err());
    }
}
