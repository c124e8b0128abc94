//! `tillkeep backup` and `tillkeep restore`: a database with its keys in one file, made beside the running server, and put
//! back so that headquarters and stores notice it.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use tillkeep_http::{Clock, files};
use tillkeep_storage::backup::{self, KeyFile};
use tillkeep_storage::{Db, Side};

use crate::lock::Lock;
use crate::modes;
use crate::output::say;

/// Files of a data directory without which its database is worth nothing.
const KEYS: [&str; 2] = ["pin.key", "token.key"];
const DATABASE: &str = "tillkeep.db";
/// The files of a database, by the ends of their names. A log is read into the database that has its name, whatever
/// database wrote it.
const PARTS: [&str; 4] = ["", "-wal", "-shm", "-journal"];

#[derive(Args)]
pub struct Backup {
    /// The backup to write. It holds the keys of the server: keep it as safe as the server itself.
    file: PathBuf,
    /// The data directory of the server, headquarters or store. It may be running.
    #[arg(long, value_name = "DIR", env = "DATA_DIR")]
    data_dir: PathBuf,
}

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
}

pub async fn write(args: Backup) -> Result<()> {
    let Backup { file, data_dir } = args;
    let database = data_dir.join(DATABASE);
    if !database.exists() {
        bail!(
            "{} is not there; name the data directory of the server. A headquarters on PostgreSQL is backed up with \
             PostgreSQL's own tools, see docs/operations.md",
            database.display()
        );
    }
    if file.exists() {
        bail!("{} exists; choose another name", file.display());
    }
    let mut kept = Vec::new();
    for name in KEYS {
        match fs::read(data_dir.join(name)) {
            Ok(content) => kept.push(KeyFile { name: name.to_owned(), content }),
            // A store that has not reached headquarters has no PIN key yet; keys may come from the environment.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(|| data_dir.join(name).display().to_string()),
        }
    }
    // Whole under its name, or not at all; and no other user's to read while it is written.
    let draft = draft_of(&file)?;
    files::write_secret(&draft, &[])?;
    let conn = Db::open_to_read(&Db::url_of_file(&database)).await.context("the database cannot be opened")?;
    let written = backup::write(&conn, &draft, &kept, Clock::default().now()).await;
    drop(conn.close().await);
    if let Err(error) = written {
        drop(fs::remove_file(&draft));
        return Err(error).with_context(|| format!("{} cannot be written", file.display()));
    }
    fs::File::open(&draft)?.sync_all()?;
    fs::rename(&draft, &file).with_context(|| file.display().to_string())?;
    let size = fs::metadata(&file)?.len();
    say!("{} holds the database and {} key files, {} KiB.", file.display(), kept.len(), size >> 10);
    Ok(())
}

fn draft_of(file: &Path) -> Result<PathBuf> {
    let name = file.file_name().context("name a file")?.to_string_lossy();
    Ok(file.with_file_name(format!(".{name}.part")))
}

pub async fn restore(args: Restore) -> Result<()> {
    let Restore { file, data_dir, replace } = args;
    let content = backup::read(&file).await.with_context(|| file.display().to_string())?;
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
    modes::copy(&file, &draft).with_context(|| draft.display().to_string())?;
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
mod tests {
    use tillkeep_storage::settings;

    use super::*;

    const MARK: &str = "a mark";

    async fn set_mark(db: &Db, mark: &str) {
        let tx = db.begin().await.expect("a transaction");
        settings::set(&tx, MARK, mark).await.expect("a setting");
        tx.commit().await.expect("a commit");
    }

    async fn open(data_dir: &Path) -> Db {
        Db::open_file(&data_dir.join(DATABASE), Side::Store).await.expect("the database")
    }

    /// The files of a directory with names that begin and end so.
    fn named(dir: &Path, begin: &str, end: &str) -> Vec<PathBuf> {
        let names = fs::read_dir(dir).expect("the directory").map(|entry| entry.expect("an entry").path());
        let fits = |path: &PathBuf| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            name.starts_with(begin) && name.ends_with(end)
        };
        names.filter(fits).collect()
    }

    #[tokio::test]
    #[expect(clippy::disallowed_methods, reason = "the test looks at the file itself")]
    async fn a_backup_is_restored_beside_a_log_that_was_left_over_as_it_was_made() {
        let dir = tempfile::tempdir().expect("a directory");
        let data_dir = dir.path().join("data");
        let file = dir.path().join("backup");
        fs::create_dir_all(&data_dir).expect("the data directory");
        let db = open(&data_dir).await;
        set_mark(&db, "in the backup").await;
        write(Backup { file: file.clone(), data_dir: data_dir.clone() }).await.expect("a backup");
        set_mark(&db, "later").await;
        // What a killed server leaves: its log has what came last.
        let log = fs::read(data_dir.join("tillkeep.db-wal")).expect("the log");
        db.close().await.expect("closed");
        fs::remove_file(data_dir.join(DATABASE)).expect("the database alone is removed");
        for name in ["tillkeep.db-wal", "tillkeep.db.restoring-wal"] {
            fs::write(data_dir.join(name), &log).expect("a log that is left over");
        }

        restore(Restore { file, data_dir: data_dir.clone(), replace: false }).await.expect("restored");
        let aside = named(&data_dir, "tillkeep.db.before-", "-wal");
        assert_eq!(aside.len(), 1, "the log is kept, whatever wrote it");
        assert_eq!(fs::read(&aside[0]).expect("the log"), log);
        assert_eq!(named(&data_dir, "tillkeep.db.restoring", ""), Vec::<PathBuf>::new());
        let db = open(&data_dir).await;
        let mark = settings::get(db.reader(), MARK).await.expect("a setting");
        assert_eq!(mark.as_deref(), Some("in the backup"));
        let check = tillkeep_storage::raw::query(db.reader(), "PRAGMA integrity_check", []).await.expect("a check");
        assert_eq!(check[0].try_get_by_index::<String>(0).expect("a verdict"), "ok");
        db.close().await.expect("closed");
    }

    #[tokio::test]
    async fn a_key_that_a_backup_replaces_is_kept_beside_the_new_one() {
        let dir = tempfile::tempdir().expect("a directory");
        let data_dir = dir.path().join("data");
        let file = dir.path().join("backup");
        fs::create_dir_all(&data_dir).expect("the data directory");
        for name in KEYS {
            fs::write(data_dir.join(name), "of the backup").expect("a key");
        }
        open(&data_dir).await.close().await.expect("closed");
        write(Backup { file: file.clone(), data_dir: data_dir.clone() }).await.expect("a backup");
        fs::write(data_dir.join("token.key"), "made since").expect("a key");

        restore(Restore { file, data_dir: data_dir.clone(), replace: true }).await.expect("restored");
        for name in KEYS {
            assert_eq!(fs::read_to_string(data_dir.join(name)).expect("a key"), "of the backup");
        }
        let aside = named(&data_dir, "token.key.before-", "");
        assert_eq!(aside.len(), 1);
        assert_eq!(fs::read_to_string(&aside[0]).expect("the key"), "made since");
        assert_eq!(named(&data_dir, "pin.key.before-", ""), Vec::<PathBuf>::new(), "this one is the same");
    }
}
