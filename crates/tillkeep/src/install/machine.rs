//! What is looked at of this machine: the data directory, its disk, the port, users; and the store, once it runs.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, lchown};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tillkeep_http::server;
use tillkeep_storage::{Db, Side, settings, upgrade};
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use super::{Checked, Fault};

/// What a store should have at least when it begins: its master data, and sales of some months.
const LEAST_FREE: u64 = 1 << 30;
const MIB: u64 = 1 << 20;
/// For a store that migrates its database first.
const READY_WITHIN: Duration = Duration::from_mins(2);
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Whether the data directory is free, or this very store's.
pub async fn data(dir: &Path, store_id: Uuid) -> Checked {
    let file = dir.join("tillkeep.db");
    let shown = dir.display();
    if !file.exists() {
        return Ok(format!("{shown} is new"));
    }
    let owner = owner(&file).await.map_err(|error| {
        let remedy = "name another directory with --data-dir, or run this as root (sudo)";
        Fault::new(format!("{} cannot be read: {error:#}", file.display()), remedy)
    })?;
    match owner {
        Some(owner) if owner != store_id.to_string() => Err(Fault::new(
            format!("{shown} belongs to store {owner}, the token to store {store_id}"),
            "a store needs a directory of its own: name another one with --data-dir",
        )),
        _ => Ok(format!("{shown} has this store's data, which it goes on with")),
    }
}

async fn owner(file: &Path) -> Result<Option<String>> {
    let conn = Db::open_to_read(&Db::url_of_file(file)).await?;
    upgrade::refuse_other(&conn, Side::Store).await?;
    let owner = settings::get(&conn, "store_id").await?;
    conn.close().await?;
    Ok(owner)
}

/// Whether there is room where the data goes.
pub fn disk(dir: &Path) -> Checked {
    let there = first_there(dir);
    let shown = there.display();
    let room = tillkeep_storage::disk::room(&there)
        .map_err(|error| Fault::new(format!("{shown}: {error}"), "name another directory with --data-dir"))?;
    let free = room.free;
    let found = format!("{} MiB free at {shown}", free / MIB);
    if free < LEAST_FREE {
        let remedy =
            format!("make room for {} MiB, or name a directory on another disk with --data-dir", LEAST_FREE / MIB);
        return Err(Fault::new(found, remedy));
    }
    Ok(found)
}

/// Whether the store can listen there; `is_ours` when this very store does already, and is started again.
pub async fn port(listen: &str, is_ours: bool) -> Checked {
    if is_ours {
        return Ok(format!("{listen} is this store's, which is started again"));
    }
    match server::listen(listen, None).await {
        Ok(_) => Ok(format!("{listen} is free")),
        Err(error) => {
            let who = listen.rsplit(':').next().unwrap_or_default();
            let remedy =
                format!("see who listens there (ss -ltnp 'sport = :{who}'), or name another address with --listen");
            Err(Fault::new(error, remedy))
        }
    }
}

/// The path itself, or the nearest folder around it that is there.
pub fn first_there(path: &Path) -> PathBuf {
    path.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/")).to_owned()
}

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The numbers of a user of this machine and of their group.
pub fn user(name: &str) -> Option<(u32, u32)> {
    numbers("/etc/passwd", name)
}

/// The number of a group of this machine.
pub fn group(name: &str) -> Option<u32> {
    numbers("/etc/group", name).map(|(group, _)| group)
}

/// The third field of the row of `name`, and the fourth where that is a number.
fn numbers(file: &str, name: &str) -> Option<(u32, u32)> {
    let text = fs::read_to_string(file).ok()?;
    let row = text.lines().find(|row| row.split(':').next() == Some(name))?;
    let field = |at: usize| row.split(':').nth(at)?.parse().ok();
    let first = field(2)?;
    Some((first, field(3).unwrap_or(first)))
}

/// Makes the data directory the store's user's with all that is in it, where this program may: a store that ran as root left
/// files that no other user reads.
pub fn own(dir: &Path, name: &str) -> Result<()> {
    let made = || -> io::Result<()> {
        if !dir.is_dir() {
            let missing: Vec<&Path> = dir.ancestors().skip(1).take_while(|path| !path.exists()).collect();
            DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
            // What this program makes is for its owner alone; the store's user has to pass through what leads to the data.
            for around in missing {
                fs::set_permissions(around, Permissions::from_mode(0o755))?;
            }
        }
        match user(name) {
            Some((user, group)) if is_root() => own_all(dir, user, group),
            _ => Ok(()),
        }
    };
    made().with_context(|| format!("the data directory {}", dir.display()))
}

/// A directory and what is below it. Links are given away, and not what they lead to.
fn own_all(path: &Path, user: u32, group: u32) -> io::Result<()> {
    lchown(path, Some(user), Some(group))?;
    if fs::symlink_metadata(path)?.is_dir() {
        for entry in fs::read_dir(path)? {
            own_all(&entry?.path(), user, group)?;
        }
    }
    Ok(())
}

/// Waits until the store takes requests; where.
pub async fn ready(listen: &str, is_tls: bool, unit: &str) -> Result<String> {
    let port = listen.rsplit(':').next().unwrap_or_default();
    let host = match listen.rsplit_once(':').map(|(host, _)| host) {
        None | Some("0.0.0.0") => "127.0.0.1",
        Some("[::]") => "[::1]",
        Some(host) => host,
    };
    let url = format!("{}://{host}:{port}", if is_tls { "https" } else { "http" });
    // On this machine: whose certificate it is does not matter here.
    let client = reqwest::Client::builder().no_proxy().tls_danger_accept_invalid_certs(is_tls);
    let client = client.timeout(Duration::from_secs(5)).build()?;
    let begun = Instant::now();
    loop {
        let answer = client.get(format!("{url}/ready")).send().await;
        if answer.is_ok_and(|answer| answer.status().is_success()) {
            return Ok(url);
        }
        if begun.elapsed() > READY_WITHIN {
            bail!(
                "the store is installed and did not become ready at {url} within {} s; journalctl -u {unit} says why",
                READY_WITHIN.as_secs()
            );
        }
        sleep(LOOK_EVERY).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_of_users_and_groups_is_in_the_files_of_the_machine() {
        assert_eq!((user("root"), group("root")), (Some((0, 0)), Some(0)));
        assert_eq!((user("nobody-of-this-name"), group("nobody-of-this-name")), (None, None));
    }

    #[test]
    fn only_the_data_itself_is_closed_to_others() {
        let dir = tempfile::tempdir().expect("a directory");
        let data = dir.path().join("lib/tillkeep/store-S01");
        own(&data, "nobody-of-this-name").expect("made");
        own(&data, "nobody-of-this-name").expect("it is there");
        let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        let around = data.parent().expect("a folder");
        assert_eq!((mode(&data), mode(around), mode(&dir.path().join("lib"))), (0o700, 0o755, 0o755));
    }

    #[tokio::test]
    async fn a_port_that_is_taken_and_a_disk_without_room_are_faults_with_a_remedy() {
        let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = taken.local_addr().expect("an address").to_string();
        let fault = port(&address, false).await.expect_err("it is taken");
        assert!(fault.what.contains(&address) && fault.remedy.contains("--listen"), "{}", fault.what);
        assert!(port(&address, true).await.is_ok(), "its own");
        drop(taken);
        assert!(port(&address, false).await.is_ok());
        // The file system of processes has no room at all.
        let fault = disk(Path::new("/proc/none")).expect_err("no room");
        assert!(fault.remedy.contains("--data-dir"), "{}", fault.remedy);
    }
}
