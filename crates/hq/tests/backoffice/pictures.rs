//! What the pictures of the first page are drawn from: the day by hour, the last days, what sells best.

use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_model::{Instant, Money, Qty};
use tillkeep_storage::entity::{sale, sale_item, store};
use tillkeep_storage::raw::sea_orm::{ActiveModelTrait, IntoActiveModel, Set};
use uuid::Uuid;

use super::kit::{Kit, Person, column, id_of};

/// A Friday, half past two in the afternoon in UTC.
const NOW: &str = "2026-11-20T14:30:00Z";

fn at(text: &str) -> Instant {
    Instant::parse(text).expect("an instant")
}

async fn friday() -> (Kit, Person) {
    let kit = Kit::new().await;
    kit.clock.advance(at(NOW).millis_since(kit.clock.now()));
    let admin = kit.admin().await;
    (kit, admin)
}

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

/// Net, tax and total are 100, 9 and 109 times `units`; of fewer than none it is a refund.
async fn sold(kit: &Kit, store_id: Uuid, currency: &str, completed_at: &str, units: i64) -> Uuid {
    let row = sale::Model {
        id: Uuid::now_v7(),
        store_id,
        business_date: completed_at[..10].to_owned(),
        sale_type: if units < 0 { "refund" } else { "sale" }.to_owned(),
        status: if units == 999 { "voided" } else { "completed" }.to_owned(),
        completed_at: at(completed_at),
        currency_code: currency.to_owned(),
        net_amount: Money(100 * units),
        tax_amount: Money(9 * units),
        total_amount: Money(109 * units),
        ..sale::Model::default()
    };
    let id = row.id;
    let tx = kit.hq.db().begin().await.expect("begin");
    row.into_active_model().insert(&tx).await.expect("sale");
    tx.commit().await.expect("commit");
    id
}

fn figures(tickets: i64, refunds: i64, units: i64) -> Json {
    json!({"tickets": tickets, "refunds": refunds, "net": 100 * units, "tax": 9 * units, "total": 109 * units})
}

fn hour(of: &Json, hour: u64) -> &Json {
    let found = of["hours"].as_array().expect("hours").iter().find(|row| row["hour"] == hour);
    found.unwrap_or_else(|| panic!("the hour {hour} in {of}"))
}

#[tokio::test]
async fn a_day_is_shown_by_the_hours_of_each_store_beside_the_week_before_and_the_average() {
    let (kit, admin) = friday().await;
    let near = store_in(&kit, "S01", "UTC", "USD", 2).await;
    let far = store_in(&kit, "S02", "America/New_York", "USD", 2).await;
    // Ten o'clock on the wall of both, five hours apart.
    sold(&kit, near, "USD", "2026-11-20T10:00:00Z", 4).await;
    sold(&kit, far, "USD", "2026-11-20T15:59:59Z", 6).await;
    sold(&kit, near, "USD", "2026-11-20T10:30:00Z", -1).await;
    sold(&kit, near, "USD", "2026-11-20T10:31:00Z", 999).await;
    sold(&kit, near, "USD", "2026-11-20T11:00:00Z", 3).await;
    // A week before, and two of the three weeks before that.
    sold(&kit, near, "USD", "2026-11-13T10:15:00Z", 7).await;
    sold(&kit, near, "USD", "2026-11-06T10:15:00Z", 2).await;
    sold(&kit, near, "USD", "2026-10-23T10:15:00Z", 2).await;
    sold(&kit, near, "USD", "2026-10-16T10:15:00Z", 500).await;
    let shown = kit.get(&admin, "/reports/hours").await.data();
    assert_eq!(shown["businessDate"], "2026-11-20");
    let dollars = &shown["currencies"][0];
    assert_eq!((&dollars["currencyCode"], &dollars["averagedWeeks"]), (&json!("USD"), &json!(3)));
    assert_eq!(dollars["hours"].as_array().map(Vec::len), Some(24));
    assert_eq!(dollars["hours"][0]["hour"], 4, "the business day begins at four");
    let ten = hour(dollars, 10);
    assert_eq!(ten["day"], figures(2, 1, 9));
    assert_eq!(ten["weekBefore"], figures(1, 0, 7));
    // 7 + 2 + 2 in three weeks: 1100 / 3, 99 / 3, 1199 / 3.
    assert_eq!(ten["average"], json!({"tickets": 1, "refunds": 0, "net": 367, "tax": 33, "total": 400}));
    assert_eq!(hour(dollars, 11)["day"], figures(1, 0, 3));
    assert_eq!(hour(dollars, 15)["day"], figures(0, 0, 0), "not by the clock of headquarters");
    let alone = kit.get(&admin, &format!("/reports/hours?storeId={far}")).await.data();
    assert_eq!(hour(&alone["currencies"][0], 10)["day"], figures(1, 0, 6));
    let before = kit.get(&admin, "/reports/hours?date=2026-11-13").await.data();
    assert_eq!(hour(&before["currencies"][0], 10)["day"], figures(1, 0, 7));
    kit.get(&admin, "/reports/hours?date=today").await.names("date");
}

#[tokio::test]
async fn currencies_are_apart_in_hours_and_in_a_trend() {
    let (kit, admin) = friday().await;
    let one = kit.store("S01").await;
    let yen = store_in(&kit, "S02", "UTC", "JPY", 0).await;
    sold(&kit, one, "USD", "2026-11-20T10:00:00Z", 1).await;
    sold(&kit, yen, "JPY", "2026-11-20T10:00:00Z", 5).await;
    for path in ["/reports/hours", "/reports/trend"] {
        let shown = kit.get(&admin, path).await.data();
        assert_eq!(column(&shown["currencies"], "currencyCode"), ["JPY", "USD"], "{path}");
        assert_eq!(shown["currencies"][0]["currencyExponent"], 0);
    }
}

#[tokio::test]
async fn a_trend_has_each_day_of_each_store_and_of_all_of_them() {
    let (kit, admin) = friday().await;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    let mut totals = vec![[0_i64; 2]; 30];
    for (day, total) in totals.iter_mut().enumerate() {
        for (place, store) in [one, two].into_iter().enumerate() {
            for sale in 0..(day + place) % 4 {
                let units = i64::try_from(day * 3 + sale).expect("few") - 5 * i64::from(sale == 2);
                let date = at("2026-10-22T12:00:00Z").plus_millis(86_400_000 * i64::try_from(day).expect("a day"));
                sold(&kit, store, "USD", &date.to_string(), units).await;
                total[place] += 109 * units;
            }
        }
    }
    sold(&kit, one, "USD", "2026-10-21T12:00:00Z", 77).await;
    let shown = kit.get(&admin, "/reports/trend").await.data();
    let dates = shown["dates"].as_array().expect("dates");
    assert_eq!((dates.len(), &dates[0], &dates[29]), (30, &json!("2026-10-22"), &json!("2026-11-20")));
    assert_eq!(column(&shown["stores"], "storeCode"), ["S01", "S02"]);
    for place in 0..2 {
        let expected: Vec<i64> = totals.iter().map(|day| day[place]).collect();
        assert_eq!(shown["stores"][place]["totals"], json!(expected), "store {place}");
        assert_eq!(shown["stores"][place]["tickets"].as_array().map(Vec::len), Some(30));
    }
    for (day, sums) in totals.iter().enumerate() {
        assert_eq!(shown["currencies"][0]["days"][day]["total"], json!(sums[0] + sums[1]), "day {day}");
    }
    let week = kit.get(&admin, &format!("/reports/trend?days=7&storeId={two}")).await.data();
    let expected: Vec<i64> = totals[23..].iter().map(|day| day[1]).collect();
    assert_eq!((&week["stores"][0]["totals"], &week["dates"][0]), (&json!(expected), &json!("2026-11-14")));
    for (query, field) in [("days=0", "days"), ("days=93", "days"), ("days=many", "days"), ("storeId=S01", "storeId")] {
        kit.get(&admin, &format!("/reports/trend?{query}")).await.names(field);
    }
}

/// A line of a sale.
async fn line(kit: &Kit, sale_id: Uuid, product: Uuid, name: &str, pieces: i64, net: i64) {
    let item = sale_item::Model {
        id: Uuid::now_v7(),
        sale_id,
        product_id: product,
        sku: "OLD".into(),
        product_name: name.into(),
        unit_of_measure: "ea".into(),
        quantity: Qty(1000 * pieces),
        net_amount: Money(net),
        total_amount: Money(net),
        ..sale_item::Model::default()
    };
    let tx = kit.hq.db().begin().await.expect("begin");
    item.into_active_model().insert(&tx).await.expect("item");
    tx.commit().await.expect("commit");
}

#[tokio::test]
async fn what_sells_best_is_less_what_came_back_and_tells_no_costs() {
    let (kit, admin) = friday().await;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    let tea = id_of(&kit.product(&admin, "TEA", json!({"cost": 300})).await);
    let mug = id_of(&kit.product(&admin, "MUG", json!({})).await);
    let gone = Uuid::now_v7();
    let bought = sold(&kit, one, "USD", "2026-11-19T10:00:00Z", 1).await;
    line(&kit, bought, tea, "Tea of before", 10, 1000).await;
    line(&kit, bought, mug, "Mug", 1, 1500).await;
    line(&kit, bought, gone, "Gone", 2, 40).await;
    let back = sold(&kit, two, "USD", "2026-11-20T10:00:00Z", -1).await;
    line(&kit, back, mug, "Mug", -1, -1500).await;
    let voided = sold(&kit, one, "USD", "2026-11-20T10:00:00Z", 999).await;
    line(&kit, voided, gone, "Gone", 90, 90_000).await;
    let early = sold(&kit, one, "USD", "2026-11-18T10:00:00Z", 1).await;
    line(&kit, early, gone, "Gone", 90, 90_000).await;
    let asked = "/reports/best-sellers?from=2026-11-19&to=2026-11-20";
    let got = kit.get(&admin, asked).await;
    assert!(!got.text.to_lowercase().contains("cost"), "{}", got.text);
    let rows = got.data()["rows"].clone();
    let said = |row: &Json| json!(["sku", "name", "lineCount", "quantity", "netAmount"].map(|key| row[key].clone()));
    let lines: Vec<Json> = rows.as_array().expect("rows").iter().map(said).collect();
    assert_eq!(
        lines,
        [
            json!(["TEA", "Product TEA", 1, 10, 1000]),
            json!(["OLD", "Gone", 1, 2, 40]),
            json!(["MUG", "Product MUG", 1, 0, 0]),
        ]
    );
    let first = kit.get(&admin, &format!("{asked}&limit=1&by=quantity&storeId={one}")).await.data()["rows"].clone();
    assert_eq!((column(&first, "sku"), &first[0]["currencyExponent"]), (vec!["TEA"], &json!(2)));
    for (query, field) in [
        ("from=2026-11-20&to=2026-11-19", "to"),
        ("from=2026-01-01&to=2026-11-19", "to"),
        ("from=2026-11-20&to=2026-11-20&limit=0", "limit"),
        ("from=2026-11-20&to=2026-11-20&by=colour", "by"),
    ] {
        kit.get(&admin, &format!("/reports/best-sellers?{query}")).await.names(field);
    }
}

#[tokio::test]
async fn pictures_go_as_far_as_the_right_to_see_reports() {
    let (kit, admin) = friday().await;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    for store in [one, two] {
        let id = sold(&kit, store, "USD", "2026-11-20T10:00:00Z", 1).await;
        line(&kit, id, store, "Tea", 1, 100).await;
    }
    kit.role(&admin, "auditor", &["reports.view_local", "reports.product_performance"]).await;
    kit.role(&admin, "viewer", &["reports.view_local"]).await;
    let auditor = kit.person("ada", &[("auditor", Some(one))]).await;
    let viewer = kit.person("vera", &[("viewer", Some(one))]).await;
    let paths = ["/reports/hours?", "/reports/trend?", "/reports/best-sellers?from=2026-11-20&to=2026-11-20&"];
    for (number, path) in paths.into_iter().enumerate() {
        kit.get(&auditor, &format!("{path}storeId={two}")).await.refused(403, "scope");
        kit.get(&auditor, path.trim_end_matches(['?', '&'])).await.is(200);
        let nobody = kit.person(&format!("nobody {number}"), &[]).await;
        kit.get(&nobody, path.trim_end_matches(['?', '&'])).await.refused(403, "forbidden");
    }
    let hours = kit.get(&auditor, "/reports/hours").await.data();
    assert_eq!(hour(&hours["currencies"][0], 10)["day"], figures(1, 0, 1));
    assert_eq!(column(&kit.get(&auditor, "/reports/trend").await.data()["stores"], "storeCode"), ["S01"]);
    let best = kit.get(&auditor, paths[2].trim_end_matches('&')).await.data();
    assert_eq!(best["rows"].as_array().map(Vec::len), Some(1), "{best}");
    // Products have a code of their own beside it.
    kit.get(&viewer, paths[2].trim_end_matches('&')).await.refused(403, "forbidden");
    kit.get(&viewer, "/reports/hours").await.is(200);
}
