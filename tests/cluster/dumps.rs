//! Backups of a headquarters on `PostgreSQL`: dumps by that database's own program, of one of its servers.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::Home;
use crate::kit::{ADMIN, Process, eventually, metric};
use crate::private_postgres::programs;

const LAST: &str = "tillkeep_backup_last_success_timestamp_seconds";
/// A day and an hour later.
const LATER: (&str, &str) = ("CLOCK_OFFSET_MS", "90000000");

fn names(dir: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(dir.join("backups")) else { return Vec::new() };
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"));
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

fn tillkeep(arguments: &[&str], path: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tillkeep"));
    command.args(arguments).env_clear().env("PATH", path).output().expect("the program runs")
}

#[track_caller]
fn done(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_several_servers_dumps_the_database_with_the_keys_and_says_what_it_lacks() {
    let home = Home::make();
    let place = tempfile::tempdir().expect("a directory");
    let dir = place.path().join("hq");
    let path = format!("{}:/usr/bin:/bin", programs().display());
    let mut hq = Process::prepared("hq", &dir, &home.environment());
    for (key, value) in
        [("ADMIN_USERNAME", ADMIN.0), ("ADMIN_PIN", ADMIN.1), ("BACKUP_EVERY", "24h"), LATER, ("PATH", "/nowhere")]
    {
        hq.set_environment(key, value);
    }
    hq.start_prepared();
    let failures = "tillkeep_backup_failures_total{reason=\"tool\"}";
    eventually("it says that there is no pg_dump", async || metric(&hq.url, failures).await.filter(|n| *n > 0.0)).await;
    assert!(hq.log().contains("postgresql-client-"), "{}", hq.log());
    assert!(names(&dir).iter().all(|name| name.starts_with('.')), "{:?}", names(&dir));
    hq.stop();

    hq.set_environment("PATH", &path);
    hq.restart();
    eventually("there is a dump", async || metric(&hq.url, LAST).await.filter(|at| *at > 0.0)).await;
    let made = names(&dir);
    let ends: Vec<&str> = made.iter().filter_map(|name| name.split_once('.').map(|(_, end)| end)).collect();
    assert_eq!(ends, ["dump", "pin.key", "token.key"], "{made:?}");
    // Another server learns of it, and makes none of its own.
    let mut other = hq.beside();
    other.start_prepared();
    eventually("the other server knows", async || metric(&other.url, LAST).await.filter(|at| *at > 0.0)).await;
    assert_eq!(names(&other.dir), Vec::<String>::new());
    other.stop();
    hq.stop();

    let dump = dir.join("backups").join(&made[0]);
    let said = done(&tillkeep(&["backup", "check", dump.to_str().expect("a path")], &path));
    assert!(said.contains("is a dump of PostgreSQL"), "{said}");
    let again = Home::empty();
    let url = again.environment()[0].1.to_owned();
    let mut restore = Command::new(programs().join("pg_restore"));
    restore.arg("--no-owner").arg(format!("--dbname={url}")).arg(&dump);
    done(&restore.output().expect("pg_restore"));
    let said = done(&tillkeep(&["verify", "--database-url", &url], &path));
    assert!(said.contains("Everything holds."), "{said}");
    // Cut off, it is found.
    let bytes = fs::read(&dump).expect("the dump");
    fs::write(&dump, &bytes[..bytes.len() - 2000]).expect("a file");
    let output = tillkeep(&["backup", "check", dump.to_str().expect("a path")], &path);
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
