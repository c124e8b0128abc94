//! PINs: made here, changed by their owners, never shown again, and what ends with them.

use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_model::{Instant, ids};
use tillkeep_storage::entity::{audit_log, session, user};
use tillkeep_storage::sea_orm::EntityTrait;
use tillkeep_storage::sea_orm::sea_query::Expr;

use super::kit::{Kit, Person, id_of};

/// PINs of others, each of which is worth nothing once another user has hit upon it.
const TAKEN: [&str; 5] = ["739154", "605182", "481957", "926350", "518294"];

async fn login(kit: &Kit, username: &str, pin: &str) -> u16 {
    let anonymous = Person { id: uuid::Uuid::nil(), token: String::new() };
    kit.post(&anonymous, "/auth/login", json!({"username": username, "pin": pin})).await.status
}

fn change(current: &str, new: &str) -> Json {
    json!({"currentPin": current, "newPin": new})
}

#[tokio::test]
async fn a_generated_pin_is_shown_once_and_works() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let id = uuid::Uuid::now_v7();
    let body = json!({"id": id, "username": "ann", "displayName": "Ann"});
    let made = kit.post(&admin, "/users", body.clone()).await.data();
    let pin = made["generatedPin"].as_str().expect("a PIN").to_owned();
    assert_eq!(pin.len(), 6);
    assert_eq!(made["mustChangePin"], true);
    let again = kit.post(&admin, "/users", body).await;
    again.is(200);
    assert!(again.data().get("generatedPin").is_none(), "the PIN of the first request stays");
    assert_eq!(login(&kit, "ANN", &pin).await, 200);
    for row in audit_log::Entity::find().all(kit.hq.db().reader()).await.expect("log") {
        assert!(!row.details.0.to_string().contains(&pin), "no PIN in the log");
    }
}

#[tokio::test]
async fn a_pin_for_another_person_is_always_made_here_and_changed_at_the_first_sign_in() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let body = json!({"username": "ann", "displayName": "Ann"});
    for chosen in [json!("739154"), json!(739_154), Json::Null] {
        let mut body = body.clone();
        body["pin"] = chosen;
        kit.post(&admin, "/users", body).await.refused(422, "pin_is_generated");
    }
    for forced in [true, false] {
        let mut body = body.clone();
        body["mustChangePin"] = json!(forced);
        kit.post(&admin, "/users", body).await.names("mustChangePin");
    }
    let made = kit.post(&admin, "/users", body).await.data();
    let path = format!("/users/{}", id_of(&made));
    kit.post(&admin, &format!("{path}/pin"), json!({"pin": "739154"})).await.refused(422, "pin_is_generated");
    kit.post(&admin, &format!("{path}/pin"), json!({"pins": "482915"})).await.is(422);
    let again = kit.post(&admin, &format!("{path}/pin"), json!({})).await.data();
    assert_ne!(again["generatedPin"], made["generatedPin"]);
    kit.patch(&admin, &path, json!({"mustChangePin": false})).await.names("mustChangePin");

    let pin = again["generatedPin"].as_str().expect("a PIN");
    let token = kit.login("ann", pin).await.data()["accessToken"].as_str().expect("a token").to_owned();
    let ann = Person { id: id_of(&made), token };
    kit.get(&ann, "/auth/sessions").await.refused(403, "must_change_pin");
    kit.post(&ann, "/auth/change-pin", change(pin, pin)).await.refused(422, "pin_not_allowed");
    kit.post(&ann, "/auth/change-pin", change(pin, "739154")).await.is(204);
    assert_eq!(login(&kit, "ann", pin).await, 401);
    let user = kit.login("ann", "739154").await.data()["user"].clone();
    assert_eq!(user["mustChangePin"], false);
}

#[tokio::test]
async fn a_weak_pin_and_one_that_is_taken_are_refused_alike() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let works = json!({"assignments": [{"roleId": ids::role("cashier")}]});
    kit.with_pin(&admin, "ann", "739154", works.clone()).await;
    let bob = kit.with_pin(&admin, "bob", "482915", works).await;
    let bob = Person { id: bob, token: kit.sign_in(bob, "bob", None).await };
    let weak = kit.post(&bob, "/auth/change-pin", change("482915", "123456")).await;
    let date = kit.post(&bob, "/auth/change-pin", change("482915", "240787")).await;
    let taken = kit.post(&bob, "/auth/change-pin", change("482915", "739154")).await;
    for got in [&weak, &date, &taken] {
        got.refused(422, "pin_not_allowed");
        got.names("newPin");
        assert_eq!(weak.body["error"], got.body["error"]);
    }
    kit.post(&bob, "/auth/change-pin", change("482915", "604817")).await.is(204);
}

#[tokio::test]
async fn ten_new_pins_a_day_are_proposed_and_no_more_taken_or_not() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let works = json!({"assignments": [{"roleId": ids::role("cashier")}]});
    for (number, pin) in TAKEN.iter().enumerate() {
        kit.with_pin(&admin, &format!("ann{number}"), pin, works.clone()).await;
    }
    let bob = kit.with_pin(&admin, "bob", "483710", works).await;
    let mut current = "483710".to_owned();
    for number in 1..=10 {
        let bob = Person { id: bob, token: kit.sign_in(bob, "bob", None).await };
        if number % 2 == 0 {
            let taken = TAKEN[number / 2 - 1];
            kit.post(&bob, "/auth/change-pin", change(&current, taken)).await.refused(422, "pin_not_allowed");
        } else {
            let next = format!("4837{:02}", 10 + number);
            kit.post(&bob, "/auth/change-pin", change(&current, &next)).await.is(204);
            current = next;
        }
    }
    let bob = Person { id: bob, token: kit.sign_in(bob, "bob", None).await };
    for next in ["739154", "604817"] {
        kit.post(&bob, "/auth/change-pin", change(&current, next)).await.refused(429, "too_many_attempts");
    }
    // A manager does not lift what was counted of themselves; another one may.
    let locks = kit.get(&admin, "/auth/locks").await.data();
    assert_eq!((&locks[0]["kind"], &locks[0]["label"]), (&json!("proposal"), &json!("bob")));
    kit.post(&admin, "/auth/unlock", json!({"id": locks[0]["id"]})).await.is(204);
    kit.post(&bob, "/auth/change-pin", change(&current, "604817")).await.is(204);
}

#[tokio::test]
async fn a_new_pin_ends_the_sessions_of_the_old_one() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let ann = kit.person("ann", &[("cashier", None)]).await;
    kit.get(&ann, "/departments").await.is(200);
    let path = format!("/users/{}/pin", ann.id);
    let made = kit.post(&admin, &path, json!({})).await.data()["generatedPin"].as_str().expect("a PIN").to_owned();
    kit.get(&ann, "/departments").await.is(401);
    assert_eq!(login(&kit, "ann", &made).await, 200);
    kit.post(&admin, &path, json!({})).await.is(200);
    assert_eq!(login(&kit, "ann", &made).await, 401);
    let before = kit.row::<user::Entity>(ann.id).await;
    assert!(before.pin_hash.is_some() && before.pin_lookup.is_some());
}

#[tokio::test]
async fn a_manager_does_not_set_the_pin_of_a_user_who_may_more() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    kit.role(&admin, "clerk", &["users.view", "users.edit"]).await;
    let clerk = kit.person("cleo", &[("clerk", None)]).await;
    let peer = kit.person("pat", &[("clerk", None)]).await;
    kit.post(&clerk, &format!("/users/{}/pin", admin.id), json!({})).await.refused(403, "escalation");
    kit.post(&clerk, &format!("/users/{}/pin", peer.id), json!({})).await.is(200);
}

#[tokio::test]
async fn what_verifies_a_pin_is_in_no_answer() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let body = json!({
        "username": "ann", "displayName": "Ann", "assignments": [{"roleId": ids::role("cashier")}],
    });
    let made = kit.post(&admin, "/users", body).await;
    let id = id_of(&made.body["data"]);
    let stored = kit.row::<user::Entity>(id).await;
    let secrets =
        [stored.pin_hash.expect("hash"), stored.pin_lookup.expect("look-up key"), "usernameFolded".to_owned()];
    for got in [
        made,
        kit.get(&admin, "/users").await,
        kit.get(&admin, "/users?includeDeleted=true&search=ann").await,
        kit.get(&admin, &format!("/users/{id}")).await,
        kit.get(&admin, &format!("/users/{id}/roles")).await,
        kit.patch(&admin, &format!("/users/{id}"), json!({"displayName": "Anna"})).await,
        kit.post(&admin, &format!("/users/{id}/deactivate"), json!({})).await,
        kit.post(&admin, &format!("/users/{id}/activate"), json!({})).await,
        kit.post(&admin, &format!("/users/{id}/pin"), json!({})).await,
        kit.get(&admin, "/auth/me").await,
    ] {
        assert!((200..300).contains(&got.status), "{}", got.text);
        for secret in &secrets {
            assert!(!got.text.contains(secret.as_str()), "{secret} in {}", got.text);
        }
    }
}

#[tokio::test]
async fn a_user_does_not_set_their_own_pin_without_the_present_one() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    kit.post(&admin, &format!("/users/{}/pin", admin.id), json!({})).await.refused(409, "self");
}

#[tokio::test]
async fn a_session_ends_with_its_pin_whatever_the_clocks_say() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let person = kit.person("cleo", &[("cashier", None)]).await;
    // Opened by a server with a clock that runs an hour ahead of the one that changes the PIN.
    kit.clock.advance(3_600_000);
    let ahead = kit.sign_in(person.id, "cleo", None).await;
    kit.clock.advance(-3_600_000);
    kit.post(&admin, &format!("/users/{}/pin", person.id), json!({})).await.is(200);
    let tx = kit.hq.db().begin().await.expect("begin");
    // As a store sees it: the change arrives with the row, and no session was revoked there.
    session::Entity::update_many()
        .col_expr(session::Column::RevokedAt, Expr::value(Option::<Instant>::None))
        .exec(&tx)
        .await
        .expect("as at a store");
    tx.commit().await.expect("commit");
    kit.hq.auth.sessions.forget();
    kit.get(&Person { id: person.id, token: ahead }, "/auth/me").await.is(401);
}
