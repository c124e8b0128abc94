//! The walks of the architecture: a sale, a price change, a PIN.

use serde_json::json;

use crate::kit::{Client, TestCluster, eventually};

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_made_in_a_store_arrives_at_headquarters_exactly_once() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1999).await;
    let site = chain.store().await;
    let till = site.open_till().await;
    site.knows(&till, &product, None).await;

    let sale = site.sell(&till, &product, 1).await;
    assert_eq!(sale["receiptNumber"], "S01-01-000001");
    assert_eq!(
        (&sale["netAmount"], &sale["taxAmount"], &sale["totalAmount"]),
        (&json!(1999), &json!(177), &json!(2176))
    );

    let path = format!("/sales/{}", sale["id"].as_str().expect("id"));
    let at_hq = eventually("the sale is at HQ", async || {
        let reply = chain.admin.get(&path).await;
        reply.status.is_success().then(|| reply.data())
    })
    .await;
    for key in
        ["receiptNumber", "businessDate", "netAmount", "taxAmount", "totalAmount", "storeId", "cashierName", "taxLines"]
    {
        assert_eq!(at_hq[key], sale[key], "{key}");
    }
    assert_eq!(at_hq["saleItems"], sale["saleItems"]);
    assert_eq!(at_hq["salePayments"], sale["salePayments"]);
    site.drained(&till).await;
    assert_eq!(chain.sales(&site).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_price_changed_at_headquarters_is_charged_in_the_store() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1000).await;
    let site = chain.store().await;
    let till = site.open_till().await;
    site.knows(&till, &product, Some(1000)).await;

    chain.admin.patch(&format!("/products/{product}"), json!({"price": 1250})).await.data();
    site.knows(&till, &product, Some(1250)).await;
    let sale = site.sell(&till, &product, 2).await;
    assert_eq!(sale["netAmount"], 2500);

    // A price of this store alone beats the catalogue, and a later change of the catalogue leaves it.
    let own = format!("/store-prices/{}/{product}", site.id);
    chain.admin.put(&own, json!({"price": 1100})).await.data();
    let effective = async |wanted: i64| {
        eventually("the effective price", async || {
            let found = till.get("/pos/lookup/A1").await;
            (found.body["data"]["effectivePrice"] == wanted).then_some(())
        })
        .await;
    };
    effective(1100).await;
    chain.admin.patch(&format!("/products/{product}"), json!({"price": 1300})).await.data();
    site.knows(&till, &product, Some(1300)).await;
    effective(1100).await;
    chain.admin.put(&own, json!({"price": null})).await.data();
    effective(1300).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pin_opens_a_till_with_the_permissions_of_that_store_alone() {
    let mut chain = TestCluster::new().await;
    let (here, there) = (chain.store().await, chain.store().await);
    let roles = chain.admin.get("/roles").await.data();
    let cashier = roles.as_array().expect("list").iter().find(|role| role["code"] == "cashier").expect("role");
    chain.person("Ann", "482157", json!([{"roleId": cashier["id"], "storeId": here.id}])).await;

    chain.caught_up(&here, &here.admin().await).await;
    let pin_in = |url: &str, store: &str| {
        let client = Client::new(url);
        let body = json!({"pin": "482157", "storeId": store, "terminalId": "T9"});
        async move { client.post("/auth/pin-login", body).await }
    };
    let user = eventually("Ann can sign in at her store", async || {
        let reply = pin_in(&here.process.url, &here.id).await;
        reply.status.is_success().then(|| reply.data()["user"].clone())
    })
    .await;
    assert_eq!(user["permissions"], json!(["inventory.view", "pos.discount", "pos.sell", "reports.x_report"]));
    assert_eq!((&user["storeId"], &user["terminalId"]), (&json!(here.id), &json!("T9")));

    // The other store has her name for its receipts, but not her PIN.
    chain.caught_up(&there, &there.admin().await).await;
    assert_eq!(pin_in(&there.process.url, &there.id).await.refused(401), "invalid_credentials");
    assert_eq!(pin_in(&there.process.url, &here.id).await.refused(403), "wrong_store");
    // At headquarters only people of the store that is named are looked up.
    assert_eq!(pin_in(&chain.hq.url, &there.id).await.refused(401), "invalid_credentials");
    assert_eq!(pin_in(&chain.hq.url, &here.id).await.data()["user"]["permissions"], user["permissions"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pin_changed_by_its_owner_holds_in_the_store_and_ends_the_sessions_there() {
    let mut chain = TestCluster::new().await;
    let site = chain.store().await;
    let roles = chain.admin.get("/roles").await.data();
    let cashier = roles.as_array().expect("list").iter().find(|role| role["code"] == "cashier").expect("role");
    let everywhere = json!([{"roleId": cashier["id"], "storeId": null}]);
    chain.person("cy", "905172", everywhere).await;
    let before = site.sign_in("cy", "905172").await;

    let at_hq = Client::new(&chain.hq.url).sign_in("cy", "905172").await.expect("sign in");
    let change = json!({"currentPin": "905172", "newPin": "316408"});
    assert_eq!(at_hq.post("/auth/change-pin", change).await.status, 204);
    site.sign_in("cy", "316408").await;
    assert_eq!(before.get("/auth/me").await.status, 401, "the session of the old PIN is over");
    assert!(Client::new(&site.process.url).sign_in("cy", "905172").await.is_none());
}
