//! Stores: their fields, their locks, and taking one out of use.

use serde_json::json;
use tillkeep_hq::testing::Databases as _;
use tillkeep_model::wire::{OutboxState, close};
use tillkeep_storage::entity::{sale, store, sync_status};
use tillkeep_storage::raw::sea_orm::{ActiveModelTrait, IntoActiveModel};
use uuid::Uuid;

use super::kit::{Kit, id_of};

#[tokio::test]
async fn a_new_store_has_its_defaults_and_waits_to_be_taken_into_use() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let row = kit.post(&admin, "/stores", json!({"code": "S01", "name": "Harbor Street"})).await.data();
    for (key, value) in [
        ("isActive", json!(false)),
        ("currencyCode", json!("USD")),
        ("currencyExponent", json!(2)),
        ("timezone", json!("UTC")),
        ("businessDayStart", json!("04:00")),
        ("maxLineDiscountBps", json!(1000)),
        ("allowNegativeStock", json!(true)),
        ("refundToOriginalTender", json!(true)),
        ("scaleBarcodeRules", json!([])),
        ("syncTokenVersion", json!(1)),
        ("provisionedAt", json!(null)),
    ] {
        assert_eq!(row[key], value, "{key}");
    }
    let yen = json!({"code": "S02", "name": "Tokyo", "currencyCode": "JPY", "timezone": "Asia/Tokyo"});
    assert_eq!(kit.post(&admin, "/stores", yen).await.data()["currencyExponent"], 0);
    let one = format!("/stores/{}", id_of(&row));
    assert_eq!(kit.post(&admin, &format!("{one}/activate"), json!({})).await.data()["isActive"], true);
    let seen = kit.get(&admin, &one).await.data();
    assert_eq!(seen["sync"]["connected"], false);
    assert_eq!(seen["sync"]["pendingCount"], 0);
    assert_eq!(seen["code"], "S01");
}

#[tokio::test]
async fn a_store_out_of_bounds_is_refused_by_field() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let made = kit.post(&admin, "/stores", json!({"code": "S01", "name": "Harbor Street"})).await.data();
    let one = format!("/stores/{}", id_of(&made));
    for (field, value) in [
        ("code", json!("s01")),
        ("code", json!("A")),
        ("code", json!("ABCDEFGHIJK")),
        // The numbers of headquarters begin with it.
        ("code", json!("HQ")),
        ("name", json!("  ")),
        ("timezone", json!("New York")),
        ("countryCode", json!("USA")),
        ("currencyCode", json!("usd")),
        ("currencyExponent", json!(5)),
        ("businessDayStart", json!("4am")),
        ("businessDayStart", json!("24:00")),
        ("taxRounding", json!("item")),
        ("cashRoundingMode", json!("bankers")),
        ("cashRoundingIncrement", json!(0)),
        ("maxSessionHours", json!(0)),
        ("maxLineDiscountBps", json!(10_001)),
        ("maxCartDiscountBps", json!(-1)),
        ("cashVarianceLimit", json!(-1)),
        ("defaultFloat", json!(1.5)),
        ("refundWindowDays", json!(-1)),
        ("scaleBarcodeRules", json!({})),
        ("receiptHeader", json!("x".repeat(2001))),
        ("isActive", json!(true)),
        ("provisionedAt", json!("2026-01-01T00:00:00Z")),
        ("syncTokenVersion", json!(2)),
    ] {
        let got = kit.patch(&admin, &one, json!({field: value})).await;
        got.is(422);
        got.names(field);
    }
    let rule = json!([{"prefix": "21"}]);
    kit.patch(&admin, &one, json!({"scaleBarcodeRules": rule})).await.names("scaleBarcodeRules[0].value");
    let rules = json!([{"prefix": "21", "value": "weight", "pluDigits": 5, "valueDigits": 5, "valueDecimals": 3}]);
    assert_eq!(kit.patch(&admin, &one, json!({"scaleBarcodeRules": rules})).await.data()["scaleBarcodeRules"], rules);
}

#[tokio::test]
async fn the_code_is_fixed_once_provisioned_and_the_currency_after_the_first_sale() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let made = kit.post(&admin, "/stores", json!({"code": "S01", "name": "Harbor Street"})).await.data();
    let (id, one) = (id_of(&made), format!("/stores/{}", id_of(&made)));
    assert_eq!(kit.patch(&admin, &one, json!({"code": "S02"})).await.data()["code"], "S02");
    kit.post(&admin, &format!("{one}/provision"), json!({})).await.is(200);
    kit.patch(&admin, &one, json!({"code": "S03"})).await.refused(409, "code_locked");
    assert_eq!(kit.patch(&admin, &one, json!({"code": "S02", "name": "New"})).await.data()["name"], "New");
    assert_eq!(kit.patch(&admin, &one, json!({"currencyCode": "EUR"})).await.data()["currencyCode"], "EUR");
    let sold = sale::Model { id: Uuid::now_v7(), store_id: id, ..sale::Model::default() };
    let tx = kit.hq.db().begin().await.expect("begin");
    sold.into_active_model().insert(&tx).await.expect("sale");
    tx.commit().await.expect("commit");
    kit.patch(&admin, &one, json!({"currencyCode": "USD"})).await.refused(409, "currency_locked");
    kit.patch(&admin, &one, json!({"currencyExponent": 3})).await.refused(409, "currency_locked");
    kit.patch(&admin, &one, json!({"currencyCode": "EUR", "city": "Bonn"})).await.is(200);
}

async fn status(kit: &Kit, store_id: Uuid, pending: i32, success_ms_ago: i64) {
    let row = sync_status::Model {
        store_id,
        entity_type: format!("sales{pending}"),
        direction: "push".to_owned(),
        last_success_at: Some(kit.clock.now().plus_millis(-success_ms_ago)),
        pending_count: pending,
        ..sync_status::Model::default()
    };
    let tx = kit.hq.db().begin().await.expect("begin");
    row.into_active_model().insert(&tx).await.expect("status");
    tx.commit().await.expect("commit");
}

async fn seen_before(kit: &Kit, store_id: Uuid) {
    let row: store::Model = kit.row::<store::Entity>(store_id).await;
    let mut active = row.into_active_model();
    active.first_seen_at = tillkeep_storage::raw::sea_orm::ActiveValue::Set(Some(kit.clock.now()));
    let tx = kit.hq.db().begin().await.expect("begin");
    active.update(&tx).await.expect("store");
    tx.commit().await.expect("commit");
}

#[tokio::test]
async fn a_store_with_entries_to_come_is_not_deactivated_unless_forced() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store_id = kit.store("S01").await;
    let path = format!("/stores/{store_id}/deactivate");
    status(&kit, store_id, 3, 1000).await;
    let refused = kit.post(&admin, &path, json!({})).await;
    refused.refused(409, "pending_data");
    assert_eq!(refused.body["sync"]["pendingCount"], 3);
    kit.post(&admin, &path, json!({"force": "yes"})).await.names("force");
    assert_eq!(kit.post(&admin, &path, json!({"force": true})).await.data()["isActive"], false);
    assert_eq!(kit.call(&admin, "POST", &path, None).await.data()["isActive"], false, "again, without a body");
}

#[tokio::test]
async fn a_store_that_fell_silent_may_have_entries_to_come() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store_id = kit.store("S01").await;
    let path = format!("/stores/{store_id}/deactivate");
    status(&kit, store_id, 0, 60_000).await;
    seen_before(&kit, store_id).await;
    kit.clock.advance(3_600_000);
    kit.post(&admin, &path, json!({})).await.refused(409, "pending_data");
    kit.hq.tracker.seen(store_id, kit.clock.now());
    kit.post(&admin, &path, json!({})).await.is(200);
    let fresh = kit.store("S02").await;
    kit.post(&admin, &format!("/stores/{fresh}/deactivate"), json!({})).await.is(200);
}

#[tokio::test]
async fn deactivation_asks_the_outbox_of_a_connected_store_and_closes_its_socket() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store_id = kit.store("S01").await;
    let connection = kit.hq.hub.connect(store_id, "S01", kit.clock.now(), close::REPLACED);
    let waits = |pending| {
        kit.hq.tracker.reported(store_id, OutboxState { pending, ..OutboxState::default() }, kit.clock.now());
    };
    waits(2);
    let path = format!("/stores/{store_id}");
    let sync = kit.get(&admin, &path).await.data()["sync"].clone();
    assert_eq!((&sync["connected"], &sync["outboxPending"]), (&json!(true), &json!(2)));
    kit.post(&admin, &format!("{path}/deactivate"), json!({})).await.refused(409, "pending_data");
    waits(0);
    kit.post(&admin, &format!("{path}/deactivate"), json!({})).await.is(200);
    super::provisioning::closed(&connection).await;
}
