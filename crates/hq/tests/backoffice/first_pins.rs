//! PINs that were made for a user end when they are not changed, and how long a PIN must be.

use serde_json::{Value as Json, json};
use tillkeep_hq::Account;
use tillkeep_hq::testing::Databases as _;
use tillkeep_http::auth::{SignInSettings, first_pins};
use tillkeep_model::permission::ADMINISTRATOR;
use tillkeep_model::{Instant, ids};
use tillkeep_storage::entity::user;
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use uuid::Uuid;

use super::kit::{Kit, Person, id_of};

const DAY: i64 = 24 * 3_600_000;

fn change(current: &str, new: &str) -> Json {
    json!({"currentPin": current, "newPin": new})
}

/// A new user who works in `store`, with the PIN that was made for them.
async fn newcomer(kit: &Kit, admin: &Person, name: &str, store: Uuid) -> (Uuid, String) {
    let assignments = json!([{"roleId": ids::role("cashier"), "storeId": store}]);
    let body = json!({"username": name, "displayName": name, "assignments": assignments});
    let made = kit.post(admin, "/users", body).await.data();
    (id_of(&made), made["generatedPin"].as_str().expect("a PIN").to_owned())
}

/// The same administrator with a session of now.
async fn again(kit: &Kit, admin: &Person) -> Person {
    Person { id: admin.id, token: kit.sign_in(admin.id, "admin", None).await }
}

fn at(text: &Json) -> Instant {
    serde_json::from_value(text.clone()).expect("a time")
}

#[tokio::test]
async fn a_first_pin_that_is_not_changed_is_worth_nothing_after_seven_days_and_the_page_shows_it() {
    let kit = Kit::new().await;
    let (admin, here) = (kit.admin().await, kit.store("S01").await);
    let made_at = kit.clock.now();
    let (ann, pin) = newcomer(&kit, &admin, "ann", here).await;
    let (bob, bobs) = newcomer(&kit, &admin, "bob", here).await;
    let of_bob = Person { id: bob, token: kit.sign_in(bob, "bob", None).await };
    kit.post(&of_bob, "/auth/change-pin", change(&bobs, "316408")).await.is(204);
    let path = format!("/users/{ann}");
    let ends = at(&kit.get(&admin, &path).await.data()["firstPinExpiresAt"]);
    assert!((7 * DAY..7 * DAY + 600_000).contains(&ends.millis_since(made_at)), "{ends:?}");
    assert_eq!(kit.get(&admin, &format!("/users/{bob}")).await.data()["firstPinExpiresAt"], Json::Null);
    kit.clock.advance(ends.millis_since(kit.clock.now()) - 1000);
    kit.login("ann", &pin).await.is(200);
    let session = Person { id: ann, token: kit.sign_in(ann, "ann", None).await };
    kit.clock.advance(1001);

    // To the byte like any wrong one, with a name and without, and where it is changed.
    let (wrong, over) = (kit.login("ann", "000000").await, kit.login("ann", &pin).await);
    over.refused(401, "invalid_credentials");
    let plain = |text: &str| text.split("requestId").next().map(str::to_owned);
    assert_eq!(plain(&wrong.text), plain(&over.text));
    let alone = json!({"pin": pin, "storeId": here, "terminalId": "T1"});
    kit.stranger("/auth/pin-login", alone, "192.0.2.9", None).await.refused(401, "invalid_credentials");
    // Headquarters may have ended the session by itself.
    kit.post(&session, "/auth/change-pin", change(&pin, "604817")).await.is(401);
    kit.login("bob", "316408").await.is(200);

    // Headquarters takes it away, so that stores get nothing either; the page still says since when.
    first_pins::end_expired(&kit.hq.auth).await.expect("ended");
    let row = kit.row::<user::Entity>(ann).await;
    assert_eq!((row.pin_hash, row.pin_lookup, row.must_change_pin), (None, None, true));
    kit.get(&session, "/auth/me").await.is(401);
    assert!(kit.row::<user::Entity>(bob).await.pin_hash.is_some());
    let pulled = kit.ask(&kit.sync_token(here), "/pull?entity_type=users&since_version=0").await;
    let pulled = pulled["rows"].as_array().into_iter().flatten().find(|row| row["username"] == "ann").expect("her row");
    assert_eq!(pulled["pinHash"], Json::Null);
    let admin = again(&kit, &admin).await;
    let shown = kit.get(&admin, &path).await.data();
    assert_eq!((at(&shown["firstPinExpiresAt"]), &shown["hasPin"]), (ends, &json!(false)));
    let notices = kit.get(&admin, "/security/notices").await.data();
    let of = |kind: &str| notices.as_array().into_iter().flatten().find(|notice| notice["kind"] == kind).cloned();
    assert_eq!(of("first_pin_expired").expect("a notice")["users"][0]["username"], "ann");
    let log = kit.get(&admin, "/audit-log?action=pin.expired").await.data();
    assert_eq!((log.as_array().map(Vec::len), &log[0]["entityId"]), (Some(1), &json!(ann)));
    first_pins::end_expired(&kit.hq.auth).await.expect("nothing more");
    assert_eq!(kit.get(&admin, "/audit-log?action=pin.expired").await.data().as_array().map(Vec::len), Some(1));

    let made = kit.post(&admin, &format!("{path}/pin"), json!({})).await.data();
    kit.login("ann", made["generatedPin"].as_str().expect("a PIN")).await.is(200);
}

#[tokio::test]
async fn first_pins_last_for_ever_where_the_operator_says_so() {
    let kit = Kit::with(SignInSettings { first_pin_days: 0, ..SignInSettings::default() }).await;
    let (admin, here) = (kit.admin().await, kit.store("S01").await);
    let (ann, pin) = newcomer(&kit, &admin, "ann", here).await;
    assert_eq!(kit.get(&admin, &format!("/users/{ann}")).await.data()["firstPinExpiresAt"], Json::Null);
    kit.clock.advance(400 * DAY);
    first_pins::end_expired(&kit.hq.auth).await.expect("nothing");
    kit.login("ann", &pin).await.is(200);
}

#[tokio::test]
async fn the_first_pin_of_the_only_administrator_lasts_until_there_is_another_one() {
    let kit = Kit::new().await;
    let account = Account { username: "root".to_owned(), pin: "739154".to_owned().into(), role: ADMINISTRATOR };
    kit.hq.make_account(&account, true, "a test").await.expect("an account");
    kit.clock.advance(30 * DAY);
    first_pins::end_expired(&kit.hq.auth).await.expect("nothing");
    kit.login("root", "739154").await.is(200);
    // Another one who has not come either is no help.
    let admin = Account { username: "late".to_owned(), pin: "482915".to_owned().into(), role: ADMINISTRATOR };
    kit.hq.make_account(&admin, true, "a test").await.expect("an account");
    kit.login("root", "739154").await.is(200);
    let other = Account { username: "other".to_owned(), pin: "316408".to_owned().into(), role: ADMINISTRATOR };
    kit.hq.make_account(&other, false, "a test").await.expect("an account");
    kit.login("root", "739154").await.refused(401, "invalid_credentials");
    kit.login("late", "482915").await.is(200);
    first_pins::end_expired(&kit.hq.auth).await.expect("ended");
    let rows = user::Entity::find().filter(user::Column::PinHash.is_null());
    let rows = rows.all(kit.hq.db().reader()).await.expect("a read");
    assert_eq!(rows.iter().map(|row| row.username.as_str()).collect::<Vec<_>>(), ["root"]);
}

#[tokio::test]
async fn a_first_pin_from_before_counts_from_when_this_release_saw_it() {
    let kit = Kit::new().await;
    let (admin, here) = (kit.admin().await, kit.store("S01").await);
    let ann = kit
        .with_pin(&admin, "ann", "739154", json!({"assignments": [{"roleId": ids::role("cashier"), "storeId": here}]}))
        .await;
    kit.clock.advance(100 * DAY);
    let tx = kit.hq.db().begin().await.expect("begin");
    // As a release wrote it that noted nothing of it.
    tillkeep_storage::entity::user_pin::Entity::delete_by_id(ann).exec(&tx).await.expect("gone");
    let must = user::Entity::update_many().col_expr(user::Column::MustChangePin, Expr::value(true));
    must.filter(user::Column::Id.eq(ann)).exec(&tx).await.expect("set");
    tx.commit().await.expect("commit");
    first_pins::end_expired(&kit.hq.auth).await.expect("noted");
    kit.login("ann", "739154").await.is(200);
    kit.clock.advance(7 * DAY);
    kit.login("ann", "739154").await.refused(401, "invalid_credentials");
}

#[tokio::test]
async fn whoever_may_do_more_than_a_cashier_chooses_six_digits_and_four_stay_good() {
    let kit = Kit::new().await;
    let (admin, here) = (kit.admin().await, kit.store("S01").await);
    let works = |role: &str| json!({"assignments": [{"roleId": ids::role(role), "storeId": here}]});
    let till = kit.with_pin(&admin, "till", "739154", works("cashier")).await;
    let lead = kit.with_pin(&admin, "lead", "482915", works("store_manager")).await;
    let of = async |id: Uuid, name: &str| Person { id, token: kit.sign_in(id, name, None).await };
    kit.post(&of(till, "till").await, "/auth/change-pin", change("739154", "4821")).await.is(204);
    let manager = of(lead, "lead").await;
    let short = kit.post(&manager, "/auth/change-pin", change("482915", "7293")).await;
    short.refused(422, "pin_not_allowed");
    assert!(short.text.contains("6 to 12 digits"), "{}", short.text);
    kit.post(&manager, "/auth/change-pin", change("482915", "729361")).await.is(204);

    // One that a user had before stays good, until their rights grow.
    kit.chooses(lead, "7293").await;
    kit.login("lead", "7293").await.is(200);
    assert_eq!(kit.login("till", "4821").await.data()["user"]["mustChangePin"], false);
    let grant = json!({"roleId": ids::role("store_manager"), "storeId": here});
    kit.post(&admin, &format!("/users/{till}/roles"), grant).await.is(201);
    assert_eq!(kit.login("till", "4821").await.data()["user"]["mustChangePin"], true);
    // It is no PIN that another user knows: it does not end by itself.
    assert_eq!(kit.get(&admin, &format!("/users/{till}")).await.data()["firstPinExpiresAt"], Json::Null);
    let person = of(till, "till").await;
    kit.get(&person, "/auth/sessions").await.refused(403, "must_change_pin");
    kit.post(&person, "/auth/change-pin", change("4821", "7294")).await.refused(422, "pin_not_allowed");
    kit.post(&person, "/auth/change-pin", change("4821", "316408")).await.is(204);
    assert_eq!(kit.login("till", "316408").await.data()["user"]["mustChangePin"], false);
    // Who has a long one changes nothing.
    let long = kit.with_pin(&admin, "long", "926350", works("cashier")).await;
    let grant = json!({"roleId": ids::role("store_manager"), "storeId": here});
    kit.post(&admin, &format!("/users/{long}/roles"), grant).await.is(201);
    assert_eq!(kit.login("long", "926350").await.data()["user"]["mustChangePin"], false);
}
