//! Backups that a server makes by itself, and what `tillkeep backup check` says of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::kit::{ADMIN, Process, TestCluster, eventually, metric};
use crate::restored::{done, refused};

const IDENTITY: &str = "AGE-SECRET-KEY-1A8ZPPZ4H8YHQXWMHMZH4H3PFJZX5YJFUXMMVSUNQS0HG4ZTYTA5Q25VXSQ";
const RECIPIENT: &str = "age1nl8awhtw734fu8gwury92hzr239ccfrecmhjm0xxkx8zg5cgfs6qy74yks";
/// A day and an hour later.
const LATER: (&str, &str) = ("CLOCK_OFFSET_MS", "90000000");
const LAST: &str = "tillkeep_backup_last_success_timestamp_seconds";

/// The names in a directory, hidden ones too.
fn names(dir: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name")).collect();
    names.sort();
    names
}

/// Waits for the first backup of a server.
async fn made(dir: &Path) -> PathBuf {
    let found = async || names(dir).into_iter().find(|name| !name.starts_with('.'));
    dir.join(eventually("a backup is made", found).await)
}

fn check(file: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tillkeep"));
    command.args(["backup", "check"]).arg(file).args(arguments).env_clear().output().expect("the program runs")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_headquarters_that_dies_in_a_backup_has_no_half_one_and_the_next_is_opened_by_its_identity_alone() {
    let place = tempfile::tempdir().expect("a directory");
    let dir = place.path().join("hq");
    let accounts = [("ADMIN_USERNAME", ADMIN.0), ("ADMIN_PIN", ADMIN.1), ("BACKUP_RECIPIENT", RECIPIENT)];
    let mut hq = Process::start("hq", &dir, &accounts);
    assert_eq!(metric(&hq.url, LAST).await, None, "there is none yet");
    hq.stop();
    assert_eq!(names(&dir.join("backups")), Vec::<String>::new(), "the database is new");

    // A day later, at a machine that loses its power as soon as the copy is written.
    hq.set_environment(LATER.0, LATER.1);
    hq.set_environment("FAILPOINTS", "backup.copied=return(kill)");
    hq.restart();
    eventually("it dies", async || hq.has_ended().then_some(())).await;
    let left = names(&dir.join("backups"));
    assert!(left.iter().all(|name| name.starts_with('.')), "{left:?}");
    let open_copies = || names(&dir).into_iter().filter(|name| name.starts_with("tillkeep.db.backup-")).count();
    assert_eq!(open_copies(), 1, "what was about to be encrypted");

    hq.forget_environment("FAILPOINTS");
    hq.restart();
    let file = made(&dir.join("backups")).await;
    let name = file.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
    assert!(name.starts_with("hq-") && name.ends_with("Z.tillkeep.age"), "{name}");
    eventually("the metric says so", async || metric(&hq.url, LAST).await.filter(|at| *at > 0.0)).await;
    assert_eq!(names(&dir.join("backups")), [name], "what was left is gone");
    assert_eq!(open_copies(), 0);
    hq.stop();

    let identity = place.path().join("identity");
    fs::write(&identity, format!("{IDENTITY}\n")).expect("a file");
    let identity = identity.to_str().expect("a path");
    assert!(refused(&check(&file, &[])).contains("--identity"));
    let said = done(&check(&file, &["--identity", identity]));
    for part in ["is a backup of headquarters", "pin.key and token.key", "users 1", "Everything holds."] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let again = place.path().join("again");
    let mut restore = Command::new(env!("CARGO_BIN_EXE_tillkeep"));
    restore.arg("restore").arg(&file).arg("--data-dir").arg(&again).args(["--identity", identity]).env_clear();
    done(&restore.output().expect("the program runs"));
    let mut restored = Process::start("hq", &again, &[]);
    restored.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_sells_while_it_is_backed_up_and_a_backup_with_a_wrong_sum_is_found() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1000).await;
    let mut site = chain.store().await;
    let till = site.open_till().await;
    site.knows(&till, &product, None).await;
    site.sell(&till, &product, 1).await;
    site.drained(&till).await;
    // Headquarters is not there for what follows, so that clocks may differ.
    chain.hq.stop();
    site.process.stop();
    site.process.set_environment("BACKUP_EVERY", "1m");
    site.process.set_environment("CLOCK_OFFSET_MS", "100000");
    site.process.restart();
    let till = site.admin().await;
    let dir = site.process.dir.join("backups");
    let found = async || {
        site.sell(&till, &product, 1).await;
        names(&dir).into_iter().find(|name| !name.starts_with('.'))
    };
    let file = dir.join(eventually("a backup is made", found).await);
    site.sell(&till, &product, 1).await;
    let said = done(&check(&file, &[]));
    assert!(said.contains("is a backup of store S01") && said.contains("Everything holds."), "{said}");

    let damaged = tillkeep_storage::Db::open_alone(&file).expect("the backup");
    let sql = "UPDATE sale_payments SET amount = amount - 1";
    tillkeep_storage::raw::execute(&damaged, sql, []).await.expect("a damage");
    damaged.close().await.expect("closed");
    let output = check(&file, &[]);
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("the payments are not the total"), "{said}");
}

#[test]
fn a_recipient_that_is_none_ends_the_start_with_the_name_of_the_setting() {
    let place = tempfile::tempdir().expect("a directory");
    let said = Process::that_fails("hq", &place.path().join("hq"), &[("BACKUP_RECIPIENT", "age1nobody")]);
    assert!(said.contains("hq.backup.recipient (BACKUP_RECIPIENT)"), "{said}");
}
