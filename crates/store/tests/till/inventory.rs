//! Levels, and changes of them by hand.

use serde_json::{Value as Json, json};
use tillkeep_model::{Cost, Money, Qty};
use tillkeep_storage::entity::outbox;
use uuid::Uuid;

use crate::kit::{Shop, id, line};

fn adjust(product: &str, change: impl Into<Json>, reason: &str) -> Json {
    json!({"id": Uuid::now_v7(), "productId": id(product), "quantityChange": change.into(), "reason": reason})
}

#[tokio::test]
async fn an_adjustment_changes_the_level_and_travels_as_a_difference() {
    let shop = Shop::open().await;
    let person = shop.sign_in("store_manager").await;
    let mut request = adjust("TEA", 5, "received");
    request["unitCost"] = json!(1100);
    request["note"] = json!("delivery 17");
    let made = person.post("/inventory/adjustments", request.clone()).await.ok(201);
    for (key, value) in [
        ("quantityChange", json!(5)),
        ("quantityBefore", json!(10)),
        ("quantityAfter", json!(15)),
        ("averageCostAfter", json!(1100)),
        ("reason", json!("received")),
        ("businessDate", json!("2026-11-20")),
        ("userName", json!("A store_manager")),
    ] {
        assert_eq!(made[key], value, "{key}");
    }
    let row = shop.stock_row("TEA").await;
    assert_eq!((row.quantity, row.average_cost), (Qty::pieces(15), Some(Cost(Money(1100)))));
    assert!(row.last_received_at.is_some());
    let entries = shop.outbox().await;
    assert_eq!(entries.len(), 1);
    assert_eq!((entries[0].entity_type.as_str(), entries[0].action.as_str()), ("inventory_adjustments", "create"));
    assert_eq!(serde_json::from_str::<Json>(&entries[0].payload).expect("JSON"), made);

    assert_eq!(person.post("/inventory/adjustments", request.clone()).await.ok(200), made, "the same again");
    assert_eq!(shop.count::<outbox::Entity>().await, 1);
    request["quantityChange"] = json!(6);
    person.post("/inventory/adjustments", request).await.refused_at(409, "id_reused", "id");
    assert_eq!(shop.level("TEA").await, Qty::pieces(15));
}

#[tokio::test]
async fn a_new_quantity_is_the_difference_to_what_is_there() {
    let shop = Shop::open().await;
    let person = shop.sign_in("administrator").await;
    let request =
        || json!({"id": Uuid::now_v7(), "productId": id("BANANA"), "newQuantity": 7.25, "reason": "correction"});
    let made = person.post("/inventory/adjustments", request()).await.ok(201);
    assert_eq!((&made["quantityChange"], &made["quantityAfter"]), (&json!(-2.75), &json!(7.25)));
    assert_eq!(shop.level("BANANA").await, Qty(7250));
    person.post("/inventory/adjustments", request()).await.refused_at(422, "validation", "newQuantity");
}

#[tokio::test]
async fn an_adjustment_that_cannot_be_is_refused_at_its_field() {
    let shop = Shop::open_with(|own| own.allow_negative_stock = false).await;
    let person = shop.sign_in("administrator").await;
    for reason in ["transfer_in", "transfer_out", "count"] {
        let reply = person.post("/inventory/adjustments", adjust("TEA", 1, reason)).await;
        reply.refused_at(422, "reason_reserved", "reason");
    }
    let with = |key: &str, value: Json| {
        let mut request = adjust("TEA", 1, "found");
        request[key] = value;
        request
    };
    for (request, field) in [
        (with("reason", json!("magic")), "reason"),
        (with("quantityChange", json!(0)), "quantityChange"),
        (with("quantityChange", Json::Null), "quantityChange"),
        (with("newQuantity", json!(3)), "quantityChange"),
        (with("quantityChange", json!(1.5)), "quantityChange"),
        (with("quantityChange", json!(1_000_000_001_i64)), "quantityChange"),
        (with("unitCost", json!(-1)), "unitCost"),
        (with("note", json!("\0")), "note"),
        (with("productId", json!(id("REPAIR"))), "productId"),
        (with("storeId", json!(id("S01"))), "storeId"),
    ] {
        person.post("/inventory/adjustments", request).await.refused_at(422, "validation", field);
    }
    let unknown = with("productId", json!(id("nothing")));
    person.post("/inventory/adjustments", unknown).await.refused_at(404, "product_not_found", "productId");
    person.post("/inventory/adjustments", adjust("TEA", -11, "theft")).await.refused(409, "negative_stock");
    assert_eq!(shop.level("TEA").await, Qty::pieces(10));
    person.post("/inventory/adjustments", adjust("TEA", -10, "theft")).await.ok(201);
}

#[tokio::test]
async fn stock_is_listed_with_its_products() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    person.sell(json!([line("BREAD", 12)])).await.ok(201);
    let skus = async |query: &str| -> Vec<String> {
        let list = person.get(&format!("/inventory{query}")).await.ok(200);
        list.as_array()
            .expect("a list")
            .iter()
            .map(|row| row["product"]["sku"].as_str().expect("a SKU").into())
            .collect()
    };
    assert_eq!(skus("?pageSize=2").await, ["BANANA", "BREAD"], "by name");
    assert_eq!(skus("?negative=true").await, ["BREAD"]);
    assert!(skus("?lowStock=true").await.is_empty());
    assert_eq!(skus("?search=TEA").await, ["TEA"]);
    assert_eq!(skus("?search=alt-1").await, ["BREAD"]);
    assert_eq!(skus("?sort=quantity&pageSize=1").await, ["BREAD"]);
    assert_eq!(
        skus(&format!("?departmentId={}&pageSize=200", id("department"))).await.len(),
        11,
        "all but the deleted"
    );
    person.get("/inventory?negative=perhaps").await.refused(422, "validation");
    person.get("/inventory?storeId=1").await.refused(422, "unknown_parameter");
    person.get(&format!("/inventory?search={}", "x".repeat(60_000))).await.refused(422, "validation");
    person.get("/inventory?search=%00").await.refused(422, "validation");
    let one = person.get(&format!("/inventory/{}", id("BREAD"))).await.ok(200);
    assert_eq!((&one["quantity"], &one["product"]["name"]), (&json!(-2), &json!("bread")));
    person.get(&format!("/inventory/{}", id("nothing"))).await.refused(404, "product_not_found");
    person.get("/inventory/nothing").await.refused(404, "not_found");
}

#[tokio::test]
async fn adjustments_are_listed_newest_first() {
    let shop = Shop::open().await;
    let person = shop.sign_in("administrator").await;
    for (product, change, reason) in [("TEA", 1, "found"), ("BREAD", -1, "damaged"), ("TEA", -1, "damaged")] {
        person.post("/inventory/adjustments", adjust(product, change, reason)).await.ok(201);
        shop.clock.advance(1000);
    }
    let count = async |query: &str| person.get(&format!("/inventory/adjustments{query}")).await.ok(200);
    let all = count("").await;
    assert_eq!(all.as_array().map(Vec::len), Some(3));
    assert_eq!((&all[0]["reason"], &all[0]["productId"]), (&json!("damaged"), &json!(id("TEA"))));
    assert_eq!(count("?reason=damaged").await.as_array().map(Vec::len), Some(2));
    assert_eq!(count(&format!("?productId={}", id("TEA"))).await.as_array().map(Vec::len), Some(2));
    assert_eq!(count("?from=2026-11-20&to=2026-11-20").await.as_array().map(Vec::len), Some(3));
    assert_eq!(count("?from=2026-11-21").await.as_array().map(Vec::len), Some(0));
}

#[tokio::test]
async fn goods_go_the_way_that_the_reason_says_by_change_and_by_new_quantity() {
    let shop = Shop::open().await;
    let person = shop.sign_in("administrator").await;
    let post = async |field: &str, quantity: i64, reason: &str| {
        let mut request = json!({"id": Uuid::now_v7(), "productId": id("TEA"), "reason": reason});
        request[field] = quantity.into();
        person.post("/inventory/adjustments", request).await
    };
    let outward = ["damaged", "expired", "theft", "lost", "internal_use", "return_to_supplier"];
    let inward = ["received", "found", "opening"];
    for (reason, wrong) in outward.map(|reason| (reason, 1)).into_iter().chain(inward.map(|reason| (reason, -1))) {
        let before = shop.level("TEA").await;
        let on_hand = before.0 / 1000;
        for (field, quantity) in [("quantityChange", wrong), ("newQuantity", on_hand + wrong)] {
            let reply = post(field, quantity, reason).await;
            let text = reply.body["error"].as_str().unwrap_or_default().to_owned();
            assert!(text.contains(reason) && text.contains("or choose"), "{text}");
            reply.refused_at(422, "validation", field);
        }
        assert_eq!(shop.level("TEA").await, before, "{reason}");
        post("quantityChange", -wrong, reason).await.ok(201);
        post("newQuantity", on_hand - 2 * wrong, reason).await.ok(201);
    }
    for change in [3, -3] {
        post("quantityChange", change, "correction").await.ok(201);
    }
}
