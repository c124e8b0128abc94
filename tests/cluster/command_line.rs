//! What people type at a shell, and what they read there.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value as Json, json};

use crate::kit::{ADMIN, Client, Process, TestCluster, eventually};

fn tillkeep(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tillkeep"));
    command.args(arguments).env_clear().stdin(Stdio::null());
    command
}

fn run(arguments: &[&str], dir: &Path) -> Output {
    let text = dir.to_str().expect("a path");
    let arguments: Vec<&str> = arguments.iter().map(|word| if *word == "DIR" { text } else { word }).collect();
    tillkeep(&arguments).output().expect("the program runs")
}

fn said(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).expect("a text")
}

fn refused(output: &Output) -> String {
    assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
    String::from_utf8(output.stderr.clone()).expect("a text")
}

/// The PIN in what was said: its only digits that are six or more.
fn pin_in(text: &str) -> String {
    let digits = text.split(|letter: char| !letter.is_ascii_digit()).find(|digits| digits.len() >= 4);
    digits.unwrap_or_else(|| panic!("no PIN in {text}")).to_owned()
}

async fn signs_in(url: &str, name: &str, pin: &str) -> Option<Json> {
    let answer = Client::new(url).post("/auth/login", json!({"username": name, "pin": pin})).await;
    answer.status.is_success().then(|| answer.data())
}

#[tokio::test]
async fn who_has_the_machine_gets_a_new_pin_for_a_lost_one_and_an_administrator() {
    let mut chain = TestCluster::new().await;
    let dir = chain.hq.dir.clone();
    let cashier = chain.person("ann", "739155", json!([])).await;
    // A server that believes that no other process writes is not to be written behind.
    assert!(
        refused(&run(&["hq", "--data-dir", "DIR", "reset-pin", "ann"], &dir)).contains("is in use by headquarters")
    );
    chain.hq.stop();
    let unknown = refused(&run(&["hq", "--data-dir", "DIR", "reset-pin", "anna"], &dir));
    assert!(unknown.contains("there is no user anna"), "{unknown}");
    let pin = pin_in(&said(&run(&["hq", "--data-dir", "DIR", "reset-pin", "ANN"], &dir)));
    let made = said(&run(&["hq", "--data-dir", "DIR", "make-admin", "ann"], &dir));
    assert!(made.contains("ann is an active administrator"), "{made}");
    let second = pin_in(&said(&run(&["hq", "--data-dir", "DIR", "make-admin", "second"], &dir)));
    chain.hq.restart();
    let url = &chain.hq.url;
    assert!(signs_in(url, "ann", "739155").await.is_none(), "the lost PIN is good no more");
    for (name, pin) in [("ann", &pin), ("second", &second)] {
        let signed_in = signs_in(url, name, pin).await.expect("the new PIN is good");
        assert_eq!(signed_in["user"]["mustChangePin"], true);
        assert!(signed_in["user"]["permissions"].as_array().is_some_and(|codes| codes.len() == 73), "{signed_in}");
    }
    let log = chain.admin.get("/audit-log?search=user.").await.data();
    let by_hand = |row: &&Json| row["details"]["by"] == "command line";
    let actions: Vec<_> = log.as_array().expect("a log").iter().filter(by_hand).map(|row| &row["action"]).collect();
    assert_eq!(actions, ["user.create", "user.make_admin", "user.pin"]);
    drop(cashier);
}

#[tokio::test]
async fn a_start_that_ignores_the_settings_of_the_first_account_says_so() {
    let dir = tempfile::tempdir().expect("a directory");
    let environment = [("ADMIN_USERNAME", ADMIN.0), ("ADMIN_PIN", ADMIN.1)];
    let mut first = Process::start("hq", dir.path(), &environment);
    first.stop();
    let text = dir.path().to_str().expect("a path");
    let mut command = tillkeep(&["hq", "--listen", "127.0.0.1:0", "--dev", "--data-dir", text]);
    let mut child = command.envs(environment).stdout(Stdio::piped()).spawn().expect("the program runs");
    let lines = BufReader::new(child.stdout.take().expect("output")).lines().map_while(Result::ok);
    let lines: Vec<String> = lines.take_while(|line| !line.starts_with("listening on ")).collect();
    child.kill().and_then(|()| child.wait()).expect("an end");
    assert!(lines[0].starts_with("Tillkeep 0.") && lines[0].contains(text) && lines[0].contains("SQLite"), "{lines:?}");
    assert!(lines[1].starts_with("ADMIN_USERNAME, ADMIN_PIN, --dev: ignored"), "{lines:?}");
    assert_eq!(lines.len(), 2, "{lines:?}");
}

#[tokio::test]
async fn a_pin_that_is_shown_once_is_not_shown_by_a_start_that_finds_its_port_taken() {
    let dir = tempfile::tempdir().expect("a directory");
    let text = dir.path().to_str().expect("a path");
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let output = tillkeep(&["hq", "--data-dir", text, "--listen", &address]).output().expect("the program runs");
    assert!(refused(&output).contains(&format!("cannot listen on {address}")), "{output:?}");
    // The next start is the first one still.
    let mut command = tillkeep(&["hq", "--data-dir", text, "--listen", "127.0.0.1:0"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the program runs");
    let lines = BufReader::new(child.stdout.take().expect("output")).lines().map_while(Result::ok);
    let lines: Vec<String> = lines.take_while(|line| !line.starts_with("listening on ")).collect();
    child.kill().and_then(|()| child.wait()).expect("an end");
    assert!(lines.iter().any(|line| line.contains("admin") && line.contains("PIN ")), "{lines:?}");
}

#[test]
fn what_is_wrong_with_a_setting_is_said_before_anything_is_made() {
    let place = tempfile::tempdir().expect("a directory");
    let dir = place.path().join("data");
    let start = ["hq", "--data-dir", "DIR"];
    for (name, value, key) in [
        ("TILLKEEP_LISTEN", "5", "hq.listen (TILLKEEP_LISTEN)"),
        ("TILLKEEP_LISTEN", "127.0.0.1:99999", "hq.listen (TILLKEEP_LISTEN)"),
        ("PUBLIC_URL", "hq.example.com", "hq.public_url (PUBLIC_URL)"),
        ("HQ_URL", "//hq", "store.hq_url (HQ_URL)"),
        ("RUST_LOG", "warning", "RUST_LOG: \"warning\" is no level"),
    ] {
        for arguments in [&start[..], &["config", "check"]] {
            let text = dir.to_str().expect("a path");
            let words: Vec<&str> = arguments.iter().map(|word| if *word == "DIR" { text } else { word }).collect();
            let output = tillkeep(&words).env(name, value).output().expect("the program runs");
            // In the log of a server each quote has a stroke before it.
            assert!(refused(&output).replace('\\', "").contains(key), "{name}={value}: {output:?}");
            assert!(!dir.exists(), "{name}={value} made something");
        }
    }
    let output = run(&["hq", "--data-dir", "DIR", "--listen", "8080"], &dir);
    assert!(refused(&output).contains("--listen") && !dir.exists(), "{output:?}");
}

#[test]
fn a_reader_that_leaves_ends_a_command_without_a_panic() {
    for arguments in [&["config", "default"][..], &["config", "check"], &["--help"]] {
        let mut child = tillkeep(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a start");
        drop(child.stdout.take());
        let mut printed = String::new();
        child.stderr.take().expect("errors").read_to_string(&mut printed).expect("a text");
        let ended = child.wait().expect("an end");
        assert!(ended.success() && printed.is_empty(), "{arguments:?}: {ended:?} {printed}");
    }
}

#[tokio::test]
async fn a_server_without_a_reader_of_its_output_goes_on() {
    let dir = tempfile::tempdir().expect("a directory");
    let text = dir.path().to_str().expect("a path");
    let mut command = tillkeep(&["hq", "--data-dir", text, "--listen", "127.0.0.1:0"]);
    command.env("RUST_LOG", "debug").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("a start");
    drop((child.stdout.take(), child.stderr.take()));
    let url = eventually("it listens", async || std::fs::read_to_string(dir.path().join("address")).ok()).await;
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    for _ in 0..20 {
        let answer = client.get(format!("{}/ready", url.trim())).send().await.expect("an answer");
        assert_eq!(answer.status().as_u16(), 200);
    }
    child.kill().and_then(|()| child.wait()).expect("an end");
}

#[tokio::test]
async fn the_log_of_a_server_is_json_alone_with_one_line_for_a_request() {
    let dir = tempfile::tempdir().expect("a directory");
    let environment = [("ADMIN_USERNAME", ADMIN.0), ("ADMIN_PIN", ADMIN.1), ("RUST_LOG", "info,tillkeep_http=debug")];
    let server = Process::start("hq", dir.path(), &environment);
    assert!(signs_in(&server.url, ADMIN.0, ADMIN.1).await.is_some());
    let another = server.another().refuses_to_start();
    let log = server.log() + &another;
    let lines: Vec<Json> =
        log.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect();
    let requests = lines.iter().filter(|line| line["path"] == "/api/v1/auth/login").count();
    assert_eq!(requests, 1, "{log}");
    assert!(another.contains("is in use by headquarters"), "{another}");
}

#[tokio::test]
async fn a_command_of_stores_on_the_directory_of_headquarters_says_which_server_owns_it() {
    let mut chain = TestCluster::new().await;
    let site = chain.store().await;
    chain.hq.stop();
    for words in [&["store", "status", "--data-dir", "DIR"][..], &["store", "resync", "--data-dir", "DIR"]] {
        let printed = refused(&run(words, &chain.hq.dir));
        assert!(printed.contains("this is the database of headquarters, and not of a store"), "{printed}");
    }
    let environment = [("SYNC_TOKEN", site.sync_token.as_str()), ("HQ_URL", "http://127.0.0.1:1")];
    let printed = Process::that_fails("store", &chain.hq.dir, &environment);
    assert!(printed.contains("this is the database of headquarters"), "{printed}");
    chain.hq.restart();
}

#[test]
fn a_mistyped_data_directory_is_named_and_nothing_is_made_where_a_command_reads_or_mends() {
    let dir = tempfile::tempdir().expect("a directory");
    let mistyped = dir.path().join("tilkeep-hq");
    let out = dir.path().join("out");
    let out = out.to_str().expect("a path");
    let series = ["--series", "receipt:01", "--last", "41"];
    let commands: Vec<Vec<&str>> = vec![
        vec!["hq", "--data-dir", "DIR", "reset-pin", "ann"],
        vec!["hq", "--data-dir", "DIR", "reset-factor", "ann"],
        vec!["hq", "--data-dir", "DIR", "make-admin", "ann"],
        vec!["hq", "--data-dir", "DIR", "new-epoch"],
        vec!["hq", "--data-dir", "DIR", "keys", "pins"],
        vec!["hq", "--data-dir", "DIR", "export", "--month", "2020-01", "--out", out],
        [vec!["hq", "--data-dir", "DIR", "set-series", "--store", "S01"], series.to_vec()].concat(),
        [vec!["store", "set-series", "--data-dir", "DIR"], series.to_vec()].concat(),
        vec!["store", "status", "--data-dir", "DIR"],
        vec!["store", "outbox", "list", "--data-dir", "DIR"],
        vec!["store", "outbox", "requeue", "--data-dir", "DIR"],
        vec!["store", "resync", "--data-dir", "DIR"],
        vec!["store", "take-over", "--data-dir", "DIR"],
        vec!["store", "certificate", "--data-dir", "DIR"],
        vec!["verify", "--hq", "DIR"],
        vec!["verify", "--store", "DIR"],
        vec!["audit", "verify", "--data-dir", "DIR"],
        vec!["audit", "export", "--data-dir", "DIR", "--from", "2020-01-01", "--to", "2020-01-31", "--out", out],
        vec!["backup", out, "--data-dir", "DIR"],
        vec!["keys", "list", "--data-dir", "DIR"],
        vec!["keys", "rotate", "--data-dir", "DIR"],
        vec!["keys", "retire", "a", "--data-dir", "DIR"],
    ];
    for arguments in commands {
        let said = refused(&run(&arguments, &mistyped));
        assert!(said.starts_with("tillkeep: ") && said.contains("tilkeep-hq"), "{arguments:?}: {said}");
        assert!(!said.contains("Custom Error"), "{arguments:?}: {said}");
        let made: Vec<_> = std::fs::read_dir(dir.path()).expect("a directory").flatten().collect();
        assert!(made.is_empty(), "{arguments:?} made {made:?}");
    }
}

#[test]
fn the_first_words_of_an_error_are_words() {
    let dir = tempfile::tempdir().expect("a directory");
    // A file that is no database, and one that belongs to the other kind of server.
    std::fs::write(dir.path().join("tillkeep.db"), "this is no database, and longer than a header of one has to be")
        .expect("a file");
    for arguments in [vec!["hq", "--data-dir", "DIR", "reset-pin", "ann"], vec!["verify", "--hq", "DIR"]] {
        let said = refused(&run(&arguments, dir.path()));
        // What was noticed on the way stands before it.
        let last = said.lines().find(|line| line.starts_with("tillkeep: ")).unwrap_or_default();
        assert!(last.contains("file is not a database") && !said.contains("Custom Error"), "{arguments:?}: {said}");
    }
}
