//! A database on `SQLite` and its keys in one file: whole under its name, or not at all.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::io::Errno;
use rustix::process::Pid;
use tillkeep_model::Instant;
use tillkeep_storage::Db;
use tillkeep_storage::backup::{self, KeyFile};
use uuid::Uuid;

use super::kept::{draft_of, publish};
use crate::modes;
use crate::sealed::{self, Recipient};

/// Files of a data directory without which its database is worth nothing.
pub const KEYS: [&str; 2] = ["pin.key", "token.key"];
pub const DATABASE: &str = "tillkeep.db";
/// What the name of a copy in the data directory begins with that is about to be put to its place.
const OPEN_COPY: &str = "tillkeep.db.backup-";
/// A copy is not swept away while its maker lives, and no longer than so: after a start of the machine another process has its number.
const MADE_WITHIN: Duration = Duration::from_hours(24);
/// The same of a maker with the number of this process, as each has in a container of its own: most often it is one before a start.
const MADE_BESIDE_WITHIN: Duration = Duration::from_hours(1);

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
        make_empty(&path)?;
        Ok(Self(path))
    }
}

/// Makes an empty file that no other user reads.
pub fn make_empty(path: &Path) -> io::Result<()> {
    // What a crash left behind may be anybody's to read.
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    Ok(())
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // It is gone when it was put to its place.
        drop(fs::remove_file(&self.0));
    }
}

impl Server {
    /// Bytes of the database with its log.
    pub fn bytes(&self) -> io::Result<u64> {
        let mut log = self.database.as_os_str().to_owned();
        log.push("-wal");
        let log = fs::metadata(log).map_or(0, |about| about.len());
        Ok(fs::metadata(&self.database)?.len().saturating_add(log))
    }
}

/// Database and keys of one moment, beside the database: no other disk is waited for while that moment is held, as the log of the
/// server grows meanwhile.
pub struct Copied {
    open: Scratch,
    keys: usize,
}

/// Copies `server` on its own disk.
pub async fn copy(server: &Server, now: Instant) -> Result<Copied> {
    let data_dir = server.data_dir.clone();
    let (kept, open) = aside(move || {
        let kept = keys(&data_dir)?;
        let open = Scratch::make(data_dir.join(name_of_copy()))?;
        Ok((kept, open))
    })
    .await?;
    copy_to(server, &open.0, &kept, now).await?;
    Ok(Copied { open, keys: kept.len() })
}

/// No other one has it, also where processes in two containers have one number.
fn name_of_copy() -> String {
    format!("{OPEN_COPY}{}-{}", std::process::id(), Uuid::new_v4().simple())
}

impl Copied {
    /// Puts it to its place, encrypted when there is a recipient: then no disk but its own has it in the open. This waits for the
    /// disk of that place, however long it takes.
    pub fn put(self, file: &Path, recipient: Option<&Recipient>) -> Result<Written> {
        let draft = Scratch::make(draft_of(file).context("name a file")?)?;
        match recipient {
            Some(recipient) => {
                sealed::seal(&self.open.0, &mut OpenOptions::new().write(true).open(&draft.0)?, recipient)?;
            }
            None => carry(&self.open.0, &draft.0, |from, to| fs::rename(from, to))?,
        }
        publish(&draft.0, file)?;
        Ok(Written { keys: self.keys, bytes: fs::metadata(file)?.len() })
    }
}

/// Moves a file in the place of another one: it is renamed on its own disk, and written anew on any other.
fn carry(from: &Path, to: &Path, rename: impl FnOnce(&Path, &Path) -> io::Result<()>) -> io::Result<()> {
    match rename(from, to) {
        Err(error) if error.kind() == ErrorKind::CrossesDevices => modes::copy(from, to),
        done => done,
    }
}

/// Writes a backup of `server` to `file`, by way of its own disk.
pub async fn write(server: &Server, file: &Path, recipient: Option<&Recipient>, now: Instant) -> Result<Written> {
    let copied = copy(server, now).await?;
    let (to, recipient) = (file.to_owned(), recipient.cloned());
    aside(move || copied.put(&to, recipient.as_ref())).await
}

/// As [`write`], of a server whose own disk has no room for a copy: in the open, and straight to the disk of `file`.
pub async fn write_straight(server: &Server, file: &Path, now: Instant) -> Result<Written> {
    let kept = keys(&server.data_dir)?;
    let draft = Scratch::make(draft_of(file).context("name a file")?)?;
    copy_to(server, &draft.0, &kept, now).await?;
    let (keys, to) = (kept.len(), file.to_owned());
    aside(move || {
        publish(&draft.0, &to)?;
        Ok(Written { keys, bytes: fs::metadata(&to)?.len() })
    })
    .await
}

async fn copy_to(server: &Server, to: &Path, kept: &[KeyFile], now: Instant) -> Result<()> {
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

/// Removes copies in a data directory that a killed process left there. That of one that is at work now stays.
pub fn sweep(data_dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(data_dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(rest) = name.to_str().and_then(|name| name.strip_prefix(OPEN_COPY)) else { continue };
        let maker = rest.split('-').next().and_then(|id| id.parse::<i32>().ok());
        if maker.is_some_and(|id| is_at_work(id, &entry.path())) {
            continue;
        }
        match fs::remove_file(entry.path()) {
            // Another one sweeps too, or it was put to its place.
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Whether the process of this number may still be making `copy`.
fn is_at_work(id: i32, copy: &Path) -> bool {
    let is_own = i32::try_from(std::process::id()).is_ok_and(|own| own == id);
    let lives = Pid::from_raw(id).is_some_and(|id| rustix::process::test_kill_process(id) != Err(Errno::SRCH));
    let within = if is_own { MADE_BESIDE_WITHIN } else { MADE_WITHIN };
    // One of the future says only that a clock was wrong.
    let age = fs::metadata(copy).and_then(|about| about.modified()).map(|at| at.elapsed().unwrap_or_default());
    lives && age.is_ok_and(|age| age < within)
}

/// Work that waits for a disk, on a thread that may.
pub async fn aside<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.context("a thread of the backup ended")?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_carried_to_another_disk_is_written_anew_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;

        let dir = tempfile::tempdir().expect("a directory");
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        let far = |_: &Path, _: &Path| Err(ErrorKind::CrossesDevices.into());
        for (content, is_far) in [("one", false), ("another", true)] {
            fs::write(&from, content).expect("a file");
            let draft = Scratch::make(to.clone()).expect("a draft");
            let carried =
                if is_far { carry(&from, &to, far) } else { carry(&from, &to, |from, to| fs::rename(from, to)) };
            carried.expect("carried");
            assert_eq!(fs::read_to_string(&to).expect("the file"), content);
            if is_far {
                assert_eq!(fs::metadata(&to).expect("the file").permissions().mode() & 0o777, 0o600);
            }
            drop(draft);
            assert!(!to.exists());
        }
        fs::write(&from, "x").expect("a file");
        assert!(carry(&from, &to, |_, _| Err(ErrorKind::PermissionDenied.into())).is_err());
    }

    #[test]
    fn a_copy_of_a_maker_that_is_gone_or_too_old_is_swept_away_and_no_other() {
        let dir = tempfile::tempdir().expect("a directory");
        let own = std::process::id();
        let parent = std::os::unix::process::parent_id();
        // Above the highest number that a process can have.
        let gone = i32::MAX;
        let name = |id: &str, rest: &str| format!("{OPEN_COPY}{id}{rest}");
        let copies = [
            (name_of_copy(), 0, true),
            (name(&own.to_string(), "-a"), 2, false),
            (name(&parent.to_string(), "-a"), 23, true),
            (name(&parent.to_string(), "-a-journal"), 23, true),
            (name(&parent.to_string(), "-b"), 25, false),
            (name(&gone.to_string(), "-a"), 0, false),
            (name(&gone.to_string(), "-a-journal"), 0, false),
            // As before there was more than a number.
            (name(&gone.to_string(), ""), 0, false),
            (DATABASE.to_owned(), 100, true),
        ];
        for (name, hours, _) in &copies {
            let file = fs::File::create(dir.path().join(name)).expect("a file");
            let made = file.metadata().and_then(|about| about.modified()).expect("a time");
            file.set_modified(made - Duration::from_hours(*hours)).expect("a time");
        }
        sweep(dir.path()).expect("swept");
        for (name, hours, stays) in &copies {
            assert_eq!(dir.path().join(name).exists(), *stays, "{name}, {hours} hours old");
        }
        assert_ne!(name_of_copy(), name_of_copy());
    }
}
