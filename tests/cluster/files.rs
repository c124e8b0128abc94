//! Who may read what a server writes: its owner alone.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::kit::{Process, TestCluster};

/// What others may do with anything below `dir`, and with `dir` itself.
fn open_to_others(dir: &Path) -> Vec<(PathBuf, u32)> {
    let mut found = Vec::new();
    let mut left = vec![dir.to_owned()];
    while let Some(path) = left.pop() {
        let about = fs::symlink_metadata(&path).expect("it is there");
        if about.permissions().mode() & 0o077 != 0 {
            found.push((path.clone(), about.permissions().mode() & 0o7777));
        }
        if about.is_dir() {
            left.extend(fs::read_dir(&path).expect("a directory").map(|entry| entry.expect("an entry").path()));
        }
    }
    found
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).expect("a directory");
    entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

fn done(arguments: &[&str]) {
    // As a person with an open hand has it.
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "umask 0000; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_tillkeep")]).args(arguments).env_clear();
    let output = command.output().expect("the program runs");
    assert!(output.status.success(), "{output:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_file_of_a_days_work_is_its_owners_alone() {
    let mut chain = TestCluster::new().await;
    let mut site = chain.store().await;
    let till = site.open_till().await;
    let product = chain.product("TEA", 1999).await;
    site.knows(&till, &product, None).await;
    for _ in 0..3 {
        site.sell(&till, &product, 1).await;
    }
    site.drained(&till).await;
    for process in [&chain.hq, &site.process] {
        let names = names(&process.dir);
        for name in ["tillkeep.db", "tillkeep.db-wal", "tillkeep.db-shm", "token.key", "pin.key", "lock", "address"] {
            let postgres = process.database().starts_with("postgres") && name.starts_with("tillkeep.db");
            assert!(postgres || names.iter().any(|here| here == name), "{name} in {names:?}");
        }
        assert_eq!(open_to_others(&process.dir), [], "while it runs");
    }
    let work = tempfile::tempdir().expect("a directory");
    let text = |path: &Path| path.to_str().expect("a path").to_owned();
    let (store, backup, again) =
        (text(&site.process.dir), text(&work.path().join("backup")), work.path().join("again"));
    done(&["backup", &backup, "--data-dir", &store]);
    done(&["keys", "rotate", "--data-dir", &store]);
    // A copy that an operator put where all may read it.
    fs::set_permissions(&backup, Permissions::from_mode(0o644)).expect("a mode");
    done(&["restore", &backup, "--data-dir", &text(&again)]);
    assert_eq!(open_to_others(&again), [], "what was put back");
    fs::set_permissions(&backup, Permissions::from_mode(0o600)).expect("a mode");
    chain.hq.stop();
    site.process.stop();
    for dir in [&chain.hq.dir, &site.process.dir, &work.path().join("backup"), &again] {
        assert_eq!(open_to_others(dir), [], "afterwards");
    }
}

#[tokio::test]
async fn a_directory_that_others_could_read_is_mended_with_a_line_in_the_log_and_what_is_not_its_own_is_left() {
    let place = tempfile::tempdir().expect("a directory");
    let dir = place.path().join("hq");
    let mut hq = Process::start("hq", &dir, &[]);
    hq.stop();
    fs::write(dir.join("notes.txt"), "of another program").expect("a file");
    for name in names(&dir) {
        fs::set_permissions(dir.join(name), Permissions::from_mode(0o644)).expect("a mode");
    }
    fs::set_permissions(&dir, Permissions::from_mode(0o755)).expect("a mode");
    hq.restart();
    assert_eq!(open_to_others(&dir), [(dir.join("notes.txt"), 0o644)]);
    let log = hq.log();
    for name in ["", "/token.key", "/pin.key", "/tillkeep.db", "/lock"] {
        let line = log.lines().find(|line| {
            line.contains("others could read this") && line.contains(&format!("{}{name}\"", dir.display()))
        });
        assert!(line.is_some(), "{name} in {log}");
    }
    assert!(!log.contains("notes.txt"), "{log}");
    hq.stop();
}
