//! Why somebody changed a price or took something off: of headquarters' list, or a text.

use serde_json::{Value as Json, json};

use super::{cash, product, reason, sends, sold, with};
use crate::kit::{Person, Shop, cart, line, rows};

async fn scene(required: bool) -> (Shop, Person) {
    let shop = Shop::open_with(|own| own.reasons_required = required).await;
    sends(&shop, [product("CAKE", 1000)]).await;
    let person = shop.selling().await;
    (shop, person)
}

async fn listed(shop: &Shop) {
    shop.insert::<reason::Entity>([
        reason("discount", "damaged", "Damaged"),
        reason::Model { needs_note: true, ..reason("discount", "other", "Other") },
        reason::Model { is_active: false, ..reason("discount", "old", "Old") },
        reason::Model { deleted_at: Some(rows::made()), ..reason("discount", "gone", "Gone") },
        reason("override", "price_match", "Price of a competitor"),
    ])
    .await;
}

/// A cart with one reason at three places.
fn carts(given: &Json) -> [(Json, &'static str); 3] {
    let discount = |given: &Json| {
        let mut discount = json!({"type": "percent", "bps": 500});
        for (key, value) in given.as_object().expect("a reason") {
            discount[key] = value.clone();
        }
        discount
    };
    let mut changed = with(line("CAKE", 1), "unitPriceOverride", 900);
    for (key, name) in [("reason", "overrideReason"), ("reasonCode", "overrideReasonCode")] {
        changed[name] = given[key].clone();
    }
    let of_line = cart(json!([with(line("CAKE", 1), "lineDiscount", discount(given))]), cash());
    let of_cart = with(cart(json!([line("CAKE", 1)]), cash()), "cartDiscount", discount(given));
    [(of_line, "lines[0].lineDiscount."), (of_cart, "cartDiscount."), (cart(json!([changed]), cash()), "override")]
}

/// The field of a reason as the refusal of one of [`carts`] names it.
fn named(place: &str, field: &str) -> String {
    match (place, field) {
        ("override", "reason") => "lines[0].overrideReason".to_owned(),
        ("override", _) => "lines[0].overrideReasonCode".to_owned(),
        (place, field) => format!("{place}{field}"),
    }
}

#[tokio::test]
async fn a_document_keeps_the_code_of_a_reason_and_its_name_or_the_text_as_it_was() {
    let (shop, person) = scene(false).await;
    listed(&shop).await;
    for (given, code, text) in [
        (json!({"reason": " a dent "}), Json::Null, "a dent"),
        (json!({"reasonCode": "damaged"}), json!("damaged"), "Damaged"),
        (json!({"reasonCode": "damaged", "reason": "a dent"}), json!("damaged"), "a dent"),
        (json!({"reasonCode": "other", "reason": "it rained"}), json!("other"), "it rained"),
    ] {
        let [(of_line, _), (of_cart, _), _] = carts(&given);
        let (_, sale) = sold(&person, of_line).await;
        let item = &sale["saleItems"][0];
        assert_eq!((&item["discountReasonCode"], &item["discountReason"]), (&code, &json!(text)), "{given}");
        assert_eq!((&item["lineDiscountType"], &item["lineDiscountValue"]), (&json!("percent"), &json!(500)));
        let (_, sale) = sold(&person, of_cart).await;
        assert_eq!((&sale["cartDiscountReasonCode"], &sale["cartDiscountReason"]), (&code, &json!(text)), "{given}");
        assert_eq!((&sale["cartDiscountType"], &sale["cartDiscountValue"]), (&json!("percent"), &json!(500)));
    }
    let [.., (changed, _)] = carts(&json!({"reasonCode": "price_match"}));
    let (_, sale) = sold(&person, changed).await;
    let item = &sale["saleItems"][0];
    assert_eq!(item["overrideReasonCode"], "price_match");
    assert_eq!(item["overrideReason"], "Price of a competitor");
}

#[tokio::test]
async fn a_code_that_is_none_of_its_kind_and_a_note_that_is_missing_are_refused_by_their_field() {
    let (shop, person) = scene(false).await;
    listed(&shop).await;
    for (given, field) in [
        (json!({}), "reason"),
        (json!({"reason": " "}), "reason"),
        (json!({"reasonCode": "unknown"}), "reasonCode"),
        (json!({"reasonCode": "old"}), "reasonCode"),
        (json!({"reasonCode": "gone"}), "reasonCode"),
    ] {
        for (request, place) in carts(&given) {
            let quoted = person.post("/pos/quote", request.clone()).await;
            if field == "reason" && place != "override" {
                // What a discount comes to may be asked before it has a reason; it is not sold without one.
                quoted.ok(200);
            } else {
                quoted.refused_at(422, "validation", &named(place, field));
            }
            person.post("/pos/sales", request).await.refused_at(422, "validation", &named(place, field));
        }
    }
    // A kind has its own codes, and some of them say too little alone.
    let [(of_line, _), _, (changed, _)] = carts(&json!({"reasonCode": "price_match"}));
    person.post("/pos/sales", of_line).await.refused_at(422, "validation", "lines[0].lineDiscount.reasonCode");
    person.post("/pos/sales", changed).await.ok(201);
    let [(of_line, _), (of_cart, _), (changed, _)] = carts(&json!({"reasonCode": "other"}));
    person.post("/pos/sales", of_line).await.refused_at(422, "validation", "lines[0].lineDiscount.reason");
    person.post("/pos/sales", of_cart).await.refused_at(422, "validation", "cartDiscount.reason");
    person.post("/pos/sales", changed).await.refused_at(422, "validation", "lines[0].overrideReasonCode");
}

#[tokio::test]
async fn where_reasons_are_required_a_text_is_none_as_long_as_the_list_has_one_of_its_kind() {
    let (shop, person) = scene(true).await;
    let text = json!({"reason": "a dent"});
    for (request, _) in carts(&text) {
        person.post("/pos/sales", request).await.ok(201);
    }
    listed(&shop).await;
    for (request, place) in carts(&text) {
        person.post("/pos/sales", request).await.refused_at(422, "validation", &named(place, "reasonCode"));
    }
    let [(of_line, _), (of_cart, _), _] = carts(&json!({"reasonCode": "damaged", "reason": "a dent"}));
    for request in [of_line, of_cart] {
        person.post("/pos/sales", request).await.ok(201);
    }
    let [.., (changed, _)] = carts(&json!({"reasonCode": "price_match"}));
    person.post("/pos/sales", changed).await.ok(201);
}

#[tokio::test]
async fn a_reason_for_nothing_is_refused() {
    let (_shop, person) = scene(false).await;
    for field in ["overrideReason", "overrideReasonCode"] {
        let request = cart(json!([with(line("CAKE", 1), field, "price_match")]), cash());
        person.post("/pos/sales", request).await.refused_at(422, "validation", "lines[0].overrideReason");
    }
}
