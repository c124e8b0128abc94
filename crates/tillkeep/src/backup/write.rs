//! A database on `SQLite` and its keys in one file: whole under its name, or not at all.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rustix::io::Errno;
use rustix::process::Pid;
use tillkeep_model::Instant;
use tillkeep_storage::Db;
use tillkeep_storage::backup::{self, KeyFile};

use super::kept::{draft_of, publish};
use crate::sealed::{self, Recipient};

/// Files of a data directory without which its database is worth nothing.
pub const KEYS: [&str; 2] = ["pin.key", "token.key"];
pub const DATABASE: &str = "tillkeep.db";
/// What the name of a copy in the data directory begins with that is about to be encrypted.
const OPEN_COPY: &str = "tillkeep.db.backup-";

/// What is backed up, beside its running server or without one.
#[derive(Clone, Debug)]
pub struct Server {
    pub database: PathBuf,
    pub data_dir: PathBuf,
}

pub struct Written {
    pub keys: usize,
    pub bytes: u64,
}

/// A file that is removed when it is not needed any more, whatever happened meanwhile.
pub struct Scratch(pub PathBuf);

impl Scratch {
    /// An empty file that no other user reads.
    pub fn make(path: PathBuf) -> io::Result<Self> {
        // What a crash left behind may be anybody's to read.
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // It is gone when it was put to its place.
        drop(fs::remove_file(&self.0));
    }
}

/// Writes a backup of `server` to `file`, encrypted when there is a recipient: then no disk but its own has it in the open.
pub async fn write(server: &Server, file: &Path, recipient: Option<&Recipient>, now: Instant) -> Result<Written> {
    let kept = keys(&server.data_dir)?;
    let draft = Scratch::make(draft_of(file).context("name a file")?)?;
    if let Some(recipient) = recipient {
        let name = format!("{OPEN_COPY}{}", std::process::id());
        let open = Scratch::make(server.data_dir.join(name))?;
        copy(server, &open.0, &kept, now).await?;
        let (to, recipient) = (draft.0.clone(), recipient.clone());
        aside(move || sealed::seal(&open.0, &mut OpenOptions::new().write(true).open(to)?, &recipient)).await?;
    } else {
        copy(server, &draft.0, &kept, now).await?;
    }
    let (keys, to) = (kept.len(), file.to_owned());
    aside(move || {
        publish(&draft.0, &to)?;
        Ok(Written { keys, bytes: fs::metadata(&to)?.len() })
    })
    .await
}

async fn copy(server: &Server, to: &Path, kept: &[KeyFile], now: Instant) -> Result<()> {
    let conn = Db::open_to_read(&Db::url_of_file(&server.database)).await.context("the database cannot be opened")?;
    let written = backup::write(&conn, to, kept, now).await;
    drop(conn.close().await);
    Ok(written?)
}

/// The keys that are there.
pub fn keys(data_dir: &Path) -> Result<Vec<KeyFile>> {
    let mut kept = Vec::new();
    for name in KEYS {
        match fs::read(data_dir.join(name)) {
            Ok(content) => kept.push(KeyFile { name: name.to_owned(), content }),
            // A store that has not reached headquarters has no PIN key yet; keys may come from the environment.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(|| data_dir.join(name).display().to_string()),
        }
    }
    Ok(kept)
}

/// Removes copies in a data directory that a killed process left there. That of a command that is at work now stays.
pub fn sweep(data_dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(data_dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(rest) = name.to_str().and_then(|name| name.strip_prefix(OPEN_COPY)) else { continue };
        let maker = rest.split('-').next().and_then(|id| id.parse::<i32>().ok());
        if !maker.is_some_and(lives) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Whether another process of this number is there.
fn lives(id: i32) -> bool {
    let is_own = i32::try_from(std::process::id()).is_ok_and(|own| own == id);
    let there = Pid::from_raw(id).map(rustix::process::test_kill_process);
    !is_own && there.is_some_and(|there| there != Err(Errno::SRCH))
}

/// Work that waits for a disk, on a thread that may.
pub async fn aside<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.context("a thread of the backup ended")?
}
