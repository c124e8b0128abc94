//! The end of a drawer that nobody counts.

use serde_json::{Value as Json, json};
use tillkeep_model::reason::ReasonKind;
use tillkeep_storage::entity::reason;

use super::{Drawer, FLOAT, HOUR, counted};
use crate::kit::{id, line};

#[tokio::test]
async fn a_drawer_closed_by_force_has_an_unknown_count_and_not_none() {
    let drawer = Drawer::open().await;
    drawer.cashier.sell(json!([line("BREAD", 1)])).await.ok(201);
    let administrator = drawer.shop.sign_in("administrator").await;
    let reason = json!({"reason": "went home ill"});
    drawer.does("force-close", reason.clone()).await.refused(403, "forbidden");
    drawer.manager().await.post(&drawer.act("force-close"), reason.clone()).await.refused(403, "forbidden");
    administrator.post(&drawer.act("force-close"), json!({})).await.refused_at(422, "validation", "reason");
    let closed = administrator.post(&drawer.act("force-close"), reason.clone()).await.ok(200);
    for (key, value) in [
        ("status", json!("closed")),
        ("forced", json!(true)),
        ("countedCash", Json::Null),
        ("cashVariance", Json::Null),
        ("counts", Json::Null),
        ("expectedCash", json!(FLOAT + 250)),
        ("closeNote", json!("went home ill")),
        ("closeReasonCode", Json::Null),
        ("saleCount", json!(1)),
        ("runningTotal", json!(250)),
    ] {
        assert_eq!(closed[key], value, "{key}");
    }
    let totals = &closed["totals"];
    assert_eq!((&totals["header"]["forced"], &totals["cash"]["counted"]), (&json!(true), &Json::Null));
    let refused = administrator.post(&drawer.act("force-close"), reason).await;
    refused.refused(409, "already_closed");
    drawer.cashier.sell(json!([line("BREAD", 1)])).await.refused(409, "session_closed");
    let line = drawer.shop.audited("session.force_close").await.pop().expect("audited");
    assert_eq!((line.user_id, &line.details.0["reason"]), (Some(administrator.user_id), &json!("went home ill")));
}

#[tokio::test]
async fn a_count_that_was_begun_stays_with_a_drawer_closed_by_force() {
    let drawer = Drawer::open().await;
    drawer.does("count", json!({"counts": counted(19_000)})).await.ok(200);
    let administrator = drawer.shop.sign_in("administrator").await;
    let closed = administrator.post(&drawer.act("force-close"), json!({"reason": "left"})).await.ok(200);
    assert_eq!((&closed["counts"][0]["counted"], &closed["countedCash"]), (&json!(19_000), &Json::Null));
    assert_eq!(closed["totals"]["cash"]["variance"], Json::Null);
}

#[tokio::test]
async fn a_reason_of_the_list_is_kept_by_its_code_and_its_name() {
    let drawer = Drawer::open_with(|own| own.reasons_required = true).await;
    let listed = |code: &str, kind: ReasonKind| reason::Model {
        id: id(&format!("{code} {}", kind.word())),
        code: code.into(),
        name: format!("The {code}"),
        kind: kind.into(),
        is_active: true,
        ..reason::Model::default()
    };
    drawer
        .shop
        .insert::<reason::Entity>([listed("left", ReasonKind::ForceClose), listed("found", ReasonKind::PaidIn)])
        .await;
    let found = json!({"id": uuid::Uuid::now_v7(), "type": "paid_in", "amount": 5, "reasonCode": "found"});
    let made = drawer.does("cash-movements", found.clone()).await.ok(201);
    assert_eq!((&made["reasonCode"], &made["reason"]), (&json!("found"), &json!("The found")));
    assert_eq!(drawer.does("cash-movements", found).await.ok(200), made);
    drawer.does("cash-movements", super::movement("paid_in", 5)).await.refused_at(422, "validation", "reasonCode");
    let administrator = drawer.shop.sign_in("administrator").await;
    let force = async |body: Json| administrator.post(&drawer.act("force-close"), body).await;
    force(json!({"reason": "left"})).await.refused_at(422, "validation", "reasonCode");
    force(json!({"reasonCode": "found"})).await.refused_at(422, "validation", "reasonCode");
    let closed = force(json!({"reasonCode": "left"})).await.ok(200);
    assert_eq!((&closed["closeReasonCode"], &closed["closeNote"]), (&json!("left"), &json!("The left")));
}

#[tokio::test]
async fn a_drawer_of_any_age_is_closed_by_force() {
    let drawer = Drawer::open_with(|own| own.max_session_hours = 4).await;
    drawer.shop.clock.advance(400 * HOUR);
    let administrator = drawer.shop.sign_in("administrator").await;
    let closed = administrator.post(&drawer.act("force-close"), json!({"reason": "forgotten"})).await.ok(200);
    assert_eq!((&closed["status"], &closed["businessDate"]), (&json!("closed"), &json!("2026-11-20")));
}
