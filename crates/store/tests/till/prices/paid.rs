//! Payments of a cart: what one without an amount means, and what is kept of a card.

use serde_json::{Value as Json, json};

use super::{adds_up, int, list};
use crate::kit::{Shop, as_read, cart, document, id, line};

fn code(payment: &Json) -> &str {
    payment["tenderCode"].as_str().expect("a code")
}

/// The tender and the amount of each payment.
fn paid(sale: &Json) -> Vec<(&str, i64)> {
    let one = |row| (code(row), int(row, "amount"));
    list(sale, "salePayments").iter().map(one).collect()
}

#[tokio::test]
async fn a_payment_without_an_amount_is_what_the_others_leave_wherever_it_stands() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let (cash, card) = (json!({"tenderId": id("CASH"), "tenderedAmount": 300}), json!({"tenderId": id("CARD")}));
    let check = json!({"tenderId": id("CHECK"), "tenderedAmount": 200});
    for (payments, expected) in [
        (json!([cash, card]), vec![("CARD", 1876), ("CASH", 300)]),
        (json!([card, cash]), vec![("CARD", 1876), ("CASH", 300)]),
        (json!([card, cash, check]), vec![("CARD", 1676), ("CHECK", 200), ("CASH", 300)]),
        (json!([check, card, cash]), vec![("CHECK", 200), ("CARD", 1676), ("CASH", 300)]),
        (json!([check, {"tenderId": id("CASH")}]), vec![("CHECK", 200), ("CASH", 1976)]),
        (json!([{"tenderId": id("CASH")}, check]), vec![("CHECK", 200), ("CASH", 1976)]),
    ] {
        let sale = person.post("/pos/sales", cart(json!([line("TEA", 1)]), payments.clone())).await.ok(201);
        assert_eq!(paid(&sale), expected, "{payments}");
        adds_up(&sale);
    }
}

#[tokio::test]
async fn two_payments_without_an_amount_or_one_that_nothing_is_left_for_are_refused() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let card = || json!({"tenderId": id("CARD")});
    for (payments, field) in [
        (json!([card(), card()]), "payments[1]"),
        (json!([{"tenderId": id("CASH")}, card()]), "payments[1]"),
        (json!([card(), {"tenderId": id("CASH")}]), "payments[1]"),
        (json!([card(), {"tenderId": id("CASH"), "tenderedAmount": 2176}]), "payments[0]"),
        (json!([{"tenderId": id("CASH"), "tenderedAmount": 3000}, card()]), "payments[1]"),
    ] {
        let request = cart(json!([line("TEA", 1)]), payments.clone());
        person.post("/pos/quote", request.clone()).await.refused_at(422, "tender_rule", field);
        person.post("/pos/sales", request).await.refused_at(422, "tender_rule", field);
    }
}

#[tokio::test]
async fn what_is_known_of_a_card_payment_is_kept_and_answered() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let card = json!({
        "tenderId": id("CARD"), "reference": "A1", "cardBrand": "VISA", "cardLast4": "0042", "externalId": "tx-77",
    });
    let request = cart(json!([line("TEA", 1)]), json!([{"tenderId": id("CASH"), "tenderedAmount": 300}, card]));
    let sale = person.post("/pos/sales", request.clone()).await.ok(201);
    let kept = |row: &Json| ["reference", "cardBrand", "cardLast4", "externalId"].map(|key| row[key].clone());
    assert_eq!(kept(&sale["salePayments"][0]), ["A1", "VISA", "0042", "tx-77"].map(|text| json!(text)));
    assert_eq!(kept(&sale["salePayments"][1]), [const { Json::Null }; 4]);
    let path = format!("/pos/sales/{}", sale["id"].as_str().expect("an id"));
    assert_eq!(person.get(&path).await.ok(200), as_read(&sale));
    let entry = shop.outbox().await.pop().expect("an entry");
    assert_eq!(serde_json::from_str::<Json>(&entry.payload).expect("JSON"), document(&sale));
    for (field, wrong) in [
        ("cardLast4", json!("42")),
        ("cardLast4", json!("4o42")),
        ("cardLast4", json!("04242")),
        ("cardBrand", json!("x".repeat(41))),
    ] {
        let mut request = super::anew(&request);
        request["payments"][1][field] = wrong;
        person.post("/pos/sales", request).await.refused_at(422, "validation", &format!("payments[1].{field}"));
    }
}
