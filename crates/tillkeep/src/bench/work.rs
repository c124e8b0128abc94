//! What measurements work with.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

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
}

impl Bench {
    /// A directory that nothing has used.
    pub(super) fn directory(&self) -> Result<PathBuf> {
        let number = self.directories.fetch_add(1, Ordering::Relaxed);
        let path = self.dir.path().join(number.to_string());
        std::fs::create_dir_all(&path)?;
        Ok(path)
    }
}
