//! `tillkeep import` and `tillkeep export`, as people type them beside a headquarters that runs.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value as Json, json};
use tempfile::TempDir;
use totp_rs::{Builder, Secret};

use crate::authority::{Authority, THIS_MACHINE};
use crate::kit::{ADMIN, Client, Fault, Process, Proxy, TestCluster, eventually, id};

/// Where somebody works who has files of tables.
struct Desk {
    dir: TempDir,
    url: String,
}

/// What came of a command.
#[derive(Debug)]
struct Done {
    code: Option<i32>,
    said: String,
    wrong: String,
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("a text");
        Self { code: output.status.code(), said: text(output.stdout), wrong: text(output.stderr) }
    }
}

impl Done {
    /// What it said, as it succeeded.
    #[track_caller]
    fn well(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.said
    }

    /// What it said was wrong.
    #[track_caller]
    fn refused(self) -> String {
        assert!(self.code == Some(1) && self.said.is_empty(), "{self:?}");
        self.wrong
    }
}

impl Desk {
    fn at(url: &str) -> Self {
        Self { dir: tempfile::tempdir().expect("a directory"), url: url.to_owned() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A file of this desk; its path as people type it.
    fn file(&self, name: &str, content: &str) -> String {
        let path = self.path(name);
        fs::write(&path, content).expect("a file");
        path.to_str().expect("a path").to_owned()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.dir.path()).expect("a directory");
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    }

    fn begin(&self, words: &[&str], input: &str) -> Child {
        // Whatever runs this test may be one that outlives its terminal.
        self.begin_with("--default-signal=HUP", words, input)
    }

    /// With this done to a signal.
    fn begin_with(&self, signal: &str, words: &[&str], input: &str) -> Child {
        let mut command = Command::new("/usr/bin/env");
        command
            .args([signal, env!("CARGO_BIN_EXE_tillkeep")])
            .args(words)
            .args(["--url", &self.url])
            .env_clear()
            .current_dir(self.dir.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program runs");
        let written = child.stdin.take().expect("input").write_all(input.as_bytes());
        // One that refuses its words reads nothing.
        drop(written);
        child
    }

    fn run(&self, words: &[&str], input: &str) -> Done {
        ended(self.begin(words, input))
    }

    /// As the administrator, who types the PIN.
    fn signed_in(&self, words: &[&str]) -> Done {
        self.run(&[words, &["--user", ADMIN.0]].concat(), &format!("{}\n", ADMIN.1))
    }
}

fn ended(child: Child) -> Done {
    child.wait_with_output().expect("it ends").into()
}

fn stop(child: &Child, signal: &str) {
    let asked = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(asked.expect("kill").success());
}

async fn price(chain: &TestCluster, product: &str) -> Json {
    chain.admin.get(&format!("/products/{product}")).await.data()["price"].clone()
}

async fn imports(chain: &TestCluster, action: &str) -> usize {
    chain.admin.get(&format!("/audit-log?action={action}")).await.data().as_array().expect("lines").len()
}

fn token(chain: &TestCluster) -> &str {
    chain.admin.token.as_deref().expect("a token")
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_out_is_changed_in_a_file_looked_at_and_taken_again() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("TEA", 500).await;
    let desk = Desk::at(&chain.hq.url);
    let said = desk.signed_in(&["export", "products", "-o", "products.csv"]).well();
    assert!(said.starts_with("products.csv is written"), "{said}");
    let text = fs::read_to_string(desk.path("products.csv")).expect("the file");
    assert!(text.contains("TEA") && text.contains(",5.00,"), "{text}");
    let said = desk.signed_in(&["import", "products", "products.csv"]).well();
    assert_eq!(said, "1 row: 0 new, 0 changed, 1 as they are.\n");

    desk.file("products.csv", &text.replace(",5.00,", ",6.25,"));
    let said = desk.signed_in(&["import", "products", "products.csv", "--dry-run"]).well();
    assert_eq!(said, "1 row: 0 new, 1 changed, 0 as they are. Nothing was written.\n");
    assert_eq!(price(&chain, &product).await, 500);
    desk.signed_in(&["import", "products", "products.csv"]).well();
    assert_eq!(price(&chain, &product).await, 625);
    assert_eq!(desk.names(), ["products.csv"], "nothing else is left");
    let sessions = chain.admin.get("/auth/sessions").await.data();
    assert_eq!(sessions.as_array().map(Vec::len), Some(1), "each sign-in has ended: {sessions}");

    // By a token, and to the standard output.
    let held = desk.file("token", &format!("{}\n", token(&chain)));
    let said = desk.run(&["export", "products", "--search", "tea", "--token-file", &held], "").well();
    assert!(said.contains(",6.25,"), "{said}");
    let said = desk.run(&["export", "products", "--search", "coffee", "--token-file", "-"], token(&chain)).well();
    assert_eq!(said.lines().count(), 1, "{said}");

    let site = chain.store().await;
    let till = site.open_till().await;
    site.knows(&till, &product, None).await;
    let sale = site.sell(&till, &product, 1).await;
    site.drained(&till).await;
    let day = sale["businessDate"].as_str().expect("a day");
    let words = ["export", "sales", "--store", "S01", "--since", day, "--until", day, "--token-file", &held];
    let said = desk.run(&words, "").well();
    assert!(said.contains(sale["receiptNumber"].as_str().expect("a number")), "{said}");
    let words = ["export", "sales", "--until", "2020-01-01", "--token-file", &held];
    assert_eq!(desk.run(&words, "").well().lines().count(), 1);

    let set = "storeCode,sku,price\nS01,TEA,7.50\n";
    let said = desk.run(&["import", "store-prices", "-", "--token-file", &held], set).well();
    assert!(said.contains("1 new") || said.contains("1 changed"), "{said}");
    let said = desk.run(&["export", "store-prices", "--store", "S01", "--token-file", &held], "").well();
    assert!(said.contains("S01,TEA") && said.contains(",7.50,"), "{said}");
    let wrong = desk.run(&["export", "store-prices", "--store", "S99", "--token-file", &held], "").refused();
    assert!(wrong.contains("--store S99"), "{wrong}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fault_is_named_by_line_and_column_and_nothing_is_written() {
    let chain = TestCluster::new().await;
    let product = chain.product("TEA", 500).await;
    chain.product("MILK", 300).await;
    let desk = Desk::at(&chain.hq.url);
    desk.file("faulty.csv", "sku,price\nTEA,6.25\nMILK,much\n\nSALT,1.00,2\n");
    for more in [&["--dry-run"][..], &[]] {
        let done = desk.signed_in(&[&["import", "products", "faulty.csv"], more].concat());
        assert_eq!(done.code, Some(1), "{done:?}");
        let lines: Vec<&str> = done.said.lines().collect();
        assert!(lines.iter().any(|line| line.starts_with("line 3, price: must be an amount")), "{done:?}");
        assert!(lines.iter().any(|line| line.starts_with("line 5: has 3 cells")), "{done:?}");
        assert_eq!(lines.last(), Some(&"2 faults; nothing was written."), "{done:?}");
    }
    desk.file("header.csv", "sku,pirce\nTEA,6.25\n");
    let done = desk.signed_in(&["import", "products", "header.csv"]);
    assert!(done.code == Some(1) && done.said.starts_with("line 1: has an unknown column"), "{done:?}");
    assert_eq!((price(&chain, &product).await, imports(&chain, "products.import").await), (json!(500), 0));

    let wrong = desk.run(&["import", "products", "faulty.csv", "--user", ADMIN.0], "918273\n").refused();
    assert!(wrong.contains("root cannot sign in") && !wrong.contains("918273"), "{wrong}");
    let held = desk.file("token", "no token\n");
    let wrong = desk.run(&["import", "products", "faulty.csv", "--token-file", &held], "").refused();
    assert!(wrong.contains("headquarters says: Unauthorized") && wrong.contains("token"), "{wrong}");
    let wrong = desk.run(&["import", "products", "-", "--user", ADMIN.0], "sku\nTEA\n").refused();
    assert!(wrong.contains("--pin-file"), "{wrong}");
    for words in [&["import", "products", "faulty.csv"][..], &["export", "products", "--pin-file", "token"]] {
        let done = desk.run(words, "");
        assert!(done.code == Some(2) && done.wrong.contains("--user"), "{done:?}");
    }

    // Before anybody is asked for a PIN, and whether or not headquarters is there.
    let nowhere = Desk { dir: desk.dir, url: "http://127.0.0.1:1".to_owned() };
    File::create(nowhere.path("large.csv")).expect("a file").set_len((64 << 20) + 1).expect("a length");
    let wrong = nowhere.signed_in(&["import", "customers", "large.csv"]).refused();
    assert!(wrong.contains("large.csv is larger than 64 MiB"), "{wrong}");
    let wrong = nowhere.signed_in(&["import", "customers", "none.csv"]).refused();
    assert!(wrong.contains("none.csv"), "{wrong}");
    let wrong = nowhere.signed_in(&["export", "customers"]).refused();
    assert!(wrong.contains("cannot be reached") && wrong.contains("--url"), "{wrong}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_whose_answer_was_lost_is_taken_once() {
    let chain = TestCluster::new().await;
    let proxy = Proxy::start(&chain.hq.url).await;
    let desk = Desk::at(&proxy.url);
    let held = desk.file("token", token(&chain));
    let words = ["import", "customers", "-", "--token-file", &held];
    let customers = async || chain.admin.get("/customers").await.data().as_array().expect("a list").len();
    // Each has a number given by headquarters: to take the file twice would make two.
    let lost = async |child: &str, signal: &str| {
        let before = proxy.lost_answers();
        proxy.set(Fault::LoseAnswers);
        let sending = desk.begin_with(signal, &words, &format!("firstName,lastName\n{child},Miller\n"));
        eventually("the answer is lost", async || (proxy.lost_answers() > before).then_some(())).await;
        sending
    };

    let sending = lost("Ann", "--ignore-signal=HUP").await;
    // As under `nohup`.
    stop(&sending, "-HUP");
    proxy.set(Fault::None);
    let done = ended(sending);
    assert!(done.wrong.contains("sent again with the same key"), "{done:?}");
    assert_eq!(done.well(), "1 row: 1 new, 0 changed, 0 as they are.\n");
    assert_eq!((customers().await, imports(&chain, "customers.import").await), (1, 1));

    // Whoever did not wait for that is told how to ask later.
    let sending = lost("Ben", "--default-signal=HUP").await;
    stop(&sending, "-INT");
    let wrong = ended(sending).refused();
    proxy.set(Fault::None);
    let key = wrong.split("--key ").nth(1).and_then(|rest| rest.split_whitespace().next()).expect("a key");
    assert_eq!(customers().await, 2);
    let words = [&words[..], &["--key", key]].concat();
    let said = desk.run(&words, "firstName,lastName\nBen,Miller\n").well();
    assert_eq!(said, "1 row: 1 new, 0 changed, 0 as they are.\n");
    assert_eq!((customers().await, imports(&chain, "customers.import").await), (2, 2));
    let wrong = desk.run(&words, "firstName,lastName\nCarl,Miller\n").refused();
    assert!(wrong.contains("headquarters says"), "another file with the same key: {wrong}");
    assert_eq!(customers().await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_that_is_ended_or_gets_something_else_leaves_no_file() {
    let chain = TestCluster::new().await;
    let proxy = Proxy::start(&chain.hq.url).await;
    let desk = Desk::at(&proxy.url);
    let held = desk.file("token", token(&chain));
    let words = ["export", "products", "--out", "products.csv", "--token-file", &held];
    proxy.set(Fault::HalfOpen);
    // By a person, and by a terminal that is closed.
    for signal in ["-INT", "-QUIT", "-HUP", "-TERM"] {
        let before = proxy.hits();
        let waiting = desk.begin(&words, "");
        let waits = async || (proxy.hits() > before && desk.names().len() > 1).then_some(());
        eventually("it waits for the file", waits).await;
        stop(&waiting, signal);
        let wrong = ended(waiting).refused();
        assert!(wrong.contains("stopped; no file was written"), "{signal}: {wrong}");
        assert_eq!(desk.names(), ["token"], "{signal}");
    }
    for (fault, said) in [(Fault::Portal, "is no headquarters of Tillkeep"), (Fault::CutAnswer(200), "the line to")] {
        proxy.set(fault);
        let wrong = desk.run(&words, "").refused();
        assert!(wrong.contains(said), "{fault:?}: {wrong}");
        assert_eq!(desk.names(), ["token"], "{fault:?}");
    }
    proxy.set(Fault::None);
    desk.run(&words, "").well();
    assert!(desk.path("products.csv").is_file());
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_a_second_factor_is_told_what_to_do_and_comes_in_with_a_token() {
    let chain = TestCluster::new().await;
    let desk = Desk::at(&chain.hq.url);
    let begun = chain.admin.post("/auth/factors/totp", json!({})).await.data();
    let secret = Secret::try_from_base32(begun["secret"].as_str().expect("a secret")).expect("base32");
    let app = Builder::new().with_secret(secret).with_account_name("root").build().expect("an app");
    let path = format!("/auth/factors/totp/{}", id(&begun));
    chain.admin.post(&path, json!({"code": app.generate_current().to_string()})).await.data();
    let wrong = desk.signed_in(&["export", "products"]).refused();
    assert!(wrong.contains("root signs in with a second factor") && wrong.contains("--token-file"), "{wrong}");
    desk.run(&["export", "products", "--token-file", "-"], token(&chain)).well();

    // Nor does one whose PIN was made for them.
    let body = json!({"username": "ann", "displayName": "Ann", "assignments": []});
    let made = chain.admin.post("/users", body).await.data();
    let pin = desk.file("pin", made["generatedPin"].as_str().expect("a PIN"));
    let wrong = desk.run(&["export", "products", "--user", "ann", "--pin-file", &pin], "").refused();
    assert!(wrong.contains("ann has to choose another PIN first"), "{wrong}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_headquarters_with_an_authority_of_its_own_is_trusted_when_that_is_named() {
    let dir = TempDir::new().expect("a directory");
    let text = |path: &Path| path.to_str().expect("a path").to_owned();
    let authority = Authority::new("the chain's own");
    let ca = text(&authority.file(dir.path()));
    let (cert, key) = authority.issue(dir.path(), "hq", &THIS_MACHINE);
    let (cert, key) = (text(&cert), text(&key));
    let environment = [("ADMIN_USERNAME", ADMIN.0), ("ADMIN_PIN", ADMIN.1), ("TLS_CERT", &*cert), ("TLS_KEY", &*key)];
    let hq = Process::start("hq", &dir.path().join("hq"), &environment);
    let desk = Desk::at(&hq.url);
    // Headquarters would note it.
    let with_wrong_pin = |words: &[&str]| desk.run(&[words, &["--user", ADMIN.0]].concat(), "918273\n").refused();
    let wrong = with_wrong_pin(&["export", "products"]);
    assert!(wrong.contains("cannot be reached") && wrong.contains("with --ca"), "{wrong}");
    let said = desk.signed_in(&["export", "products", "--ca", &ca]).well();
    assert!(said.contains("sku,name"), "{said}");
    let admin = Client::trusting(&hq.url, &authority.pem).sign_in(ADMIN.0, ADMIN.1).await.expect("signed in");
    let noted = async || admin.get("/audit-log?action=login.refused").await.data().as_array().expect("lines").len();
    assert_eq!(noted().await, 0, "the PIN went to nobody who is not trusted");
    let wrong = with_wrong_pin(&["export", "products", "--ca", &ca]);
    assert!(wrong.contains("root cannot sign in"), "{wrong}");
    assert_eq!(noted().await, 1, "a PIN that comes there is seen");
}
