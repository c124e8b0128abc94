//! PINs that headquarters makes, and what a store can verify of them.

use crate::kept::Release;
use crate::kit::{ADMIN, Client, Fault, Program, Reply, TestCluster, TestStore, eventually, id};
use serde_json::json;
use uuid::Uuid;

/// What `pin_login` at the store answers to this PIN.
async fn typed(site: &TestStore, pin: &str) -> Reply {
    let body = json!({"pin": pin, "storeId": site.id, "terminalId": site.terminal});
    Client::new(&site.process.url).post("/auth/pin-login", body).await
}

/// A cashier at the till, once the store knows the PIN.
async fn at_the_till(site: &TestStore, pin: &str) -> Client {
    eventually("the PIN is good at the till", async || {
        let reply = typed(site, pin).await;
        Some(Client::new(&site.process.url).with_token(reply.body["data"]["accessToken"].as_str()?))
    })
    .await
}

async fn role(chain: &TestCluster, code: &str) -> String {
    let roles = chain.admin.get("/roles").await.data();
    id(roles.as_array().expect("a list").iter().find(|role| role["code"] == code).expect("the role"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cashier_made_by_the_forms_defaults_changes_the_pin_at_the_store_and_sells() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1000).await;
    let site = chain.store().await;
    let admin = site.open_till().await;
    site.knows(&admin, &product, None).await;
    let register = json!({"code": "02", "name": "Back", "terminalId": "T2"});
    let register = id(&admin.post("/registers", register).await.data());
    let works = json!([{"roleId": role(&chain, "cashier").await, "storeId": site.id}]);
    chain.person("owen", "926350", works).await;
    // As the form of the web client sends it when nothing but the name and the role are filled in.
    let assignments = json!([{"roleId": role(&chain, "cashier").await, "storeId": site.id}]);
    let body = json!({"username": "cleo", "displayName": "Cleo", "assignments": assignments});
    let made = chain.admin.post("/users", body).await.data();
    let first = made["generatedPin"].as_str().expect("a PIN").to_owned();

    let signed_in = async |pin: &str| {
        let body = json!({"pin": pin, "storeId": site.id, "terminalId": "T2"});
        let client = Client::new(&site.process.url);
        eventually("the PIN is good at the till", async || {
            let reply = client.post("/auth/pin-login", body.clone()).await;
            Some(client.with_token(reply.body["data"]["accessToken"].as_str()?))
        })
        .await
    };
    let cashier = signed_in(&first).await;
    eventually("the store has a line", async || {
        (cashier.get("/tenders").await.body["code"] == "must_change_pin").then_some(())
    })
    .await;
    let change = |current: &str, new: &str| json!({"currentPin": current, "newPin": new});
    assert_eq!(cashier.post("/auth/change-pin", change("739155", "316408")).await.refused(401), "invalid_credentials");
    assert_eq!(cashier.post("/auth/change-pin", change(&first, "240787")).await.refused(422), "pin_not_allowed");
    // One that a user has there is refused alike, and worth nothing from then on, at the till as well.
    at_the_till(&site, "926350").await;
    assert_eq!(cashier.post("/auth/change-pin", change(&first, "926350")).await.refused(422), "pin_not_allowed");
    assert_eq!(cashier.post("/auth/change-pin", change(&first, "316408")).await.status, 204);
    eventually("the store knows that it is over", async || (typed(&site, "926350").await.status == 401).then_some(()))
        .await;
    assert!(Client::new(&chain.hq.url).sign_in("owen", "926350").await.is_none());

    // At once: the answer came when the new PIN was here.
    let body = json!({"pin": "316408", "storeId": site.id, "terminalId": "T2"});
    assert!(Client::new(&site.process.url).post("/auth/pin-login", body).await.status.is_success());
    assert_eq!(cashier.get("/auth/me").await.status, 401, "the session of the first PIN is over");
    let cashier = signed_in("316408").await;
    cashier.post(&format!("/registers/{register}/open"), json!({})).await.data();
    let tenders = cashier.get("/tenders").await.data();
    let card = tenders.as_array().expect("a list").iter().find(|tender| tender["code"] == "CARD").expect("card");
    let lines = json!([{"productId": product, "quantity": 1}]);
    cashier
        .post("/pos/sales", json!({"id": Uuid::now_v7(), "lines": lines, "payments": [{"tenderId": card["id"]}]}))
        .await
        .data();
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_line_a_first_pin_bars_nothing_and_cannot_be_changed() {
    let mut chain = TestCluster::new().await;
    let site = chain.store().await;
    let admin = site.admin().await;
    let assignments = json!([{"roleId": role(&chain, "cashier").await, "storeId": site.id}]);
    let body = json!({"username": "cleo", "displayName": "Cleo", "assignments": assignments});
    let made = chain.admin.post("/users", body).await.data();
    let first = made["generatedPin"].as_str().expect("a PIN").to_owned();
    chain.caught_up(&site, &admin).await;
    site.proxy.set(Fault::Down);
    let cashier = at_the_till(&site, &first).await;
    let change = json!({"currentPin": first, "newPin": "316408"});
    eventually("the store knows that the line is gone", async || {
        cashier.get("/tenders").await.status.is_success().then_some(())
    })
    .await;
    assert_eq!(cashier.post("/auth/change-pin", change.clone()).await.refused(503), "hq_unreachable");
    site.proxy.set(Fault::None);
    eventually("the store has a line again", async || {
        (cashier.get("/tenders").await.body["code"] == "must_change_pin").then_some(())
    })
    .await;
    assert_eq!(cashier.post("/auth/change-pin", change).await.status, 204);
}

/// What a store keeps of a user's PIN; its server must be stopped.
async fn verifiers(site: &TestStore, name: &str) -> (String, String) {
    let rows = site.rows("users").await;
    let row = rows.values().find(|row| row["username"] == name).expect("the person");
    let text = |key: &str| row[key].as_str().expect("what verifies a PIN").to_owned();
    (text("pinHash"), text("pinLookup"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_is_provisioned_after_all_pins_were_set_lets_every_user_in_and_its_copy_none_elsewhere() {
    let mut chain = TestCluster::with(&[("GLOBAL_PEOPLE_AT_STORES", "all")]).await;
    let mut first = chain.store().await;
    let cashier = role(&chain, "cashier").await;
    chain.person("everywhere", "316408", json!([{"roleId": cashier, "storeId": null}])).await;
    chain.person("elsewhere", "482157", json!([{"roleId": cashier, "storeId": first.id}])).await;
    at_the_till(&first, "316408").await;
    at_the_till(&first, "482157").await;
    let mut third = chain.store().await;
    for (name, pin) in [ADMIN, ("everywhere", "316408")] {
        at_the_till(&third, pin).await;
        third.sign_in(name, pin).await;
    }
    assert_eq!(typed(&third, "482157").await.refused(401), "invalid_credentials");

    // What one store keeps of a PIN opens nothing with the key of another one.
    first.process.stop();
    third.process.stop();
    let stolen = verifiers(&first, "everywhere").await;
    assert_ne!(stolen, verifiers(&third, "everywhere").await);
    let sql = format!(
        "UPDATE users SET pin_hash = '{}', pin_lookup = '{}' WHERE username = 'everywhere'",
        stolen.0, stolen.1
    );
    third.execute(&sql).await;
    third.proxy.set(Fault::Down);
    third.process.restart();
    assert_eq!(typed(&third, "316408").await.refused(401), "invalid_credentials");
    let by_name = json!({"username": "everywhere", "pin": "316408"});
    assert_eq!(Client::new(&third.process.url).post("/auth/login", by_name).await.refused(401), "invalid_credentials");
    (first.broken_on_purpose, third.broken_on_purpose) = (true, true);
}

#[tokio::test(flavor = "multi_thread")]
async fn people_of_all_stores_are_verified_where_they_are_named_alone_once_the_operator_says_so() {
    let mut chain = TestCluster::new().await;
    let (here, there) = (chain.store().await, chain.store().await);
    let cashier = role(&chain, "cashier").await;
    let assignments = json!([{"roleId": cashier, "storeId": null}, {"roleId": cashier, "storeId": here.id}]);
    chain.person("everywhere", "316408", assignments).await;
    at_the_till(&here, "316408").await;
    at_the_till(&there, "316408").await;
    let admins = [here.admin().await, there.admin().await];
    chain.hq.stop();
    chain.hq.set_environment("GLOBAL_PEOPLE_AT_STORES", "named");
    chain.hq.restart();
    eventually("the PIN has left the store that is not named", async || {
        (typed(&there, "316408").await.status == 401).then_some(())
    })
    .await;
    chain.caught_up(&here, &admins[0]).await;
    at_the_till(&here, "316408").await;
}

/// What `tillkeep hq keys pins` counts.
fn former_pins(chain: &TestCluster) -> u64 {
    let mut command = std::process::Command::new(Program::This.path());
    command.args(["hq", "--data-dir"]).arg(&chain.hq.dir).args(["keys", "pins"]).env_clear();
    let output = command.output().expect("the program runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let number = text.lines().find_map(|line| line.strip_prefix("PINs kept as in release 0.1.0: "));
    number.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{output:?}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn pins_of_release_0_1_0_are_good_until_they_are_rehashed_and_then_the_key_of_the_chain_is_gone() {
    let release = Release::all().remove(0);
    let (mut chain, mut site) = TestCluster::of_release(&release).await;
    let (name, pin) = (release.about.username.as_str(), release.about.pin.as_str());
    assert_eq!(former_pins(&chain), 2);
    let chains_key = |site: &TestStore| {
        let file = std::fs::read_to_string(site.process.dir.join("pin.key")).expect("the file of the store");
        let file: serde_json::Value = serde_json::from_str(&file).expect("JSON");
        (file["own"].is_string() && file["root"].is_null(), file["key"] != "")
    };
    eventually("the store has a key of its own beside that of the chain", async || {
        (chains_key(&site) == (true, true)).then_some(())
    })
    .await;
    // Typed at the store, the PIN goes to headquarters, which keeps it again.
    at_the_till(&site, pin).await;
    eventually("one is kept again", async || {
        typed(&site, pin).await.data();
        (former_pins(&chain) == 1).then_some(())
    })
    .await;
    at_the_till(&site, pin).await;
    site.sign_in(name, pin).await;
    chain.admin = Client::new(&chain.hq.url).sign_in(name, pin).await.expect("the same PIN at headquarters");

    // The PIN of the other one is unknown: a new one is made.
    let other = chain.admin.get("/users?search=casey").await.data();
    chain.admin.post(&format!("/users/{}/pin", id(&other[0])), json!({})).await.data();
    assert_eq!(former_pins(&chain), 0);
    site.process.stop();
    site.process.restart();
    eventually("the key of the chain has left the store", async || (chains_key(&site) == (true, false)).then_some(()))
        .await;
    at_the_till(&site, pin).await;
    // Its codes are taken.
    chain.stores = 20;
    let third = chain.store().await;
    at_the_till(&third, pin).await;
    assert_eq!(chains_key(&third), (true, false));
}
