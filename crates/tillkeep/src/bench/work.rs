//! What measurements work with.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::Result;
use tempfile::TempDir;

use super::postgres;
use super::sizes::Sizes;

/// The program that is measured, and what it is measured with.
pub struct Bench {
    pub(super) program: PathBuf,
    pub(super) sizes: Sizes,
    /// Where the servers have their data, on the disk that `TMPDIR` names.
    pub(super) dir: TempDir,
    pub(super) directories: AtomicUsize,
    pub(super) postgres: Option<postgres::Server>,
    pub(super) nats: Option<String>,
    /// The number of the run of a measurement, from 1 on.
    pub(super) run: AtomicUsize,
}

impl Bench {
    /// A directory that nothing has used.
    pub(super) fn directory(&self) -> Result<PathBuf> {
        let number = self.directories.fetch_add(1, Ordering::Relaxed);
        let path = self.dir.path().join(number.to_string());
        std::fs::create_dir_all(&path)?;
        Ok(path)
    }

    /// Whether what takes minutes and hardly differs between runs is taken: in the first one alone.
    pub(super) fn is_first_run(&self) -> bool {
        self.run.load(Ordering::Relaxed) <= 1
    }

    /// Waits until servers that have had nothing to do since `worked` have rested.
    pub(super) async fn rest(&self, worked: Instant) {
        tokio::time::sleep(self.sizes.rest().saturating_sub(worked.elapsed())).await;
    }
}
