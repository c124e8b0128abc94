//! What is not sold, and that the answer says what to mend.

use serde_json::{Value as Json, json};
use tillkeep_storage::entity::sale;

use crate::kit::{Shop, cart, id, line};

#[tokio::test]
async fn a_till_that_sends_all_its_fields_empty_asks_for_nothing() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let mut request = cart(json!([line("TEA", 1)]), json!([{"tenderId": id("CASH"), "reference": null}]));
    for field in [
        "lineDiscount",
        "unitPriceOverride",
        "overrideReason",
        "overrideReasonCode",
        "labelAmount",
        "openPrice",
        "code",
        "name",
        "note",
        "serial",
    ] {
        request["lines"][0][field] = Json::Null;
    }
    for field in ["cardBrand", "cardLast4", "externalId"] {
        request["payments"][0][field] = Json::Null;
    }
    for (field, value) in
        [("cartDiscount", Json::Null), ("note", Json::Null), ("approvals", json!([])), ("customerId", Json::Null)]
    {
        request[field] = value;
    }
    person.post("/pos/sales", request).await.ok(201);
}

#[tokio::test]
async fn a_cart_that_cannot_be_is_refused_at_its_field() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let cash = || json!([{"tenderId": id("CASH")}]);
    let with = |pointer: &str, value: Json| {
        let mut request = cart(json!([line("TEA", 1)]), cash());
        let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
        request.pointer_mut(parent).expect("a place")[key] = value;
        request
    };
    let cases = [
        (with("/lines/0/quantity", json!(0)), "lines[0].quantity"),
        (with("/lines/0/quantity", json!(-1)), "lines[0].quantity"),
        (with("/lines/0/quantity", json!(1.5)), "lines[0].quantity"),
        (with("/lines/0/quantity", json!(1.2375)), "lines[0].quantity"),
        (with("/lines/0/quantity", json!(1_000_000_001_i64)), "lines[0].quantity"),
        (with("/lines/0/quantity", json!(1_000_000_000_i64)), "lines[0].quantity"),
        (with("/lines/0/quantity", json!(u64::MAX)), "lines[0].quantity"),
        (with("/lines/0/productId", json!("TEA")), "lines[0].productId"),
        (with("/lines/0/productId", json!(id("nothing"))), "lines[0].productId"),
        (with("/lines/0/lineId", json!("a\0b")), "lines[0].lineId"),
        (with("/lines/0/colour", json!("red")), "lines[0].colour"),
        (with("/colour", json!("red")), "colour"),
        (with("/lines", json!([])), "lines"),
        (with("/lines", json!(vec![line("TEA", 1); 501])), "lines"),
        (with("/id", json!("not-an-id")), "id"),
        (with("/id", json!(uuid::Uuid::nil())), "id"),
        (with("/customerId", json!(id("unknown"))), "customerId"),
        (with("/salesRepId", json!(id("unknown"))), "salesRepId"),
        (with("/startedAt", json!("yesterday")), "startedAt"),
        (with("/expectedTotal", json!(21.76)), "expectedTotal"),
        (with("/expectedTotal", json!(i64::MIN)), "expectedTotal"),
        (with("/terminalId", json!("x".repeat(101))), "terminalId"),
        (with("/payments/0/tenderId", json!(id("nothing"))), "payments[0].tenderId"),
        (with("/payments/0/tenderedAmount", json!(i64::MAX)), "payments[0].tenderedAmount"),
        (with("/payments/0/reference", json!("\0")), "payments[0].reference"),
        (with("/payments/0/amount", json!(1)), "payments[0].amount"),
        (with("/payments", json!(vec![json!({"tenderId": id("CASH")}); 51])), "payments"),
    ];
    for (request, field) in cases {
        person.post("/pos/sales", request).await.refused_at(422, "validation", field);
    }
    assert_eq!(shop.count::<sale::Entity>().await, 0);
    assert!(person.send("POST", "/pos/sales", None).await.status < 500);
    // The largest line there may be is sold like any other.
    person.sell(json!([line("BREAD", 1_000_000_000_i64)])).await.ok(201);
}

#[tokio::test]
async fn what_is_not_sold_any_more_is_refused_with_its_line() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    for product in ["OLD", "GONE"] {
        let lines = json!([line("TEA", 1), line(product, 1)]);
        person.sell(lines.clone()).await.refused_at(409, "product_inactive", "lines[1].productId");
        person.post("/pos/quote", json!({"lines": lines})).await.refused(409, "product_inactive");
    }
    // Its taxes are not here yet: to sell it untaxed would be wrong, and to wait is right.
    person.sell(json!([line("EARLY", 1)])).await.refused(503, "store_not_ready");
}

#[tokio::test]
async fn a_restricted_product_is_sold_only_when_the_age_was_confirmed() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let quote = person.post("/pos/quote", json!({"lines": [line("WINE", 1)]})).await.ok(200);
    assert_eq!(quote["lines"][0]["ageRestriction"], 21, "the till sees what to ask");
    person.sell(json!([line("WINE", 1)])).await.refused_at(422, "validation", "lines[0].ageConfirmed");
    let mut unconfirmed = line("WINE", 1);
    unconfirmed["ageConfirmed"] = json!(false);
    person.sell(json!([unconfirmed])).await.refused_at(422, "validation", "lines[0].ageConfirmed");
    let mut confirmed = line("WINE", 1);
    confirmed["ageConfirmed"] = json!(true);
    person.sell(json!([confirmed])).await.ok(201);
}

#[tokio::test]
async fn payments_that_do_not_settle_a_sale_are_refused() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let pay = async |payments: Json| person.post("/pos/sales", cart(json!([line("TEA", 1)]), payments)).await;
    let refusal = pay(json!([{"tenderId": id("CASH"), "tenderedAmount": 2000}])).await.refused(422, "underpaid");
    assert_eq!((&refusal["due"], &refusal["tendered"]), (&json!(2176), &json!(2000)));
    pay(json!([])).await.refused(422, "underpaid");
    let cases = [
        json!([{"tenderId": id("CARD"), "tenderedAmount": 3000}]),
        json!([{"tenderId": id("ACCOUNT")}]),
        json!([{"tenderId": id("CASH"), "tenderedAmount": -2176}]),
        json!([{"tenderId": id("CARD")}, {"tenderId": id("CARD")}]),
        json!([{"tenderId": id("EXCHANGE")}]),
    ];
    for payments in cases {
        pay(payments).await.refused(422, "tender_rule");
    }
    let mut on_account = cart(json!([line("TEA", 1)]), json!([{"tenderId": id("ACCOUNT")}]));
    on_account["customerId"] = json!(id("HQ-000001"));
    person.post("/pos/sales", on_account).await.ok(201);
}
