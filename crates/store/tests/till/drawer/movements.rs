//! Cash that is put into a drawer or taken out of it.

use serde_json::{Value as Json, json};
use tillkeep_model::JsonText;
use tillkeep_storage::entity::{outbox, register, register_session};
use tillkeep_storage::sea_orm::{ActiveModelTrait, EntityTrait, IntoActiveModel};
use uuid::Uuid;

use super::{Drawer, FLOAT, counted, movement, register};
use crate::kit::{id, line, rows};

#[tokio::test]
async fn a_movement_is_a_document_with_a_reason_that_travels_in_its_drawer() {
    let drawer = Drawer::open().await;
    let asked = movement("paid_in", 500);
    let made = drawer.does("cash-movements", asked.clone()).await.ok(201);
    for (key, value) in [
        ("id", asked["id"].clone()),
        ("sessionId", json!(drawer.id)),
        ("registerId", json!(id("register 01"))),
        ("type", json!("paid_in")),
        ("amount", json!(500)),
        ("reason", json!("as it says")),
        ("reasonCode", Json::Null),
        ("userId", json!(drawer.cashier.user_id)),
        ("approverId", Json::Null),
        ("businessDate", json!("2026-11-20")),
    ] {
        assert_eq!(made[key], value, "{key}");
    }
    drawer.does("cash-movements", movement("float_add", 70)).await.ok(201);
    let session = drawer.row().await;
    let travels = session.cash_movements.0.as_array().expect("movements").clone();
    assert_eq!(travels.len(), 2);
    assert_eq!(
        travels[0],
        json!({
            "id": asked["id"], "type": "paid_in", "amount": 500, "reason": "as it says", "reasonCode": null,
            "userId": drawer.cashier.user_id, "approverId": null, "at": made["at"],
        })
    );
    let sent = drawer.shop.outbox().await.pop().expect("the drawer");
    assert_eq!((sent.entity_type.as_str(), sent.action.as_str()), ("register_sessions", "update"));
    let payload: Json = serde_json::from_str(&sent.payload).expect("JSON");
    assert_eq!(payload["cashMovements"], json!(travels));
    let audited = drawer.shop.audited("session.cash_movement").await;
    let ids: Vec<Option<String>> = audited.into_iter().map(|line| line.entity_id).collect();
    assert_eq!(ids, travels.iter().map(|row| row["id"].as_str().map(str::to_owned)).collect::<Vec<_>>());
}

#[tokio::test]
async fn what_should_be_in_a_drawer_is_its_float_its_cash_and_what_was_moved() {
    let drawer = Drawer::open().await;
    drawer.cashier.sell(json!([line("BREAD", 1)])).await.ok(201);
    let manager = drawer.manager().await;
    let moves = [("paid_in", 500), ("float_add", 3_000), ("paid_out", 1_200), ("drop", 10_000)];
    for (kind, amount) in moves {
        manager.post(&drawer.act("cash-movements"), movement(kind, amount)).await.ok(201);
    }
    let expected = FLOAT + 250 + 500 + 3_000 - 1_200 - 10_000;
    let closed = drawer.closed_with(expected).await;
    assert_eq!((&closed["expectedCash"], &closed["cashVariance"]), (&json!(expected), &json!(0)));
    let cash = &closed["totals"]["cash"];
    let figures =
        ["openingFloat", "payments", "paidIn", "floatAdd", "paidOut", "drop", "expected", "counted", "variance"];
    assert_eq!(
        figures.map(|key| cash[key].as_i64().expect(key)),
        [FLOAT, 250, 500, 3_000, 1_200, 10_000, expected, expected, 0]
    );
}

#[tokio::test]
async fn the_same_movement_again_is_the_one_that_is_there_even_after_the_close() {
    let drawer = Drawer::open().await;
    let asked = movement("paid_in", 500);
    let made = drawer.does("cash-movements", asked.clone()).await.ok(201);
    assert_eq!(drawer.does("cash-movements", asked.clone()).await.ok(200), made);
    let other = drawer.shop.sign_in("administrator").await;
    for (key, value) in [("amount", json!(501)), ("type", json!("float_add")), ("reason", json!("another one"))] {
        let mut changed = asked.clone();
        changed[key] = value;
        other.post(&drawer.act("cash-movements"), changed).await.refused_at(409, "id_reused", "id");
    }
    drawer.closed_with(FLOAT + 500).await;
    assert_eq!(drawer.does("cash-movements", asked.clone()).await.ok(200), made);
    drawer.does("cash-movements", movement("paid_in", 500)).await.refused(409, "session_closed");
    let next = drawer.cashier.post(&register("open"), json!({})).await.ok(201)["id"].clone();
    let path = format!("/register-sessions/{}/cash-movements", next.as_str().expect("an id"));
    drawer.cashier.post(&path, asked).await.refused_at(409, "id_reused", "id");
    assert_eq!(drawer.movements().await.len(), 1);
}

#[tokio::test]
async fn a_movement_says_what_is_wrong_with_it() {
    let drawer = Drawer::open().await;
    let with = |key: &str, value: Json| {
        let mut asked = movement("paid_in", 500);
        asked[key] = value;
        asked
    };
    for (key, value) in [
        ("id", Json::Null),
        ("id", json!(Uuid::nil())),
        ("type", json!("no_sale")),
        ("type", json!("stolen")),
        ("amount", json!(0)),
        ("amount", json!(-1)),
        ("amount", json!(1_000_000_000_001_i64)),
        ("reason", json!("")),
        ("reason", json!("x".repeat(201))),
        ("reasonCode", json!("no such code")),
        ("note", json!("x")),
    ] {
        drawer.does("cash-movements", with(key, value)).await.refused_at(422, "validation", key);
    }
    let nowhere = format!("/register-sessions/{}/cash-movements", Uuid::now_v7());
    drawer.cashier.post(&nowhere, movement("paid_in", 1)).await.refused(404, "not_found");
    assert!(drawer.movements().await.is_empty());
}

#[tokio::test]
async fn cash_moves_at_the_till_of_its_drawer_or_by_who_may_do_it_elsewhere() {
    let drawer = Drawer::open().await;
    drawer.shop.insert::<register::Entity>([rows::register("02", "T2")]).await;
    let beside = drawer.shop.sign_in_at("cashier", "T2").await;
    beside.post(&drawer.act("cash-movements"), movement("paid_in", 5)).await.refused(403, "wrong_terminal");
    let no_sale = json!({"id": Uuid::now_v7(), "reason": "change"});
    let manager = drawer.shop.sign_in_with(&drawer.manager, "T2").await;
    manager.post(&register("no-sale"), no_sale.clone()).await.refused(403, "wrong_terminal");
    let administrator = drawer.shop.sign_in_at("administrator", "T2").await;
    administrator.post(&drawer.act("cash-movements"), movement("paid_in", 5)).await.ok(201);
    assert_eq!(administrator.post(&register("no-sale"), no_sale).await.status, 204);
}

#[tokio::test]
async fn while_a_drawer_is_counted_no_cash_moves() {
    let drawer = Drawer::open().await;
    drawer.does("count", json!({"counts": counted(FLOAT)})).await.ok(200);
    drawer.does("cash-movements", movement("paid_in", 5)).await.refused(409, "session_closed");
    let manager = drawer.manager().await;
    let no_sale = json!({"id": Uuid::now_v7(), "reason": "change"});
    manager.post(&register("no-sale"), no_sale.clone()).await.refused(409, "session_closed");
    drawer.does("count", json!({"reopen": true})).await.ok(200);
    drawer.does("cash-movements", movement("paid_in", 5)).await.ok(201);
    assert_eq!(drawer.manager().await.post(&register("no-sale"), no_sale).await.status, 204);
}

#[tokio::test]
async fn a_drawer_that_is_opened_for_no_sale_is_counted_and_moves_nothing() {
    let drawer = Drawer::open().await;
    let manager = drawer.manager().await;
    let asked = json!({"id": Uuid::now_v7(), "reason": "change for a customer"});
    assert_eq!(manager.post(&register("no-sale"), asked.clone()).await.status, 204);
    let entries = drawer.shop.count::<outbox::Entity>().await;
    assert_eq!(manager.post(&register("no-sale"), asked.clone()).await.status, 204, "the same again");
    assert_eq!(drawer.shop.count::<outbox::Entity>().await, entries, "is one");
    let mut other = asked.clone();
    other["reason"] = json!("another one");
    manager.post(&register("no-sale"), other).await.refused_at(409, "id_reused", "id");
    manager.post(&register("no-sale"), json!({"id": Uuid::now_v7()})).await.refused_at(422, "validation", "reason");
    manager.post(&register("no-sale"), json!({"reason": "x"})).await.refused_at(422, "validation", "id");

    let session = drawer.row().await;
    assert_eq!((session.no_sale_count, session.cash_movements.0[0]["type"].as_str()), (1, Some("no_sale")));
    assert_eq!(drawer.shop.audited("session.no_sale").await.len(), 1);
    let closed = drawer.closed_with(FLOAT).await;
    assert_eq!((&closed["cashVariance"], &closed["totals"]["controls"]["noSaleCount"]), (&json!(0), &json!(1)));
    let late = json!({"id": Uuid::now_v7(), "reason": "change"});
    manager.post(&register("no-sale"), late).await.refused(409, "session_closed");
    assert_eq!(manager.post(&register("no-sale"), asked).await.status, 204, "what was done is done");
}

#[tokio::test]
async fn more_may_be_paid_out_than_there_should_be_and_the_cashier_does_not_hear_of_it() {
    let drawer = Drawer::open().await;
    let manager = drawer.manager().await;
    let beyond = movement("paid_out", FLOAT + 1);
    let made = manager.post(&drawer.act("cash-movements"), beyond).await.ok(201);
    assert_eq!(made["amount"], FLOAT + 1);
    let shown = drawer.cashier.get("/register-sessions/current").await.ok(200);
    assert_eq!((&shown["expectedCash"], &shown["totals"]), (&Json::Null, &Json::Null));
    let administrator = drawer.shop.sign_in("administrator").await;
    let closing = json!({"counts": counted(0), "acceptVariance": true});
    let closed = administrator.post(&drawer.act("close"), closing).await.ok(200);
    assert_eq!((&closed["expectedCash"], &closed["cashVariance"]), (&json!(-1), &json!(1)));
    assert_eq!(closed["totals"]["controls"]["paidOutBeyondCash"], true);
}

#[tokio::test]
async fn a_drawer_takes_so_many_movements_and_is_closed_all_the_same() {
    let drawer = Drawer::open().await;
    carries(&drawer, &vec![movement("paid_in", 1); 499]).await;
    drawer.does("cash-movements", movement("paid_in", 1)).await.ok(201);
    drawer.does("cash-movements", movement("paid_in", 1)).await.refused(409, "too_many_movements");
    drawer.closed_with(FLOAT + 500).await;
}

#[tokio::test]
async fn a_drawer_takes_fewer_movements_with_long_reasons_and_is_closed_all_the_same() {
    let drawer = Drawer::open().await;
    let mut long = movement("paid_in", 1);
    long["reason"] = json!("\u{1F35E}".repeat(200));
    // Some two hundred thousand bytes.
    carries(&drawer, &vec![long; 240]).await;
    drawer.does("cash-movements", movement("paid_in", 1)).await.refused(409, "too_many_movements");
    drawer.closed_with(FLOAT + 240).await;
}

/// Puts `movements` into the drawer as if they had been made.
async fn carries(drawer: &Drawer, movements: &[Json]) {
    let mut session = drawer.row().await;
    session.cash_movements = JsonText::new(&movements);
    let tx = drawer.shop.store.test_db().begin().await.expect("a transaction");
    register_session::Entity::update(session.into_active_model().reset_all()).exec(&tx).await.expect("an update");
    tx.commit().await.expect("a commit");
}
