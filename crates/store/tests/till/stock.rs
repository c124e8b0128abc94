//! What sales do to stock.

use serde_json::{Value as Json, json};
use tillkeep_model::Qty;
use tillkeep_storage::entity::stock_movement;
use tillkeep_storage::sea_orm::EntityTrait;

use crate::kit::{Shop, line};

#[tokio::test]
async fn a_sale_takes_its_goods_off_the_stock() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let sold =
        person.sell(json!([line("TEA", 2), line("BANANA", 1.237), line("TEA", 1), line("REPAIR", 1)])).await.ok(201);
    assert_eq!(shop.level("TEA").await, Qty::pieces(7));
    assert_eq!(shop.level("BANANA").await, Qty(8763));
    assert_eq!(shop.level("REPAIR").await, Qty::pieces(10), "no stock is kept of a service");
    assert_eq!(json!(shop.stock_row("TEA").await.last_sold_at), sold["completedAt"]);
    // Headquarters books each line by that.
    let entries = shop.outbox().await;
    let entry = entries.iter().find(|entry| entry.entity_type == "sales").expect("the entry of the sale");
    let sent: Json = serde_json::from_str(&entry.payload).expect("JSON");
    for document in [&sold, &sent] {
        let tracked: Vec<&Json> =
            document["saleItems"].as_array().expect("lines").iter().map(|line| &line["tracked"]).collect();
        assert_eq!(tracked, [true, true, true, false]);
    }
    let movements = stock_movement::Entity::find().all(shop.store.test_db().reader()).await.expect("the ledger");
    assert_eq!(movements.len(), 3);
    assert!(
        movements.iter().all(|movement| json!(movement.source_id) == sold["id"] && movement.movement_type == "sale")
    );
}

#[tokio::test]
async fn a_store_that_allows_it_sells_what_is_not_there() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    person.sell(json!([line("BREAD", 12)])).await.ok(201);
    assert_eq!(shop.level("BREAD").await, Qty::pieces(-2));
}

#[tokio::test]
async fn a_store_that_does_not_allow_it_sells_to_the_last_piece() {
    let shop = Shop::open_with(|own| own.allow_negative_stock = false).await;
    let person = shop.selling().await;
    // Two lines of one product are taken together.
    let refusal = person
        .sell(json!([line("BREAD", 6), line("TEA", 1), line("BREAD", 5)]))
        .await
        .refused(409, "insufficient_stock");
    let named: Vec<_> = refusal["details"].as_array().expect("details").iter().map(|detail| &detail["field"]).collect();
    assert_eq!(named, ["lines[0].quantity", "lines[2].quantity"]);
    person.sell(json!([line("BREAD", 6), line("BREAD", 4)])).await.ok(201);
    assert_eq!(shop.level("BREAD").await, Qty::ZERO);
    person.sell(json!([line("BREAD", 1)])).await.refused_at(409, "insufficient_stock", "lines[0].quantity");
    person.sell(json!([line("REPAIR", 1)])).await.ok(201);
}
