//! What should be in the safe, at a store that lost its database and has its drawers back from headquarters.

use serde_json::value::RawValue;
use serde_json::{Value as Json, json};
use tillkeep_model::{Instant, JsonText, Money};
use tillkeep_storage::entity::{cash_movement, register_session, safe_movement};
use tillkeep_storage::safe::Figures;
use tillkeep_storage::{own_documents, safe};
use uuid::Uuid;

use crate::kit::chain::{Chain, id};
use crate::kit::envelopes::{envelope, take};
use crate::kit::{Hq, Shop, at, both, entity};

/// A drawer with its movements, closed or still open.
fn drawer(name: &str, status: &str, rest: &Json) -> Json {
    let mut data = json!({
        "id": id(name), "registerId": id("register"), "registerCode": "01", "status": status, "createdAt": at(0),
        "businessDate": "2026-11-20", "openedBy": id("cashier"), "openedAt": at(0), "openingFloat": 20_000,
    });
    let all = data.as_object_mut().expect("an object");
    all.extend(rest.as_object().expect("an object").clone());
    data
}

fn cash(name: &str, kind: &str, amount: i64) -> Json {
    json!({
        "id": id(name), "type": kind, "amount": amount, "reason": "as every day", "reasonCode": null, "userId": id("cashier"),
        "approverId": null, "at": at(5),
    })
}

fn of_safe(name: &str, kind: &str, amount: i64, more: &Json) -> Json {
    let mut movement = json!({
        "id": id(name), "type": kind, "amount": amount, "userId": id("manager"), "at": at(9), "businessDate": "2026-11-20",
    });
    movement.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    movement
}

/// The drawers that headquarters has of a store come back to it.
async fn give_back(hq: &Hq, shop: &Shop) {
    let snapshot = hq.db.snapshot().await.expect("a snapshot");
    let since = Instant::from_millis(0);
    let page = own_documents::page(&snapshot, entity("register_sessions"), shop.id, Uuid::nil(), since, 100).await;
    let rows = page.expect("a page").rows;
    let rows: Vec<_> = rows.into_iter().map(|row| RawValue::from_string(row).expect("JSON")).collect();
    let mut tx = shop.begin().await;
    own_documents::take(&mut tx, entity("register_sessions"), shop.id, &rows, at(20)).await.expect("they are taken");
    tx.commit().await.expect("a commit");
}

#[tokio::test]
async fn the_movements_of_drawers_and_safe_come_back_with_their_drawers_and_once() {
    for hq in both().await {
        let chain = Chain::found(&hq).await;
        let forced = json!({
            "sessionNumber": 1, "closedAt": at(6), "forced": true, "expectedCash": 21_000, "cashMovements": [
                cash("drop", "drop", 3000), cash("no sale", "no_sale", 0), cash("paid out", "paid_out", 500),
                {"id": "no id", "type": "drop", "amount": 1},
            ],
        });
        let slip = json!({"slipNumber": "B-17"});
        let found = json!({"reason": "it was in the drawer", "sessionId": id("forced")});
        let open = json!({
            "sessionNumber": 2, "cashMovements": [cash("added", "float_add", 700)],
            "safeMovements": [of_safe("deposit", "deposit", 900, &slip), of_safe("correction", "correction", 17_500, &found)],
        });
        for (name, status, rest) in [("forced", "closed", forced), ("open", "open", open)] {
            let data = drawer(name, status, &rest);
            take(&hq, &chain.first, &envelope(&chain.first, "register_sessions", id(name), "create", &data, at(9)))
                .await;
        }
        let shop = Shop::open(chain.first.store_id).await;
        for _ in 0..2 {
            give_back(&hq, &shop).await;
            let figures = safe::figures(shop.db.reader(), shop.id).await.expect("the figures");
            let wanted = Figures {
                counted: Money::ZERO,
                drops: Money(3000),
                corrections: Money(17_500),
                floats: Money(40_000),
                float_adds: Money(700),
                deposits: Money(900),
                since: Some("2026-11-20".to_owned()),
            };
            assert_eq!(figures, wanted, "what cannot be read is left out, and nothing comes twice");
            assert_eq!(figures.balance(), Money(3000 + 17_500 - 40_000 - 700 - 900));
        }
        let uncounted = safe::uncounted(shop.db.reader(), shop.id, 50).await.expect("the drawers");
        assert!(uncounted.is_empty(), "a correction names it: {uncounted:?}");
        let row = shop.row::<safe_movement::Entity>(id("correction")).await.expect("the correction");
        assert_eq!((row.session_id, row.counted_session_id), (Some(id("open")), Some(id("forced"))));
        assert_eq!((row.user_id, row.at, row.reason.as_deref()), (id("manager"), at(9), Some("it was in the drawer")));
        let row = shop.row::<cash_movement::Entity>(id("paid out")).await.expect("the movement");
        assert_eq!((row.session_id, row.register_id), (id("forced"), id("register")));
        assert_eq!((row.kind.as_str(), row.amount, row.business_date.as_str()), ("paid_out", Money(500), "2026-11-20"));
    }
}

#[tokio::test]
async fn a_drawer_that_was_not_sent_yet_gets_what_was_moved_in_it_before_its_store_was_restored() {
    for hq in both().await {
        let chain = Chain::found(&hq).await;
        let shop = Shop::open(chain.first.store_id).await;
        for (number, status) in [(1, "open"), (2, "closed")] {
            let (drop, opening, added) =
                (format!("{status} drop"), format!("{status} opening"), format!("{status} added"));
            let known = json!({
                "sessionNumber": number, "noSaleCount": 1,
                "cashMovements": [cash(&drop, "drop", 3000), cash(&opening, "no_sale", 0)],
                "safeMovements": [of_safe(&format!("{status} deposit"), "deposit", 900, &json!({"slipNumber": "B-17"}))],
            });
            let data = drawer(status, "open", &known);
            take(&hq, &chain.first, &envelope(&chain.first, "register_sessions", id(status), "create", &data, at(9)))
                .await;
            let row = register_session::Model {
                id: id(status),
                store_id: shop.id,
                register_id: id("register"),
                register_code: "01".into(),
                session_number: number,
                status: status.into(),
                business_date: "2026-11-20".into(),
                expected_cash: Some(Money(20_500)),
                cash_movements: JsonText(json!([cash(&added, "paid_in", 500)])),
                ..register_session::Model::default()
            };
            shop.insert::<register_session::Entity>(row).await;
        }
        for _ in 0..2 {
            give_back(&hq, &shop).await;
            for status in ["open", "closed"] {
                let row = shop.row::<register_session::Entity>(id(status)).await.expect("the drawer");
                assert_eq!((row.status.as_str(), row.synced, row.no_sale_count), (status, false, 1));
                assert_eq!(row.expected_cash, Some(Money(20_500)), "what was printed stays");
                let is_late = |name: &str| {
                    let named = |movement: &&Json| movement["id"] == json!(id(&format!("{status} {name}")));
                    let movements = row.cash_movements.0.as_array().expect("a list");
                    movements.iter().find(named).expect("the movement")["late"] == true
                };
                let wanted = [status == "closed", status == "closed", false];
                assert_eq!(["drop", "opening", "added"].map(is_late), wanted, "{status}");
                assert_eq!(row.safe_movements.0[0]["id"], json!(id(&format!("{status} deposit"))));
                let moved =
                    shop.row::<cash_movement::Entity>(id(&format!("{status} drop"))).await.expect("the movement");
                assert_eq!((moved.session_id, moved.amount), (id(status), Money(3000)));
                let deposit = shop.row::<safe_movement::Entity>(id(&format!("{status} deposit"))).await;
                assert_eq!(deposit.expect("the deposit").session_id, Some(id(status)));
            }
        }
    }
}

#[tokio::test]
async fn a_drawer_without_a_count_is_unknown_until_it_is_named_or_the_safe_is_counted_after_its_close() {
    let shop = Shop::open(id("store")).await;
    let row = |name: &str, closed: i64| register_session::Model {
        id: id(name),
        store_id: shop.id,
        register_code: "01".into(),
        status: "closed".into(),
        business_date: "2026-11-20".into(),
        closed_at: Some(at(closed)),
        opening_float: Money(100),
        forced: name != "older",
        ..register_session::Model::default()
    };
    let counted = register_session::Model { counted_cash: Some(Money(70)), ..row("counted", 4) };
    for row in [row("older", 1), row("early", 2), row("late", 6), counted] {
        shop.insert::<register_session::Entity>(row).await;
    }
    let unknown = async || {
        let drawers = safe::uncounted(shop.db.reader(), shop.id, 50).await.expect("the drawers");
        drawers.into_iter().map(|drawer| drawer.session_id).collect::<Vec<_>>()
    };
    assert_eq!(unknown().await, [id("late"), id("early"), id("older")]);
    let count = safe_movement::Model {
        id: id("count"),
        kind: "correction".into(),
        at: at(5),
        new_balance: Some(Money(1)),
        ..safe_movement::Model::default()
    };
    shop.insert::<safe_movement::Entity>(count).await;
    assert_eq!(unknown().await, [id("late")]);
    let known = safe::uncounted_drawer(shop.db.reader(), shop.id, id("early")).await.expect("a read");
    assert_eq!(known, None);
    let named = safe_movement::Model {
        id: id("named"),
        kind: "correction".into(),
        at: at(7),
        counted_session_id: Some(id("late")),
        ..safe_movement::Model::default()
    };
    shop.insert::<safe_movement::Entity>(named).await;
    assert_eq!(unknown().await, Vec::<Uuid>::new());
}
