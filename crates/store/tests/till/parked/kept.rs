//! What waits is kept, and is no sale.

use serde_json::json;
use tillkeep_http::auth::housekeeping;
use tillkeep_model::Qty;
use tillkeep_storage::entity::{outbox, parked_cart, sale};
use tillkeep_storage::{fault, parked_carts};

use super::{PARKED, dropped, others, parked, path, resume, row, sale_of, to_park};
use crate::kit::{Shop, id, line};

#[tokio::test]
async fn a_cart_is_kept_as_it_was_sent_and_is_no_sale() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let entries = shop.count::<outbox::Entity>().await;
    let off = json!({"type": "percent", "bps": 500, "reason": "a dent"});
    let mut tea = line("TEA", 2);
    (tea["lineId"], tea["note"], tea["lineDiscount"]) = (json!("a"), json!("gift wrap"), off.clone());
    let mut asked = to_park(&json!([tea, line("BANANA", 1.25)]));
    (asked["cart"]["customerId"], asked["cart"]["cartDiscount"]) = (json!(id("HQ-000001")), off);
    asked["cart"]["note"] = json!("comes back at five");
    let quote = person.post("/pos/quote", asked["cart"].clone()).await.ok(200);

    let cart = person.post(PARKED, asked.clone()).await.ok(201);
    assert_eq!(
        (&cart["state"], &cart["label"], &cart["terminalId"], &cart["itemCount"], &cart["totalAtPark"]),
        (&json!("parked"), &json!("Blue coat"), &json!("T1"), &json!(2), &quote["totalAmount"])
    );
    assert_eq!((&cart["cashierUserId"], &cart["customerId"]), (&json!(person.user_id), &json!(id("HQ-000001"))));
    let drawer = person.get("/register-sessions/current").await.ok(200);
    assert_eq!((&cart["sessionId"], &cart["businessDate"]), (&drawer["id"], &drawer["businessDate"]));
    let read = person.get(&path(&cart)).await.ok(200);
    let mut sent = asked["cart"].clone();
    sent.as_object_mut().expect("a cart").remove("terminalId");
    assert_eq!((&read["cart"], &read["priced"]["lines"]), (&sent, &quote["lines"]));

    assert_eq!((shop.count::<sale::Entity>().await, shop.count::<outbox::Entity>().await), (0, entries));
    assert_eq!(shop.level("TEA").await, Qty::pieces(10));
    let lines = shop.audited("cart.park").await;
    assert_eq!((lines.len(), lines[0].user_id), (1, Some(person.user_id)));
    let next = person.sell(json!([line("TEA", 1)])).await.ok(201);
    assert_eq!(next["receiptNumber"], "S01-01-000001", "a cart that waits takes no number");
}

#[tokio::test]
async fn whoever_parks_sees_the_carts_of_the_whole_store_and_finds_them() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let elsewhere = others(&shop, 2).await.remove(0);
    let first = parked(&person).await;
    let mut second = to_park(&json!([line("BREAD", 1)]));
    (second["label"], second["cart"]["terminalId"]) = (json!("Red hat"), json!("T2"));
    let second = elsewhere.post(PARKED, second).await.ok(201);
    let ids = |list: serde_json::Value| {
        list.as_array().expect("a list").iter().map(|cart| cart["id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids(person.get(PARKED).await.ok(200)), [first["id"].clone(), second["id"].clone()]);
    assert_eq!(ids(person.get("/pos/parked-carts?terminalId=T2").await.ok(200)), [second["id"].clone()]);
    assert_eq!(ids(person.get("/pos/parked-carts?search=coat").await.ok(200)), [first["id"].clone()]);
    // What is resumed waits no more; it is found by its state.
    resume(&elsewhere, &first).await.ok(200);
    assert_eq!(ids(person.get(PARKED).await.ok(200)), [second["id"].clone()]);
    assert_eq!(ids(person.get("/pos/parked-carts?state=resumed").await.ok(200)), [first["id"].clone()]);
    person.get(&format!("{PARKED}/{}", id("none"))).await.refused(404, "not_found");
}

#[tokio::test]
async fn a_cart_that_a_till_has_and_does_not_sell_is_found_beside_no_sold_one() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let (sold, left) = (parked(&person).await, parked(&person).await);
    let taken = resume(&person, &sold).await.ok(200);
    resume(&person, &left).await.ok(200);
    person.post("/pos/sales", sale_of(&taken)).await.ok(201);
    let listed = person.get("/pos/parked-carts?state=resumed").await.ok(200);
    let ids: Vec<_> = listed.as_array().expect("a list").iter().map(|cart| &cart["id"]).collect();
    assert_eq!(ids, [&left["id"]]);
    assert_eq!(person.get(&path(&sold)).await.ok(200)["saleId"], taken["cart"]["id"], "by itself it is there");
}

#[tokio::test]
async fn a_cart_outlives_its_server_and_the_till_that_has_it_goes_on() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let (waiting, taken) = (parked(&person).await, parked(&person).await);
    let resumed = resume(&person, &taken).await.ok(200);
    let shop = shop.again(None, |_| ()).await;
    let person = shop.person(&person);
    assert_eq!(person.get(&path(&waiting)).await.ok(200)["state"], "parked");
    let again = resume(&person, &taken).await.ok(200);
    assert_eq!((&again["cart"], &again["quote"]), (&resumed["cart"], &resumed["quote"]));
    person.post("/pos/sales", sale_of(&again)).await.ok(201);
}

#[tokio::test]
async fn what_fails_on_the_way_leaves_the_cart_as_it_was() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let asked = to_park(&json!([line("TEA", 2)]));
    fault::set("parked.written", "1*return(error)->off");
    person.post(PARKED, asked.clone()).await.refused(503, "unavailable");
    assert_eq!(shop.count::<parked_cart::Entity>().await, 0);
    let cart = person.post(PARKED, asked).await.ok(201);

    fault::set("parked.resumed", "1*return(error)->off");
    resume(&person, &cart).await.refused(503, "unavailable");
    assert_eq!(person.get(&path(&cart)).await.ok(200)["state"], "parked");
    let resumed = resume(&person, &cart).await.ok(200);

    // Parked again, and nothing came of it: what it was resumed for can still be sold.
    let mut again = to_park(&json!([line("TEA", 2)]));
    again["cart"]["id"] = resumed["cart"]["id"].clone();
    fault::set("parked.written", "1*return(error)->off");
    person.post(PARKED, again).await.refused(503, "unavailable");
    assert_eq!(row(&shop, &cart).await.state, "resumed");
    person.post("/pos/sales", sale_of(&resumed)).await.ok(201);
}

#[tokio::test]
async fn at_the_close_of_a_till_the_carts_in_its_hands_are_named() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let elsewhere = others(&shop, 2).await.remove(0);
    let open_at = async |terminal: &str| {
        let carts = parked_carts::open_at(shop.store.test_db().reader(), terminal).await.expect("the carts");
        carts.into_iter().map(|cart| json!(cart.id)).collect::<Vec<_>>()
    };
    let [waits, taken, moved, sold, left] = [
        parked(&person).await,
        parked(&person).await,
        parked(&person).await,
        parked(&person).await,
        parked(&person).await,
    ];
    resume(&person, &taken).await.ok(200);
    resume(&elsewhere, &moved).await.ok(200);
    let resumed = resume(&person, &sold).await.ok(200);
    person.post("/pos/sales", sale_of(&resumed)).await.ok(201);
    dropped(&person, &left).await;
    assert_eq!(open_at("T1").await, [waits["id"].clone(), taken["id"].clone()]);
    assert_eq!(open_at("T2").await, [moved["id"].clone()], "it is in the hands of the till that resumed it");
    assert_eq!(open_at("T3").await, Vec::<serde_json::Value>::new());
}

#[tokio::test]
async fn what_was_dropped_or_sold_is_kept_for_ninety_days_and_what_waits_for_ever() {
    const DAY: i64 = 24 * 60 * 60 * 1000;
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let [waits, taken, sold, left] =
        [parked(&person).await, parked(&person).await, parked(&person).await, parked(&person).await];
    resume(&person, &taken).await.ok(200);
    let resumed = resume(&person, &sold).await.ok(200);
    person.post("/pos/sales", sale_of(&resumed)).await.ok(201);
    assert_eq!(dropped(&person, &left).await.status, 204);
    shop.clock.advance(89 * DAY);
    housekeeping::forget(&shop.store.auth).await.expect("a tidy house");
    assert_eq!(shop.count::<parked_cart::Entity>().await, 4);
    shop.clock.advance(2 * DAY);
    housekeeping::forget(&shop.store.auth).await.expect("a tidy house");
    assert_eq!(shop.count::<parked_cart::Entity>().await, 2);
    assert_eq!((row(&shop, &waits).await.state, row(&shop, &taken).await.state), ("parked".into(), "resumed".into()));
}

#[tokio::test]
async fn so_many_carts_wait_at_one_till_and_no_more() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let elsewhere = others(&shop, 2).await.remove(0);
    let first = parked(&person).await;
    for _ in 1..50 {
        parked(&person).await;
    }
    let body = person.post(PARKED, to_park(&json!([line("TEA", 1)]))).await.refused(409, "parked_limit");
    assert_eq!(body["limit"], 50);
    // At another till there is room; and one that is resumed makes room, and is parked again all the same.
    let mut there = to_park(&json!([line("TEA", 1)]));
    there["cart"]["terminalId"] = json!("T2");
    elsewhere.post(PARKED, there).await.ok(201);
    let resumed = resume(&person, &first).await.ok(200);
    parked(&person).await;
    let mut again = to_park(&json!([line("TEA", 2)]));
    again["cart"]["id"] = resumed["cart"]["id"].clone();
    assert_eq!(person.post(PARKED, again).await.ok(201)["id"], first["id"]);
}

#[tokio::test]
async fn a_cart_is_parked_at_the_own_till_by_whoever_may_and_without_what_is_paid() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let cashier = shop.sign_in("cashier").await;
    let asked = to_park(&json!([line("TEA", 1)]));
    let refused = cashier.post(PARKED, asked.clone()).await.refused(403, "forbidden");
    assert_eq!(refused["required"], json!(["pos.park_cart"]));
    cashier.get(PARKED).await.refused(403, "forbidden");
    let mut there = asked.clone();
    there["cart"]["terminalId"] = json!("T9");
    person.post(PARKED, there).await.refused(403, "wrong_terminal");
    let mut paid = asked.clone();
    paid["cart"]["payments"] = json!([{"tenderId": id("CASH")}]);
    person.post(PARKED, paid).await.refused_at(422, "validation", "cart.payments");
    let mut why = asked.clone();
    why["reason"] = json!("just so");
    person.post(PARKED, why).await.refused_at(422, "validation", "reason");
    let gone = to_park(&json!([line("TEA", 1), line("OLD", 1)]));
    person.post(PARKED, gone).await.refused_at(409, "product_inactive", "cart.lines[1].productId");
    person.post(PARKED, to_park(&json!([]))).await.refused_at(422, "validation", "cart.lines");
    let mut nameless = asked;
    nameless.as_object_mut().expect("a request").remove("id");
    person.post(PARKED, nameless).await.refused_at(422, "validation", "id");
    assert_eq!(shop.count::<parked_cart::Entity>().await, 0);
}
