//! PINs: made here or sent, never shown again, and what ends with them.

use serde_json::{Value as Json, json};
use tillkeep_model::{Instant, ids};
use tillkeep_storage::entity::{audit_log, session, user};
use tillkeep_storage::sea_orm::EntityTrait;
use tillkeep_storage::sea_orm::sea_query::Expr;

use super::kit::{Kit, Person, id_of};

async fn login(kit: &Kit, username: &str, pin: &str) -> u16 {
    let nobody = Person { id: uuid::Uuid::nil(), token: String::new() };
    kit.post(&nobody, "/auth/login", json!({"username": username, "pin": pin})).await.status
}

fn new(username: &str, pin: &str) -> Json {
    json!({"username": username, "displayName": username, "pin": pin})
}

#[tokio::test]
async fn a_generated_pin_is_shown_once_and_works() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let id = uuid::Uuid::now_v7();
    let body = json!({"id": id, "username": "ann", "displayName": "Ann", "mustChangePin": true});
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
async fn a_weak_pin_and_one_that_somebody_has_are_refused_alike() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    kit.post(&admin, "/users", new("ann", "739154")).await.is(201);
    let weak = kit.post(&admin, "/users", new("bob", "123456")).await;
    let taken = kit.post(&admin, "/users", new("bob", "739154")).await;
    for got in [&weak, &taken] {
        got.refused(422, "pin_not_allowed");
        got.names("pin");
    }
    assert_eq!(weak.body["error"], taken.body["error"]);
    kit.post(&admin, "/users", json!({"username": "bob", "displayName": "Bob", "pin": 739_155})).await.names("pin");
    kit.post(&admin, "/users", new("bob", "482915")).await.is(201);
}

#[tokio::test]
async fn a_new_pin_ends_the_sessions_of_the_old_one() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let ann = kit.person("ann", &[("cashier", None)]).await;
    let path = format!("/users/{}/pin", ann.id);
    kit.post(&admin, &path, json!({"pin": "1111"})).await.refused(422, "pin_not_allowed");
    kit.get(&ann, "/departments").await.is(200);
    kit.post(&admin, &path, json!({"pin": "739154"})).await.is(204);
    kit.get(&ann, "/departments").await.is(401);
    assert_eq!(login(&kit, "ann", "739154").await, 200);
    kit.post(&admin, &path, json!({"pin": "482915"})).await.is(204);
    assert_eq!(login(&kit, "ann", "739154").await, 401);
    kit.post(&admin, &path, json!({"pins": "482915"})).await.is(422);
    let before = kit.row::<user::Entity>(ann.id).await;
    assert!(before.pin_hash.is_some() && before.pin_lookup.is_some());
}

#[tokio::test]
async fn nobody_sets_the_pin_of_somebody_who_may_more() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    kit.role(&admin, "clerk", &["users.view", "users.edit"]).await;
    let clerk = kit.person("cleo", &[("clerk", None)]).await;
    let peer = kit.person("pat", &[("clerk", None)]).await;
    let pin = json!({"pin": "739154"});
    kit.post(&clerk, &format!("/users/{}/pin", admin.id), pin.clone()).await.refused(403, "escalation");
    kit.post(&clerk, &format!("/users/{}/pin", peer.id), pin).await.is(204);
}

#[tokio::test]
async fn a_user_whose_pin_somebody_took_in_the_meantime_needs_a_new_one() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let ann = kit.post(&admin, "/users", new("ann", "739154")).await.data();
    let path = format!("/users/{}", id_of(&ann));
    kit.post(&admin, &format!("{path}/deactivate"), json!({})).await.is(200);
    kit.post(&admin, "/users", new("bob", "739154")).await.is(201);
    kit.post(&admin, &format!("{path}/activate"), json!({})).await.refused(422, "pin_not_allowed");
    kit.post(&admin, &format!("{path}/pin"), json!({"pin": "482915"})).await.is(204);
    kit.post(&admin, &format!("{path}/activate"), json!({})).await.is(200);
}

#[tokio::test]
async fn what_verifies_a_pin_is_in_no_answer() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let body = json!({
        "username": "ann", "displayName": "Ann", "pin": "739154", "assignments": [{"roleId": ids::role("cashier")}],
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
        kit.post(&admin, &format!("/users/{id}/pin"), json!({"pin": "482915"})).await,
        kit.get(&admin, "/auth/me").await,
    ] {
        assert!((200..300).contains(&got.status), "{}", got.text);
        for secret in &secrets {
            assert!(!got.text.contains(secret.as_str()), "{secret} in {}", got.text);
        }
    }
}

#[tokio::test]
async fn whoever_proposes_pin_after_pin_is_stopped_before_the_answers_name_many() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let body = json!({"username": "cleo", "displayName": "Cleo", "pin": "739154"});
    kit.post(&admin, "/users", body).await.is(201);
    let other = kit.person("other", &[("cashier", None)]).await;
    let path = format!("/users/{}/pin", other.id);
    // A PIN that is free says nothing of anybody and does not count.
    for number in 0..3 {
        kit.post(&admin, &path, json!({"pin": format!("48291{number}")})).await.is(204);
    }
    for number in 0..10 {
        let (path, body) = if number % 2 == 0 {
            (path.as_str(), json!({"pin": "739154"}))
        } else {
            ("/users", json!({"username": "new", "displayName": "New", "pin": "739154"}))
        };
        kit.post(&admin, path, body).await.refused(422, "pin_not_allowed");
    }
    kit.post(&admin, &path, json!({"pin": "739154"})).await.refused(429, "too_many_attempts");
    kit.post(&admin, &path, json!({"pin": "604817"})).await.refused(429, "too_many_attempts");
    let log = kit.get(&admin, "/audit-log?action=pin.refused").await;
    assert_eq!(log.body["pagination"]["total"], 10);
    assert!(log.body["data"][0]["details"]["address"].is_string(), "from where");
    // Nobody lifts what was counted of themselves; somebody else may.
    let locks = kit.get(&admin, "/auth/locks").await.data();
    assert_eq!((&locks[0]["kind"], &locks[0]["label"]), (&json!("proposal"), &json!("admin")));
    kit.post(&admin, "/auth/unlock", json!({"id": locks[0]["id"]})).await.refused(409, "self");
    let second = kit.person("second", &[("administrator", None)]).await;
    kit.post(&second, "/auth/unlock", json!({"id": locks[0]["id"]})).await.is(204);
    kit.post(&admin, &path, json!({"pin": "604817"})).await.is(204);
}

#[tokio::test]
async fn nobody_sets_their_own_pin_without_the_present_one() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    kit.post(&admin, &format!("/users/{}/pin", admin.id), json!({"pin": "604817"})).await.refused(409, "self");
}

#[tokio::test]
async fn a_session_ends_with_its_pin_whatever_the_clocks_say() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let person = kit.person("cleo", &[("cashier", None)]).await;
    // Opened by a server whose clock runs an hour ahead of the one that changes the PIN.
    kit.clock.advance(3_600_000);
    let ahead = kit.sign_in(person.id, "cleo", None).await;
    kit.clock.advance(-3_600_000);
    kit.post(&admin, &format!("/users/{}/pin", person.id), json!({"pin": "604817"})).await.is(204);
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
