//! PINs, tokens and keys are nowhere but where they belong. Every test of this folder looks for them when its servers end;
//! this one gives them every occasion to leak, with logs as talkative as they get.

use serde_json::json;

use crate::kit::{ADMIN, Client, Process, TestCluster, eventually, secrets};

const PIN: &str = "580219463027";
const OTHER: &str = "918273640591";
const WRONG: &str = "640917358204";

#[tokio::test]
async fn no_pin_token_or_key_is_in_any_log_answer_or_database() {
    let mut chain = TestCluster::with(&[("RUST_LOG", "trace")]).await;
    let site = chain.store_with(&[("RUST_LOG", "trace")]).await;
    let admin = site.admin().await;

    // People and PINs, chosen, made, changed and wrong ones.
    let role = chain.admin.get("/roles?search=cashier").await.data()[0]["id"].clone();
    let cleo = chain.person("cleo", PIN, json!([{"roleId": role}])).await;
    let made = json!({"username": "mo", "displayName": "Mo", "assignments": [{"roleId": role}]});
    assert!(chain.admin.post("/users", made).await.data()["generatedPin"].is_string());
    let made = chain.admin.post(&format!("/users/{cleo}/pin"), json!({})).await.data()["generatedPin"].clone();
    chain.change_pin("cleo", made.as_str().expect("a PIN"), OTHER).await;
    for client in [Client::new(&chain.hq.url), Client::new(&site.process.url)] {
        assert!(client.sign_in("cleo", WRONG).await.is_none());
        client.post("/auth/login", json!({"username": WRONG, "pin": ADMIN.1})).await;
        client.post("/auth/login", json!({"username": "root", "pin": WRONG, "extra": 1})).await.refused(422);
        client.post("/auth/login", json!({"username": ["root"], "pin": WRONG})).await.refused(422);
        let terminal = json!({"pin": WRONG, "storeId": site.id, "terminalId": "T1"});
        assert_eq!(client.post("/auth/pin-login", terminal).await.refused(401), "invalid_credentials");
    }
    let till =
        eventually("the new PIN has arrived", async || Client::new(&site.process.url).sign_in("cleo", OTHER).await);
    till.await.get("/pos/bootstrap").await;

    // Tokens: renewed, reused, in places where they do not belong.
    let answer =
        Client::new(&chain.hq.url).post("/auth/login", json!({"username": ADMIN.0, "pin": ADMIN.1})).await.data();
    let refresh = answer["refreshToken"].clone();
    for _ in 0..2 {
        chain.admin.post("/auth/refresh", json!({"refreshToken": refresh})).await;
    }
    chain.admin.post("/auth/refresh", json!({"refreshToken": site.sync_token})).await.refused(401);
    let own = chain.admin.token.clone().expect("a token");
    for client in [&chain.admin, &admin] {
        client.get(&format!("/products?search={own}")).await;
        client.get(&format!("/products?{own}={own}")).await.refused(422);
        client.get(&format!("/auth/me/{own}")).await.refused(404);
    }
    chain.admin.get(&format!("/sync/ws?sync_token={}", site.sync_token)).await;
    chain.machine(&site).get("/sync/pull?entity_type=users&since_version=0").await;
    chain.machine(&site).get("/sync/pull?entity_type=nothing&since_version=x").await;
    let handshake = json!({"nodeEpoch": "by hand", "fingerprints": {}});
    chain.machine(&site).post("/sync/handshake", handshake).await;

    // What an auditor sees.
    chain.admin.get("/audit-log?pageSize=200").await.data();
    admin.get("/audit-log?pageSize=200").await.data();
    chain.admin.get("/users?pageSize=200").await.data();
    chain.admin.get("/sync/dashboard").await.data();
    admin.get("/sync/status").await.data();
    let rotated = chain.admin.post(&format!("/stores/{}/provision", site.id), json!({"rotate": true})).await.data();
    secrets::note("the new sync token", rotated["syncToken"].as_str().expect("a token"));
    drop(site);
    chain.hq.stop();
    assert!(chain.hq.log().contains("DEBUG"), "the log was talkative");
}

#[tokio::test]
async fn a_server_that_does_not_start_says_no_secret() {
    let dir = tempfile::tempdir().expect("a directory");
    let token = "e30.eyJzdG9yZUlkIjoiMSJ9.c2VjcmV0LXNpZ25hdHVyZQ";
    for environment in [
        vec![("SYNC_TOKEN", token), ("HQ_URL", "http://127.0.0.1:1")],
        vec![("SYNC_TOKEN", token), ("HQ_URL", "http://example.com")],
        vec![("SYNC_TOKEN", token)],
    ] {
        let said = Process::that_fails("store", dir.path(), &environment);
        assert!(!said.contains("c2VjcmV0"), "{said}");
    }
    for url in ["postgres://till:s3cr3t-word@127.0.0.1:port/chain", "mysql://till:s3cr3t-word@127.0.0.1/chain"] {
        let said = Process::that_fails("hq", dir.path(), &[("DATABASE_URL", url), ("ADMIN_PIN", WRONG)]);
        assert!(!said.contains("s3cr3t-word") && !said.contains(WRONG), "{said}");
    }
}

#[test]
fn a_planted_leak_is_found() {
    let found = |check: &(dyn Fn() + std::panic::RefUnwindSafe)| std::panic::catch_unwind(check).is_err();
    let dir = tempfile::tempdir().expect("a directory");
    secrets::note_request("/auth/login", Some(&json!({"pin": PIN})));
    secrets::note_request("/auth/change-pin", Some(&json!({"newPin": "482915"})));
    let handed = json!({"data": {"syncToken": "aaaa.bbbb.cccc"}});
    secrets::check_answer("/stores/1/provision", &handed, &handed.to_string());
    for text in [PIN, "the PIN is 482915.", "?sync_token=aaaa.bbbb.cccc&x"] {
        assert!(found(&|| secrets::check_server(dir.path(), text)), "{text} in a log");
        assert!(found(&|| secrets::check_answer("/users", &json!({}), text)), "{text} in an answer");
    }
    assert!(
        !found(&|| secrets::check_server(dir.path(), "took 4829150 µs, id 0482915a")),
        "a part of a number is no PIN"
    );
    std::fs::write(dir.path().join("tillkeep.db"), [b"\x00\x01".as_slice(), PIN.as_bytes()].concat()).expect("a file");
    assert!(found(&|| secrets::check_server(dir.path(), "")), "in a database");
    std::fs::write(dir.path().join("tillkeep.db"), "").expect("a file");
    std::fs::write(dir.path().join("pin.key"), r#"{"id": "1", "key": "a-long-key", "salt": "a-long-salt"}"#)
        .expect("a file");
    assert!(found(&|| secrets::check_server(dir.path(), "a-long-salt")), "a key");
}
