//! When a special holds: what the clock on the wall of the store shows, also in a night in which it is set.

use serde_json::json;
use tillkeep_storage::entity::product_special;

use super::{cash, ends, int, product, quoted, sends, set_clock, sold, special, specials, with};
use crate::kit::{Shop, cart, id, line, nothing_counted};

/// Moments in their order, and whether the special is in force.
type Moments = [(&'static str, bool)];

fn hours(row: &mut product_special::Model, start: &str, end: &str) {
    (row.start_time, row.end_time) = (Some(start.into()), Some(end.into()));
}

/// Quotes and sells at each moment in a store in `zone`.
async fn holds(zone: &'static str, window: impl FnOnce(&mut product_special::Model), moments: &Moments) {
    let shop = Shop::open_with(|own| own.timezone = zone.into()).await;
    sends(&shop, [product("CAKE", 1000)]).await;
    specials(&shop, [special("HAPPY", "CAKE", window)]).await;
    set_clock(&shop, moments[0].0);
    shop.selling().await;
    for (at, is) in moments {
        set_clock(&shop, at);
        let person = shop.sign_in("cashier").await;
        let (_, sale) = sold(&person, cart(json!([line("CAKE", 1)]), cash())).await;
        assert_eq!(int(&sale, "specialDiscount"), if *is { 100 } else { 0 }, "{zone} at {at}");
    }
}

#[tokio::test]
async fn vector_w01_ends_at_its_end() {
    let moments = [("2026-06-05T20:59:00Z", false), ("2026-06-05T21:00:00Z", true), ("2026-06-05T23:00:00Z", false)];
    holds("America/New_York", |row| hours(row, "17:00", "19:00"), &moments).await;
}

#[tokio::test]
async fn vector_w02_belongs_to_the_day_on_which_it_begins() {
    let friday_night = |row: &mut product_special::Model| {
        hours(row, "22:00", "02:00");
        row.days_of_week = 0b001_0000;
    };
    let moments = [
        ("2026-06-06T01:59:00Z", false),
        ("2026-06-06T02:00:00Z", true),
        ("2026-06-06T05:30:00Z", true),
        ("2026-06-06T06:00:00Z", false),
        ("2026-06-07T05:30:00Z", false),
    ];
    holds("America/New_York", friday_night, &moments).await;
}

#[tokio::test]
async fn vector_w03_holds_to_the_end_of_its_last_day_in_the_store() {
    let last = |row: &mut product_special::Model| row.end_date = Some("2026-06-05".into());
    holds("America/New_York", last, &[("2026-06-06T03:59:00Z", true), ("2026-06-06T04:00:00Z", false)]).await;
}

#[tokio::test]
async fn vector_w04_is_the_date_of_a_drawer_and_of_all_that_is_sold_into_it() {
    let shop = Shop::open().await;
    for (at, date) in [("2026-06-06T07:59:00Z", "2026-06-05"), ("2026-06-06T08:00:00Z", "2026-06-06")] {
        set_clock(&shop, at);
        let person = shop.selling().await;
        assert_eq!(person.sell(json!([line("BREAD", 1)])).await.ok(201)["businessDate"], date);
        let session = person.get("/register-sessions/current?terminalId=T1").await.ok(200);
        let close = format!("/register-sessions/{}/close", session["id"].as_str().expect("an id"));
        person.post(&close, nothing_counted()).await.ok(200);
    }
}

#[tokio::test]
async fn in_the_night_in_which_the_clock_is_set_back_an_hour_that_is_there_twice_counts_twice() {
    let twice = [
        ("2026-11-01T04:59:00Z", false),
        ("2026-11-01T05:00:00Z", true),
        ("2026-11-01T05:59:00Z", true),
        ("2026-11-01T06:00:00Z", true),
        ("2026-11-01T06:59:00Z", true),
        ("2026-11-01T07:00:00Z", false),
    ];
    holds("America/New_York", |row| hours(row, "01:00", "02:00"), &twice).await;
    // Half an hour, on an island.
    let half = [
        ("2026-04-04T14:29:00Z", false),
        ("2026-04-04T14:30:00Z", true),
        ("2026-04-04T14:59:00Z", true),
        ("2026-04-04T15:00:00Z", true),
        ("2026-04-04T15:29:00Z", true),
        ("2026-04-04T15:30:00Z", false),
    ];
    holds("Australia/Lord_Howe", |row| hours(row, "01:30", "02:00"), &half).await;
}

#[tokio::test]
async fn in_the_night_in_which_the_clock_is_put_forward_what_it_leaps_over_is_not() {
    let leaps = [("2026-03-29T00:59:00Z", false), ("2026-03-29T01:00:00Z", false), ("2026-03-29T01:45:00Z", false)];
    holds("Europe/Berlin", |row| hours(row, "02:15", "02:45"), &leaps).await;
    let over = [
        ("2026-03-29T00:59:00Z", false),
        ("2026-03-29T01:00:00Z", true),
        ("2026-03-29T01:59:00Z", true),
        ("2026-03-29T02:00:00Z", false),
    ];
    holds("Europe/Berlin", |row| hours(row, "02:00", "04:00"), &over).await;
    let until = [("2026-03-29T00:30:00Z", true), ("2026-03-29T00:59:00Z", true), ("2026-03-29T01:00:00Z", false)];
    holds("Europe/Berlin", |row| hours(row, "01:30", "03:00"), &until).await;
}

#[tokio::test]
async fn a_night_of_a_weekend_in_which_the_clock_is_set_ends_by_the_clock_on_the_wall() {
    let saturday_night = |row: &mut product_special::Model| {
        hours(row, "22:00", "02:30");
        row.days_of_week = 0b010_0000;
    };
    // Five hours and a half by the watch.
    let moments = [
        ("2026-11-01T01:59:00Z", false),
        ("2026-11-01T02:00:00Z", true),
        ("2026-11-01T07:29:00Z", true),
        ("2026-11-01T07:30:00Z", false),
    ];
    holds("America/New_York", saturday_night, &moments).await;
}

#[tokio::test]
async fn a_special_that_ends_between_quote_and_payment_is_refused_with_both_totals() {
    let shop = Shop::open().await;
    sends(&shop, [product("CAKE", 1000), product("ROLL", 100)]).await;
    specials(&shop, [special("HOUR", "CAKE", |row| hours(row, "08:00", "10:00")), special("DAY", "ROLL", |_| ())])
        .await;
    set_clock(&shop, "2026-11-20T14:59:40Z");
    let person = shop.selling().await;
    let request = cart(json!([line("CAKE", 1), line("ROLL", 1)]), cash());
    let quote = quoted(&person, &request).await;
    assert_eq!(quote["totalAmount"], 900 + 90);
    let request = with(request, "expectedTotal", 990);
    set_clock(&shop, "2026-11-20T15:00:00Z");
    let refusal = person.post("/pos/sales", request.clone()).await.refused(409, "total_mismatch");
    assert_eq!((&refusal["expectedTotal"], &refusal["totalAmount"]), (&json!(990), &json!(1090)), "{refusal}");
    assert_eq!(refusal["quote"]["totalAmount"], 1090);
    let text = refusal["error"].as_str().expect("a text");
    assert!(text.contains("990") && text.contains("1090"), "{text}");
    let (again, _) = sold(&person, request).await;
    assert_eq!(again["lines"][0]["specialDetails"], json!([]));
    // Headquarters ends it.
    let request = with(cart(json!([line("ROLL", 1)]), cash()), "expectedTotal", 90);
    ends(&shop, "DAY").await;
    let refusal = person.post("/pos/sales", request).await.refused(409, "total_mismatch");
    assert_eq!((&refusal["expectedTotal"], &refusal["totalAmount"]), (&json!(90), &json!(100)));
}

#[tokio::test]
async fn the_quote_of_a_refused_total_says_what_the_caller_may() {
    let shop = Shop::open().await;
    sends(&shop, [product("CAKE", 1000)]).await;
    let person = shop.selling().await;
    let discounted = with(line("CAKE", 1), "lineDiscount", super::off(2000));
    let request = with(cart(json!([discounted]), cash()), "expectedTotal", 1);
    let refusal = person.post("/pos/sales", request.clone()).await.refused(409, "total_mismatch");
    assert_eq!(refusal["quote"]["needs"], quoted(&person, &request).await["needs"]);
    assert_eq!(refusal["quote"]["needs"][0]["held"], true, "{refusal}");
}

#[tokio::test]
async fn a_special_for_customers_is_for_who_is_one() {
    let shop = Shop::open().await;
    sends(&shop, [product("CAKE", 1000)]).await;
    specials(&shop, [special("CLUB", "CAKE", |row| row.requires_customer = true)]).await;
    let person = shop.selling().await;
    let request = cart(json!([line("CAKE", 1)]), cash());
    let (_, sale) = sold(&person, request.clone()).await;
    assert_eq!(int(&sale, "specialDiscount"), 0);
    let (_, sale) = sold(&person, with(super::anew(&request), "customerId", json!(id("HQ-000001")))).await;
    assert_eq!(int(&sale, "specialDiscount"), 100);
}
