//! `tillkeep restore`: a backup becomes the database of a server again, and whatever was there stays beside it.

use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use tillkeep_http::{Clock, files};
use tillkeep_storage::Side;
use tillkeep_storage::backup::{self, Content, KeyFile};

use super::dump;
use super::write::{DATABASE, KEYS};
use crate::lock::Lock;
use crate::modes;
use crate::output::say;
use crate::sealed::{self, Opened};

/// The files of a database, by the ends of their names. A log is read into the database that has its name, whatever
/// database wrote it.
const PARTS: [&str; 4] = ["", "-wal", "-shm", "-journal"];

#[derive(Args)]
pub struct Restore {
    /// The backup to restore.
    file: PathBuf,
    /// The data directory to put it into; its server must not be running.
    #[arg(long, value_name = "DIR", env = "DATA_DIR")]
    data_dir: PathBuf,
    /// Replaces the database that is there. It is kept beside the new one.
    #[arg(long)]
    replace: bool,
    /// The file with the identity that opens an encrypted backup, as `age-keygen` writes it.
    #[arg(long, value_name = "FILE")]
    identity: Option<PathBuf>,
}

/// A backup that was looked at, and can be copied.
pub struct Found<'a> {
    file: &'a Path,
    as_it_is: Looked,
}

enum Looked {
    /// Read from one end to the other.
    Open(Box<Content>),
    /// Its key was found. Whether the rest is good shows when it is copied.
    Sealed(Box<Opened>),
}

impl<'a> Found<'a> {
    /// Looks at the backup in `file`; nothing is written yet.
    pub async fn at(file: &'a Path, identity: Option<&Path>) -> Result<Self> {
        let named = || file.display().to_string();
        let as_it_is = if sealed::is_sealed(file).with_context(named)? {
            let Some(identity) = identity else {
                bail!("{} is encrypted; name the file of the identity that opens it with --identity", named())
            };
            let identities = sealed::identities(identity)?;
            Looked::Sealed(Box::new(Opened::open(file, &identities).with_context(named)?))
        } else {
            Looked::Open(Box::new(backup::read(file).await.with_context(named)?))
        };
        Ok(Self { file, as_it_is })
    }

    /// Copies it to `to`, in the open; what it holds, unless it turns out to be a dump of `PostgreSQL`.
    pub async fn copy(self, to: &Path) -> Result<Option<Content>> {
        match self.as_it_is {
            Looked::Open(content) => {
                modes::copy(self.file, to).with_context(|| to.display().to_string())?;
                Ok(Some(*content))
            }
            Looked::Sealed(opened) => {
                let named = || self.file.display().to_string();
                opened.write(&mut secret(to)?).with_context(named)?;
                File::open(to)?.sync_all()?;
                if dump::is_dump(to)? {
                    return Ok(None);
                }
                backup::read(to).await.with_context(named).map(Some)
            }
        }
    }
}

/// A new file that no other user reads.
fn secret(path: &Path) -> Result<File> {
    let open = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path);
    open.with_context(|| path.display().to_string())
}

pub async fn restore(args: Restore) -> Result<()> {
    let Restore { file, data_dir, replace, identity } = args;
    let of_postgres =
        || anyhow!("{} is a dump of PostgreSQL, which pg_restore puts back; see docs/operations.md", file.display());
    if dump::is_dump(&file).with_context(|| file.display().to_string())? {
        return Err(of_postgres());
    }
    let found = Found::at(&file, identity.as_deref()).await?;
    // A running server would go on writing to the file that is moved away.
    let _lock = Lock::take(&data_dir, "tillkeep restore")?;
    let database = data_dir.join(DATABASE);
    if database.exists() && !replace {
        bail!("{} has a database; --replace puts the backup in its place and keeps it aside", data_dir.display());
    }
    let draft = data_dir.join("tillkeep.db.restoring");
    // What an interrupted one left.
    for end in PARTS {
        remove(&with_end(&draft, end))?;
    }
    let content = match found.copy(&draft).await.and_then(|content| content.ok_or_else(of_postgres)) {
        Ok(content) => content,
        Err(error) => {
            remove(&draft)?;
            return Err(error);
        }
    };
    let now = Clock::default().now();
    backup::revive(&draft, content.side, now).await.context("the backup cannot be made a database")?;
    let before = format!(".before-{}", now.millis());
    let aside = with_end(&database, &before);
    // Whatever there is, and be it the log alone of a server that was killed and its database removed.
    let mut parts = Vec::new();
    for end in PARTS {
        let to = with_end(&aside, end);
        if move_aside(&with_end(&database, end), &to)? {
            parts.push(to.display().to_string());
        }
    }
    if !parts.is_empty() {
        say!("The database that was there is {} now.", parts.join(", "));
    }
    for KeyFile { name, content } in &content.kept {
        if KEYS.contains(&name.as_str()) {
            put_key_back(&data_dir.join(name), content, &before).with_context(|| name.clone())?;
        }
    }
    fs::rename(&draft, &database).with_context(|| database.display().to_string())?;
    let what = match content.side {
        Side::Hq => "headquarters; its stores will send again what it lacks, and reload",
        Side::Store => "a store; it will fetch from headquarters what it lacks",
    };
    say!("The backup of {} is restored: {what}.", content.made_at);
    Ok(())
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut text = path.as_os_str().to_owned();
    text.push(end);
    text.into()
}

/// Removes a file that need not be there.
fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error).with_context(|| path.display().to_string()),
        _ => Ok(()),
    }
}

/// Moves a file that need not be there out of the way; whether it was.
fn move_aside(from: &Path, to: &Path) -> Result<bool> {
    match fs::rename(from, to) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).with_context(|| from.display().to_string()),
    }
}

/// Writes a key of the backup. Another one that is there stays beside it: the database that was moved aside is worth
/// nothing without it.
fn put_key_back(path: &Path, key: &[u8], before: &str) -> Result<()> {
    let another = match fs::read(path) {
        Ok(present) => present != key,
        Err(error) if error.kind() == ErrorKind::NotFound => false,
        Err(error) => return Err(error.into()),
    };
    if another {
        let aside = with_end(path, before);
        move_aside(path, &aside)?;
        say!("The key that was there is {} now.", aside.display());
    }
    files::write_secret(path, key)?;
    Ok(())
}

#[cfg(test)]
mod tests;
