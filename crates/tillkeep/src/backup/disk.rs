//! The disk that backups are kept on. It may be that of another machine, which is slow or does not answer at all: whatever is done
//! there is done on a thread of its own, and waited for no longer than a while.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::sync::oneshot;
use tokio::time::timeout;

/// How long the disk may take.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For looking, making room and giving a name.
    pub short: Duration,
    /// For a file, and more by [`Patience::writing`].
    pub file: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { short: Duration::from_mins(1), file: Duration::from_mins(10) }
    }
}

impl Patience {
    /// For a file of so many bytes: a second more for each MiB.
    pub fn writing(self, bytes: u64) -> Duration {
        self.file.saturating_add(Duration::from_secs(bytes >> 20))
    }
}

/// The disk below a directory.
#[derive(Clone, Debug)]
pub struct Disk {
    directory: PathBuf,
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

impl Disk {
    pub fn new(directory: PathBuf) -> Self {
        Self { directory, is_asked: Arc::default() }
    }

    /// Has `work` done, and waits for it no longer than `limit`. What takes longer goes on without anybody waiting, and the disk is
    /// asked for nothing else until it has answered: no more than one thread waits for a disk that is gone.
    ///
    /// The thread is none of the runtime's, which would wait for it when the server stops.
    pub async fn ask<T: Send + 'static>(
        &self,
        limit: Duration,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let directory = self.directory.display();
        if self.is_asked.swap(true, Ordering::AcqRel) {
            bail!(
                "the disk of {directory} has not answered since it was asked before; see that it does, or set backup.directory \
                 to another one"
            );
        }
        let asking = Asking(self.is_asked.clone());
        let (answer, answered) = oneshot::channel();
        let work = move || {
            let done = work();
            // Before the answer: whoever hears it may ask again.
            drop(asking);
            drop(answer.send(done));
        };
        thread::Builder::new().name("backup".to_owned()).spawn(work).context("no thread for the disk of backups")?;
        match timeout(limit, answered).await {
            Ok(answer) => answer.context("the thread of the backup ended")?,
            Err(_) => bail!(
                "the disk of {directory} did not answer within {} s; see that it does, or set backup.directory to another one",
                limit.as_secs()
            ),
        }
    }
}

/// Room for whoever is not this server's administrator.
pub fn free(directory: &Path) -> io::Result<u64> {
    let about = rustix::fs::statvfs(directory)?;
    Ok(about.f_bavail.saturating_mul(about.f_frsize))
}

/// Whether two directories are on one disk.
pub fn shares(one: &Path, other: &Path) -> io::Result<bool> {
    Ok(fs::metadata(one)?.dev() == fs::metadata(other)?.dev())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    const LONG: Duration = Duration::from_mins(5);

    #[tokio::test]
    async fn a_disk_that_does_not_answer_is_waited_for_once_and_no_longer_than_the_limit() {
        let disk = Disk::new(PathBuf::from("/backups"));
        assert_eq!(disk.ask(LONG, || Ok(7)).await.expect("an answer"), 7);
        let refused: Result<()> = disk.ask(LONG, || bail!("full")).await;
        assert_eq!(refused.expect_err("a failure").to_string(), "full");

        let (go, gone) = mpsc::channel::<()>();
        let hung = move || Ok(gone.recv()?);
        let said = disk.ask(Duration::from_millis(20), hung).await.expect_err("no answer").to_string();
        assert!(said.contains("/backups") && said.contains("did not answer"), "{said}");
        let said = disk.ask(LONG, || Ok(())).await.expect_err("it is not asked").to_string();
        assert!(said.contains("has not answered since"), "{said}");

        go.send(()).expect("it still waits");
        while disk.ask(LONG, || Ok(())).await.is_err() {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn work_that_panics_leaves_the_disk_free() {
        let disk = Disk::new(PathBuf::from("/backups"));
        let broken: Result<()> = disk.ask(LONG, || panic!("a bug")).await;
        assert!(broken.is_err());
        // The flag goes with the thread, whose end nobody is told of.
        while disk.ask(LONG, || Ok(())).await.is_err() {
            tokio::task::yield_now().await;
        }
    }

    #[test]
    fn a_larger_file_may_take_longer() {
        let patience = Patience::default();
        assert_eq!(patience.writing(0), Duration::from_mins(10));
        assert_eq!(patience.writing(3 << 30), Duration::from_secs(600 + 3 * 1024));
    }

    #[test]
    fn a_disk_says_how_much_room_it_has() {
        let dir = tempfile::tempdir().expect("a directory");
        assert!(free(dir.path()).expect("the disk says it") > 0);
    }

    #[test]
    fn a_directory_is_on_the_disk_of_what_is_around_it_unless_something_is_mounted_there() {
        let dir = tempfile::tempdir().expect("a directory");
        let inner = dir.path().join("backups");
        fs::create_dir(&inner).expect("a directory");
        assert!(shares(dir.path(), &inner).expect("both are there"));
        assert!(!shares(dir.path(), Path::new("/proc")).expect("both are there"));
        assert!(shares(dir.path(), &dir.path().join("nothing")).is_err());
    }
}
