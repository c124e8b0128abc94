//! What a pushed document does at headquarters besides being stored.

use serde_json::{Value, json};
use uuid::Uuid;

use crate::kit::{Client, Fault, TestCluster, TestStore, eventually};

/// An envelope as the specification writes it, without any extension.
fn envelope(site: &TestStore, kind: &str, id: Uuid, data: &Value, at: &str) -> Value {
    json!({
        "store_id": site.id, "entity_type": kind, "entity_id": id, "action": "create", "data": data, "timestamp": at,
    })
}

const AT: &str = "2026-11-20T15:04:05.123Z";

fn sale(id: Uuid, product: &str, quantity: i64) -> Value {
    json!({
        "id": id, "receiptNumber": format!("S01-09-{:06}", quantity), "saleType": "sale", "status": "completed",
        "businessDate": "2026-11-20", "netAmount": 1000, "taxAmount": 89, "totalAmount": 1089, "createdAt": AT,
        "completedAt": AT,
        "saleItems": [{
            "id": Uuid::now_v7(), "lineNo": 1, "productId": product, "quantity": quantity, "unitPrice": 1000,
            "netAmount": 1000, "taxAmount": 89, "totalAmount": 1089,
        }],
        "salePayments": [{"id": Uuid::now_v7(), "lineNo": 1, "tenderCode": "CARD", "amount": 1089}],
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_lowers_the_quantity_at_headquarters_and_sets_when_it_was_last_sold() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1000).await;
    let site = chain.store().await;
    let till = site.open_till().await;
    site.knows(&till, &product, None).await;
    let received = json!({"id": Uuid::now_v7(), "productId": product, "quantityChange": 10, "reason": "received", "unitCost": 480});
    till.post("/inventory/adjustments", received).await.data();
    let level = eventually("the receipt is at HQ", async || {
        chain.level(&site, &product).await.filter(|level| level["quantity"] == 10)
    })
    .await;
    assert!(level["lastReceivedAt"].is_string());
    assert_eq!(level["lastSoldAt"], Value::Null);
    assert_eq!(level["averageCost"], 480);
    let before = level["syncVersion"].as_i64().expect("version");

    site.sell(&till, &product, 3).await;
    let level = eventually("the sale is at HQ", async || {
        chain.level(&site, &product).await.filter(|level| level["quantity"] == 7)
    })
    .await;
    assert!(level["lastSoldAt"].is_string());
    assert!(level["lastSyncedAt"].is_string());
    assert!(level["syncVersion"].as_i64().expect("version") > before, "its store pulls the row again");
    assert_eq!(site.quantity(&till, &product).await, 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pushed_sale_applied_twice_changes_stock_once() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1000).await;
    let site = chain.store().await;
    let machine = chain.machine(&site);
    let id = Uuid::now_v7();
    let body = json!({"envelopes": [envelope(&site, "sales", id, &sale(id, &product, 4), AT)]});

    let first = machine.post("/sync/push", body.clone()).await.body["results"][0].clone();
    assert_eq!((&first["status"], &first["applied"]), (&json!("ok"), &json!("inserted")));
    let again = machine.post("/sync/push", body).await.body["results"][0].clone();
    assert_eq!((&again["status"], &again["applied"]), (&json!("ok"), &json!("duplicate")));
    // The same sale under another timestamp is no duplicate, and still takes its goods once.
    let later = envelope(&site, "sales", id, &sale(id, &product, 4), "2026-11-20T15:04:06.000Z");
    let later = machine.post("/sync/push", json!({"envelopes": [later]})).await.body["results"][0].clone();
    assert_eq!(later["status"], "ok");

    assert_eq!(chain.level(&site, &product).await.expect("level")["quantity"], -4);
    assert_eq!(chain.sales(&site).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn counters_and_connection_are_on_the_dashboard() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1000).await;
    let site = chain.store().await;
    let till = site.open_till().await;
    site.knows(&till, &product, None).await;
    site.sell(&till, &product, 1).await;
    site.drained(&till).await;

    let store = eventually("the store is connected and counted", async || {
        let dashboard = chain.admin.get("/sync/dashboard").await.data();
        let store = dashboard["stores"][0].clone();
        let beaten = store["connection"]["lastHeartbeatAt"].is_string();
        let counted = store["sync"].as_array()?.iter().any(|row| row["entityType"] == "sales");
        (store["connection"]["connected"] == true && beaten && counted).then_some(store)
    })
    .await;
    assert_eq!((&store["storeCode"], &store["errorCount"]), (&json!("S01"), &json!(0)));
    let of = |name: &str, direction: &str| {
        let rows = store["sync"].as_array().expect("rows").iter();
        rows.filter(|row| row["entityType"] == name && row["direction"] == direction).cloned().collect::<Vec<_>>()
    };
    let sales = of("sales", "push");
    assert_eq!(sales.len(), 1, "one row for each store, type and direction");
    assert_eq!(sales[0]["totalPushed"], 1);
    assert!(sales[0]["lastSuccessAt"].is_string());
    assert_eq!(of("products", "pull")[0]["totalPulled"], 1);
}

/// Goods that come in at their cost.
async fn receive(till: &Client, product: &str, quantity: i64, cost: i64) {
    let body = json!({
        "id": Uuid::now_v7(), "productId": product, "quantityChange": quantity, "reason": "received", "unitCost": cost,
    });
    till.post("/inventory/adjustments", body).await.data();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_store_without_a_line_counts_and_pays_is_the_same_at_headquarters_which_switched_tracking_meanwhile() {
    let mut chain = TestCluster::new().await;
    let (counted, uncounted) = (chain.product("A1", 1000).await, chain.product("B2", 1000).await);
    let site = chain.store().await;
    let till = site.open_till().await;
    let keeps = async |product: &str, keeps: bool| {
        chain.admin.patch(&format!("/products/{product}"), json!({"trackStock": keeps})).await.data();
    };
    keeps(&uncounted, false).await;
    let knows = async |product: &str, keeps: bool| {
        let path = format!("/products/{product}");
        let known = async || (till.get(&path).await.body["data"]["trackStock"] == keeps).then_some(());
        eventually("the store knows what it counts", known).await;
    };
    knows(&counted, true).await;
    knows(&uncounted, false).await;

    site.proxy.set(Fault::Down);
    receive(&till, &counted, 10, 480).await;
    receive(&till, &counted, 5, 533).await;
    site.sell(&till, &counted, 3).await;
    site.sell(&till, &uncounted, 2).await;
    receive(&till, &counted, 1, 900).await;
    keeps(&counted, false).await;
    keeps(&uncounted, true).await;
    site.proxy.set(Fault::None);
    site.drained(&till).await;
    let level = chain.level(&site, &counted).await.expect("a level");
    // 10 at 480 and 5 at 533 are 498 each; 12 of them and one at 900 are 529.
    assert_eq!((&level["quantity"], &level["averageCost"]), (&json!(13), &json!(529)));
    assert_eq!(chain.level(&site, &uncounted).await.map_or(json!(0), |level| level["quantity"].clone()), 0);

    // From here on the store counts the other one.
    knows(&counted, false).await;
    knows(&uncounted, true).await;
    site.sell(&till, &counted, 1).await;
    site.sell(&till, &uncounted, 1).await;
    site.drained(&till).await;
    assert_eq!(chain.level(&site, &counted).await.expect("a level")["quantity"], 13);
    assert_eq!(chain.level(&site, &uncounted).await.expect("a level")["quantity"], -1);
    chain.settled(&[&site], &[]).await;
}
