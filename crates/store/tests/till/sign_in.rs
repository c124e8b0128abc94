//! Signing in at a store's tills: guessing ends soon, hurts no other till, and a manager lifts what it blocked.

use axum::Router;
use axum::body::Body;
use axum::http::{Request, header};
use http_body_util::BodyExt;
use serde_json::{Value as Json, json};
use tillkeep_storage::entity::{audit_log, user};
use tillkeep_storage::sea_orm::{
    ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, PaginatorTrait, QueryFilter,
};
use tillkeep_store::{Store, routes};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::kit::{Shop, people, rows};

/// Nine digits that nobody has: PINs of the test store are made from ids, and this one is not.
const WRONG: &str = "000000000";

async fn ask(router: &Router, terminal: &str, pin: &str, shop: &Shop) -> (u16, Json) {
    let body = json!({"pin": pin, "storeId": shop.store.id, "terminalId": terminal});
    let request = Request::post("/api/v1/auth/pin-login").header(header::CONTENT_TYPE, "application/json");
    let request = request.body(Body::from(body.to_string())).expect("a request");
    let answer = router.clone().oneshot(request).await.expect("an answer");
    let status = answer.status().as_u16();
    let bytes = answer.into_body().collect().await.expect("a body").to_bytes();
    (status, serde_json::from_slice(&bytes).expect("JSON"))
}

async fn guess(shop: &Shop, terminal: &str) -> u16 {
    ask(&routes::router(shop.store.clone(), &[]), terminal, WRONG, shop).await.0
}

/// Seven wrong PINs at T1, waited for: the next minute is lost.
async fn block(shop: &Shop) {
    for _ in 0..7 {
        assert_eq!(guess(shop, "T1").await, 401);
        shop.clock.advance(11_000);
    }
    assert_eq!(guess(shop, "T1").await, 429);
}

async fn with_two_tills() -> Shop {
    let shop = Shop::open().await;
    shop.insert::<tillkeep_storage::entity::register::Entity>([rows::register("02", "T2")]).await;
    shop
}

#[tokio::test]
async fn of_two_hundred_guesses_at_once_at_a_till_three_are_looked_at() {
    let shop = with_two_tills().await;
    let before = shop.store.auth.pins.computed();
    let router = routes::router(shop.store.clone(), &[]);
    let guesses = (0..200).map(|_| ask(&router, "T1", WRONG, &shop));
    let statuses: Vec<u16> =
        futures_util::future::join_all(guesses).await.into_iter().map(|(status, _)| status).collect();
    let looked_at = statuses.iter().filter(|status| **status == 401).count();
    // A slow machine lets the first wait of a second pass meanwhile, never more than waiting gives.
    assert!((3..=5).contains(&looked_at), "{looked_at}");
    assert_eq!(shop.store.auth.pins.computed() - before, 2 * looked_at as u64, "two hashes for each");
    assert!(statuses.iter().all(|status| [401, 429].contains(status)), "{statuses:?}");
    let (_, pin) = people::person(&shop, "cashier").await;
    assert_eq!(ask(&router, "T2", &pin, &shop).await.0, 200, "the till beside it is free");
    let told = audit_log::Entity::find().filter(audit_log::Column::Action.eq("login.blocked"));
    assert_eq!(told.count(shop.store.db().reader()).await.expect("the log"), 1);
}

#[tokio::test]
async fn a_blocked_till_stays_blocked_after_a_restart() {
    let shop = Shop::open().await;
    block(&shop).await;
    let (_, pin) = people::person(&shop, "cashier").await;
    let again = Store::open(shop.store.settings.clone(), shop.clock.clone(), CancellationToken::new()).await;
    let router = routes::router(again.expect("a store"), &[]);
    let (status, body) = ask(&router, "T1", &pin, &shop).await;
    assert_eq!((status, body["code"].as_str()), (429, Some("too_many_attempts")));
    shop.clock.advance(60_000);
    assert_eq!(ask(&router, "T1", &pin, &shop).await.0, 200);
}

#[tokio::test]
async fn made_up_terminals_share_the_tries_of_one() {
    let shop = Shop::open().await;
    for number in 0..7 {
        assert_eq!(guess(&shop, &format!("made up {number}")).await, 401);
        shop.clock.advance(11_000);
    }
    assert_eq!(guess(&shop, "another one").await, 429);
    let (_, pin) = people::person(&shop, "cashier").await;
    assert_eq!(
        ask(&routes::router(shop.store.clone(), &[]), "T1", &pin, &shop).await.0,
        200,
        "a registered till is free"
    );
}

#[tokio::test]
async fn a_manager_frees_a_till_and_a_cashier_does_not() {
    let shop = with_two_tills().await;
    let admin = shop.sign_in_at("administrator", "T2").await;
    let cashier = shop.sign_in_at("cashier", "T2").await;
    block(&shop).await;
    cashier.get("/auth/locks").await.refused(403, "forbidden");
    let locks = admin.get("/auth/locks").await.ok(200);
    assert_eq!(locks.as_array().map(Vec::len), Some(1));
    assert_eq!(
        (&locks[0]["kind"], &locks[0]["label"], &locks[0]["wrongToday"]),
        (&json!("terminal"), &json!("T1"), &json!(7))
    );
    let id = json!({"id": locks[0]["id"]});
    cashier.post("/auth/unlock", id.clone()).await.refused(403, "forbidden");
    assert_eq!(guess(&shop, "T1").await, 429);
    assert_eq!(admin.post("/auth/unlock", id).await.status, 204);
    assert_eq!(admin.get("/auth/locks").await.ok(200), json!([]));
    shop.sign_in_at("cashier", "T1").await;
}

#[tokio::test]
async fn a_terminal_that_no_text_column_holds_is_refused_before_its_pin_is_looked_at() {
    let shop = Shop::open().await;
    let before = shop.store.auth.pins.computed();
    for terminal in ["", " ", "a\u{0}b", "a\nb", &"x".repeat(101)] {
        let (status, body) = ask(&routes::router(shop.store.clone(), &[]), terminal, WRONG, &shop).await;
        assert_eq!((status, body["details"][0]["field"].as_str()), (422, Some("terminalId")), "{terminal:?}");
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
async fn a_person_whose_pin_headquarters_changed_or_who_left_is_out_with_the_pull() {
    for (name, change) in [
        ("re-PINned", (|row, now| row.pin_changed_at = Some(now)) as fn(&mut user::Model, tillkeep_model::Instant)),
        ("deactivated", |row, _| row.is_active = false),
        ("deleted", |row, now| row.deleted_at = Some(now)),
    ] {
        let shop = Shop::open().await;
        let cashier = shop.sign_in("cashier").await;
        assert_eq!(cashier.get("/auth/me").await.status, 200, "{name}");
        shop.clock.advance(1000);
        let tx = shop.store.db().begin().await.expect("a transaction");
        let mut row = user::Entity::find_by_id(cashier.user_id).one(&tx).await.expect("a read").expect("a user");
        change(&mut row, shop.clock.now());
        user::Entity::update(row.into_active_model().reset_all()).exec(&tx).await.expect("an update");
        tx.commit().await.expect("a commit");
        // What the pull does after it has stored rows of people.
        shop.store.auth.invalidate();
        assert_eq!(cashier.get("/auth/me").await.status, 401, "{name}");
    }
}
