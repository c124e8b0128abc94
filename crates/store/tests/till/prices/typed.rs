//! What is typed in at the till: names, notes, serial numbers and prices.

use serde_json::{Value as Json, json};
use tillkeep_model::Money;
use tillkeep_storage::entity::product;

use super::{cash, product, sends, sold, with};
use crate::kit::{Person, Shop, cart, line};

async fn scene(most: Option<i64>) -> (Shop, Person) {
    let shop = Shop::open_with(|own| own.max_open_price = most.map(Money)).await;
    let open = |sku: &str| product::Model { is_open_price: true, ..product(sku, 0) };
    let pack = tillkeep_model::JsonText(json!([{"code": "036000291452", "quantity": 6}]));
    sends(
        &shop,
        [
            open("FLOWER"),
            product::Model { named_at_till: true, ..open("THING") },
            product::Model { packs: pack, ..product("CAN", 99) },
            product("CAKE", 1000),
        ],
    )
    .await;
    let person = shop.selling().await;
    (shop, person)
}

fn opened(sku: &str, price: i64) -> Json {
    with(line(sku, 1), "openPrice", price)
}

#[tokio::test]
async fn what_is_named_at_the_till_has_that_name_on_the_document_and_nothing_else_is_renamed() {
    let (_shop, person) = scene(None).await;
    let chair = with(opened("THING", 4500), "name", " An old chair ");
    let (quote, sale) = sold(&person, cart(json!([chair, opened("FLOWER", 300)]), cash())).await;
    for lines in [&quote["lines"], &sale["saleItems"]] {
        assert_eq!((&lines[0]["productName"], &lines[1]["productName"]), (&json!("An old chair"), &json!("flower")));
    }
    for (line, field) in [
        (opened("THING", 4500), "name"),
        (with(opened("THING", 4500), "name", " "), "name"),
        (with(opened("THING", 4500), "name", "x".repeat(61)), "name"),
        (with(opened("FLOWER", 300), "name", "A rose"), "name"),
        (with(line("CAKE", 1), "name", "A cake"), "name"),
        (with(line("CAKE", 1), "note", "x".repeat(61)), "note"),
        (with(line("CAKE", 1), "serial", "x".repeat(61)), "serial"),
    ] {
        let request = cart(json!([line]), cash());
        person.post("/pos/sales", request).await.refused_at(422, "validation", &format!("lines[0].{field}"));
    }
    let request = with(cart(json!([line("CAKE", 1)]), cash()), "note", "x".repeat(201));
    person.post("/pos/sales", request).await.refused_at(422, "validation", "note");
}

#[tokio::test]
async fn notes_and_serial_numbers_are_kept_on_the_document_and_travel() {
    let (shop, person) = scene(None).await;
    let noted = with(with(line("CAKE", 1), "note", "x".repeat(60)), "serial", "SN-4711");
    let request = with(cart(json!([noted, line("CAN", 1)]), cash()), "note", "x".repeat(200));
    let (_, sale) = sold(&person, request).await;
    let entry = shop.outbox().await.pop().expect("an entry");
    let sent: Json = serde_json::from_str(&entry.payload).expect("JSON");
    let found = person.get(&format!("/pos/sales/{}", sale["id"].as_str().expect("an id"))).await.ok(200);
    for document in [&sale, &sent, &found] {
        assert_eq!(document["note"], "x".repeat(200));
        let kept = [0, 1].map(|place: usize| {
            let item = &document["saleItems"][place];
            (item["note"].clone(), item["serial"].clone())
        });
        assert_eq!(kept, [(json!("x".repeat(60)), json!("SN-4711")), (Json::Null, Json::Null)]);
    }
}

#[tokio::test]
async fn a_typed_price_is_at_most_what_the_store_allows() {
    let (_shop, person) = scene(Some(10_000)).await;
    person.post("/pos/sales", cart(json!([opened("FLOWER", 10_000)]), cash())).await.ok(201);
    for price in [10_001, 78_759_170_383] {
        let request = cart(json!([opened("FLOWER", price)]), cash());
        person.post("/pos/quote", request.clone()).await.refused_at(422, "validation", "lines[0].openPrice");
        person.post("/pos/sales", request).await.refused_at(422, "validation", "lines[0].openPrice");
    }
    // It is not for prices that are changed, which another person answers for.
    let changed = with(with(line("CAKE", 1), "unitPriceOverride", 20_000), "overrideReason", "gold leaf");
    person.post("/pos/sales", cart(json!([changed]), cash())).await.ok(201);
    let (_shop, person) = scene(None).await;
    person.post("/pos/sales", cart(json!([opened("FLOWER", 78_759_170_383)]), cash())).await.ok(201);
}

#[tokio::test]
async fn a_typed_price_that_is_a_code_of_a_product_was_scanned_into_the_wrong_field() {
    let (_shop, person) = scene(None).await;
    let changed = |price: i64| with(with(line("CAKE", 1), "unitPriceOverride", price), "overrideReason", "a dent");
    // The code of bread and that of a pack of cans; zeros that a code begins with are in no number.
    for code in [12_345_678_905, 36_000_291_452] {
        for (line, field) in [(opened("FLOWER", code), "openPrice"), (changed(code), "unitPriceOverride")] {
            let request = cart(json!([line]), cash());
            let field = format!("lines[0].{field}");
            person.post("/pos/quote", request.clone()).await.refused_at(422, "validation", &field);
            person.post("/pos/sales", request).await.refused_at(422, "validation", &field);
        }
    }
    person.post("/pos/sales", cart(json!([opened("FLOWER", 12_345_678_906)]), cash())).await.ok(201);
}
