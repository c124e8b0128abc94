//! Everything over TLS, with a certificate authority that only this test knows.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;
use tillkeep_http::server::Tls;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::authority::{Authority, THIS_MACHINE};
use crate::kit::{ADMIN, Client, Process, eventually};

fn text(path: &Path) -> &str {
    path.to_str().expect("a path")
}

#[tokio::test(flavor = "multi_thread")]
async fn stores_pull_push_and_listen_over_tls_and_tills_speak_it_to_the_store() {
    let dir = TempDir::new().expect("dir");
    let authority = Authority::new("the chain's own");
    let ca = authority.file(dir.path());
    let (cert, key) = authority.issue(dir.path(), "hq", &THIS_MACHINE);
    let environment =
        [("ADMIN_USERNAME", ADMIN.0), ("ADMIN_PIN", ADMIN.1), ("TLS_CERT", text(&cert)), ("TLS_KEY", text(&key))];
    let hq = Process::start("hq", &dir.path().join("hq"), &environment);
    assert!(hq.url.starts_with("https://127.0.0.1:"), "{}", hq.url);
    let admin = Client::trusting(&hq.url, &authority.pem).sign_in(ADMIN.0, ADMIN.1).await.expect("signed in");

    let body = json!({"code": "S01", "name": "First", "timezone": "America/New_York"});
    let store = admin.post("/stores", body).await.data();
    let path = format!("/stores/{}/provision", store["id"].as_str().expect("id"));
    let provisioned = admin.post(&path, json!({})).await.data();
    let (token, snippet) = (&provisioned["syncToken"], provisioned["env"].as_str().expect("env"));
    let token = token.as_str().expect("token").to_owned();
    assert_eq!(snippet, format!("SYNC_TOKEN={token}\nHQ_URL={}\n", hq.url));
    assert_eq!(provisioned["publicUrlMissing"], false);

    let (cert, key) = authority.issue(dir.path(), "store", &THIS_MACHINE);
    let environment = [
        ("SYNC_TOKEN", token.as_str()),
        ("HQ_URL", &hq.url),
        ("HQ_CA_FILE", text(&ca)),
        ("SYNC_INTERVAL_MS", "200"),
        ("TLS_CERT", text(&cert)),
        ("TLS_KEY", text(&key)),
    ];
    let shop = Process::start("store", &dir.path().join("store"), &environment);
    assert!(shop.url.starts_with("https://127.0.0.1:"), "{}", shop.url);
    let anybody = Client::trusting(&shop.url, &authority.pem);
    // A PIN that is good there: people were pulled, and the PIN key came with the handshake.
    let till = eventually("the administrator can sign in", async || anybody.sign_in(ADMIN.0, ADMIN.1).await).await;
    eventually("the socket is open", async || {
        let dashboard = admin.get("/sync/dashboard").await.data();
        (dashboard["summary"]["connected"] == 1).then_some(())
    })
    .await;
    // People can sign in a moment before what they may do has arrived.
    let customer = eventually("a customer is made", async || {
        let reply = till.post("/customers", json!({"firstName": "Ann", "lastName": "Miller"})).await;
        reply.status.is_success().then(|| reply.data())
    })
    .await;
    let path = format!("/customers/{}", customer["id"].as_str().expect("id"));
    eventually("the customer is at HQ", async || admin.get(&path).await.status.is_success().then_some(())).await;
    for log in [hq.log(), shop.log()] {
        assert!(!log.contains(&token) && !log.contains(ADMIN.1), "a secret is in the log");
    }
}

/// The environment of a store with a token of no store.
fn environment<'a>(url: &'a str, ca: &'a str) -> [(&'static str, &'a str); 4] {
    // {"storeId":"0190…","storeCode":"S01","type":"store_sync"}, unsigned: only HQ could tell.
    let token = "e30.eyJzdG9yZUlkIjoiMDE5MDAwMDAtMDAwMC03MDAwLTgwMDAtMDAwMDAwMDAwMDAxIiwic3RvcmVDb2RlIjoiUzAxIiwidHlwZSI6InN0b3JlX3N5bmMifQ.x";
    [("SYNC_TOKEN", token), ("HQ_URL", url), ("HQ_CA_FILE", ca), ("SYNC_INTERVAL_MS", "50")]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_false_headquarters_is_refused_and_learns_nothing() {
    let dir = TempDir::new().expect("dir");
    let (right, false_one) = (Authority::new("the chain's own"), Authority::new("another company's"));
    let ca = right.file(dir.path());
    let (cert, key) = false_one.issue(dir.path(), "false", &THIS_MACHINE);
    let tls = Tls::open(&cert, &key).expect("files");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("listen");
    let url = format!("https://{}", listener.local_addr().expect("address"));
    let (tried, trusted) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let counters = (tried.clone(), trusted.clone());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let accepted = tls.acceptor().accept(stream).await;
            // In TLS 1.3 this side is done before the other has judged: only data would mean trust.
            if let Ok(mut stream) = accepted
                && stream.read(&mut [0; 1]).await.is_ok_and(|read| read > 0)
            {
                counters.1.fetch_add(1, Ordering::SeqCst);
            }
            counters.0.fetch_add(1, Ordering::SeqCst);
        }
    });
    let _store = Process::start("store", &dir.path().join("store"), &environment(&url, text(&ca)));
    eventually("the store has tried", async || (tried.load(Ordering::SeqCst) >= 4).then_some(())).await;
    assert_eq!(trusted.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_does_not_follow_where_it_is_sent() {
    let dir = TempDir::new().expect("dir");
    let elsewhere = TcpListener::bind("127.0.0.1:0").await.expect("listen");
    let target = elsewhere.local_addr().expect("address");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("listen");
    let url = format!("http://{}", listener.local_addr().expect("address"));
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = asked.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            drop(stream.read(&mut [0; 4096]).await);
            let answer = format!(
                "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://{target}/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            );
            drop(stream.write_all(answer.as_bytes()).await);
            counter.fetch_add(1, Ordering::SeqCst);
        }
    });
    let environment = environment(&url, "");
    let _store = Process::start("store", &dir.path().join("store"), &environment);
    eventually("the store was sent away", async || (asked.load(Ordering::SeqCst) >= 4).then_some(())).await;
    let came = tokio::time::timeout(Duration::from_millis(200), elsewhere.accept()).await;
    assert!(came.is_err(), "the store went there");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_cannot_be_safe_does_not_start_and_names_the_file() {
    let dir = TempDir::new().expect("dir");
    let authority = Authority::new("the chain's own");
    let (cert, key) = authority.issue(dir.path(), "hq", &THIS_MACHINE);
    let nowhere = dir.path().join("nowhere.pem");
    let refusal = |command: &'static str, environment: &[(&str, &str)]| {
        Process::prepared(command, &dir.path().join(command), environment).refuses_to_start()
    };
    let said = refusal("hq", &[("TLS_CERT", text(&nowhere)), ("TLS_KEY", text(&key))]);
    assert!(said.contains("nowhere.pem"), "{said}");
    let said = refusal("hq", &[("TLS_CERT", text(&cert))]);
    assert!(said.contains("TLS_KEY"), "{said}");
    let said = refusal("store", &environment("https://127.0.0.1:9", text(&nowhere)));
    assert!(said.contains("HQ_CA_FILE") && said.contains("nowhere.pem"), "{said}");
    let said = refusal("store", &environment("http://hq.example.com", ""));
    assert!(said.contains("ALLOW_INSECURE_HQ"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configuration_is_shown_without_its_secrets() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_tillkeep"))
        .args(["config", "check"])
        .env_clear()
        .env("DATABASE_URL", "postgres://till:hunter2@db/chain")
        .env("SYNC_TOKEN", "e30.hunter3.x")
        .env("ADMIN_PIN", "739154")
        .output()
        .expect("the program runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("postgres://till:***@db/chain"), "{said}");
    for secret in ["hunter2", "hunter3", "739154"] {
        assert!(!said.contains(secret), "{said}");
    }
}
