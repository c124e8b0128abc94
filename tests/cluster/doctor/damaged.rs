//! What is planted in the files of a server: its database, its numbers, its backups, its settings.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rusqlite::Connection;
use serde_json::Value as Json;

use super::said::{asked, doctor};
use crate::kit::TestCluster;

/// Whatever a page begins with, it is not this.
const NO_PAGE: [u8; 64] = [0xee; 64];

/// A copy of the database of a store that is stopped, in a directory of its own.
fn copy(store: &Path, to: &Path) -> Connection {
    let whole = Connection::open(store.join("tillkeep.db")).expect("the database");
    whole.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).expect("all in one file");
    drop(whole);
    fs::create_dir(to).expect("a directory");
    fs::copy(store.join("tillkeep.db"), to.join("tillkeep.db")).expect("a copy");
    Connection::open(to.join("tillkeep.db")).expect("the copy")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_page_numbers_that_say_nothing_and_an_older_schema_are_found() {
    let mut chain = TestCluster::new().await;
    let mut site = chain.store().await;
    site.admin().await;
    site.process.stop();
    let (store, place) = (site.process.dir.clone(), tempfile::tempdir().expect("a directory"));

    let damaged = place.path().join("damaged");
    let conn = copy(&store, &damaged);
    let number = |sql: &str| -> u64 {
        let number: i64 = conn.query_row(sql, [], |row| row.get(0)).expect("a number");
        number.try_into().expect("a positive one")
    };
    let page = number("SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = 'sales'");
    let page_bytes = number("SELECT page_size FROM pragma_page_size");
    drop(conn);
    doctor("store", &damaged, &[], &["--json"]).has("integrity", "ok", "every page and every reference is whole", "");
    // Nothing is made but what any reader of SQLite leaves of a database that nobody else has open.
    let bytes_of = |name: &str| fs::metadata(damaged.join(name)).map(|about| about.len()).ok();
    assert_eq!(bytes_of("tillkeep.db-wal"), Some(0));
    let made = fs::read_dir(&damaged).expect("a directory").filter(|file| {
        let name = file.as_ref().expect("a file").file_name();
        !["tillkeep.db", "tillkeep.db-shm", "tillkeep.db-wal"].iter().any(|known| name == *known)
    });
    assert_eq!(made.count(), 0);
    let file = File::options().write(true).open(damaged.join("tillkeep.db")).expect("the copy");
    file.write_all_at(&NO_PAGE, (page - 1) * page_bytes).expect("written");
    fs::write(damaged.join("numbers"), "no numbers\n").expect("a file");
    let said = doctor("store", &damaged, &[], &["--json"]);
    said.has("integrity", "fault", "", "put back a backup");
    said.has("numbers", "fault", "", "set aside at the next start");
    assert_eq!(said.code, 2, "{}", said.text);

    let older = place.path().join("older");
    let conn = copy(&store, &older);
    let last = "DELETE FROM schema_steps WHERE name = (SELECT MAX(name) FROM schema_steps)";
    assert_eq!(conn.execute(last, []).expect("deleted"), 1);
    drop(conn);
    let said = doctor("store", &older, &[], &["--json"]);
    said.has("schema", "hint", "of an older release, without", "tillkeep backup FILE");
    said.has("outbox", "hint", "not checked: the schema of the database is not that of this program", "");
}

#[test]
fn backups_that_are_old_or_that_nobody_makes_are_warned_of_unless_somebody_else_does() {
    let dir = tempfile::tempdir().expect("a directory");
    let backups = dir.path().join("backups");
    fs::create_dir(&backups).expect("a directory");
    let file = File::create(backups.join("hq-old.tillkeep")).expect("a file");
    let written = SystemTime::now() - Duration::from_hours(3 * 24 + 1);
    file.set_modified(written).expect("a time");
    // Where the server makes them itself, and where somebody says that they are.
    let at = backups.to_str().expect("a path");
    for more in [&["--json"][..], &["--json", "--backups", at]] {
        let old = doctor("hq", dir.path(), &[], more);
        old.has("backups", "warning", "hq-old.tillkeep, 3 days old", "each night");
    }
    let nobody = doctor("hq", dir.path(), &[("BACKUP_EVERY", "off")], &["--json"]);
    nobody.has("backups", "warning", "nobody makes backups", "BACKUP_ELSEWHERE=true");
    let said = [("BACKUP_EVERY", "off"), ("BACKUP_ELSEWHERE", "true")];
    let elsewhere = doctor("hq", dir.path(), &said, &["--json"]);
    elsewhere.has("backups", "hint", "somebody else makes them", "--backups");
}

#[test]
fn a_server_is_looked_at_by_the_files_of_its_unit_and_nothing_that_is_set_here() {
    let dir = tempfile::tempdir().expect("a directory");
    let (settings, data) = (dir.path().join("hq.env"), dir.path().join("data"));
    let variables = format!("# headquarters\nDATA_DIR=\"{}\"\nBACKUP_ELSEWHERE=true\n", data.display());
    fs::write(&settings, variables).expect("a file");
    fs::write(dir.path().join("tillkeep.toml"), "[hq.backup]\nevery = \"off\"\n").expect("a file");
    let words = ["hq", "--json", "--settings", settings.to_str().expect("a path")];
    let said = asked(&words, &[("BACKUP_EVERY", "1h"), ("DATA_DIR", "/nowhere"), ("DATABASE_URL", "no address")]);
    said.has("backups", "hint", "somebody else makes them (backup.elsewhere)", "");
    let report: Json = serde_json::from_str(&said.text).expect("a report");
    let named = |key: &str| report[key].as_str().map(str::to_owned);
    assert_eq!(named("settings"), Some(settings.display().to_string()));
    assert_eq!(named("dataDir"), Some(data.display().to_string()));

    let none = asked(&["store", "--json", "--name", "no-such-store"], &[]);
    none.has("configuration", "fault", "/etc/tillkeep/store-no-such-store.env cannot be read", "");
    assert_eq!((none.code, none.findings().len()), (2, 1));
    let report: Json = serde_json::from_str(&none.text).expect("a report");
    assert_eq!(report["settings"], "/etc/tillkeep/store-no-such-store.env");
}

#[test]
fn what_a_file_of_settings_lacks_its_unit_may_have_and_what_is_wrong_in_it_is_named_there() {
    let dir = tempfile::tempdir().expect("a directory");
    let settings = dir.path().join("store-s01.env");
    let at = settings.to_str().expect("a path");
    let words = ["store", "--json", "--listen", "127.0.0.1:0", "--settings", at];
    let looked = |text: &str| {
        fs::write(&settings, format!("DATA_DIR={}/none\n{text}", dir.path().display())).expect("a file");
        asked(&words, &[])
    };
    // The token is a credential of systemd, by a drop-in.
    let credential = looked("HQ_URL=http://127.0.0.1:1\n");
    credential.has("token", "warning", &format!("SYNC_TOKEN is not set in {at}"), "systemctl edit");
    let bare = looked("");
    bare.has("configuration", "warning", &format!("HQ_URL is not set in {at}"), "systemctl edit");
    bare.has("headquarters", "warning", &format!("not checked: HQ_URL is not set in {at}"), "systemctl edit");
    assert!(bare.code == 1 && !bare.text.contains("--name"), "it was named: {}", bare.text);

    let wrong = looked("TILLKEEP_JWT_KEY=short\n");
    wrong.has("configuration", "fault", "TILLKEEP_JWT_KEY", &format!("set it right in {at}"));
    let unread = looked("TILLKEEP_LISTEN=5\n");
    unread.has("configuration", "fault", "TILLKEEP_LISTEN", &format!("set it right in {at}"));
    assert!(!wrong.text.contains("config check") && !unread.text.contains("config check"), "{}", unread.text);
    let report: Json = serde_json::from_str(&unread.text).expect("a report");
    assert_eq!((report["settings"].as_str(), unread.code), (Some(at), 2));
}
