//! A client that follows the specification alone, by hand.

use serde_json::{Value, json};
use uuid::Uuid;

use crate::kit::{Client, TestCluster};

fn adjustment(store: &str, kind: &str, product: &str) -> Value {
    let id = Uuid::now_v7();
    json!({
        "store_id": store, "entity_type": kind, "entity_id": id, "action": "create",
        "timestamp": "2026-11-20T10:00:00.000Z",
        "data": {"id": id, "product_id": product, "reason": "found", "quantity_change": 1},
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn more_than_a_thousand_envelopes_are_refused_whole() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 100).await;
    let site = chain.store().await;
    let machine = chain.machine(&site);
    let envelopes: Vec<_> = (0..1001).map(|_| adjustment(&site.id, "inventory_adjustments", &product)).collect();
    let reply = machine.post("/sync/push", json!({"envelopes": envelopes})).await;
    assert_eq!(reply.refused(400), "too_many_envelopes");
    assert!(chain.level(&site, &product).await.is_none(), "nothing was applied");

    let reply = machine.post("/sync/push", json!({"envelopes": &envelopes[..1000]})).await;
    assert_eq!(reply.status, 200);
    let results = reply.body["results"].as_array().expect("results");
    assert_eq!(results.len(), 1000);
    for (result, envelope) in results.iter().zip(&envelopes) {
        assert_eq!((&result["status"], &result["entity_id"]), (&json!("ok"), &envelope["entity_id"]), "in their order");
    }
    assert_eq!(chain.level(&site, &product).await.expect("level")["quantity"], 1000);
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_envelopes_are_answered_one_by_one() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 100).await;
    let (site, other) = (chain.store().await, chain.store().await);
    let good = adjustment(&site.id, "inventory_adjustments", &product);
    let unknown = adjustment(&site.id, "inventory_counts", &product);
    let never_pushed = adjustment(&site.id, "products", &product);
    let foreign = adjustment(&other.id, "inventory_adjustments", &product);
    let malformed = json!({"entity_type": "sales", "entity_id": "x"});
    let mut wrong_type = adjustment(&site.id, "inventory_adjustments", &product);
    wrong_type["data"]["quantity_change"] = json!("many");
    let orphan = {
        let mut item = adjustment(&site.id, "purchase_order_items", &product);
        item["data"]["purchase_order_id"] = json!(Uuid::now_v7());
        item
    };
    let envelopes = json!([good, unknown, never_pushed, foreign, malformed, wrong_type, orphan, "text"]);
    let reply = chain.machine(&site).post("/sync/push", json!({"envelopes": envelopes})).await;
    let results: Vec<_> = reply.body["results"].as_array().expect("results").iter().collect();
    let outcomes: Vec<_> = results.iter().map(|result| (result["status"].as_str(), result["code"].as_str())).collect();
    assert_eq!(
        outcomes,
        [
            (Some("ok"), None),
            (Some("unknown_type"), Some("unknown_type")),
            (Some("unknown_type"), Some("unknown_type")),
            (Some("error"), Some("store_mismatch")),
            (Some("error"), Some("malformed")),
            (Some("error"), Some("bad_data")),
            (Some("error"), Some("missing_parent")),
            (Some("error"), Some("malformed")),
        ]
    );
    assert!(results[5]["error"].as_str().expect("error").contains("quantityChange"), "{}", results[5]);
    assert_eq!(chain.level(&site, &product).await.expect("level")["quantity"], 1);
    assert!(chain.level(&other, &product).await.is_none(), "nothing of the other store changed");
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_answered_to_the_letter() {
    let mut chain = TestCluster::new().await;
    let site = chain.store().await;
    let pull = "/sync/pull?entity_type=products&since_version=0";
    let anybody = Client::new(&chain.hq.url);
    let unauthorized = r#"{"success":false,"error":"Unauthorized"}"#;
    let exact = async |client: &Client, path: &str, text: &str| {
        let reply = client.get(path).await;
        assert_eq!((reply.status.as_u16(), reply.text.as_str()), (401, text), "{path}");
    };
    exact(&anybody, "/products", unauthorized).await;
    exact(&anybody.with_token("nonsense"), "/products", unauthorized).await;
    exact(&anybody, pull, unauthorized).await;
    exact(&anybody.with_token("nonsense"), pull, unauthorized).await;
    // A user's token is no sync token, and a sync token is no user's.
    exact(&chain.admin, pull, r#"{"error":"Invalid sync token type"}"#).await;
    exact(&chain.machine(&site), "/products", unauthorized).await;
    assert_eq!(chain.machine(&site).get(pull).await.status, 200);

    let gone = r#"{"error":"Store not found or inactive"}"#;
    chain.admin.post(&format!("/stores/{}/deactivate", site.id), json!({"force": true})).await.data();
    exact(&chain.machine(&site), pull, gone).await;
    chain.admin.post(&format!("/stores/{}/activate", site.id), json!({})).await.data();
    assert_eq!(chain.machine(&site).get(pull).await.status, 200);
    let revoked = chain.admin.post(&format!("/stores/{}/revoke-token", site.id), json!({})).await;
    assert_eq!(revoked.status, 204);
    exact(&chain.machine(&site), pull, gone).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pull_says_what_is_wrong_with_its_parameters() {
    let mut chain = TestCluster::new().await;
    let site = chain.store().await;
    let machine = chain.machine(&site);
    let code = async |query: &str, status| {
        let reply = machine.get(&format!("/sync/pull?{query}")).await;
        reply.refused(status).to_owned()
    };
    assert_eq!(code("entity_type=spaceships&since_version=0", 400).await, "unknown_entity_type");
    assert_eq!(code("entity_type=sales&since_version=0", 400).await, "unknown_entity_type");
    assert_eq!(code("entity_type=products&since_version=-1", 400).await, "bad_request");
    assert_eq!(code("entity_type=products&since_version=x", 400).await, "bad_request");
    assert_eq!(code("entity_type=products&since_version=0&limit=0", 400).await, "bad_request");
    let more = machine.get("/sync/pull?entity_type=products&since_version=0&limit=5&of_a_newer_release=1").await;
    assert_eq!(more.status, 200, "what a newer store says besides is left aside");
    assert_eq!(code("entity_type=products&since_version=0&epoch=other", 409).await, "epoch_changed");
    let epoch = machine.get("/sync/versions").await.body["epoch"].as_str().expect("epoch").to_owned();
    assert_eq!(code(&format!("entity_type=products&since_version=999&epoch={epoch}"), 409).await, "cursor_ahead");
    // Without an epoch, as the specification has it, a cursor ahead of the head gets no rows and the head.
    let ahead = machine.get("/sync/pull?entity_type=products&since_version=999").await.body;
    assert_eq!((&ahead["rows"], &ahead["latest_version"]), (&json!([]), &json!(0)));
}
