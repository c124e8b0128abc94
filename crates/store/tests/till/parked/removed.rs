//! What was taken off a cart before it was paid is kept with it, and changes nothing of it.

use serde_json::{Value as Json, json};

use super::{PARKED, parked, path, resume, sale_of, to_park};
use crate::kit::{Shop, cart, id, line};

/// `count` lines that were taken off, of 2.50 each.
fn taken_off(count: usize) -> Json {
    let line = json!({"productId": id("BREAD"), "quantity": 1, "unitPrice": 250, "at": "2026-11-20T13:59:00.000Z"});
    json!(vec![line; count])
}

#[tokio::test]
async fn what_was_taken_off_travels_with_its_sale_and_changes_no_money() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let plain = person.sell(json!([line("TEA", 1)])).await.ok(201);
    let mut request = cart(json!([line("TEA", 1)]), json!([{"tenderId": id("CASH")}]));
    request["removed"] = taken_off(2);
    let sold = person.post("/pos/sales", request).await.ok(201);
    let removed = json!({"lines": taken_off(2), "more": 0, "count": 2, "amount": 500});
    assert_eq!((&sold["removed"], &sold["totalAmount"]), (&removed, &plain["totalAmount"]));
    assert_eq!(plain["removed"], Json::Null);
    let entries = shop.outbox().await;
    let sent: Json = serde_json::from_str(&entries.last().expect("an entry").payload).expect("JSON");
    assert_eq!(sent["removed"], removed);
    let read = person.get(&format!("/pos/sales/{}", sold["id"].as_str().expect("an id"))).await.ok(200);
    assert_eq!(read["removed"], removed);
}

#[tokio::test]
async fn fifty_lines_are_kept_and_then_how_many_and_how_much_there_were() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let mut request = cart(json!([line("TEA", 1)]), json!([{"tenderId": id("CASH")}]));
    request["removed"] = taken_off(500);
    let removed = person.post("/pos/sales", request.clone()).await.ok(201)["removed"].clone();
    assert_eq!(removed["lines"].as_array().map(Vec::len), Some(50));
    assert_eq!((&removed["more"], &removed["count"], &removed["amount"]), (&json!(450), &json!(500), &json!(125_000)));
    (request["id"], request["removed"]) = (json!(uuid::Uuid::now_v7()), taken_off(501));
    person.post("/pos/sales", request.clone()).await.refused_at(422, "validation", "removed");
    let most: i64 = 1_000_000_000_000;
    request["removed"] = json!([{"productId": id("BREAD"), "quantity": 2, "unitPrice": most}]);
    person.post("/pos/sales", request.clone()).await.refused_at(422, "validation", "removed[0].quantity");
    request["removed"] = json!([{"productId": id("BREAD"), "quantity": 0, "unitPrice": 250}]);
    person.post("/pos/sales", request).await.refused_at(422, "validation", "removed[0].quantity");
}

#[tokio::test]
async fn what_was_taken_off_is_no_part_of_what_is_repeated_or_approved() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let mut request = cart(json!([line("TEA", 1)]), json!([{"tenderId": id("CASH")}]));
    request["removed"] = taken_off(1);
    let sold = person.post("/pos/sales", request.clone()).await.ok(201);
    request["removed"] = taken_off(2);
    assert_eq!(person.post("/pos/sales", request.clone()).await.ok(200)["removed"], sold["removed"]);
    request.as_object_mut().expect("a cart").remove("removed");
    let without = person.post("/pos/quote", request.clone()).await.ok(200);
    request["removed"] = taken_off(3);
    let with = person.post("/pos/quote", request).await.ok(200);
    assert_eq!((&with["cartHash"], &with["totalAmount"]), (&without["cartHash"], &without["totalAmount"]));
}

#[tokio::test]
async fn the_sale_of_an_exchange_says_it_as_well() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let sold = person.sell(json!([line("TEA", 1)])).await.ok(201);
    let items = json!([{"saleItemId": sold["saleItems"][0]["id"], "quantity": 1}]);
    let done = person
        .post(
            "/pos/exchanges",
            json!({
                "terminalId": "T1",
                "refund": {"id": uuid::Uuid::now_v7(), "saleId": sold["id"], "items": items, "reason": "too small"},
                "sale": {"id": uuid::Uuid::now_v7(), "lines": [line("TEA", 1)], "removed": taken_off(1)},
            }),
        )
        .await
        .ok(201);
    assert_eq!((&done["sale"]["removed"]["count"], &done["refund"]["removed"]), (&json!(1), &Json::Null));
}

#[tokio::test]
async fn a_cart_that_waits_keeps_it_for_its_sale() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let mut asked = to_park(&json!([line("TEA", 1)]));
    asked["cart"]["removed"] = taken_off(2);
    let waiting = person.post(PARKED, asked).await.ok(201);
    let resumed = resume(&person, &waiting).await.ok(200);
    assert_eq!((&resumed["removed"]["lines"], &resumed["removed"]["amount"]), (&taken_off(2), &json!(500)));
    let mut sale = sale_of(&resumed);
    assert_eq!(sale["removed"], Json::Null, "the till says it");
    sale["removed"] = resumed["removed"]["lines"].clone();
    assert_eq!(person.post("/pos/sales", sale).await.ok(201)["removed"]["count"], 2);

    // A till that does not say it when it parks again takes nothing off the record.
    let second = parked(&person).await;
    let mut again = to_park(&json!([line("TEA", 1)]));
    (again["cart"]["id"], again["cart"]["removed"]) =
        (resume(&person, &second).await.ok(200)["cart"]["id"].clone(), taken_off(1));
    person.post(PARKED, again.clone()).await.ok(201);
    again["id"] = json!(uuid::Uuid::now_v7());
    again["cart"] = json!({"terminalId": "T1", "lines": [line("TEA", 1)], "id": resume(&person, &second).await.ok(200)["cart"]["id"]});
    person.post(PARKED, again).await.ok(201);
    assert_eq!(person.get(&path(&second)).await.ok(200)["removed"]["count"], 1);
}
