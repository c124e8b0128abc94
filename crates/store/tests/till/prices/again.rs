//! A till that heard no answer sends its cart again: the same is the sale that is there, anything else is refused.

use serde_json::{Value as Json, json};
use tillkeep_storage::entity::{outbox, sale};
use uuid::Uuid;

use super::market::{self, Dice, cart_by_chance, label};
use super::{less, list, off, with};
use crate::kit::{Person, Shop, cart, document, id, line};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_thousand_of_a_thousand_repeated_requests_with_all_that_a_cart_can_have_are_one_sale_each() {
    let shop = Shop::open().await;
    market::fill(&shop).await;
    let person = shop.selling().await;
    let dice = Dice::of(1000);
    let mut again = 0;
    for _ in 0..100 {
        let request = cart_by_chance(&dice, &person).await;
        let sold = person.post("/pos/sales", request.clone()).await.ok(201);
        let mut sent = tokio::task::JoinSet::new();
        for _ in 0..10 {
            let (person, request) = (person.clone(), request.clone());
            sent.spawn(async move { person.post("/pos/sales", request).await });
        }
        for reply in sent.join_all().await {
            assert_eq!(document(&reply.ok(200)), document(&sold), "{request}");
            again += 1;
        }
    }
    assert_eq!((again, shop.count::<sale::Entity>().await), (1000, 100));
    assert_eq!(shop.count::<outbox::Entity>().await, 101, "the drawer and each sale once");
}

/// A cart with one of everything.
fn everything() -> Json {
    let discounted = json!({
        "productId": id("G0"), "quantity": 2, "note": "by hand", "serial": "SN-1",
        "lineDiscount": {"type": "percent", "bps": 500, "reasonCode": "damaged"},
    });
    let chair = with(with(line("THING", 1), "openPrice", 700), "name", "An old chair");
    let changed = with(with(line("G7", 1), "unitPriceOverride", 9000), "overrideReason", "a scratched tin");
    let matched = with(with(line("G7", 1), "unitPriceOverride", 9500), "overrideReasonCode", "price_match");
    let lines = json!([
        discounted,
        {"productId": id("PLUM"), "code": label("20", "04012", 741), "labelAmount": 741},
        {"productId": id("CAN"), "code": "CASE-12", "quantity": 24},
        chair,
        line("BOTTLE", 3),
        changed,
        {"productId": id("PLUM"), "code": label("21", "04012", 1237)},
        matched,
        with(line("REPAIRS", 1), "openPrice", 1234),
    ]);
    let payments = json!([
        {"tenderId": id("CASH"), "tenderedAmount": 300},
        {"tenderId": id("CARD"), "cardBrand": "VISA", "cardLast4": "4242", "externalId": "tx-1", "reference": "A1"},
    ]);
    let cart = with(cart(lines, payments), "cartDiscount", less(100));
    let cart = with(cart, "customerId", json!(id("HQ-000001")));
    with(with(cart, "note", "a gift"), "salesRepId", json!(id("rep")))
}

/// What is different in another request: the place of a value, and the value; nothing takes it away.
fn changes() -> Vec<(&'static str, Json)> {
    vec![
        ("/lines/0/lineDiscount/bps", json!(501)),
        ("/lines/0/lineDiscount/reasonCode", json!("other")),
        ("/lines/0/lineDiscount/reason", json!("torn")),
        ("/lines/0/lineDiscount", less(500)),
        ("/lines/0/lineDiscount", off(500)),
        ("/lines/0/lineDiscount", Json::Null),
        ("/lines/0/quantity", json!(3)),
        ("/lines/0/note", json!("by hand!")),
        ("/lines/0/note", Json::Null),
        ("/lines/0/serial", json!("SN-2")),
        ("/lines/0/serial", Json::Null),
        ("/lines/0/code", json!("G0")),
        ("/lines/0/openPrice", json!(1999)),
        ("/lines/0/name", json!("Another name")),
        ("/lines/0/ageConfirmed", json!(true)),
        ("/lines/1/code", json!(label("20", "04012", 742))),
        ("/lines/1/labelAmount", json!(742)),
        ("/lines/1/productId", json!(id("FISH"))),
        ("/lines/1/lineDiscount", off(100)),
        ("/lines/2/code", json!("CASE-6")),
        ("/lines/2/code", Json::Null),
        ("/lines/2/quantity", json!(12)),
        ("/lines/3/name", json!("A new chair")),
        ("/lines/3/openPrice", json!(701)),
        ("/lines/4/quantity", json!(4)),
        ("/lines/5/unitPriceOverride", json!(9001)),
        ("/lines/5/overrideReason", json!("a dented tin")),
        ("/lines/5/overrideReasonCode", json!("price_match")),
        ("/lines/6/code", json!(label("21", "04012", 1238))),
        ("/lines/6/code", json!(label("20", "04012", 1237))),
        ("/lines/7/overrideReasonCode", json!("other")),
        ("/lines/7/overrideReason", json!("said the customer")),
        ("/lines/8/openPrice", json!(1235)),
        ("/lines/8/lineDiscount", less(1)),
        ("/cartDiscount/amount", json!(101)),
        ("/cartDiscount/reason", json!("complaint")),
        ("/cartDiscount/reasonCode", json!("damaged")),
        ("/cartDiscount", off(100)),
        ("/cartDiscount", Json::Null),
        ("/note", json!("two gifts")),
        ("/note", Json::Null),
        ("/customerId", json!(id("HQ-000002"))),
        ("/customerId", Json::Null),
        ("/salesRepId", Json::Null),
        ("/expectedTotal", json!(1)),
        ("/payments/0/tenderedAmount", json!(301)),
        ("/payments/0/tenderId", json!(id("CHECK"))),
        ("/payments/1/tenderedAmount", json!(1)),
        ("/payments/1/cardBrand", json!("MASTERCARD")),
        ("/payments/1/cardBrand", Json::Null),
        ("/payments/1/cardLast4", json!("4243")),
        ("/payments/1/externalId", json!("tx-2")),
        ("/payments/1/externalId", Json::Null),
        ("/payments/1/reference", json!("A2")),
    ]
}

/// The request with another value at a place.
pub(super) fn changed(request: &Json, pointer: &str, value: Json) -> Json {
    let mut other = request.clone();
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    let parent = if parent.is_empty() { &mut other } else { other.pointer_mut(parent).expect("a place") };
    parent[key] = value;
    other
}

async fn scene() -> (Shop, Person) {
    let shop = Shop::open().await;
    market::fill(&shop).await;
    let person = shop.selling().await;
    (shop, person)
}

#[tokio::test]
async fn each_field_that_is_another_one_in_a_repeated_request_is_refused() {
    let (shop, person) = scene().await;
    let request = everything();
    let sold = person.post("/pos/sales", request.clone()).await.ok(201);
    let mut taken = Vec::new();
    for (pointer, value) in changes() {
        let reply = person.post("/pos/sales", changed(&request, pointer, value.clone())).await;
        if (reply.status, reply.body["code"].as_str()) != (409, Some("id_reused")) {
            taken.push(format!("{pointer} = {value}: {} {}", reply.status, reply.body["code"]));
        }
    }
    assert!(taken.is_empty(), "{taken:#?}");
    // As are lines that are others, more, fewer or in another order.
    let mut more = request.clone();
    more["lines"].as_array_mut().expect("lines").push(line("G3", 1));
    let mut fewer = request.clone();
    fewer["lines"].as_array_mut().expect("lines").pop();
    let mut swapped = request.clone();
    swapped["lines"].as_array_mut().expect("lines").swap(5, 7);
    for other in [more, fewer, swapped] {
        person.post("/pos/sales", other).await.refused_at(409, "id_reused", "id");
    }
    assert_eq!(document(&person.post("/pos/sales", request).await.ok(200)), document(&sold));
    assert_eq!(shop.count::<sale::Entity>().await, 1);
}

#[tokio::test]
async fn a_cart_is_the_same_with_spaces_around_its_texts_and_when_what_it_was_sold_by_has_changed() {
    let (shop, person) = scene().await;
    let spaced = changed(&everything(), "/lines/7/overrideReasonCode", json!(" price_match "));
    let spaced = changed(&spaced, "/lines/0/lineDiscount/reasonCode", json!(" damaged "));
    let spaced = changed(&spaced, "/lines/5/overrideReason", json!(" a scratched tin "));
    let spaced = changed(&spaced, "/lines/3/name", json!(" An old chair "));
    let spaced = changed(&spaced, "/lines/2/code", json!(" CASE-12 "));
    let sold = person.post("/pos/sales", spaced.clone()).await.ok(201);
    assert_eq!(list(&sold, "saleItems")[3]["productName"], "An old chair");
    for request in [spaced.clone(), with(everything(), "id", spaced["id"].clone())] {
        assert_eq!(document(&person.post("/pos/sales", request).await.ok(200)), document(&sold));
    }
    // Prices, specials, packs and charges are others meanwhile, and the sale is what it was.
    for sku in ["G0", "PLUM", "CAN", "BOTTLE"] {
        shop.change_product(sku, |row| {
            row.price.0 += 100;
            (row.packs, row.charge_product_id) = (tillkeep_model::JsonText(json!([])), None);
        })
        .await;
    }
    for code in ["PERCENT", "AMOUNT", "RIPE", "HERE"] {
        super::ends(&shop, code).await;
    }
    assert_eq!(document(&person.post("/pos/sales", spaced.clone()).await.ok(200)), document(&sold));
    // As a cart of today it is refused.
    let today = with(spaced, "id", Uuid::now_v7().to_string());
    person.post("/pos/sales", today).await.refused_at(422, "validation", "lines[2].code");
}
