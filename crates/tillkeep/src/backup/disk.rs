//! The disk that backups are kept on. It may be that of another machine, which is slow or does not answer at all: whatever is done
//! there is done on a thread of its own, and waited for no longer than a while.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tillkeep_storage::disk::{self, SlowDisk, Unanswered};

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
    slow: SlowDisk,
}

impl Disk {
    pub fn new(directory: PathBuf) -> Self {
        Self { directory, slow: SlowDisk::default() }
    }

    /// Has `work` done, and waits for it no longer than `limit`; see [`SlowDisk::ask`].
    pub async fn ask<T: Send + 'static>(
        &self,
        limit: Duration,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let directory = self.directory.display();
        let remedy = "see that it does, or set backup.directory to another one";
        match self.slow.ask(limit, work).await {
            Ok(done) => done,
            Err(Unanswered::Before) => {
                bail!("the disk of {directory} has not answered since it was asked before; {remedy}")
            }
            Err(Unanswered::Late) => {
                bail!("the disk of {directory} did not answer within {} s; {remedy}", limit.as_secs())
            }
            Err(other) => Err(other).with_context(|| format!("the disk of {directory}")),
        }
    }
}

/// Room for whoever is not this server's administrator.
pub fn free(directory: &Path) -> io::Result<u64> {
    Ok(disk::room(directory)?.free)
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
    async fn a_disk_that_does_not_answer_is_named_with_its_remedy() {
        let disk = Disk::new(PathBuf::from("/backups"));
        let refused: Result<()> = disk.ask(LONG, || bail!("full")).await;
        assert_eq!(refused.expect_err("a failure").to_string(), "full");
        let (_held, gone) = mpsc::channel::<()>();
        let hung = disk.ask(Duration::from_millis(20), move || Ok(gone.recv()?)).await;
        let said = hung.expect_err("no answer").to_string();
        assert!(said.contains("/backups did not answer within 0 s; see"), "{said}");
        let said = disk.ask(LONG, || Ok(())).await.expect_err("it is not asked").to_string();
        assert!(said.contains("/backups has not answered since"), "{said}");
    }

    #[test]
    fn a_larger_file_may_take_longer() {
        let patience = Patience::default();
        assert_eq!(patience.writing(0), Duration::from_mins(10));
        assert_eq!(patience.writing(3 << 30), Duration::from_secs(600 + 3 * 1024));
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
