//! Starting, stopping and going on.

use serde_json::json;

use crate::kit::{ADMIN, Client, TestCluster, eventually};

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_store_goes_on_where_it_was() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1000).await;
    let mut site = chain.store().await;
    let till = site.open_till().await;
    site.knows(&till, &product, None).await;
    site.sell(&till, &product, 1).await;
    let address = std::fs::read_to_string(site.process.dir.join("address")).expect("address");
    assert_eq!(address.trim(), site.process.url);

    site.process.stop();
    site.process.restart();
    let till = site.admin().await;
    let sale = site.sell(&till, &product, 1).await;
    assert_eq!(sale["receiptNumber"], "S01-01-000002", "the drawer is still open, the numbers go on");
    site.drained(&till).await;
    assert_eq!(chain.sales(&site).await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_administrator_of_the_environment_is_made_at_the_first_start_only() {
    let mut chain = TestCluster::new().await;
    let users = async |admin: &Client| admin.get("/users").await.body["pagination"]["total"].clone();
    assert_eq!(users(&chain.admin).await, 1);
    chain.hq.stop();
    chain.hq.restart();
    let admin = Client::new(&chain.hq.url).sign_in(ADMIN.0, ADMIN.1).await.expect("sign in");
    assert_eq!(users(&admin).await, 1);
    // The token of before the restart is still good: the keys are kept.
    assert_eq!(users(&chain.admin).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_with_a_rotated_token_goes_on_with_the_new_one_and_its_outbox() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1000).await;
    let mut site = chain.store().await;
    let till = site.open_till().await;
    site.knows(&till, &product, None).await;
    let path = format!("/stores/{}/provision", site.id);
    assert_eq!(chain.admin.post(&path, json!({})).await.refused(409), "already_provisioned");
    let rotated = chain.admin.post(&path, json!({"rotate": true})).await.data();
    eventually("the old token is refused", async || {
        let line = till.get("/sync/status").await.data()["line"].clone();
        line["lastError"].as_str().is_some_and(|error| error.contains("Store not found or inactive")).then_some(())
    })
    .await;
    site.sell(&till, &product, 1).await;
    let waiting = site.outbox(&till, "pending").await;
    assert!(waiting.iter().all(|entry| entry["attempts"] == 0));

    site.process.stop();
    site.process.set_environment("SYNC_TOKEN", rotated["syncToken"].as_str().expect("token"));
    site.process.restart();
    site.drained(&site.admin().await).await;
    assert_eq!(chain.sales(&site).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn headquarters_does_not_start_without_the_key_of_its_pins() {
    let mut chain = TestCluster::new().await;
    chain.hq.stop();
    let key = chain.hq.dir.join("pin.key");
    let aside = chain.hq.dir.join("pin.key.aside");
    std::fs::rename(&key, &aside).expect("move");
    // A new key would lock everybody out, here and in every store.
    let refusal = chain.hq.refuses_to_start();
    assert!(refusal.contains("pin.key is missing"), "{refusal}");
    assert!(!key.exists());
    std::fs::rename(&aside, &key).expect("move back");
    chain.hq.restart();
    Client::new(&chain.hq.url).sign_in(ADMIN.0, ADMIN.1).await.expect("sign in");
}
