//! A till that heard no answer sends its request again, and nothing is done twice.

use serde_json::{Value as Json, json};
use tillkeep_model::Qty;
use tillkeep_storage::entity::{inventory_adjustment, outbox, register, sale};
use uuid::Uuid;

use crate::kit::{Shop, cart, id, line, rows};

/// A request of each route on which a till's document moves money or stock, without an id.
fn nameless() -> [(&'static str, Json); 2] {
    let mut sale = cart(json!([line("TEA", 1)]), json!([{"tenderId": id("CASH")}]));
    sale.as_object_mut().expect("an object").remove("id");
    let adjustment = json!({"productId": id("TEA"), "quantityChange": 1, "reason": "found"});
    [("/pos/sales", sale), ("/inventory/adjustments", adjustment)]
}

fn named(mut request: Json, id: impl Into<Json>) -> Json {
    request["id"] = id.into();
    request
}

#[tokio::test]
async fn what_moves_money_or_stock_is_refused_without_an_id_and_says_what_to_send() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let before = shop.outbox().await.len();
    for (path, request) in nameless() {
        for request in [request.clone(), named(request.clone(), Json::Null), named(request, Uuid::nil().to_string())] {
            let reply = person.post(path, request).await;
            assert!(reply.body["error"].as_str().is_some_and(|text| text.contains("send a UUID")), "{}", reply.body);
            reply.refused_at(422, "validation", "id");
        }
    }
    assert_eq!((shop.count::<sale::Entity>().await, shop.count::<inventory_adjustment::Entity>().await), (0, 0));
    assert_eq!((shop.level("TEA").await, shop.outbox().await.len()), (Qty::pieces(10), before));
    let (_, mut asked) = nameless().into_iter().next().expect("a cart");
    asked.as_object_mut().expect("an object").remove("payments");
    person.post("/pos/quote", asked).await.ok(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_document_sent_many_times_at_once_is_one_document() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    for (path, request) in nameless() {
        let before = shop.outbox().await.len();
        let request = named(request, Uuid::now_v7().to_string());
        let mut sent = tokio::task::JoinSet::new();
        for _ in 0..10 {
            let (person, request) = (person.clone(), request.clone());
            sent.spawn(async move { person.post(path, request).await });
        }
        let mut replies = Vec::new();
        while let Some(reply) = sent.join_next().await {
            replies.push(reply.expect("an answer"));
        }
        assert!(replies.iter().all(|reply| reply.body["data"] == replies[0].body["data"]), "{path}: {replies:?}");
        let made = replies.iter().filter(|reply| reply.status == 201).count();
        let again = replies.iter().filter(|reply| reply.status == 200).count();
        assert_eq!((made, again, shop.outbox().await.len() - before), (1, 9, 1), "{path}");
    }
    assert_eq!(shop.level("TEA").await, Qty::pieces(10), "one sold, one found");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_contents_with_one_id_at_once_are_one_document_and_a_refusal() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let one = Uuid::now_v7().to_string();
    let change = |by: i64| json!({"id": one, "productId": id("TEA"), "quantityChange": by, "reason": "found"});
    let (first, second) = tokio::join!(
        person.post("/inventory/adjustments", change(1)),
        person.post("/inventory/adjustments", change(2))
    );
    let mut statuses = [first.status, second.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409]);
    assert_eq!(shop.count::<inventory_adjustment::Entity>().await, 1);
    assert_eq!(shop.count::<outbox::Entity>().await, 2, "the drawer and the adjustment");
}

#[tokio::test]
async fn a_new_quantity_that_is_sent_again_is_the_adjustment_that_is_there() {
    let shop = Shop::open().await;
    let person = shop.sign_in("administrator").await;
    let request = json!({
        "id": Uuid::now_v7(), "productId": id("TEA"), "newQuantity": 7, "reason": "correction", "note": "shelf 3",
    });
    let made = person.post("/inventory/adjustments", request.clone()).await.ok(201);
    assert_eq!(person.post("/inventory/adjustments", request.clone()).await.ok(200), made);
    for (key, value) in [
        ("newQuantity", json!(6)),
        ("reason", json!("damaged")),
        ("note", json!("shelf 4")),
        ("unitCost", json!(100)),
        ("productId", json!(id("BREAD"))),
    ] {
        let mut other = request.clone();
        other[key] = value;
        person.post("/inventory/adjustments", other).await.refused_at(409, "id_reused", "id");
    }
    assert_eq!(shop.level("TEA").await, Qty::pieces(7));
}

#[tokio::test]
async fn a_sale_is_repeated_at_its_own_till_alone_by_whoever_stands_there() {
    let shop = Shop::open().await;
    shop.insert::<register::Entity>([rows::register("02", "T2")]).await;
    let ada = shop.selling().await;
    let other = shop.sign_in_at("administrator", "T2").await;
    other.post(&format!("/registers/{}/open", id("register 02")), json!({})).await.ok(201);
    let request = cart(json!([line("TEA", 1)]), json!([{"tenderId": id("CASH")}]));
    let sold = ada.post("/pos/sales", request.clone()).await.ok(201);
    // At another till it is not known, as it was sent and in that till's name.
    let mut there = request.clone();
    there["terminalId"] = json!("T2");
    let mut nowhere = request.clone();
    nowhere.as_object_mut().expect("a cart").remove("terminalId");
    for request in [request.clone(), there.clone(), nowhere] {
        other.post("/pos/sales", request).await.refused_at(409, "id_reused", "id");
    }
    // A cashier who came to the same till hears what the first one sold.
    let next = shop.sign_in("cashier").await;
    let again = next.post("/pos/sales", request.clone()).await.ok(200);
    assert_eq!(again["receiptNumber"], sold["receiptNumber"]);
    assert_eq!(again["cashierUserId"], json!(ada.user_id));
    assert_eq!(again["cashierName"], "A administrator");
    assert_eq!(shop.count::<sale::Entity>().await, 1);
}

#[test]
fn the_description_asks_for_the_id_of_every_document_of_a_till() {
    let (_, table) = tillkeep_store::routes::described(&[]);
    let text = tillkeep_http::describe::text(tillkeep_store::routes::ABOUT, &table);
    let document: Json = serde_json::from_str(&text).expect("json");
    let (mut asking, mut not_asking) = (Vec::new(), Vec::new());
    for (path, item) in document["paths"].as_object().expect("paths") {
        let body = &item["post"]["requestBody"]["content"]["application/json"]["schema"];
        let Some(name) = body["$ref"].as_str().and_then(|place| place.rsplit('/').next()) else { continue };
        let schema = &document["components"]["schemas"][name];
        let path = path.trim_start_matches("/api/v1");
        let of_a_till = path.starts_with("/pos/") || path.starts_with("/inventory/");
        if !of_a_till || schema["properties"]["id"].is_null() {
            continue;
        }
        let required = schema["required"].as_array().is_some_and(|required| required.contains(&json!("id")));
        if required { asking.push(path) } else { not_asking.push(path) }
    }
    assert_eq!(
        asking,
        [
            "/inventory/adjustments",
            "/pos/parked-carts",
            "/pos/prints",
            "/pos/refunds",
            "/pos/sales",
            "/pos/sales/{id}/prints",
            "/pos/sales/{id}/refunds"
        ]
    );
    assert_eq!(not_asking, ["/pos/discounts/validate", "/pos/quote"], "what is not written needs no id");
}
