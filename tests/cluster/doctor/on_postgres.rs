//! What `tillkeep doctor` finds of a headquarters on `PostgreSQL`, and passwords in the list of processes.

use std::process::{Command, Output};

use crate::Home;
use crate::kit::{ADMIN, Process, eventually};
use crate::own_postgres::Server;
use crate::said::doctor;
use crate::standby::Standby;

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_postgresql_its_clock_and_its_replica_is_found() {
    let (home, other, place) = (Home::make(), Home::make(), tempfile::tempdir().expect("a directory"));
    let (own, [(_, elsewhere), _]) = (home.environment(), other.environment());
    let url = own[0].1;
    let dir = place.path().join("hq");
    // It is its own replica.
    let follows = [("ADMIN_USERNAME", ADMIN.0), ("ADMIN_PIN", ADMIN.1), ("DATABASE_READ_URL", url)];
    let mut hq = Process::start("hq", &dir, &[&own[..], &follows].concat());
    let with = |more: &[(&str, &str)]| doctor("hq", &dir, &[&own[..], more].concat(), &["--json"]);

    let sound = eventually("the server has noted the time for its replica", async || {
        let said = with(&[("DATABASE_READ_URL", url)]);
        (said.level_of("replica") == ["ok"]).then_some(said)
    })
    .await;
    sound.has("clock", "ok", "that of the database", "");
    sound.has("configuration", "warning", "TILLKEEP_ACCEPT_UNSAFE_DATABASE=1", "for tests");
    // The private server has nothing to keep.
    sound.has("database", "fault", "fsync", "postgresql.conf");
    sound.has("integrity", "hint", "not checked: PostgreSQL looks after its pages itself", "");
    sound.has("backups", "warning", "nobody makes backups", "BACKUP_ELSEWHERE=true");
    with(&[("BACKUP_ELSEWHERE", "true")]).has("backups", "hint", "somebody else makes them", "--backups");

    let stranger = with(&[("DATABASE_READ_URL", elsewhere)]);
    stranger.has("replica", "warning", "it has nothing of what servers note in this database", "DATABASE_READ_URL");
    let away = with(&[("DATABASE_READ_URL", "postgres://till:hunter2@127.0.0.1:1/chain")]);
    away.has("replica", "warning", "it cannot be read", "DATABASE_READ_URL");
    assert!(!away.text.contains("hunter2"), "{}", away.text);
    let ahead = with(&[("CLOCK_OFFSET_MS", "60000")]);
    ahead.has("clock", "warning", "ahead of that of the database", "timedatectl");
    hq.stop();
    let greedy = with(&[("DATABASE_CONNECTIONS", "100000")]);
    greedy.has("database", "fault", "connections are left, and the server takes up to 100000", "DATABASE_CONNECTIONS");
}

#[test]
fn an_address_that_leads_to_a_standby_is_a_fault() {
    let (server, place) = (Server::new(), tempfile::tempdir().expect("a directory"));
    let standby = Standby::new(&server);
    let said = doctor("hq", place.path(), &[("DATABASE_URL", &standby.url())], &["--json"]);
    said.has("database", "fault", "DATABASE_URL leads to a standby", "name the primary");
    assert_eq!(said.code, 2, "{}", said.text);
    doctor("hq", place.path(), &[("DATABASE_URL", &server.url)], &["--json"]).has("database", "ok", "PostgreSQL", "");
}

/// `tillkeep` with these words and this environment alone; what it said on the standard output and the other one.
fn tillkeep(words: &[&str], environment: &[(&str, &str)]) -> (String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tillkeep"));
    let output = command.args(words).env_clear().envs(environment.iter().copied()).output().expect("the program runs");
    let Output { status, stdout, stderr } = output;
    let [said, beside] = [stdout, stderr].map(|text| String::from_utf8(text).expect("a text"));
    assert!(status.success(), "{said}{beside}");
    (said, beside)
}

#[test]
fn a_password_in_the_list_of_processes_is_warned_of_and_the_environment_does_without() {
    let (home, place) = (Home::make(), tempfile::tempdir().expect("a directory"));
    let own = home.environment();
    let admin = [("ADMIN_USERNAME", ADMIN.0), ("ADMIN_PIN", ADMIN.1)];
    let mut hq = Process::start("hq", &place.path().join("hq"), &[&own[..], &admin].concat());
    // The private server asks for no password, and takes any.
    let url = own[0].1.replacen('@', ":hunter2@", 1);
    assert!(url.contains(":hunter2@"), "{url}");
    let dir = hq.dir.to_str().expect("a path").to_owned();
    let commands = [
        (vec!["verify"], vec!["verify", "--hq", dir.as_str()], "Everything holds."),
        (vec!["audit", "verify"], vec!["audit", "verify", "--data-dir", dir.as_str()], "The audit log is whole"),
    ];
    for (words, at_its_place, text) in commands {
        let (said, beside) = tillkeep(&[&words[..], &["--database-url", url.as_str()]].concat(), &[]);
        assert!(said.contains(text) && beside.contains("the list of processes"), "{said}{beside}");
        assert!(!beside.contains("hunter2"), "{beside}");
        for words in [words, at_its_place] {
            let (said, beside) = tillkeep(&words, &[("DATABASE_URL", &url)]);
            assert!(said.contains(text) && !beside.contains("the list of processes"), "{words:?}: {said}{beside}");
        }
    }
    let (said, _) = tillkeep(&["verify"], &[("DATABASE_URL", &url)]);
    assert!(said.starts_with("Headquarters: postgres") && !said.contains("hunter2"), "{said}");

    // A file of before is no answer to a question about the PostgreSQL that the server uses.
    let old = hq.dir.join("tillkeep.db");
    std::fs::write(&old, "").expect("a file");
    for (words, flag) in [
        (vec!["verify", "--hq", dir.as_str()], "--hq"),
        (vec!["audit", "verify", "--data-dir", dir.as_str()], "--data-dir"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tillkeep"));
        let output = command.args(&words).env_clear().env("DATABASE_URL", &url).output().expect("the program runs");
        let beside = String::from_utf8(output.stderr).expect("a text");
        assert!(!output.status.success() && output.stdout.is_empty(), "{words:?}: {beside}");
        for text in [&*old.display().to_string(), "DATABASE_URL", "env -u", &format!("leave {flag} out"), ":***@"] {
            assert!(beside.contains(text), "{words:?} does not say {text}: {beside}");
        }
        assert!(!beside.contains("hunter2"), "{beside}");
    }
    std::fs::remove_file(&old).expect("removed");
    hq.stop();
}
