//! A cart that is parked again is the same one, and the sale that it was to become is none any more.

use serde_json::json;
use tillkeep_storage::entity::{parked_cart, sale};

use super::{PARKED, clerk, dropped, others, parked, path, resume, row, sale_of, to_park};
use crate::kit::{Shop, cart, id, line};

#[tokio::test]
async fn a_cart_that_is_parked_again_is_the_same_row_with_what_it_has_now() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let elsewhere = others(&shop, 2).await.remove(0);
    let cart = parked(&person).await;
    let first = resume(&person, &cart).await.ok(200);
    let mut again = to_park(&json!([line("TEA", 2), line("BREAD", 1)]));
    (again["label"], again["cart"]["id"]) = (json!("Blue coat, with bread"), first["cart"]["id"].clone());
    let parked = person.post(PARKED, again.clone()).await.ok(201);
    assert_eq!(
        (&parked["id"], &parked["state"], &parked["label"], &parked["itemCount"]),
        (&cart["id"], &json!("parked"), &json!("Blue coat, with bread"), &json!(2))
    );
    assert!(parked["saleId"].is_null() && parked["resumedAt"].is_null(), "{parked}");
    assert_eq!(person.post(PARKED, again.clone()).await.ok(200), parked, "the same request once more");
    assert_eq!(shop.count::<parked_cart::Entity>().await, 1);

    let second = resume(&elsewhere, &cart).await.ok(200);
    assert_ne!(second["cart"]["id"], first["cart"]["id"], "another sale");
    assert_eq!(second["cart"]["lines"].as_array().map(Vec::len), Some(2));
    // However late it comes, the request parks nothing that another till has.
    assert_eq!(person.post(PARKED, again).await.ok(200)["state"], "resumed");
    assert_eq!(shop.count::<parked_cart::Entity>().await, 1);
}

#[tokio::test]
async fn a_sale_that_comes_after_its_cart_was_parked_again_is_refused_and_the_cart_sold_once() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let elsewhere = others(&shop, 2).await.remove(0);
    elsewhere.post(&format!("/registers/{}/open", id("register 02")), json!({})).await.ok(201);
    let cart = parked(&person).await;
    let late = sale_of(&resume(&person, &cart).await.ok(200));
    let mut again = to_park(&json!([line("TEA", 2)]));
    again["cart"]["id"] = late["id"].clone();
    person.post(PARKED, again).await.ok(201);
    let refused = person.post("/pos/sales", late.clone()).await.refused(409, "conflict");
    assert_eq!(refused["parkedCartId"], cart["id"]);

    let resumed = resume(&elsewhere, &cart).await.ok(200);
    person.post("/pos/sales", late.clone()).await.refused_at(409, "conflict", "id");
    elsewhere.post("/pos/sales", sale_of(&resumed)).await.ok(201);
    person.post("/pos/sales", late.clone()).await.refused_at(409, "conflict", "id");

    // Another server on the same database knows it as well.
    let shop = shop.again(None, |_| ()).await;
    shop.person(&person).post("/pos/sales", late).await.refused_at(409, "conflict", "id");
    assert_eq!(shop.count::<sale::Entity>().await, 1);
}

#[tokio::test]
async fn a_cart_that_was_begun_as_a_sale_is_parked_in_its_place() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let begun = cart(json!([line("TEA", 1)]), json!([{"tenderId": id("CASH")}]));
    let mut asked = to_park(&json!([line("TEA", 1)]));
    asked["cart"]["id"] = begun["id"].clone();
    let waiting = person.post(PARKED, asked).await.ok(201);
    person.post("/pos/sales", begun).await.refused_at(409, "conflict", "id");
    let resumed = resume(&person, &waiting).await.ok(200);
    person.post("/pos/sales", sale_of(&resumed)).await.ok(201);

    // What was sold before is not parked.
    let sold = person.sell(json!([line("TEA", 1)])).await.ok(201);
    let mut late = to_park(&json!([line("TEA", 1)]));
    late["cart"]["id"] = sold["id"].clone();
    person.post(PARKED, late).await.refused(409, "cart_sold");
}

#[tokio::test]
async fn a_resumed_cart_is_parked_again_or_dropped_where_it_is_or_by_whoever_may_close() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let elsewhere = others(&shop, 2).await.remove(0);
    let clerk = clerk(&shop, "T2").await;
    let cart = parked(&person).await;
    let resumed = resume(&person, &cart).await.ok(200);
    let mut there = to_park(&json!([line("TEA", 2)]));
    (there["cart"]["id"], there["cart"]["terminalId"]) = (resumed["cart"]["id"].clone(), json!("T2"));
    clerk.post(PARKED, there.clone()).await.refused(409, "already_resumed");
    dropped(&clerk, &cart).await.refused(409, "already_resumed");
    assert_eq!(row(&shop, &cart).await.state, "resumed");
    // The till is broken: whoever runs the shop frees the cart.
    let freed = elsewhere.post(PARKED, there).await.ok(201);
    assert_eq!((&freed["id"], &freed["terminalId"]), (&cart["id"], &json!("T2")));
    resume(&clerk, &cart).await.ok(200);
    assert_eq!(elsewhere.get(&path(&cart)).await.ok(200)["resumedAtTerminal"], "T2");
}

#[tokio::test]
async fn a_cart_is_parked_once_whatever_other_request_parks_it_again_under_its_id() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let begun = uuid::Uuid::now_v7();
    let of = |id: &serde_json::Value| {
        let mut asked = to_park(&json!([line("TEA", 2)]));
        asked["cart"]["id"] = id.clone();
        asked
    };
    let refused = async |id: &serde_json::Value, waiting: &serde_json::Value| {
        for drops in [false, true] {
            let mut asked = of(id);
            asked["abandoned"] = json!(drops);
            let refused = person.post(PARKED, asked).await;
            assert_eq!(refused.clone().refused(409, "id_reused")["parkedCartId"], waiting["id"]);
            refused.refused_at(409, "id_reused", "cart.id");
        }
    };
    // Its answer was lost, and its till asks under another id.
    let waiting = person.post(PARKED, of(&json!(begun))).await.ok(201);
    refused(&json!(begun), &waiting).await;
    let first = resume(&person, &waiting).await.ok(200)["cart"]["id"].clone();
    refused(&json!(begun), &waiting).await;
    person.post(PARKED, of(&first)).await.ok(201);
    refused(&first, &waiting).await;
    assert_eq!(shop.count::<parked_cart::Entity>().await, 1);

    let resumed = resume(&person, &waiting).await.ok(200);
    person.post("/pos/sales", sale_of(&resumed)).await.ok(201);
    refused(&first, &waiting).await;
    assert_eq!(shop.count::<sale::Entity>().await, 1);
}
