//! A cart that is dropped is kept, with what was in it, for the report of who dropped it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value as Json, json};
use tillkeep_storage::entity::{parked_cart, reason};
use tillkeep_storage::fault;
use tokio::task::JoinSet;

use super::{PARKED, dropped, parked, path, resume, row, sale_of, to_park};
use crate::kit::{Person, Shop, id, line, nothing_counted, rows};

/// What says that `lines` at terminal T1 were dropped.
fn to_drop(lines: &serde_json::Value) -> serde_json::Value {
    let mut asked = to_park(lines);
    asked["abandoned"] = json!(true);
    asked
}

#[tokio::test]
async fn what_is_dropped_is_kept_with_its_lines_as_lines_that_were_taken_off() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let mut asked = to_park(&json!([line("TEA", 2), line("BANANA", 0.5)]));
    asked["cart"]["removed"] =
        json!([{"productId": id("BREAD"), "quantity": 1, "unitPrice": 250, "at": "2026-11-20T13:59:00.000Z"}]);
    let cart = person.post(PARKED, asked).await.ok(201);
    assert_eq!((&cart["removed"]["count"], &cart["removed"]["amount"]), (&json!(1), &json!(250)));
    assert_eq!(dropped(&person, &cart).await.status, 204);
    let read = person.get(&path(&cart)).await.ok(200);
    assert_eq!(
        (&read["state"], &read["abandonedBy"], &read["abandonReason"], &read["abandonReasonCode"]),
        (&json!("abandoned"), &json!(person.user_id), &json!("the customer left"), &json!(null))
    );
    let removed = &read["removed"];
    let amount = 250 + 2 * 1999 + 300;
    assert_eq!((&removed["count"], &removed["more"], &removed["amount"]), (&json!(3), &json!(0), &json!(amount)));
    let lines = removed["lines"].as_array().expect("lines");
    let kept: Vec<_> = lines.iter().map(|line| (&line["productId"], &line["quantity"], &line["unitPrice"])).collect();
    assert_eq!(kept[1], (&json!(id("TEA")), &json!(2), &json!(1999)));
    assert_eq!(lines[0]["at"], "2026-11-20T13:59:00.000Z");
    let log = shop.audited("cart.drop").await;
    assert_eq!((log.len(), log[0].user_id), (1, Some(person.user_id)));

    // Once is enough, and nobody goes on with it.
    assert_eq!(dropped(&person, &cart).await.status, 204);
    assert_eq!(shop.audited("cart.drop").await.len(), 1);
    resume(&person, &cart).await.refused(409, "conflict");
}

/// The Z of the drawer of register 01, which is closed and opened again.
async fn closed(person: &Person) -> Json {
    let drawer = person.get("/register-sessions/current").await.ok(200);
    let path = format!("/register-sessions/{}/close", drawer["id"].as_str().expect("an id"));
    let closed = person.post(&path, nothing_counted()).await.ok(200);
    person.post(&format!("/registers/{}/open", id("register 01")), json!({})).await.ok(201);
    closed["totals"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_is_dropped_while_its_drawer_closes_is_in_the_report_of_that_one_or_of_the_next_one() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let waiting = parked(&person).await;
    let drawer = person.get("/register-sessions/current").await.ok(200);
    // Nobody can write until the close and all tills wait for it.
    let held = shop.store.test_db().begin().await.expect("the only writer");
    let coming = Arc::new(AtomicUsize::new(0));
    let counted = coming.clone();
    fault::call("tx.begin", move || {
        counted.fetch_add(1, Ordering::SeqCst);
    });
    let came = async |many: usize| {
        while coming.load(Ordering::SeqCst) < many {
            tokio::task::yield_now().await;
        }
    };
    let mut sent = JoinSet::new();
    let close = format!("/register-sessions/{}/close", drawer["id"].as_str().expect("an id"));
    let closing = person.clone();
    let closed_first = tokio::spawn(async move {
        let mut asked = nothing_counted();
        asked["acceptParked"] = json!(true);
        closing.post(&close, asked).await.ok(200)
    });
    came(1).await;
    for _ in 0..4 {
        let (person, asked) = (person.clone(), to_drop(&json!([line("TEA", 1)])));
        sent.spawn(async move { person.post(PARKED, asked).await.status });
    }
    let dropping = person.clone();
    sent.spawn(async move { dropped(&dropping, &waiting).await.status });
    came(6).await;
    drop(held);
    fault::set("tx.begin", "off");
    let mut statuses = sent.join_all().await;
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 201, 201, 201, 204]);
    let first = closed_first.await.expect("an answer")["totals"].clone();
    person.post(&format!("/registers/{}/open", id("register 01")), json!({})).await.ok(201);
    let reports = [first, closed(&person).await, closed(&person).await];
    let counted = |pointer: &str| -> Option<i64> {
        reports.iter().map(|report| report["controls"].pointer(pointer).and_then(Json::as_i64)).sum()
    };
    assert_eq!(counted("/parkedAbandoned"), Some(5), "each once");
    assert_eq!(counted("/removed/amount"), Some(6 * 1999));
    assert_eq!(reports[2]["controls"]["parkedAbandoned"], 0);
}

#[tokio::test]
async fn what_is_dropped_when_no_drawer_is_open_is_in_the_report_of_the_next_one() {
    let shop = Shop::open().await;
    let person = shop.sign_in("administrator").await;
    let cart = parked(&person).await;
    assert_eq!(dropped(&person, &cart).await.status, 204);
    person.post(PARKED, to_drop(&json!([line("TEA", 1)]))).await.ok(201);
    person.post(&format!("/registers/{}/open", id("register 01")), json!({})).await.ok(201);
    let controls = closed(&person).await["controls"].clone();
    assert_eq!((&controls["parkedAbandoned"], &controls["removed"]["amount"]), (&json!(2), &json!(3 * 1999)));
    assert_eq!(closed(&person).await["controls"]["parkedAbandoned"], 0);
}

#[tokio::test]
async fn a_till_that_drops_a_cart_says_so_at_once_and_selling_is_enough_for_that() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let cashier = shop.sign_in("cashier").await;
    let asked = to_drop(&json!([line("TEA", 1)]));
    let cart = cashier.post(PARKED, asked.clone()).await.ok(201);
    assert_eq!((&cart["state"], &cart["cashierUserId"]), (&json!("abandoned"), &json!(cashier.user_id)));
    assert_eq!((&cart["removed"]["count"], &cart["removed"]["amount"]), (&json!(1), &json!(1999)));
    let drawer = person.get("/register-sessions/current").await.ok(200);
    assert_eq!((&cart["sessionId"], &cart["abandonReason"]), (&drawer["id"], &json!(null)));
    assert_eq!(cashier.post(PARKED, asked.clone()).await.ok(200), cart);
    assert_eq!(shop.count::<parked_cart::Entity>().await, 1);
    let log = shop.audited("cart.drop").await;
    assert_eq!((log.len(), log[0].user_id), (1, Some(cashier.user_id)));
    let mut kept = asked;
    kept["abandoned"] = json!(false);
    cashier.post(PARKED, kept).await.refused(403, "forbidden");
}

#[tokio::test]
async fn what_cannot_be_sold_any_more_can_be_dropped_and_so_can_what_nothing_is_left_of() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let gone = person.post(PARKED, to_drop(&json!([line("OLD", 3), line("TEA", 1)]))).await.ok(201);
    assert_eq!((&gone["removed"]["count"], &gone["removed"]["amount"]), (&json!(2), &json!(300 + 1999)));
    let mut empty = to_drop(&json!([]));
    person.post(PARKED, empty.clone()).await.refused_at(422, "validation", "cart.lines");
    empty["cart"]["removed"] = json!([{"productId": id("BREAD"), "quantity": 2, "unitPrice": 250}]);
    let empty = person.post(PARKED, empty).await.ok(201);
    assert_eq!((&empty["itemCount"], &empty["removed"]["amount"]), (&json!(0), &json!(500)));
}

#[tokio::test]
async fn a_resumed_cart_that_its_till_drops_is_the_same_row() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let cart = parked(&person).await;
    let resumed = resume(&person, &cart).await.ok(200);
    let mut asked = to_drop(&json!([line("TEA", 2)]));
    asked["cart"]["id"] = resumed["cart"]["id"].clone();
    let left = person.post(PARKED, asked.clone()).await.ok(201);
    assert_eq!((&left["id"], &left["state"]), (&cart["id"], &json!("abandoned")));
    assert_eq!(person.post(PARKED, asked).await.ok(200), left);
    assert_eq!(shop.count::<parked_cart::Entity>().await, 1);
}

#[tokio::test]
async fn a_sale_that_comes_late_of_a_cart_that_was_dropped_is_booked() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let cart = parked(&person).await;
    let resumed = resume(&person, &cart).await.ok(200);
    assert_eq!(dropped(&person, &cart).await.status, 204);
    let row = row(&shop, &cart).await;
    assert_eq!((row.state.as_str(), row.sale_id), ("abandoned", None));
    person.post("/pos/sales", sale_of(&resumed)).await.ok(201);
}

#[tokio::test]
async fn why_a_cart_is_dropped_is_a_reason_of_the_list_or_a_text() {
    let shop = Shop::open_with(|own| own.reasons_required = true).await;
    let listed = reason::Model {
        id: id("removed_line left"),
        code: "left".into(),
        name: "The customer left".into(),
        kind: "removed_line".into(),
        is_active: true,
        created_at: rows::made(),
        updated_at: rows::made(),
        ..reason::Model::default()
    };
    shop.insert::<reason::Entity>([listed]).await;
    let person = shop.selling().await;
    let cart = parked(&person).await;
    person.send("DELETE", &path(&cart), None).await.refused_at(422, "validation", "reasonCode");
    dropped(&person, &cart).await.refused_at(422, "validation", "reasonCode");
    let coded = json!({"reasonCode": "left"});
    assert_eq!(person.send("DELETE", &path(&cart), Some(coded)).await.status, 204);
    let row = row(&shop, &cart).await;
    assert_eq!(
        (row.abandon_reason.as_deref(), row.abandon_reason_code.as_deref()),
        (Some("The customer left"), Some("left"))
    );
    let mut at_once = to_drop(&json!([line("TEA", 1)]));
    person.post(PARKED, at_once.clone()).await.ok(201);
    (at_once["id"], at_once["reasonCode"]) = (json!(uuid::Uuid::now_v7()), json!("none of these"));
    person.post(PARKED, at_once).await.refused_at(422, "validation", "reasonCode");
}

#[tokio::test]
async fn what_was_taken_off_before_a_cart_waited_stays_on_record_when_its_till_drops_it() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let mut asked = to_park(&json!([line("TEA", 2)]));
    asked["cart"]["removed"] = json!([{"productId": id("BREAD"), "quantity": 1, "unitPrice": 250}]);
    let cart = person.post(PARKED, asked).await.ok(201);
    let mut dropped = to_drop(&json!([line("TEA", 2)]));
    dropped["cart"]["id"] = resume(&person, &cart).await.ok(200)["cart"]["id"].clone();
    let left = person.post(PARKED, dropped).await.ok(201);
    let removed = &left["removed"];
    assert_eq!((&left["id"], &removed["count"], &removed["amount"]), (&cart["id"], &json!(2), &json!(250 + 2 * 1999)));
}

#[tokio::test]
async fn a_dropped_cart_counts_for_who_dropped_it_and_not_for_who_parked_it() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let another = shop.sign_in("administrator").await;
    let cart = parked(&person).await;
    assert_eq!(dropped(&another, &cart).await.status, 204);
    let x = person.get("/reports/x").await.ok(200);
    let removed = &x["controls"]["removed"];
    assert_eq!((&removed["count"], &removed["amount"]), (&json!(1), &json!(2 * 1999)));
    let cashiers = removed["byCashier"].as_array().expect("cashiers");
    assert_eq!(cashiers.len(), 1);
    assert_eq!(cashiers[0]["userId"], json!(another.user_id));
}
