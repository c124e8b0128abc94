//! One cart is in the hands of one till, and a request that comes again is one request.

use serde_json::json;
use tillkeep_storage::entity::{parked_cart, sale};

use super::{PARKED, others, parked, path, resume, row, sale_of, to_park};
use crate::kit::{Shop, line};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_sixteen_tills_that_resume_one_cart_at_once_one_has_it() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let mut tills = others(&shop, 16).await;
    tills.push(person.clone());
    for _ in 0..4 {
        let cart = parked(&person).await;
        let mut asked = tokio::task::JoinSet::new();
        for till in tills.clone() {
            let cart = cart.clone();
            asked.spawn(async move { resume(&till, &cart).await });
        }
        let replies = asked.join_all().await;
        let (has_it, others): (Vec<_>, Vec<_>) = replies.into_iter().partition(|reply| reply.status == 200);
        assert_eq!((has_it.len(), others.len()), (1, 15));
        for other in others {
            other.refused(409, "already_resumed");
        }
        let row = row(&shop, &cart).await;
        assert_eq!(has_it[0].body["data"]["cart"]["id"], json!(row.sale_id));
        assert_eq!(has_it[0].body["data"]["cart"]["terminalId"], json!(row.resumed_at_terminal));
    }
}

#[tokio::test]
async fn the_till_that_has_a_cart_gets_it_again_until_it_is_sold_and_no_other_does() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let elsewhere = others(&shop, 2).await.remove(0);
    let cart = parked(&person).await;
    let first = resume(&person, &cart).await.ok(200);
    let sale_id = first["cart"]["id"].clone();
    assert_ne!(sale_id, cart["id"], "its sale has an id of its own");
    assert_eq!(first["parkedCart"]["state"], "resumed");
    let again = resume(&person, &cart).await.ok(200);
    assert_eq!((&again["cart"], &again["parkedCart"]), (&first["cart"], &first["parkedCart"]));
    let refused = resume(&elsewhere, &cart).await.refused(409, "already_resumed");
    assert_eq!(refused["terminalId"], "T1");

    let sold = person.post("/pos/sales", sale_of(&again)).await.ok(201);
    assert_eq!((&sold["id"], &sold["totalAmount"]), (&sale_id, &cart["totalAtPark"]));
    for till in [&person, &elsewhere] {
        let refused = resume(till, &cart).await.refused(409, "cart_sold");
        assert_eq!(refused["saleId"], sale_id);
    }
    let mut parked_again = to_park(&json!([line("TEA", 2)]));
    parked_again["cart"]["id"] = sale_id;
    person.post(PARKED, parked_again).await.refused(409, "cart_sold");
    person.send("DELETE", &path(&cart), Some(json!({"reason": "gone"}))).await.refused(409, "cart_sold");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_request_that_comes_again_parks_one_cart_and_one_with_other_content_is_refused() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let asked = to_park(&json!([line("TEA", 2)]));
    let mut sent = tokio::task::JoinSet::new();
    for _ in 0..10 {
        let (person, asked) = (person.clone(), asked.clone());
        sent.spawn(async move { person.post(PARKED, asked).await.status });
    }
    let mut statuses = sent.join_all().await;
    statuses.sort_unstable();
    assert_eq!(statuses, [[200; 9].as_slice(), &[201]].concat());
    assert_eq!(shop.count::<parked_cart::Entity>().await, 1);
    // Nothing that changed since is looked at, and what was taken off is not compared.
    shop.change_product("TEA", |tea| tea.is_active = false).await;
    let mut record = asked.clone();
    record["cart"]["removed"] = json!([{"productId": crate::kit::id("BREAD"), "quantity": 1, "unitPrice": 250}]);
    for repeated in [&asked, &record] {
        assert_eq!(person.post(PARKED, repeated.clone()).await.ok(200)["id"], asked["id"]);
    }
    let (mut other, mut renamed, mut gone) = (asked.clone(), asked.clone(), asked.clone());
    other["cart"]["lines"][0]["quantity"] = json!(3);
    renamed["label"] = json!("Red hat");
    gone["abandoned"] = json!(true);
    for changed in [other, renamed, gone] {
        person.post(PARKED, changed).await.refused_at(409, "id_reused", "id");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_cart_is_parked_again_or_sold_and_never_both() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let (mut sales, mut carts) = (0, 0);
    for _ in 0..20 {
        let cart = parked(&person).await;
        let resumed = resume(&person, &cart).await.ok(200);
        let mut again = to_park(&json!([line("TEA", 2)]));
        again["cart"]["id"] = resumed["cart"]["id"].clone();
        let (selling, parking) = tokio::join!(person.post("/pos/sales", sale_of(&resumed)), person.post(PARKED, again));
        match (selling.status, parking.status) {
            (201, 409) => {
                parking.refused(409, "cart_sold");
                sales += 1;
            }
            (409, 201) => {
                selling.refused_at(409, "conflict", "id");
                carts += 1;
            }
            both => panic!("sold and parked: {both:?}"),
        }
    }
    assert_eq!((shop.count::<sale::Entity>().await, sales + carts), (sales, 20));
}
