//! `tillkeep backup` and `tillkeep restore`: a database with its keys in one file, made beside the running server, and put
//! back so that headquarters and stores notice it.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use tillkeep_http::{Clock, files};
use tillkeep_storage::backup::{self, Kept};
use tillkeep_storage::{Db, Side};

/// Files of a data directory without which its database is worth nothing.
const KEYS: [&str; 2] = ["pin.key", "token.key"];
const DATABASE: &str = "tillkeep.db";

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
    /// The backup to put back.
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
            Ok(content) => kept.push(Kept { name: name.to_owned(), content }),
            // A store that has not reached headquarters has no PIN key yet; keys may come from the environment.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(|| data_dir.join(name).display().to_string()),
        }
    }
    // Whole under its name, or not at all; and nobody else's to read while it is written.
    let draft = draft_of(&file)?;
    files::write_secret(&draft, &[])?;
    let conn = Db::open_to_read(&Db::url_of_file(&database)).await.context("the database cannot be opened")?;
    let written = backup::write(&conn, &draft, &kept, Clock::default().now()).await;
    if let Err(error) = written {
        drop(fs::remove_file(&draft));
        return Err(error).with_context(|| format!("{} cannot be written", file.display()));
    }
    fs::File::open(&draft)?.sync_all()?;
    fs::rename(&draft, &file).with_context(|| file.display().to_string())?;
    let size = fs::metadata(&file)?.len();
    println!("{} holds the database and {} key files, {} KiB.", file.display(), kept.len(), size >> 10);
    Ok(())
}

fn draft_of(file: &Path) -> Result<PathBuf> {
    let name = file.file_name().context("name a file")?.to_string_lossy();
    Ok(file.with_file_name(format!(".{name}.part")))
}

pub async fn put_back(args: Restore) -> Result<()> {
    let Restore { file, data_dir, replace } = args;
    let content = backup::read(&file).await.with_context(|| file.display().to_string())?;
    refuse_running(&data_dir)?;
    let database = data_dir.join(DATABASE);
    if database.exists() && !replace {
        bail!("{} has a database; --replace puts the backup in its place and keeps it aside", data_dir.display());
    }
    fs::create_dir_all(&data_dir).with_context(|| data_dir.display().to_string())?;
    let draft = data_dir.join("tillkeep.db.restoring");
    drop(fs::remove_file(&draft));
    fs::copy(&file, &draft).with_context(|| draft.display().to_string())?;
    let now = Clock::default().now();
    backup::revive(&draft, content.side, now).await.context("the backup cannot be made a database")?;
    if database.exists() {
        let aside = data_dir.join(format!("tillkeep.db.before-{}", now.millis()));
        for end in ["", "-wal", "-shm"] {
            let (from, to) = (with_end(&database, end), with_end(&aside, end));
            if from.exists() {
                fs::rename(&from, &to).with_context(|| from.display().to_string())?;
            }
        }
        println!("The database that was there is {} now.", aside.display());
    }
    for Kept { name, content } in &content.kept {
        if KEYS.contains(&name.as_str()) {
            files::write_secret(&data_dir.join(name), content).with_context(|| name.clone())?;
        }
    }
    fs::rename(&draft, &database).with_context(|| database.display().to_string())?;
    let what = match content.side {
        Side::Hq => "headquarters; its stores will send again what it lacks, and load anew",
        Side::Store => "a store; it will fetch from headquarters what it lacks",
    };
    println!("The backup of {} is put back: {what}.", content.made_at);
    Ok(())
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut text = path.as_os_str().to_owned();
    text.push(end);
    text.into()
}

/// A running server would go on writing to the file that is moved away.
fn refuse_running(data_dir: &Path) -> Result<()> {
    let Ok(address) = fs::read_to_string(data_dir.join("address")) else { return Ok(()) };
    let host = address.trim().split_once("://").map_or("", |(_, host)| host);
    let Ok(address) = host.parse() else { return Ok(()) };
    if TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_ok() {
        bail!("a server is running on {address} with this data directory; stop it first");
    }
    Ok(())
}
