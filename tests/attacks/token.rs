//! What one store's `SYNC_TOKEN` is worth, alone and with all that its machine has.

use serde_json::{Value as Json, json};
use tillkeep_http::pins::Pins;
use uuid::Uuid;

use crate::kit::{ADMIN, Client, Fault, Reply, TestCluster, TestStore, eventually, id};

/// A handshake as a store of this release makes it, by a thief who has its token.
fn introduction(more: &Json) -> Json {
    let mut body = json!({"nodeEpoch": "a thief's", "storeVersion": "0.2.0", "ownPinKey": true, "signIn": true});
    for (key, value) in more.as_object().into_iter().flatten() {
        body[key] = value.clone();
    }
    body
}

/// A user's row as a pull with the token has it.
async fn pulled(thief: &Client, name: &str) -> Json {
    let page = thief.get("/sync/pull?entity_type=users&since_version=0").await.body;
    let rows = page["rows"].as_array().expect("rows");
    rows.iter().find(|row| row["username"] == name).expect("the person").clone()
}

async fn change(thief: &Client, user: &Json, current: &str, new: &str) -> Reply {
    thief.post("/sync/change-pin", json!({"userId": user, "currentPin": current, "newPin": new})).await
}

#[tokio::test(flavor = "multi_thread")]
async fn one_stores_token_alone_gives_no_key_verifies_no_administrator_and_makes_none() {
    let mut chain = TestCluster::new().await;
    let site = chain.store().await;
    site.admin().await;
    let thief = chain.machine(&site);
    // In the name of no process, of a new one, of an older release, and of the store's own database.
    eventually("the store is heard beside it", async || {
        let answer = thief.post("/sync/handshake", introduction(&json!({}))).await;
        assert_eq!(answer.body["pinKey"], Json::Null, "whoever asks");
        (answer.body["code"] == "store_runs_elsewhere").then_some(())
    })
    .await;
    for more in [
        json!({"instance": Uuid::new_v4()}),
        json!({"instance": Uuid::new_v4(), "signIn": false}),
        json!({"instance": Uuid::new_v4(), "ownPinKey": false, "signIn": false, "storeVersion": "0.1.0"}),
    ] {
        let answer = thief.post("/sync/handshake", introduction(&more)).await;
        assert_eq!((answer.status.as_u16(), &answer.body["pinKey"]), (200, &Json::Null));
    }
    let root = pulled(&thief, ADMIN.0).await;
    assert_eq!((&root["pinHash"], &root["pinLookup"]), (&Json::Null, &Json::Null));
    // Even with the PIN in hand it does not become another one.
    assert_eq!(change(&thief, &root["id"], ADMIN.1, "316408").await.refused(403), "change_at_headquarters");
    assert!(Client::new(&chain.hq.url).sign_in(ADMIN.0, "316408").await.is_none());
    chain.admin.get("/stores").await.data();
    // Everybody hears of it.
    eventually("the dashboard says so", async || {
        let stores = chain.admin.get("/sync/dashboard").await.data()["stores"].clone();
        let alarms = stores[0]["alarms"].as_array()?.iter().any(|alarm| alarm["code"] == "pin_key_asked");
        (alarms && !stores[0]["runsTwiceSince"].is_null()).then_some(())
    })
    .await;
}

/// What `pin_login` answers to this PIN.
async fn typed(site: &TestStore, pin: &str) -> Reply {
    let body = json!({"pin": pin, "storeId": site.id, "terminalId": site.terminal});
    Client::new(&site.process.url).post("/auth/pin-login", body).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stolen_store_opens_neither_headquarters_nor_another_store() {
    let mut chain = TestCluster::new().await;
    let (mut stolen, mut other) = (chain.store().await, chain.store().await);
    let roles = chain.admin.get("/roles").await.data();
    let cashier = id(roles.as_array().expect("roles").iter().find(|role| role["code"] == "cashier").expect("a role"));
    let at_both = json!([{"roleId": cashier, "storeId": stolen.id}, {"roleId": cashier, "storeId": other.id}]);
    chain.person("cash", "482157", at_both).await;
    for site in [&stolen, &other] {
        eventually("the PIN is good", async || typed(site, "482157").await.status.is_success().then_some(())).await;
        site.admin().await;
    }
    stolen.process.stop();
    other.process.stop();
    let keys = [&stolen, &other].map(|site| Pins::open(&site.process.dir.join("pin.key"), 1).expect("a key"));
    let users = [stolen.rows("users").await, other.rows("users").await];
    let of = |rows: &crate::kit::Rows, name: &str| {
        rows.values().find(|row| row["username"] == name).expect("the person").clone()
    };
    let [here, there] = [of(&users[0], "cash"), of(&users[1], "cash")];
    let text = |row: &Json, key: &str| row[key].as_str().expect("a verifier").to_owned();
    // With its own key a PIN can be tried against what the thief has, and against nothing of another store.
    assert!(keys[0].verify("482157", Some(text(&here, "pinHash"))).await.expect("verified"));
    assert!(!keys[0].verify("482157", Some(text(&there, "pinHash"))).await.expect("verified"));
    // A table of look-ups that was computed for one store has none of another, whoever has both keys.
    let table = keys[0].lookup("482157").await.expect("looked up");
    assert_eq!(table.first(), Some(&text(&here, "pinLookup")));
    assert!(!table.contains(&text(&there, "pinLookup")));
    let mut crossed: Json =
        serde_json::from_slice(&std::fs::read(stolen.process.dir.join("pin.key")).expect("a file")).expect("JSON");
    let file: Json =
        serde_json::from_slice(&std::fs::read(other.process.dir.join("pin.key")).expect("a file")).expect("JSON");
    crossed["own"] = file["own"].clone();
    let dir = tempfile::tempdir().expect("dir");
    std::fs::write(dir.path().join("pin.key"), crossed.to_string()).expect("written");
    let crossed = Pins::open(&dir.path().join("pin.key"), 1).expect("a key");
    assert_ne!(crossed.lookup("482157").await.expect("looked up"), [text(&there, "pinLookup")]);
    // The administrator is in neither database but for the week that follows a sign-in there.
    assert!(users.iter().all(|rows| of(rows, ADMIN.0)["pinHash"].is_null()));

    // What is stolen verifies no user elsewhere: not with another database, nor with another key.
    std::fs::copy(stolen.process.dir.join("pin.key"), other.process.dir.join("pin.key")).expect("copied");
    other.proxy.set(Fault::Down);
    other.process.restart();
    assert_eq!(typed(&other, "482157").await.refused(401), "invalid_credentials");
    // The token opens nothing that people have.
    let thief = chain.machine(&stolen);
    assert_eq!(thief.get("/users").await.status, 401);
    (stolen.broken_on_purpose, other.broken_on_purpose) = (true, true);
}
