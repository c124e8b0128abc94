//! Specials are not charged yet, and whoever sells hears of those in force.

use serde_json::{Value as Json, json};
use tillkeep_model::{Bps, Money};
use tillkeep_storage::entity::product_special;

use crate::kit::{Shop, cart, id, line, rows};

fn special(code: &str, change: impl FnOnce(&mut product_special::Model)) -> product_special::Model {
    let mut special = product_special::Model {
        id: id(code),
        code: code.into(),
        name: code.to_lowercase(),
        kind: "percent_off".into(),
        percent_bps: Some(Bps(1000)),
        days_of_week: 127,
        is_active: true,
        created_at: rows::made(),
        updated_at: rows::made(),
        ..product_special::Model::default()
    };
    change(&mut special);
    special
}

/// The special and the line of each warning.
fn named(answer: &Json) -> Vec<(String, u64)> {
    let warnings = answer["warnings"].as_array().expect("a list").iter();
    warnings
        .map(|warning| {
            assert_eq!(warning["code"], "special_not_charged");
            let code = warning["specialCode"].as_str().expect("a code").to_owned();
            (code, warning["lineNo"].as_u64().expect("a line"))
        })
        .collect()
}

#[tokio::test]
async fn a_special_in_force_is_a_warning_of_the_quote_and_of_the_sale_and_of_the_sale_sent_again() {
    let shop = Shop::open().await;
    shop.insert::<product_special::Entity>([
        special("THREE", |row| {
            row.product_id = Some(id("TEA"));
            (row.kind, row.bundle_quantity, row.bundle_price) = ("multi_buy".into(), Some(3), Some(Money(1000)));
        }),
        special("MEMBERS", |row| (row.department_id, row.requires_customer) = (Some(id("department")), true)),
        // It is nine in the morning in this store, and two in the afternoon in London.
        special("LATER", |row| {
            row.product_id = Some(id("TEA"));
            (row.start_time, row.end_time) = (Some("14:00".into()), Some("15:00".into()));
        }),
        special("OFF", |row| (row.product_id, row.is_active) = (Some(id("TEA")), false)),
        special("ELSEWHERE", |row| (row.product_id, row.store_id) = (Some(id("TEA")), Some(id("S02")))),
    ])
    .await;
    let person = shop.selling().await;
    let lines = json!([line("BREAD", 1), line("TEA", 1)]);
    let quote = person.post("/pos/quote", json!({"lines": lines})).await.ok(200);
    assert_eq!(named(&quote), [("THREE".to_owned(), 2)]);
    assert_eq!(quote["specialDiscount"], 0);
    let mut cart = cart(lines, json!([{"tenderId": id("CASH")}]));
    let sold = person.post("/pos/sales", cart.clone()).await.ok(201);
    assert_eq!(sold["warnings"], quote["warnings"]);
    assert_eq!(sold["warnings"][0]["productId"], json!(id("TEA")));
    let again = person.post("/pos/sales", cart.clone()).await.ok(200);
    assert_eq!(again["warnings"], sold["warnings"]);
    // It is said, and stored nowhere.
    let stored = person.get(&format!("/pos/sales/{}", sold["id"].as_str().expect("an id"))).await.ok(200);
    assert_eq!(stored.get("warnings"), None);
    assert!(shop.outbox().await.iter().all(|entry| !entry.payload.contains("warnings")));

    (cart["id"], cart["customerId"]) = (json!(uuid::Uuid::now_v7()), json!(id("HQ-000001")));
    cart["expectedTotal"] = json!(1);
    let refusal = person.post("/pos/sales", cart).await.refused(409, "total_mismatch");
    let all = [("MEMBERS", 1), ("MEMBERS", 2), ("THREE", 2)].map(|(code, line)| (code.to_owned(), line));
    assert_eq!(named(&refusal["quote"]), all);
    let plain = person.post("/pos/quote", json!({"lines": [line("BREAD", 1)]})).await.ok(200);
    assert_eq!(plain["warnings"], json!([]));
}
