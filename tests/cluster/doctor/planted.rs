//! What is planted at a store and at headquarters on a file, most of it at once.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use serde_json::json;

use super::said::doctor;
use crate::kit::{Shift, TestCluster, eventually};

/// A certificate that ended years ago, with its key.
fn ended_certificate(dir: &Path) -> (PathBuf, PathBuf) {
    let key = KeyPair::generate().expect("a key");
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).expect("names");
    params.not_before = date_time_ymd(2019, 1, 1);
    params.not_after = date_time_ymd(2020, 1, 1);
    let certificate = params.self_signed(&key).expect("a certificate");
    let files = (dir.join("old.pem"), dir.join("old.key"));
    std::fs::write(&files.0, certificate.pem()).expect("a file");
    std::fs::write(&files.1, key.serialize_pem()).expect("a file");
    std::fs::set_permissions(&files.1, std::fs::Permissions::from_mode(0o600)).expect("a mode");
    files
}

/// Beside a running headquarters: without backups, keys, a database, a configuration that can be read.
fn at_headquarters(hq: &Path, empty: &Path) {
    let backups = empty.to_str().expect("a path");
    let warned = doctor("hq", hq, &[], &["--json", "--backups", backups]);
    warned.has("backups", "warning", "there is no backup in", "tillkeep backup FILE");
    assert_eq!((warned.code, warned.level_of("stores")), (1, vec!["ok".to_owned()]), "{}", warned.text);
    let (pin_key, aside) = (hq.join("pin.key"), hq.join("aside"));
    std::fs::rename(&pin_key, &aside).expect("moved");
    let keyless = doctor("hq", hq, &[], &["--json"]);
    std::fs::rename(&aside, &pin_key).expect("moved back");
    keyless.has("keys", "fault", "no PIN can be verified", "put it back from a backup");
    let url = "postgres://till:hunter2@127.0.0.1:1/chain?target_session_attrs=read-write";
    let away = doctor("hq", hq, &[("DATABASE_URL", url)], &["--json"]);
    away.has("database", "fault", "cannot be opened", "DATABASE_URL");
    away.has("stores", "hint", "not checked: the database cannot be opened", "");
    assert!(away.code == 2 && !away.text.contains("hunter2"), "{}", away.text);
    let unread = doctor("hq", hq, &[("TILLKEEP_LISTEN", "5")], &["--json"]);
    unread.has("configuration", "fault", "TILLKEEP_LISTEN", "tillkeep config check");
    assert_eq!((unread.code, unread.findings().len()), (2, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_planted_fault_is_named_with_its_remedy() {
    let mut chain = TestCluster::new().await;
    let products = [chain.product("A1", 1000).await, chain.product("A2", 1000).await];
    let mut site = chain.store().await;
    let mut shift = Shift::begin(&site, &products[0]).await;
    assert!(shift.sell(&products[0], 1).await);
    let admin = site.admin().await;
    site.knows(&admin, &products[1], None).await;
    site.drained(&admin).await;
    let (hq, store) = (chain.hq.dir.clone(), site.process.dir.clone());
    let (token, hq_url) = (site.sync_token.clone(), site.proxy.url.clone());
    let own = [("SYNC_TOKEN", &*token), ("HQ_URL", &*hq_url)];

    // Beside running servers, of which nothing is wrong.
    eventually("nothing needs anybody at the store", async || {
        (doctor("store", &store, &own, &["--json"]).code == 0).then_some(())
    })
    .await;
    let sound = doctor("store", &store, &own, &["--json"]);
    for (check, text) in [
        ("server", "it runs and is ready: a store server"),
        ("headquarters", "answers"),
        ("clock", "that of headquarters"),
        ("token", "of store S01"),
        ("schema", "that of this program"),
        ("integrity", "is whole"),
        ("codes", "one product"),
    ] {
        sound.has(check, "ok", text, "");
    }
    sound.has("backups", "hint", "there is none yet", "tillkeep backup FILE");
    assert!(!sound.text.contains(&token), "the token is not shown");
    // Without the environment of the server it says what it cannot look at.
    let elsewhere = doctor("store", &store, &[], &["--json"]);
    elsewhere.has("token", "warning", "SYNC_TOKEN is not set here", "SYNC_TOKEN=");
    for check in ["headquarters", "clock"] {
        elsewhere.has(check, "warning", "not checked: HQ_URL is not set", "--name");
    }
    assert_eq!(elsewhere.code, 1, "{}", elsewhere.text);

    let empty = tempfile::tempdir().expect("a directory");
    at_headquarters(&hq, empty.path());

    // Everything at once at the store that is stopped.
    site.process.stop();
    site.broken_on_purpose = true;
    std::fs::set_permissions(store.join("token.key"), std::fs::Permissions::from_mode(0o644)).expect("a mode");
    std::fs::remove_file(store.join("numbers")).expect("the numbers are gone");
    site.execute(
        "INSERT INTO sync_outbox (seq, node_epoch, entity_type, entity_id, action, payload, timestamp, attempts, created_at) \
         SELECT seq + 1000000, node_epoch, entity_type, entity_id, action, '{}', timestamp, 10, created_at \
         FROM sync_outbox_sent ORDER BY seq LIMIT 1",
    )
    .await;
    site.execute("UPDATE products SET barcode = '4006381333931'").await;
    let other = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = other.local_addr().expect("an address").to_string();
    let (cert, key) = ended_certificate(empty.path());
    let (cert, key) = (cert.to_str().expect("a path"), key.to_str().expect("a path"));
    let broken =
        [("SYNC_TOKEN", "hunter2.hunter2"), ("HQ_URL", "http://127.0.0.1:1"), ("TLS_CERT", cert), ("TLS_KEY", key)];
    let more = ["--json", "--listen", &address, "--least-free-mib", "1000000000"];
    let said = doctor("store", &store, &broken, &more);
    assert_eq!(said.code, 2);
    for (check, level, text, remedy) in [
        ("server", "fault", "is taken by another program", "ss -ltnp"),
        ("disk", "fault", "are free in", "du -xh"),
        ("modes", "fault", "token.key has mode 0644", "chmod 0600"),
        ("certificate", "fault", "the certificate ended", "renew"),
        ("headquarters", "fault", "http://127.0.0.1:1 does not answer", "curl -v http://127.0.0.1:1/health"),
        ("token", "fault", "no sync token of a store", "provision the store"),
        ("numbers", "warning", "numbers is gone", "NUMBERS_FILE"),
        ("outbox", "fault", "refused 1 entries ten times", "tillkeep store outbox list --dead"),
        ("codes", "warning", "its barcode is that of", "at headquarters"),
        ("clock", "hint", "not checked: headquarters does not answer", ""),
    ] {
        said.has(check, level, text, remedy);
    }
    assert!(!said.text.contains("hunter2"), "{}", said.text);
    // The same for people.
    let lines = doctor("store", &store, &broken, &more[1..]);
    let faults = lines.text.lines().filter(|line| line.starts_with("fault ")).count();
    assert!(lines.code == 2 && faults >= 7 && lines.text.contains("-> chmod 0600 "), "{}", lines.text);

    let late = [own.as_slice(), &[("CLOCK_OFFSET_MS", "-600000")]].concat();
    let late = doctor("store", &store, &late, &["--json"]);
    late.has("clock", "warning", "behind that of headquarters", "timedatectl set-ntp true");
    late.has("token", "ok", "of store S01", "");

    site.execute("INSERT INTO schema_steps (name, made_at) SELECT '9999_future', MAX(made_at) FROM schema_steps").await;
    let newer = doctor("store", &store, &own, &["--json"]);
    newer.has("schema", "fault", "9999_future: this program is too old", "start the newer version");
    newer.has("outbox", "hint", "not checked: the schema of the database is not that of this program", "");

    // Of the other kind of server, and of none.
    let other = doctor("hq", &store, &[], &["--json"]);
    other.has("database", "fault", "this is the database of a store", "");
    let nothing = doctor("hq", &empty.path().join("none"), &[], &["--json", "--listen", "127.0.0.1:0"]);
    nothing.has("database", "hint", "there is none yet", "--data-dir");
    assert!(nothing.code == 0 && !empty.path().join("none").exists(), "nothing is made: {}", nothing.text);
    assert_eq!(json!(nothing.level_of("schema")), json!(["hint"]));
}
