//! `tillkeep backup` and `tillkeep restore`, and the backups that a server makes by itself: a database with its keys in one
//! file, made beside the running server, and put back so that headquarters and stores notice it.

mod check;
mod disk;
mod dump;
mod failure;
mod kept;
mod restore;
pub mod schedule;
mod source;
mod write;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use tillkeep_http::Clock;

use crate::output::say;
use crate::sealed::Recipient;

pub use restore::{Restore, restore};

// No help text: it would stand in place of that of the command.
#[derive(Args)]
#[command(subcommand_negates_reqs = true)]
pub struct Backup {
    #[command(subcommand)]
    command: Option<BackupCommand>,
    /// The backup to write. It holds the keys of the server: keep it as safe as the server itself.
    #[arg(required = true)]
    file: Option<PathBuf>,
    /// The data directory of the server, headquarters or store. It may be running.
    #[arg(long, value_name = "DIR", env = "DATA_DIR", required = true)]
    data_dir: Option<PathBuf>,
    /// Encrypts the backup for the holder of this key, as `age-keygen` prints it.
    #[arg(long, value_name = "KEY")]
    recipient: Option<Recipient>,
}

#[derive(Subcommand)]
enum BackupCommand {
    /// Restores a backup into a directory that is removed again, and checks what it holds as `tillkeep verify` does.
    Check(check::Check),
}

pub async fn run(args: Backup) -> Result<()> {
    let Backup { command, file, data_dir, recipient } = args;
    match (command, file, data_dir) {
        (Some(_), Some(file), _) => {
            bail!("{} stands before a command; write it behind, or leave the command out", file.display())
        }
        (Some(BackupCommand::Check(check)), None, _) => check::run(check).await,
        (None, Some(file), Some(data_dir)) => by_hand(file, data_dir, recipient).await,
        (None, ..) => bail!("name the backup to write, and the data directory with --data-dir"),
    }
}

async fn by_hand(file: PathBuf, data_dir: PathBuf, recipient: Option<Recipient>) -> Result<()> {
    let database = data_dir.join(write::DATABASE);
    if !database.exists() {
        bail!(
            "{} is not there; name the data directory of the server. A headquarters on PostgreSQL makes its backups by \
             itself (backup.every), or with PostgreSQL's own tools, see docs/operations.md",
            database.display()
        );
    }
    if file.exists() {
        bail!("{} exists; choose another name", file.display());
    }
    let from = write::Server { database, data_dir };
    let now = Clock::default().now();
    let data_dir = from.data_dir.clone();
    // Without it there is only less room.
    if let Err(error) = write::aside(move || Ok(write::sweep(&data_dir)?)).await {
        say!("What is left of an interrupted backup cannot be removed from {}: {error:#}.", from.data_dir.display());
    }
    // A full disk is a reason to back up to another one. What is encrypted lies in the open on its own disk or nowhere.
    let room = from.bytes()?.saturating_mul(2);
    let is_cramped = if recipient.is_some() {
        has_room(&from.data_dir, disk::free(&from.data_dir)?, room)?;
        false
    } else {
        disk::free(&from.data_dir)? < room
    };
    let written = if is_cramped {
        write::write_straight(&from, &file, now).await
    } else {
        write::write(&from, &file, recipient.as_ref(), now).await
    };
    let written = written.with_context(|| format!("{} cannot be written", file.display()))?;
    say!("{} holds the database and {} key files, {} KiB.", file.display(), written.keys, written.bytes >> 10);
    Ok(())
}

/// An error unless the copy that is encrypted has room beside its database, and what the server writes meanwhile too.
fn has_room(data_dir: &Path, free: u64, room: u64) -> Result<()> {
    if free < room {
        bail!(
            "{} MiB are free in {}, and {} MiB are needed, twice the database: a copy of it lies there until it is \
             encrypted; make room there, or leave --recipient out and encrypt the file elsewhere",
            free >> 20,
            data_dir.display(),
            (room >> 20) + 1
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backup_is_not_encrypted_where_its_copy_could_fill_the_disk_of_the_server() {
        let data_dir = Path::new("/var/lib/tillkeep");
        assert!(has_room(data_dir, 20 << 20, 20 << 20).is_ok());
        let said = has_room(data_dir, (20 << 20) - 1, 20 << 20).expect_err("too little").to_string();
        for words in ["19 MiB are free in /var/lib/tillkeep", "21 MiB are needed", "make room there"] {
            assert!(said.contains(words), "{said}");
        }
    }
}
