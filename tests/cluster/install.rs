//! A store as `tillkeep store install` sets it up on a machine.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value as Json, json};
use tempfile::TempDir;

use crate::authority::Authority;
use crate::doctor::said::asked;
use crate::kit::{ADMIN, Client, Process, TestCluster, eventually, id};

/// A machine with an own place of settings, and a `systemctl` that notes what it is called with.
struct Machine {
    dir: TempDir,
    listen: String,
    user: String,
}

impl Machine {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let bin = dir.path().join("bin");
        fs::create_dir(&bin).expect("a folder");
        let script = "#!/bin/sh\nif [ \"$1\" = is-active ]; then exit 3; fi\necho \"$@\" >> \"$0.calls\"\n";
        fs::write(bin.join("systemctl"), script).expect("a program");
        fs::set_permissions(bin.join("systemctl"), fs::Permissions::from_mode(0o755)).expect("a mode");
        let free = TcpListener::bind("127.0.0.1:0").expect("a port");
        let listen = free.local_addr().expect("an address").to_string();
        let user = Command::new("id").arg("-un").output().expect("id").stdout;
        Self { dir, listen, user: String::from_utf8(user).expect("a name").trim().to_owned() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Begins an installation with `token` on its standard input.
    fn begin(&self, token: &str, url: &str, more: &[&str], environment: &[(&str, &str)]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tillkeep"));
        command.args(["store", "install", "--hq-url", url, "--listen", &self.listen, "--user", &self.user]);
        for (flag, folder) in [("--config-dir", "etc"), ("--unit-dir", "units"), ("--data-dir", "data")] {
            command.arg(flag).arg(self.path(folder));
        }
        command.args(more).env_clear().env("PATH", self.path("bin")).envs(environment.iter().copied());
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program runs");
        child.stdin.take().expect("input").write_all(token.as_bytes()).expect("written");
        child
    }

    fn install(&self, token: &str, url: &str, more: &[&str], environment: &[(&str, &str)]) -> Output {
        self.begin(token, url, more, environment).wait_with_output().expect("it ends")
    }

    /// What is said of an installation that has a fault, which leaves the machine as it was.
    fn fault(&self, token: &str, url: &str, more: &[&str], environment: &[(&str, &str)]) -> String {
        let made = || ["units", "data"].map(|folder| self.path(folder).exists());
        let before = (self.settings(), made());
        let output = self.install(token, url, more, environment);
        let said = String::from_utf8(output.stderr.clone()).expect("a text");
        assert!(!output.status.success() && said.contains("nothing was written"), "{output:?}");
        assert_eq!((self.settings(), made()), before, "something was written or made: {said}");
        said
    }

    fn settings(&self) -> Option<String> {
        fs::read_to_string(self.path("etc/store-S01.env")).ok()
    }

    /// What systemd was asked to do; that it was asked whether it is there is left out.
    fn asked(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.path("bin/systemctl.calls")).unwrap_or_default();
        calls.lines().filter(|call| !call.starts_with("show")).map(str::to_owned).collect()
    }

    /// The store that systemd would start: by the settings that were written, and nothing else.
    fn start(&self) -> Process {
        let settings = self.settings().expect("settings");
        let lines = settings.lines().filter(|line| !line.starts_with('#'));
        let environment: Vec<(&str, &str)> = lines.map(|line| line.split_once('=').expect("a setting")).collect();
        let value = |name: &str| environment.iter().find(|(key, _)| *key == name).expect(name).1;
        assert_eq!(value("TILLKEEP_LISTEN"), self.listen);
        let mut process = Process::prepared("store", Path::new(value("DATA_DIR")), &environment);
        process.url = format!("http://{}", self.listen);
        process.restart();
        process
    }
}

async fn provisioned(admin: &Client, code: &str) -> (Json, String) {
    let body = json!({"code": code, "name": format!("Store {code}"), "timezone": "America/New_York"});
    let store = admin.post("/stores", body).await.data();
    let path = format!("/stores/{}/provision", id(&store));
    let provisioned = admin.post(&path, json!({})).await.data();
    let token = provisioned["syncToken"].as_str().expect("token").to_owned();
    (store, token)
}

#[tokio::test]
async fn a_store_is_installed_from_its_token_alone_when_nothing_is_wrong_and_then_sells() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("TEA", 500).await;
    let (store, token) = provisioned(&chain.admin, "S01").await;
    let (machine, url) = (Machine::new(), chain.hq.url.clone());

    // Each fault is named with what helps, and nothing is written.
    let nobody = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let fault = machine.fault(&token, &format!("http://{nobody}"), &[], &[]);
    assert!(fault.contains("line: ") && fault.contains("--hq-url"), "{fault}");
    let forged = format!("{}x", token.trim_end_matches(|letter: char| letter != '.'));
    let fault = machine.fault(&forged, &url, &[], &[]);
    assert!(fault.contains("token: headquarters has not made this token") && fault.contains("provision"), "{fault}");
    let fault = machine.fault(&token, &url, &[], &[("CLOCK_OFFSET_MS", "600000")]);
    assert!(fault.contains("clock: ") && fault.contains("timedatectl"), "{fault}");
    let other = TcpListener::bind(&machine.listen).expect("a port");
    let fault = machine.fault(&token, &url, &[], &[]);
    assert!(fault.contains("port: ") && fault.contains("--listen"), "{fault}");
    drop(other);
    let seen = chain.admin.get(&format!("/stores/{}", id(&store))).await.data();
    assert!(seen["firstSeenAt"].is_null(), "with a fault the token was not even shown: {seen}");
    assert!(machine.asked().is_empty(), "{:?}", machine.asked());

    // Now all is well. What systemd would start by the settings is started here.
    let installing = machine.begin(&token, &url, &[], &[]);
    eventually("systemd is asked to start the store", async || {
        machine.asked().last().is_some_and(|call| call.starts_with("enable")).then_some(())
    })
    .await;
    let mode = |path: &str| fs::metadata(machine.path(path)).expect("it is there").permissions().mode() & 0o777;
    assert_eq!((mode("etc/store-S01.env"), mode("data")), (0o640, 0o700));
    let process = machine.start();
    let output = installing.wait_with_output().expect("it ends");
    let said = String::from_utf8(output.stdout.clone()).expect("a text");
    assert!(output.status.success() && said.contains(&format!("http://{}/till", machine.listen)), "{output:?}");
    assert!(!said.contains(&token), "the token was said: {said}");
    assert_eq!(machine.asked(), ["daemon-reload", "enable --now tillkeep-store@S01.service"]);
    let unit = fs::read_to_string(machine.path("units/tillkeep-store@S01.service")).expect("a unit");
    let settings = machine.path("etc/store-%i.env");
    assert!(unit.contains(&format!("EnvironmentFile={}\n", settings.display())), "{unit}");

    // Whoever looks at it has what its unit has, by the command that was said.
    let file = machine.path("etc/store-S01.env");
    assert!(said.contains(&format!("tillkeep doctor store --settings {}", file.display())), "{said}");
    let words = ["store", "--json", "--settings", file.to_str().expect("a path")];
    let looked = eventually("nothing needs anybody", async || {
        let looked = asked(&words, &[]);
        (looked.code == 0).then_some(looked)
    })
    .await;
    looked.has("token", "ok", "of store S01; the server that runs is connected to headquarters", "");
    looked.has("headquarters", "ok", &format!("{url} answers"), "");
    looked.has("clock", "ok", "that of headquarters", "");
    assert!(!looked.text.contains(&token), "the token is not shown");
    let settings = machine.settings().expect("settings");
    let broken = machine.path("etc/broken.env");
    fs::write(&broken, settings.replace(&url, &format!("http://{nobody}"))).expect("a file");
    let fault =
        asked(&["store", "--json", "--settings", broken.to_str().expect("a path")], &[("HQ_URL", url.as_str())]);
    fault.has("headquarters", "fault", &format!("http://{nobody} does not answer"), "curl -v");

    // It is the store, and its till sells.
    let site = chain.site(process, &id(&store), "S01", &token).await;
    let till = site.open_till().await;
    site.knows(&till, &product, Some(500)).await;
    site.sell(&till, &product, 1).await;
    site.drained(&till).await;
    assert_eq!(chain.sales(&site).await, 1);
}

#[tokio::test]
async fn another_token_is_kept_unless_it_is_replaced_on_purpose() {
    let chain = TestCluster::new().await;
    let (store, token) = provisioned(&chain.admin, "S01").await;
    let (machine, url) = (Machine::new(), chain.hq.url.clone());
    fs::create_dir(machine.path("etc")).expect("a folder");
    fs::write(machine.path("etc/store-S01.env"), "SYNC_TOKEN=e30.other.x\n").expect("settings");
    let fault = machine.fault(&token, &url, &["--no-start"], &[]);
    assert!(fault.contains("has another token") && fault.contains("--force"), "{fault}");
    let replaced = machine.install(&token, &url, &["--no-start", "--force"], &[]);
    assert!(replaced.status.success(), "{replaced:?}");
    assert!(machine.settings().is_some_and(|text| text.contains(&format!("SYNC_TOKEN={token}\n"))));
    assert!(machine.asked().is_empty(), "nothing is started: {:?}", machine.asked());

    // One that was replaced at headquarters is refused there.
    let path = format!("/stores/{}/provision", id(&store));
    let next = chain.admin.post(&path, json!({"rotate": true})).await.data();
    let before = machine.settings();
    let output = machine.install(&token, &url, &["--no-start"], &[]);
    let said = String::from_utf8(output.stderr).expect("a text");
    assert!(!output.status.success() && said.contains("headquarters refuses this token"), "{said}");
    assert_eq!(machine.settings(), before);
    let next = next["syncToken"].as_str().expect("a token");
    assert!(machine.install(next, &url, &["--no-start", "--force"], &[]).status.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_that_this_machine_does_not_trust_is_a_fault_and_named_with_its_remedy() {
    let (dir, machine) = (tempfile::tempdir().expect("a directory"), Machine::new());
    let authority = Authority::new("the chain's own");
    let ca = authority.file(dir.path());
    let (cert, key) = authority.issue(dir.path(), "hq", &["localhost"]);
    let [ca, cert, key] = [&ca, &cert, &key].map(|path| path.to_str().expect("a path"));
    let environment = [("ADMIN_USERNAME", ADMIN.0), ("ADMIN_PIN", ADMIN.1), ("TLS_CERT", cert), ("TLS_KEY", key)];
    let hq = Process::start("hq", &dir.path().join("hq"), &environment);
    let url = hq.url.replace("127.0.0.1", "localhost");
    let admin = Client::trusting(&url, &authority.pem).sign_in(ADMIN.0, ADMIN.1).await.expect("signed in");
    let (store, token) = provisioned(&admin, "S01").await;

    let unknown = machine.fault(&token, &url, &["--no-start"], &[]);
    assert!(unknown.contains("certificate: ") && unknown.contains("--ca"), "{unknown}");
    let other_name = machine.fault(&token, &hq.url, &["--no-start", "--ca", ca], &[]);
    assert!(other_name.contains("certificate: ") && other_name.contains("another name"), "{other_name}");
    let no_file = machine.fault(&token, &url, &["--no-start", "--ca", "/nowhere/ca.pem"], &[]);
    assert!(no_file.contains("certificate: ") && no_file.contains("/nowhere/ca.pem"), "{no_file}");
    let seen = admin.get(&format!("/stores/{}", id(&store))).await.data();
    assert!(seen["firstSeenAt"].is_null(), "nobody who is not trusted is shown the token: {seen}");

    let output = machine.install(&token, &url, &["--no-start", "--ca", ca], &[]);
    let said = String::from_utf8(output.stdout.clone()).expect("a text");
    assert!(output.status.success() && said.contains("good, for "), "{output:?}");
    assert!(machine.settings().is_some_and(|text| text.contains(&format!("HQ_CA_FILE={ca}\n"))));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_data_of_another_store_is_not_taken() {
    let mut chain = TestCluster::new().await;
    let mut other = chain.store().await;
    other.admin().await;
    other.process.stop();
    let (_, token) = provisioned(&chain.admin, "S02").await;
    let machine = Machine::new();
    fs::create_dir(machine.path("data")).expect("a directory");
    let kept = machine.path("data/tillkeep.db");
    fs::copy(other.process.dir.join("tillkeep.db"), &kept).expect("a copy");
    let before = fs::read(&kept).expect("the database");
    let fault = machine.fault(&token, &chain.hq.url, &["--no-start", "--name", "S01"], &[]);
    assert!(fault.contains("data: ") && fault.contains(&format!("belongs to store {}", other.id)), "{fault}");
    assert!(fault.contains("--data-dir"), "{fault}");
    assert!(fs::read(&kept).expect("the database") == before, "the other store's data is as it was");
    // Its own store goes on with it.
    let output = machine.install(&other.sync_token, &chain.hq.url, &["--no-start"], &[]);
    let said = String::from_utf8(output.stdout.clone()).expect("a text");
    assert!(output.status.success() && said.contains("has this store's data"), "{output:?}");
}
