//! Signing in: one answer and one cost for everything that is wrong, and what a first PIN lets through.

use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_http::auth::{PinLogin, SignInSettings};
use tillkeep_model::ids;
use tillkeep_storage::entity::user;
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use uuid::Uuid;

use super::kit::{Got, Kit, Person, id_of};

const PIN: &str = "739154";

async fn pin_login(kit: &Kit, store: Uuid, pin: &str) -> Got {
    let body = json!({"pin": pin, "storeId": store, "terminalId": "T1"});
    kit.stranger("/auth/pin-login", body, "192.0.2.1", None).await
}

/// So many users with unknown PINs.
async fn fill(kit: &Kit, count: usize) {
    let now = kit.clock.now();
    let rows = (0..count).map(|number| {
        let id = Uuid::now_v7();
        user::Model {
            id,
            username: id.to_string(),
            username_folded: id.to_string(),
            display_name: number.to_string(),
            pin_hash: Some("$argon2id$".to_owned()),
            pin_lookup: Some(format!("lookup {id}")),
            is_active: true,
            created_at: now,
            updated_at: now,
            ..user::Model::default()
        }
    });
    let mut tx = kit.hq.db().begin().await.expect("begin");
    tx.insert_all::<user::Entity>(rows.collect()).await.expect("users");
    kit.hq.commit(tx).await.expect("commit");
}

#[tokio::test]
async fn a_pin_costs_two_hashes_whoever_it_names_and_however_many_there_are() {
    let kit = Kit::with(SignInSettings { pin_login_at_hq: PinLogin::All, ..SignInSettings::default() }).await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let works = json!({"assignments": [{"roleId": ids::role("cashier"), "storeId": store}]});
    kit.with_pin(&admin, "ann", PIN, works).await;
    kit.with_pin(&admin, "rolf", "605182", json!({})).await;
    let gone = kit.with_pin(&admin, "gone", "918273", json!({})).await;
    kit.post(&admin, &format!("/users/{gone}/deactivate"), json!({})).await.is(200);
    for users in [10, 990] {
        fill(&kit, users).await;
        for (pin, status) in [(PIN, 200), ("482915", 401), ("918273", 401), ("605182", 200)] {
            let before = kit.hq.auth.pins.computed();
            // Wrong ones wait for each other.
            kit.clock.advance(11_000);
            let got = pin_login(&kit, store, pin).await;
            got.is(status);
            assert_eq!(kit.hq.auth.pins.computed() - before, 2, "{pin} among {users}");
            if pin == "605182" {
                assert_eq!(got.body["data"]["user"]["permissions"], json!([]), "nothing counts for them there");
            }
        }
    }
}

#[tokio::test]
async fn unknown_inactive_deleted_and_wrong_are_the_same_to_the_byte() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    kit.with_pin(&admin, "ann", PIN, json!({})).await;
    let inactive = kit.with_pin(&admin, "ina", "605182", json!({})).await;
    kit.post(&admin, &format!("/users/{inactive}/deactivate"), json!({})).await.is(200);
    let deleted = kit.with_pin(&admin, "del", "918273", json!({})).await;
    let tx = kit.hq.db().begin().await.expect("begin");
    user::Entity::update_many()
        .col_expr(user::Column::DeletedAt, Expr::value(Some(kit.clock.now())))
        .filter(user::Column::Id.eq(deleted))
        .exec(&tx)
        .await
        .expect("deleted");
    tx.commit().await.expect("commit");
    let exact = |mut got: Got| {
        // The only header that tells time.
        got.headers.remove("date");
        (got.status, got.text, got.headers)
    };
    let before = kit.hq.auth.pins.computed();
    let by_name = [("ann", "482915"), ("nobody", "482915"), ("ina", "605182"), ("del", "918273")];
    let mut answers = Vec::new();
    for (name, pin) in by_name {
        answers.push(exact(kit.login(name, pin).await));
    }
    assert_eq!(kit.hq.auth.pins.computed() - before, 4, "one hash for each");
    for pin in ["482915", "605182", "918273"] {
        answers.push(exact(pin_login(&kit, store, pin).await));
        kit.clock.advance(60_000);
    }
    assert_eq!(answers[0].0, 401);
    assert!(answers[0].1.contains("invalid_credentials"));
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:#?}");
}

#[tokio::test]
async fn a_first_pin_lets_through_to_its_change_and_nowhere_else() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let assignments = json!([{"roleId": ids::role("administrator")}]);
    let body = json!({"username": "ann", "displayName": "Ann", "assignments": assignments});
    let made = kit.post(&admin, "/users", body).await.data();
    let (id, pin) = (id_of(&made), made["generatedPin"].clone());
    let ann = Person { id, token: kit.sign_in(id, "ann", None).await };
    for (method, path) in [
        ("GET", "/auth/sessions".to_owned()),
        ("DELETE", format!("/auth/sessions/{}", Uuid::nil())),
        ("GET", "/auth/locks".to_owned()),
        ("GET", "/users".to_owned()),
        // Another side's business: signed in is enough, and yet not with this PIN.
        ("POST", "/pos/sales".to_owned()),
    ] {
        kit.call(&ann, method, &path, (method == "POST").then(|| json!({}))).await.refused(403, "must_change_pin");
    }
    kit.get(&ann, "/auth/me").await.is(200);
    kit.post(&ann, "/auth/change-pin", json!({"currentPin": pin, "newPin": "605182"})).await.is(204);
    let again = Person { id, token: kit.sign_in(id, "ann", None).await };
    kit.get(&again, "/auth/sessions").await.is(200);
    kit.post(&again, "/auth/logout", json!({})).await.is(204);
}

#[tokio::test]
async fn a_pin_has_the_digits_that_headquarters_asks_for() {
    let kit = Kit::with(SignInSettings { pin_min_length: 8, ..SignInSettings::default() }).await;
    let admin = kit.admin().await;
    let ann = kit.with_pin(&admin, "ann", "73915482", json!({})).await;
    let ann = Person { id: ann, token: kit.sign_in(ann, "ann", None).await };
    let change = |new: &str| json!({"currentPin": "73915482", "newPin": new});
    kit.post(&ann, "/auth/change-pin", change(PIN)).await.refused(422, "pin_not_allowed");
    kit.post(&ann, "/auth/change-pin", change("60518247")).await.is(204);
    let made = kit.post(&admin, "/users", json!({"username": "bob", "displayName": "Bob"})).await.data();
    assert_eq!(made["generatedPin"].as_str().map(str::len), Some(8));
    let pin: &Json = &made["generatedPin"];
    kit.login("bob", pin.as_str().expect("a PIN")).await.is(200);
}
