//! Signing in at a store's tills: guessing ends soon, hurts no other till, and a manager lifts what it blocked.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value as Json, json};
use tillkeep_storage::attempts::{self, Bucket, Decision, Kind};
use tillkeep_storage::entity::{audit_log, pin_attempt, register, user};
use tillkeep_storage::sea_orm::{
    ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, PaginatorTrait, QueryFilter,
};
use tillkeep_store::Store;
use tokio_util::sync::CancellationToken;

use crate::kit::devices::{Device, WRONG};
use crate::kit::{Shop, people, rows};

/// Seven wrong PINs there, waited for: the next minute is lost.
async fn block(shop: &Shop, device: &Device) {
    for _ in 0..7 {
        assert_eq!(device.guess("T1").await, 401);
        shop.clock.advance(11_000);
    }
    assert_eq!(device.guess("T1").await, 429);
}

#[tokio::test]
async fn of_two_hundred_guesses_at_once_from_an_address_three_are_looked_at() {
    let shop = Shop::open().await;
    let device = Device::at(&shop, "192.0.2.66");
    let before = shop.store.auth.pins.computed();
    let statuses = futures_util::future::join_all((0..200).map(|_| device.guess("T1"))).await;
    let looked_at = statuses.iter().filter(|status| **status == 401).count();
    // A slow machine lets the first wait of a second pass meanwhile, never more than waiting gives.
    println!("{looked_at} were looked at");
    assert!((3..=8).contains(&looked_at), "{looked_at}");
    assert_eq!(shop.store.auth.pins.computed() - before, 2 * looked_at as u64, "two hashes for each");
    assert!(statuses.iter().all(|status| [401, 429].contains(status)), "{statuses:?}");
    // On a slow machine those that were refused may have waited for the others alone.
    while device.guess("T1").await == 401 {}
    let logged = audit_log::Entity::find().filter(audit_log::Column::Action.eq("login.blocked"));
    let logged = logged.count(shop.store.test_db().reader()).await.expect("the log");
    assert!((1..=2).contains(&logged), "once, and again when the wait becomes a long one: {logged}");
}

#[tokio::test]
async fn a_blocked_till_stays_blocked_after_a_restart() {
    let shop = Shop::open().await;
    shop.insert::<register::Entity>([rows::register("02", "T2")]).await;
    let (_, key) = shop.enrolled(&shop.sign_in("store_manager").await, "01").await;
    let till = Device::at(&shop, "192.0.2.1").with(&key);
    block(&shop, &till).await;
    let (_, pin) = people::person(&shop, "cashier").await;
    let again = Store::open(shop.store.settings.clone(), shop.clock.clone(), CancellationToken::new()).await;
    let till = till.served_by(again.expect("a store"));
    till.pin("T1", &pin).await.refused(429, "too_many_attempts");
    shop.clock.advance(60_000);
    till.pin("T1", &pin).await.is(200);
}

#[tokio::test]
async fn a_terminal_that_no_text_column_holds_is_refused_before_its_pin_is_looked_at() {
    let shop = Shop::open().await;
    let before = shop.store.auth.pins.computed();
    for terminal in ["", " ", "a\u{0}b", "a\nb", &"x".repeat(101)] {
        let got = Device::at(&shop, "192.0.2.1").pin(terminal, WRONG).await;
        assert_eq!((got.status, got.body["details"][0]["field"].as_str()), (422, Some("terminalId")), "{terminal:?}");
    }
    assert_eq!(shop.store.auth.pins.computed(), before);
}

#[tokio::test]
async fn a_store_lists_its_own_sessions_and_ends_them() {
    let shop = Shop::open().await;
    let admin = shop.sign_in("administrator").await;
    let cashier = shop.sign_in("cashier").await;
    let path = format!("/users/{}/sessions", cashier.user_id);
    cashier.get(&path).await.refused(403, "forbidden");
    let listed = admin.get(&path).await.ok(200);
    assert_eq!((&listed[0]["terminalId"], &listed[0]["storeId"]), (&json!("T1"), &json!(shop.store.id)));
    let one = format!("{path}/{}", listed[0]["id"].as_str().expect("an id"));
    assert_eq!(admin.send("DELETE", &one, None).await.status, 204);
    assert_eq!(cashier.get("/auth/me").await.status, 401);
    assert_eq!(admin.send("DELETE", &one, None).await.status, 404);
}

#[tokio::test]
async fn a_user_with_a_pin_changed_at_headquarters_or_who_left_is_out_with_the_pull() {
    for (name, change) in [
        ("re-PINned", (|row, now| row.pin_changed_at = Some(now)) as fn(&mut user::Model, tillkeep_model::Instant)),
        ("deactivated", |row, _| row.is_active = false),
        ("deleted", |row, now| row.deleted_at = Some(now)),
    ] {
        let shop = Shop::open().await;
        let cashier = shop.sign_in("cashier").await;
        assert_eq!(cashier.get("/auth/me").await.status, 200, "{name}");
        shop.clock.advance(1000);
        let tx = shop.store.test_db().begin().await.expect("a transaction");
        let mut row = user::Entity::find_by_id(cashier.user_id).one(&tx).await.expect("a read").expect("a user");
        change(&mut row, shop.clock.now());
        user::Entity::update(row.into_active_model().reset_all()).exec(&tx).await.expect("an update");
        tx.commit().await.expect("a commit");
        // What the pull does after it has stored rows of people.
        shop.store.auth.invalidate();
        assert_eq!(cashier.get("/auth/me").await.status, 401, "{name}");
    }
}

#[tokio::test]
async fn a_session_ends_after_a_week_at_a_store_that_has_not_heard_headquarters() {
    const DAY: i64 = 24 * 3600 * 1000;
    let shop = Shop::open().await;
    let (user_id, pin) = people::person(&shop, "store_manager").await;
    // A token says nothing on a route that is open.
    let anybody = shop.sign_in("cashier").await;
    let body = json!({"username": format!("store_manager-{user_id}"), "pin": pin});
    let data = anybody.post("/auth/login", body).await.ok(200);
    let refresh = async |token: &Json| anybody.post("/auth/refresh", json!({"refreshToken": token})).await;
    shop.clock.advance(6 * DAY);
    let data = refresh(&data["refreshToken"]).await.ok(200);
    shop.clock.advance(DAY + 1000);
    refresh(&data["refreshToken"]).await.refused(401, "invalid_token");
}

#[tokio::test]
async fn six_right_pins_at_one_moment_at_one_address_are_all_let_in_after_a_store_died_as_well() {
    let mut shop = Shop::open().await;
    let mut pins = Vec::new();
    for _ in 0..6 {
        pins.push(people::person(&shop, "cashier").await.1);
    }
    // Those that the process before had let in and never judged.
    let buckets = [Bucket::new(Kind::UnknownDevices, "192.0.2.1").at(shop.store.id)];
    for _ in 0..3 {
        let tx = shop.store.test_db().begin().await.expect("a transaction");
        let taken = attempts::take(&tx, &buckets, shop.store.auth.judge(), shop.clock.now()).await.expect("a decision");
        assert!(matches!(taken, Decision::Go(_)));
        tx.commit().await.expect("a commit");
    }
    let mut settings = shop.store.settings.clone();
    settings.sign_in.waits_for_others = Duration::from_mins(1);
    shop.store = Store::open(settings, shop.clock.clone(), CancellationToken::new()).await.expect("a store");
    let device = Device::at(&shop, "192.0.2.1");
    let tills = (1..).map(|number| format!("T{number}"));
    let statuses = join_all(pins.iter().zip(tills).map(async |(pin, till)| device.pin(&till, pin).await.status)).await;
    assert_eq!(statuses, [200; 6]);
    let counters = pin_attempt::Entity::find().all(shop.store.test_db().reader()).await.expect("the counters");
    assert!(counters.iter().all(|row| (row.wrong_today, row.in_a_row) == (0, 0)), "{counters:?}");
}
