//! From headquarters to stores: what is pulled, and what a pull leaves alone.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tillkeep_storage::{Side, registry};
use uuid::Uuid;

use crate::kit::{TestCluster, database, eventually, metric};

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_store_pulls_every_type_and_then_equals_headquarters() {
    // What verifies people of all stores is there too, as the specification has it.
    let mut chain = TestCluster::with(&[("GLOBAL_PEOPLE_AT_STORES", "all")]).await;
    for number in 0..25 {
        chain.product(&format!("P{number}"), 100 + number).await;
    }
    let customer = json!({"firstName": "Zoë", "phone": "+1 555-0101"});
    chain.admin.post("/customers", customer).await.data();
    let mut site = chain.store().await;
    let gone = chain.product("GONE", 5).await;
    let priced = chain.product("PRICED", 900).await;
    chain.admin.put(&format!("/store-prices/{}/{priced}", site.id), json!({"price": 850})).await.data();
    chain.admin.delete(&format!("/products/{gone}")).await;

    let admin = site.admin().await;
    chain.caught_up(&site, &admin).await;
    site.process.stop();
    chain.hq.stop();

    let mut filled = 0;
    for entity in registry::pulled() {
        let (mut at_hq, mut at_store) = (chain.rows(entity.name).await, site.rows(entity.name).await);
        if entity.name == "store_product_dynamic" {
            // The store has a row for every product; headquarters only where it has something to say.
            assert_eq!(at_store.len(), 27);
            at_store.retain(|key, _| at_hq.contains_key(key));
        }
        for row in at_hq.values_mut().chain(at_store.values_mut()) {
            // Each server's own bookkeeping.
            if let Some(row) = row.as_object_mut() {
                row.remove("firstSeenAt");
                row.remove("lastSyncedAt");
                // Each verifies a PIN by a key of its own.
                for verifier in ["pinHash", "pinLookup"] {
                    if let Some(value) = row.get_mut(verifier) {
                        *value = (!value.is_null()).into();
                    }
                }
            }
        }
        filled += usize::from(!at_hq.is_empty());
        assert_eq!(at_hq, at_store, "{}", entity.name);
    }
    assert!(filled >= 13, "only {filled} types had rows");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_permission_taken_from_a_role_at_headquarters_is_gone_in_the_store() {
    let mut chain = TestCluster::new().await;
    let site = chain.store().await;
    let role = json!({"code": "buyer", "name": "Buyer", "permissions": ["products.view", "customers.view"]});
    let role = chain.admin.post("/roles", role).await.data();
    chain.person("bo", "905172", json!([{"roleId": role["id"], "storeId": null}])).await;
    let bo = site.sign_in("bo", "905172").await;
    eventually("Bo may see products", async || bo.get("/products").await.status.is_success().then_some(())).await;

    let path = format!("/roles/{}/permissions", role["id"].as_str().expect("id"));
    chain.admin.put(&path, json!({"permissions": ["customers.view"]})).await.data();
    eventually("Bo may not any more", async || (bo.get("/products").await.status == 403).then_some(())).await;
    assert!(bo.get("/customers").await.status.is_success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pull_keeps_the_quantity_of_the_store() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1000).await;
    let site = chain.store().await;
    let till = site.open_till().await;
    site.knows(&till, &product, None).await;
    // Made by the pull of products, at the default price.
    let row = till.get(&format!("/inventory/{product}")).await.data();
    assert_eq!((&row["price"], &row["quantity"]), (&json!(1000), &json!(0)));

    let received = json!({"id": Uuid::now_v7(), "productId": product, "quantityChange": 40, "reason": "received", "unitCost": 480});
    till.post("/inventory/adjustments", received).await.data();
    site.sell(&till, &product, 3).await;
    assert_eq!(site.quantity(&till, &product).await, 37);
    // HQ's row of this product comes back with the store's own effects and a new price, again and again.
    for price in [1010, 1020, 1030] {
        chain.admin.put(&format!("/store-prices/{}/{product}", site.id), json!({"price": price})).await.data();
        eventually("the price is here", async || {
            (till.get("/pos/lookup/A1").await.body["data"]["effectivePrice"] == price).then_some(())
        })
        .await;
        assert_eq!(site.quantity(&till, &product).await, 37);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_a_pull_join_without_a_gap_and_the_whole_is_the_sum_of_the_pages() {
    let mut chain = TestCluster::new().await;
    for number in 0..23 {
        chain.product(&format!("P{number:02}"), 100).await;
    }
    let site = chain.store().await;
    let machine = chain.machine(&site);
    let whole = machine.get("/sync/pull?entity_type=products&since_version=0").await.body;
    assert_eq!(whole["has_more"], false);
    let by_id = |rows: &Value| -> BTreeMap<String, Value> {
        rows.as_array().expect("rows").iter().map(|row| (row["id"].to_string(), row.clone())).collect()
    };
    let (mut since, mut joined, mut versions) = (json!(0), BTreeMap::new(), Vec::new());
    loop {
        let page = machine.get(&format!("/sync/pull?entity_type=products&since_version={since}&limit=5")).await.body;
        joined.extend(by_id(&page["rows"]));
        versions.extend(page["rows"].as_array().expect("rows").iter().map(|row| row["syncVersion"].as_i64()));
        since = page["latest_version"].clone();
        if page["has_more"] == false {
            break;
        }
    }
    assert_eq!(joined, by_id(&whole["rows"]));
    assert_eq!(since, whole["latest_version"]);
    assert!(versions.is_sorted_by(|a, b| a < b), "each row has a version of its own: {versions:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_headquarters_cannot_read_keeps_nothing_else_from_a_store() {
    let mut chain = TestCluster::new().await;
    let broken = chain.product("BROKEN", 100).await;
    let role = json!({"code": "buyer", "name": "Buyer", "permissions": ["products.view", "customers.view"]});
    let role = chain.admin.post("/roles", role).await.data();
    chain.person("bo", "905172", json!([{"roleId": role["id"], "storeId": null}])).await;
    let mut site = chain.store().await;
    let bo = site.sign_in("bo", "905172").await;
    let known = format!("/products/{broken}");
    eventually("the store has the product", async || bo.get(&known).await.status.is_success().then_some(())).await;

    chain.hq.stop();
    let sql = "UPDATE products SET tags = '{broken', sync_version = 0 WHERE sku = 'BROKEN'";
    database::execute(&chain.hq.database_url(), Side::Hq, sql).await;
    chain.hq.restart();
    // With its new version the row is among what is to be pulled, beside one that comes after it.
    let later = chain.product("LATER", 200).await;
    let path = format!("/roles/{}/permissions", role["id"].as_str().expect("id"));
    chain.admin.put(&path, json!({"permissions": ["customers.view"]})).await.data();
    eventually("Bo may not see products any more", async || (bo.get(&known).await.status == 403).then_some(())).await;
    let admin = site.admin().await;
    site.knows(&admin, &later, None).await;

    let dashboard = chain.admin.get("/sync/dashboard").await.data();
    let row = dashboard["unreadable"][0].clone();
    assert_eq!((&row["entityType"], &row["id"], &row["field"]), (&json!("products"), &json!(broken), &json!("tags")));
    assert_eq!(metric(&chain.hq.url, "tillkeep_unreadable_rows ").await, Some(1.0));
    let named = |log: &str| log.matches("a row cannot be read").count();
    assert_eq!(named(&chain.hq.log()), 1);

    // A store that reloads everything keeps its good copy.
    site.process.stop();
    site.execute("UPDATE sequences SET reloading = TRUE, last_version = 0 WHERE entity_type = 'products'").await;
    site.execute("UPDATE products SET sync_version = -1").await;
    site.process.restart();
    chain.caught_up(&site, &admin).await;
    assert!(admin.get(&known).await.status.is_success());
    assert_eq!(named(&chain.hq.log()), 1, "a row is named once");

    // Whoever mends it need not know of versions. That outlives a restart.
    chain.hq.stop();
    let sql = "UPDATE products SET tags = '[\"mended\"]' WHERE sku = 'BROKEN'";
    database::execute(&chain.hq.database_url(), Side::Hq, sql).await;
    chain.hq.restart();
    eventually("the mended row is here", async || {
        (admin.get(&known).await.body["data"]["tags"] == json!(["mended"])).then_some(())
    })
    .await;
    eventually("nothing is left to mend", async || {
        (chain.admin.get("/sync/dashboard").await.data()["unreadable"] == json!([])).then_some(())
    })
    .await;
}
