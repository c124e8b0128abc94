//! The end of a drawer that was counted.

use serde_json::{Value as Json, json};
use tillkeep_model::Money;
use tillkeep_storage::entity::parked_cart;

use super::{Drawer, FLOAT, counted};
use crate::kit::{cart, id, line};
use crate::money::change_tender;

#[tokio::test]
async fn a_drawer_that_nobody_counted_is_not_closed() {
    let drawer = Drawer::open().await;
    let manager = drawer.manager().await;
    for body in [json!({}), json!({"acceptVariance": true}), json!({"note": "late"})] {
        manager.post(&drawer.act("close"), body).await.refused_at(409, "not_counted", "counts");
    }
    drawer.does("close", json!({})).await.refused(403, "forbidden");
    assert_eq!(drawer.row().await.status, "open");
    let closed = manager.post(&drawer.act("close"), json!({"counts": counted(FLOAT)})).await.ok(200);
    assert_eq!((&closed["status"], &closed["forced"]), (&json!("closed"), &json!(false)));
    assert_eq!(closed["countedBy"], json!(drawer.manager.0), "counted and closed at once");
    manager.post(&drawer.act("close"), json!({"counts": counted(FLOAT)})).await.refused(409, "session_closed");
}

#[tokio::test]
async fn a_close_with_other_counts_than_before_is_a_second_count() {
    let drawer = Drawer::open().await;
    drawer.does("count", json!({"counts": counted(FLOAT - 100)})).await.ok(200);
    let manager = drawer.manager().await;
    let closed = manager.post(&drawer.act("close"), json!({"counts": counted(FLOAT)})).await.ok(200);
    assert_eq!((&closed["countedBy"], &closed["cashVariance"]), (&json!(drawer.manager.0), &json!(0)));
    assert_eq!(closed["earlierCounts"][0]["countedBy"], json!(drawer.cashier.user_id));
    assert_eq!(closed["earlierCounts"][0]["counts"][0]["counted"], FLOAT - 100);
}

#[tokio::test]
async fn a_difference_of_any_tender_that_was_counted_must_be_accepted() {
    let drawer = Drawer::open().await;
    change_tender(&drawer.shop, "CARD", |row| row.counts_in_close = true).await;
    let paid = json!([{"tenderId": id("CARD")}]);
    drawer.cashier.post("/pos/sales", cart(json!([line("BREAD", 1)]), paid)).await.ok(201);
    let counts = |card: i64| json!({"counts": [counted(FLOAT)[0], {"tenderId": id("CARD"), "amount": card}]});
    let manager = drawer.manager().await;
    let refusal = manager.post(&drawer.act("close"), counts(99_999)).await.refused(409, "variance_not_accepted");
    assert_eq!(refusal["variances"], json!([{"tenderId": id("CARD"), "variance": 99_749}]));
    assert!(refusal["cashVariance"].is_null());
    assert!(refusal["error"].as_str().is_some_and(|text| text.contains("CARD differs by 99749")), "{refusal}");
    let mut accepted = counts(99_999);
    accepted["acceptVariance"] = json!(true);
    let closed = manager.post(&drawer.act("close"), accepted).await.ok(200);
    assert_eq!((&closed["counts"][1]["variance"], &closed["cashVariance"]), (&json!(99_749), &json!(0)));
    let line = drawer.shop.audited("session.close").await.pop().expect("audited");
    assert_eq!(line.details.0["varianceAccepted"], true);
}

#[tokio::test]
async fn within_the_limit_no_tender_needs_a_word() {
    let drawer = Drawer::open().await;
    change_tender(&drawer.shop, "CARD", |row| row.counts_in_close = true).await;
    let counts = json!([counted(FLOAT + 500)[0], {"tenderId": id("CARD"), "amount": 500}]);
    let closed = drawer.manager().await.post(&drawer.act("close"), json!({"counts": counts})).await.ok(200);
    assert_eq!((&closed["cashVariance"], &closed["counts"][1]["variance"]), (&json!(500), &json!(500)));
}

#[tokio::test]
async fn an_approval_of_a_close_is_for_the_differences_that_it_names() {
    let drawer = Drawer::open_with(|own| own.blind_close = false).await;
    change_tender(&drawer.shop, "CARD", |row| row.counts_in_close = true).await;
    let close = async |token: &Json| {
        let counts = json!([counted(FLOAT - 700)[0], {"tenderId": id("CARD"), "amount": 900}]);
        drawer.does("close", json!({"counts": counts, "approvals": [token]})).await
    };
    let token = drawer.token(json!({"sessionId": drawer.id, "cashVariance": -700})).await;
    let refusal = close(&token).await.refused(403, "approval_required");
    let variances = json!([{"tenderId": id("CARD"), "variance": 900}]);
    assert_eq!((&refusal["cashVariance"], &refusal["variances"]), (&json!(-700), &variances));
    let context = json!({"sessionId": drawer.id, "cashVariance": -700, "variances": variances});
    let token = drawer.token(context).await;
    assert_eq!(close(&token).await.ok(200)["status"], "closed");
}

#[tokio::test]
async fn a_blind_cashier_with_an_approval_hears_of_no_difference_of_any_tender() {
    let drawer = Drawer::open().await;
    change_tender(&drawer.shop, "CARD", |row| row.counts_in_close = true).await;
    let counts = json!([counted(FLOAT)[0], {"tenderId": id("CARD"), "amount": 98_765}]);
    let token = drawer.token(json!({"sessionId": drawer.id})).await;
    let refusal = drawer.does("close", json!({"counts": counts, "approvals": [token]})).await;
    let refusal = refusal.refused(403, "approval_required");
    assert!(refusal.get("variances").is_none() && refusal.get("cashVariance").is_none(), "{refusal}");
    let line = drawer.shop.audited("session.close_refused").await.pop().expect("audited");
    assert_eq!(line.details.0["variances"][0]["variance"], 98_765, "who looks into the log knows");
}

#[tokio::test]
async fn a_cashier_counts_and_a_manager_approves_the_close_of_that_count() {
    let drawer = Drawer::open().await;
    drawer.does("count", json!({"counts": counted(FLOAT)})).await.ok(200);
    let token = drawer.token(json!({"sessionId": drawer.id})).await;
    let closed = drawer.does("close", json!({"approvals": [token]})).await.ok(200);
    assert_eq!((&closed["status"], &closed["countedCash"]), (&json!("closed"), &json!(FLOAT)));
    assert_eq!((&closed["expectedCash"], &closed["totals"]), (&Json::Null, &Json::Null), "blind");
    assert_eq!(drawer.row().await.expected_cash, Some(Money(FLOAT)));
}

#[tokio::test]
async fn the_report_of_a_close_counts_the_approval_that_the_close_used_up() {
    let drawer = Drawer::open().await;
    let token = drawer.token(json!({"sessionId": drawer.id})).await;
    drawer.does("close", json!({"counts": counted(FLOAT), "approvals": [token]})).await.ok(200);
    assert_eq!(drawer.row().await.totals.expect("totals").0["controls"]["approvals"], 1);
}

#[tokio::test]
async fn carts_that_are_parked_at_the_till_are_named_and_those_of_another_till_are_not() {
    let drawer = Drawer::open().await;
    let parked = |label: &str, terminal: &str| parked_cart::Model {
        id: id(label),
        terminal_id: terminal.into(),
        label: Some(label.into()),
        item_count: 2,
        total_at_park: Money(4_321),
        state: "parked".into(),
        business_date: "2026-11-20".into(),
        ..parked_cart::Model::default()
    };
    let resumed = parked_cart::Model {
        state: "resumed".into(),
        resumed_at_terminal: Some("T1".into()),
        sale_id: Some(id("not sold yet")),
        ..parked("taken up here", "T2")
    };
    let carts = [parked("the man with the dog", "T1"), parked("beside", "T2"), resumed];
    drawer.shop.insert::<parked_cart::Entity>(carts).await;
    let manager = drawer.manager().await;
    let mut closing = json!({"counts": counted(FLOAT)});
    let refusal = manager.post(&drawer.act("close"), closing.clone()).await.refused(409, "parked_carts_open");
    let mut named: Vec<&str> =
        refusal["parkedCarts"].as_array().expect("carts").iter().filter_map(|cart| cart["label"].as_str()).collect();
    named.sort_unstable();
    assert_eq!(named, ["taken up here", "the man with the dog"]);
    assert_eq!(refusal["parkedCarts"][0]["total"], 4_321);
    assert_eq!(drawer.row().await.status, "open");
    closing["acceptParked"] = json!(true);
    let closed = manager.post(&drawer.act("close"), closing).await.ok(200);
    assert_eq!(closed["totals"]["controls"]["parkedOpen"], 2);
}
