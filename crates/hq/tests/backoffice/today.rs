//! Today by store, beside the week before.

use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_model::wire::OutboxState;
use tillkeep_model::{Instant, Money};
use tillkeep_storage::entity::{register_session, sale, store};
use tillkeep_storage::raw::sea_orm::{ActiveModelTrait, IntoActiveModel, Set};
use uuid::Uuid;

use super::kit::{Kit, Person, column};

/// A Friday, half past two in the afternoon in UTC.
const NOW: &str = "2026-11-20T14:30:00Z";

fn at(text: &str) -> Instant {
    Instant::parse(text).expect("an instant")
}

/// Headquarters on that Friday.
async fn friday() -> (Kit, Person) {
    let kit = Kit::new().await;
    kit.clock.advance(at(NOW).millis_since(kit.clock.now()));
    let admin = kit.admin().await;
    (kit, admin)
}

/// A store of another place.
async fn store_in(kit: &Kit, code: &str, timezone: &str, currency: &str, exponent: i16) -> Uuid {
    let id = kit.store(code).await;
    let mut row = kit.row::<store::Entity>(id).await.into_active_model();
    (row.timezone, row.currency_code) = (Set(timezone.to_owned()), Set(currency.to_owned()));
    row.currency_exponent = Set(exponent);
    let tx = kit.hq.db().begin().await.expect("begin");
    row.update(&tx).await.expect("the place");
    tx.commit().await.expect("commit");
    id
}

/// Net, tax and total are 100, 9 and 109 times `units`; a refund has fewer than none, and a payment of what is owed none.
async fn sold(kit: &Kit, store_id: Uuid, day: &str, completed_at: &str, units: i64, status: &str) {
    let row = sale::Model {
        id: Uuid::now_v7(),
        store_id,
        business_date: day.to_owned(),
        sale_type: match units {
            ..0 => "refund",
            0 => "settlement",
            1.. => "sale",
        }
        .to_owned(),
        status: status.to_owned(),
        completed_at: at(completed_at),
        net_amount: Money(100 * units),
        tax_amount: Money(9 * units),
        total_amount: Money(109 * units),
        ..sale::Model::default()
    };
    let tx = kit.hq.db().begin().await.expect("begin");
    row.into_active_model().insert(&tx).await.expect("sale");
    tx.commit().await.expect("commit");
}

fn figures(tickets: i64, refunds: i64, units: i64) -> Json {
    json!({"tickets": tickets, "refunds": refunds, "net": 100 * units, "tax": 9 * units, "total": 109 * units})
}

async fn dashboard(kit: &Kit, who: &Person, query: &str) -> Json {
    kit.get(who, &format!("/reports/dashboard{query}")).await.data()
}

#[tokio::test]
async fn today_leaves_voided_sales_out_and_takes_refunds_off_on_their_own_day() {
    let (kit, admin) = friday().await;
    let store = kit.store("S01").await;
    sold(&kit, store, "2026-11-20", "2026-11-20T09:00:00Z", 7, "completed").await;
    sold(&kit, store, "2026-11-20", "2026-11-20T10:00:00Z", 5, "refunded").await;
    sold(&kit, store, "2026-11-20", "2026-11-20T10:30:00Z", -5, "completed").await;
    sold(&kit, store, "2026-11-20", "2026-11-20T11:00:00Z", 90, "voided").await;
    sold(&kit, store, "2026-11-20", "2026-11-20T11:30:00Z", 0, "completed").await;
    // Yesterday's sale, given back today: today has the refund alone.
    sold(&kit, store, "2026-11-19", "2026-11-19T11:00:00Z", 2, "refunded").await;
    sold(&kit, store, "2026-11-20", "2026-11-20T12:00:00Z", -2, "completed").await;
    let shown = dashboard(&kit, &admin, "").await;
    let row = &shown["stores"][0];
    assert_eq!((&row["storeCode"], &row["businessDate"]), (&json!("S01"), &json!("2026-11-20")));
    assert_eq!(row["today"], figures(2, 2, 5), "{row}");
    assert_eq!(row["weekBefore"], figures(0, 0, 0));
    assert_eq!(dashboard(&kit, &admin, "?businessDate=2026-11-19").await["stores"][0]["today"], figures(1, 0, 2));
    kit.get(&admin, "/reports/dashboard?businessDate=tomorrow").await.names("businessDate");
}

#[tokio::test]
async fn the_week_before_goes_up_to_the_same_hour_of_the_stores_own_clock() {
    let (kit, admin) = friday().await;
    // There it is half past eight in the evening, and half past six in the morning.
    let far = store_in(&kit, "S01", "Asia/Almaty", "USD", 2).await;
    let near = store_in(&kit, "S02", "America/Los_Angeles", "USD", 2).await;
    // On the other side of the date line Friday has ended, and its business day goes on until four.
    let ahead = store_in(&kit, "S03", "Pacific/Kiritimati", "USD", 2).await;
    for (store, day, until) in [
        (far, "2026-11-13", "2026-11-13T14:30:00Z"),
        (near, "2026-11-13", "2026-11-13T14:30:00Z"),
        (ahead, "2026-11-14", "2026-11-13T14:30:00Z"),
    ] {
        let before = at(until).plus_millis(-1).to_string();
        sold(&kit, store, day, &before, 3, "completed").await;
        let after = at(until).plus_millis(3_600_000).to_string();
        sold(&kit, store, day, &after, 50, "completed").await;
    }
    let shown = dashboard(&kit, &admin, "").await;
    assert_eq!(column(&shown["stores"], "businessDate"), ["2026-11-20", "2026-11-20", "2026-11-21"]);
    for row in shown["stores"].as_array().expect("stores") {
        assert_eq!(row["weekBefore"], figures(1, 0, 3), "{row}");
    }
    // A day that is over is compared whole.
    let over = dashboard(&kit, &admin, "?businessDate=2026-11-19").await;
    assert_eq!(over["stores"][0]["weekBefore"], figures(0, 0, 0));
    sold(&kit, far, "2026-11-12", "2026-11-12T23:59:00Z", 4, "completed").await;
    let over = dashboard(&kit, &admin, "?businessDate=2026-11-19").await;
    assert_eq!(over["stores"][0]["weekBefore"], figures(1, 0, 4));
}

#[tokio::test]
async fn totals_are_apart_for_each_currency_and_hold_any_amount() {
    let (kit, admin) = friday().await;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    let yen = store_in(&kit, "S03", "UTC", "JPY", 0).await;
    for (store, units) in [(one, 1), (two, 2), (yen, 4)] {
        sold(&kit, store, "2026-11-20", "2026-11-20T09:00:00Z", units, "completed").await;
    }
    let totals = dashboard(&kit, &admin, "").await["totals"].clone();
    assert_eq!(column(&totals, "currencyCode"), ["JPY", "USD"]);
    assert_eq!((&totals[0]["today"], &totals[1]["today"]), (&figures(1, 0, 4), &figures(2, 0, 3)));
    assert_eq!((&totals[0]["currencyExponent"], &totals[1]["currencyExponent"]), (&json!(0), &json!(2)));
    // What stores push is any number: two of the largest are no error.
    let largest = i64::MAX / 109;
    for _ in 0..3 {
        sold(&kit, one, "2026-11-20", "2026-11-20T09:00:00Z", largest, "completed").await;
    }
    assert_eq!(dashboard(&kit, &admin, "").await["totals"][1]["today"]["total"], i64::MAX);
}

#[tokio::test]
async fn figures_of_a_store_go_up_to_its_oldest_entry_that_waits_or_to_its_last_word() {
    let (kit, admin) = friday().await;
    let store = kit.store("S01").await;
    let up_to = async || dashboard(&kit, &admin, "").await["stores"][0].clone();
    let row = up_to().await;
    assert_eq!((&row["figuresUpTo"], &row["connected"]), (&Json::Null, &json!(false)), "never heard of");
    let said = kit.clock.now();
    kit.hq.tracker.reported(store, OutboxState::default(), said);
    kit.clock.advance(60_000);
    let row = up_to().await;
    assert_eq!(row["figuresUpTo"], json!(said), "{row}");
    let oldest = at("2026-11-20T13:00:00Z");
    let waits = OutboxState { pending: 4, dead_lettered: 1, oldest: Some(oldest) };
    kit.hq.tracker.reported(store, waits, kit.clock.now());
    let row = up_to().await;
    assert_eq!(row["figuresUpTo"], json!(oldest), "{row}");
    assert_eq!((&row["pendingCount"], &row["deadLettered"]), (&json!(4), &json!(1)));
}

#[tokio::test]
async fn a_manager_of_one_store_sees_that_store_alone_and_a_closed_shop_only_when_it_has_sold() {
    let (kit, admin) = friday().await;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    sold(&kit, two, "2026-11-20", "2026-11-20T09:00:00Z", 2, "completed").await;
    let drawer = register_session::Model {
        id: Uuid::now_v7(),
        store_id: one,
        status: "open".to_owned(),
        ..register_session::Model::default()
    };
    let tx = kit.hq.db().begin().await.expect("begin");
    drawer.into_active_model().insert(&tx).await.expect("drawer");
    tx.commit().await.expect("commit");
    kit.role(&admin, "auditor", &["reports.view_global"]).await;
    let auditor = kit.person("ada", &[("auditor", Some(one))]).await;
    let shown = dashboard(&kit, &auditor, "").await;
    assert_eq!(column(&shown["stores"], "storeCode"), ["S01"]);
    assert_eq!((&shown["totals"][0]["today"], &shown["stores"][0]["openDrawers"]), (&figures(0, 0, 0), &json!(1)));
    let manager = kit.person("max", &[("store_manager", Some(one)), ("cashier", Some(two))]).await;
    let own = dashboard(&kit, &manager, "").await;
    assert_eq!((&own["stores"], &own["totals"]), (&shown["stores"], &shown["totals"]), "as their code allows it");
    for store in [one, two] {
        kit.post(&admin, &format!("/stores/{store}/deactivate"), json!({"force": true})).await.is(200);
    }
    assert_eq!(column(&dashboard(&kit, &admin, "").await["stores"], "storeCode"), ["S02"]);
    let cashier = kit.person("cash", &[("cashier", None)]).await;
    kit.get(&cashier, "/reports/dashboard").await.refused(403, "forbidden");
}
