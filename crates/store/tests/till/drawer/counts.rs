//! A drawer is counted, and sells nothing until it is closed or sells on.

use serde_json::{Value as Json, json};
use tillkeep_model::JsonText;
use tillkeep_storage::entity::outbox;

use super::{Drawer, FLOAT, counted};
use crate::kit::{Person, cart, id, line};
use crate::money::change_tender;

async fn sell_by_card(person: &Person) -> Json {
    let paid = json!([{"tenderId": id("CARD")}]);
    person.post("/pos/sales", cart(json!([line("BREAD", 1)]), paid)).await.ok(201)
}

/// The codes that a refusal says are missing.
fn missing(refusal: &Json) -> Vec<&str> {
    refusal["tenderCodes"].as_array().into_iter().flatten().filter_map(Json::as_str).collect()
}

#[tokio::test]
async fn a_count_stops_the_selling_and_shows_a_blind_cashier_what_was_counted_alone() {
    let drawer = Drawer::open().await;
    drawer.cashier.sell(json!([line("BREAD", 1)])).await.ok(201);
    let session = drawer.does("count", json!({"counts": counted(20_100)})).await.ok(200);
    assert_eq!((&session["status"], &session["countedBy"]), (&json!("counting"), &json!(drawer.cashier.user_id)));
    assert_eq!(session["counts"], json!([{"tenderId": id("CASH"), "tenderCode": "CASH", "counted": 20_100}]));
    assert_eq!((&session["expectedCash"], &session["closedAt"]), (&Json::Null, &Json::Null));
    let refused = drawer.cashier.sell(json!([line("BREAD", 1)])).await.refused(409, "session_closed");
    assert!(refused["error"].as_str().is_some_and(|text| text.contains("counted")), "{refused}");
    // Who may close it sees what it lacks.
    let shown = drawer.shop.sign_in("administrator").await.get(&drawer.path).await.ok(200);
    let row = &shown["counts"][0];
    assert_eq!((&row["expected"], &row["variance"]), (&json!(20_250), &json!(-150)));
    let line = drawer.shop.audited("session.count").await.pop().expect("audited");
    assert_eq!((line.user_id, &line.details.0["counts"][0]["counted"]), (Some(drawer.cashier.user_id), &json!(20_100)));
}

#[tokio::test]
async fn a_second_count_shows_that_there_was_a_first_also_after_selling_on() {
    let drawer = Drawer::open().await;
    let counts = |amount: i64| json!({"counts": counted(amount)});
    let first = drawer.does("count", counts(19_000)).await.ok(200);
    assert_eq!(first["earlierCounts"], json!([]));
    let entries = drawer.shop.count::<outbox::Entity>().await;
    assert_eq!(drawer.does("count", counts(19_000)).await.ok(200), first, "the same again is no second count");
    assert_eq!(drawer.shop.count::<outbox::Entity>().await, entries);
    let second = drawer.does("count", counts(19_500)).await.ok(200);
    let earlier = |session: &Json| -> Vec<Json> {
        let counts = session["earlierCounts"].as_array().expect("counts").iter();
        counts.map(|count| count["counts"][0]["counted"].clone()).collect()
    };
    assert_eq!(earlier(&second), [19_000]);
    assert_eq!(second["earlierCounts"][0]["countedBy"], json!(drawer.cashier.user_id));
    assert_eq!(second["earlierCounts"][0]["countedAt"], first["countedAt"]);

    let open = drawer.does("count", json!({"reopen": true})).await.ok(200);
    assert_eq!((&open["status"], &open["counts"], &open["countedBy"]), (&json!("open"), &Json::Null, &Json::Null));
    assert_eq!(drawer.does("count", json!({"reopen": true})).await.ok(200), open, "it sells on already");
    drawer.cashier.sell(json!([line("BREAD", 1)])).await.ok(201);
    let third = drawer.does("count", counts(20_250)).await.ok(200);
    assert_eq!(earlier(&third), [19_000, 19_500]);
    assert!(
        third["earlierCounts"].as_array().expect("counts").iter().all(|count| count["counts"][0]["expected"].is_null())
    );
    let manager = drawer.manager().await;
    let closed = manager.post(&drawer.act("close"), json!({})).await.ok(200);
    assert_eq!((earlier(&closed), &closed["cashVariance"]), (vec![json!(19_000), json!(19_500)], &json!(0)));
    assert_eq!(closed["earlierCounts"][0]["counts"][0]["variance"], -1_000, "as it was then");
}

#[tokio::test]
async fn a_drawer_is_counted_by_its_owner_who_counted_it_first_or_who_may_close_it() {
    let drawer = Drawer::open().await;
    let counts = |amount: i64| json!({"counts": counted(amount)});
    let colleague = drawer.shop.sign_in("cashier").await;
    colleague.post(&drawer.act("count"), counts(1)).await.refused(403, "not_own_session");
    let manager = drawer.manager().await;
    manager.post(&drawer.act("count"), counts(2)).await.ok(200);
    // Who counted alone goes back to selling.
    drawer.does("count", json!({"reopen": true})).await.refused(403, "not_own_session");
    drawer.does("count", counts(3)).await.ok(200);
    manager.post(&drawer.act("count"), json!({"reopen": true})).await.refused(403, "not_own_session");
    drawer.does("count", json!({"reopen": true})).await.ok(200);
    let administrator = drawer.shop.sign_in("administrator").await;
    let reassigned = json!({"userId": colleague.user_id});
    administrator.post(&drawer.act("reassign"), reassigned).await.ok(200);
    colleague.post(&drawer.act("count"), counts(4)).await.ok(200);
    drawer.does("count", counts(5)).await.ok(200);
}

#[tokio::test]
async fn every_tender_that_is_to_be_counted_is_counted_and_the_one_that_lacks_is_named() {
    let drawer = Drawer::open().await;
    change_tender(&drawer.shop, "CARD", |row| row.counts_in_close = true).await;
    let refusal = drawer.does("count", json!({"counts": []})).await.refused(422, "tender_missing");
    assert_eq!(missing(&refusal), ["CARD", "CASH"]);
    let refusal = drawer.does("count", json!({"counts": counted(FLOAT)})).await.refused(422, "tender_missing");
    assert_eq!(missing(&refusal), ["CARD"]);
    assert_eq!(drawer.row().await.status, "open");
    let card = |amount: i64| json!({"tenderId": id("CARD"), "amount": amount});
    let refusal = drawer.does("count", json!({"counts": [card(0)]})).await.refused(422, "tender_missing");
    assert_eq!(missing(&refusal), ["CASH"], "cash always");
    // One that need not be counted may be.
    let check = json!({"tenderId": id("CHECK"), "amount": 0});
    let all = json!({"counts": [counted(FLOAT)[0], card(0), check]});
    let session = drawer.does("count", all).await.ok(200);
    assert_eq!(session["counts"].as_array().map(Vec::len), Some(3));
    let manager = drawer.manager().await;
    let refusal = manager.post(&drawer.act("close"), json!({"counts": counted(FLOAT)})).await;
    assert_eq!(missing(&refusal.refused(422, "tender_missing")), ["CARD"]);
    // One that is not in use any more was not taken, and is not asked for.
    change_tender(&drawer.shop, "CARD", |row| row.is_active = false).await;
    manager.post(&drawer.act("close"), json!({"counts": counted(FLOAT)})).await.ok(200);
}

#[tokio::test]
async fn a_tender_that_headquarters_deleted_that_day_is_counted_still() {
    let drawer = Drawer::open().await;
    change_tender(&drawer.shop, "CARD", |row| row.counts_in_close = true).await;
    change_tender(&drawer.shop, "CHECK", |row| row.counts_in_close = true).await;
    let sold = sell_by_card(&drawer.cashier).await["totalAmount"].as_i64().expect("a total");
    let gone = |row: &mut tillkeep_storage::entity::tender::Model| row.deleted_at = Some(row.updated_at);
    change_tender(&drawer.shop, "CARD", gone).await;
    change_tender(&drawer.shop, "CHECK", gone).await;
    let refusal = drawer.does("count", json!({"counts": counted(FLOAT)})).await.refused(422, "tender_missing");
    assert_eq!(missing(&refusal), ["CARD"], "the other one was not taken");
    let with = |code: &str, amount: i64| json!({"counts": [counted(FLOAT)[0], {"tenderId": id("CARD"), "amount": sold}, {"tenderId": id(code), "amount": amount}]});
    drawer.does("count", with("CHECK", 0)).await.refused_at(422, "validation", "counts[2].tenderId");
    let all = json!({"counts": [counted(FLOAT)[0], {"tenderId": id("CARD"), "amount": sold}]});
    drawer.does("count", all).await.ok(200);
    let closed = drawer.manager().await.post(&drawer.act("close"), json!({})).await.ok(200);
    let row = &closed["counts"][1];
    assert_eq!((&row["tenderCode"], &row["expected"], &row["variance"]), (&json!("CARD"), &json!(sold), &json!(0)));
}

#[tokio::test]
async fn a_count_holds_when_headquarters_deletes_a_tender_of_it_before_the_close() {
    let drawer = Drawer::open().await;
    change_tender(&drawer.shop, "CHECK", |row| row.counts_in_close = true).await;
    let all = json!({"counts": [counted(FLOAT)[0], {"tenderId": id("CHECK"), "amount": 0}]});
    drawer.does("count", all).await.ok(200);
    change_tender(&drawer.shop, "CHECK", |row| row.deleted_at = Some(row.updated_at)).await;
    let closed = drawer.manager().await.post(&drawer.act("close"), json!({})).await.ok(200);
    assert_eq!((&closed["status"], &closed["counts"][1]["counted"]), (&json!("closed"), &json!(0)));
    assert_eq!((&closed["countedBy"], &closed["earlierCounts"]), (&json!(drawer.cashier.user_id), &json!([])));
}

#[tokio::test]
async fn coins_and_notes_come_to_the_amount_at_the_opening_and_at_the_count() {
    let drawer = Drawer::open().await;
    let with = |coins: Json| json!({"counts": [{"tenderId": id("CASH"), "amount": 15_050, "denominations": coins}]});
    for wrong in [json!({"5000": 3}), json!([{"value": 5000, "count": 3}, {"value": 51, "count": 1}]), json!("three")] {
        drawer.does("count", with(wrong)).await.refused_at(422, "validation", "counts[0].denominations");
    }
    let session = drawer.does("count", with(json!({"50": 1, "5000": 3}))).await.ok(200);
    let kept = json!([{"value": 5000, "count": 3}, {"value": 50, "count": 1}]);
    assert_eq!(session["counts"][0]["denominations"], kept);
    let administrator = drawer.shop.sign_in("administrator").await;
    let closed = administrator.post(&drawer.act("close"), json!({"acceptVariance": true})).await.ok(200);
    assert_eq!(closed["totals"]["cash"]["denominations"], kept);

    let open = async |body: Json| administrator.post(&super::register("open"), body).await;
    for (body, what) in [
        (json!({"denominations": {"5000": 3}}), "the float of the store"),
        (json!({"openingFloat": 100, "denominations": {"50": 3}}), "the float that is said"),
    ] {
        let refused = open(body).await.refused(422, "validation");
        assert_eq!(refused["details"][0]["field"], "denominations", "{what}");
    }
    let opened = open(json!({"denominations": {"5000": 4}})).await.ok(201);
    assert_eq!(opened["openingDenominations"], json!([{"value": 5000, "count": 4}]));
}

#[tokio::test]
async fn a_count_says_counts_or_that_it_sells_on_and_nothing_else() {
    let drawer = Drawer::open().await;
    for body in [json!({}), json!({"reopen": false}), json!({"counts": counted(1), "reopen": true})] {
        drawer.does("count", body).await.refused_at(422, "validation", "counts");
    }
    let twice = json!({"counts": [counted(1)[0], counted(2)[0]]});
    drawer.does("count", twice).await.refused_at(422, "validation", "counts[1].tenderId");
    drawer.does("count", json!({"reopen": true})).await.refused(409, "not_counted");
    drawer.closed_with(FLOAT).await;
    for body in [json!({"counts": counted(1)}), json!({"reopen": true})] {
        drawer.does("count", body).await.refused(409, "session_closed");
    }
}

#[tokio::test]
async fn of_many_counts_the_first_stays_and_the_last_ones() {
    let drawer = Drawer::open().await;
    for amount in 0..25 {
        drawer.does("count", json!({"counts": counted(amount)})).await.ok(200);
    }
    let JsonText(earlier) = drawer.row().await.earlier_counts;
    let kept: Vec<i64> = earlier
        .as_array()
        .expect("counts")
        .iter()
        .map(|row| row["counts"][0]["counted"].as_i64().expect("an amount"))
        .collect();
    assert_eq!(kept, [[0].as_slice(), &(5..24).collect::<Vec<_>>()].concat());
}

#[tokio::test]
async fn who_counted_before_the_server_stopped_closes_with_that_count_after_it() {
    let drawer = Drawer::open().await;
    drawer.cashier.sell(json!([line("BREAD", 1)])).await.ok(201);
    drawer.does("count", json!({"counts": counted(20_250)})).await.ok(200);
    let Drawer { shop, cashier, manager, path, .. } = drawer;
    let shop = shop.again(None, |_| ()).await;
    let cashier = shop.person(&cashier);
    assert_eq!(cashier.get("/register-sessions/current").await.ok(200)["status"], "counting");
    cashier.sell(json!([line("BREAD", 1)])).await.refused(409, "session_closed");
    let closed = shop.sign_in_with(&manager, "T1").await.post(&format!("{path}/close"), json!({})).await.ok(200);
    assert_eq!((&closed["countedCash"], &closed["cashVariance"]), (&json!(20_250), &json!(0)));
    assert_eq!((&closed["countedBy"], &closed["closedBy"]), (&json!(cashier.user_id), &json!(manager.0)));
}
