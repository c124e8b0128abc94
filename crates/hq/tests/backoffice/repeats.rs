//! `Idempotency-Key`: what is sent again acts once. That every POST of both servers does is in `tests/contract`.

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Request, header};
use serde_json::{Value as Json, json};
use std::net::SocketAddr;
use tillkeep_hq::testing::Databases as _;
use tillkeep_hq::{Hq, routes};
use tillkeep_http::auth::housekeeping;
use tillkeep_storage::entity::idempotency_key::{Entity, Model};
use tillkeep_storage::raw;
use tillkeep_storage::sea_orm::EntityTrait;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use super::kit::{Got, Kit, Person, column, id_of};

fn request(who: &Person, path: &str, body: &Json, key: &str) -> Request<Body> {
    let request = Request::post(format!("/api/v1{path}"))
        .header(header::HOST, "hq.example:8080")
        .header(header::AUTHORIZATION, format!("Bearer {}", who.token))
        .header(header::CONTENT_TYPE, "application/json")
        .header("idempotency-key", key);
    request.body(Body::from(body.to_string())).expect("a request")
}

async fn keyed(kit: &Kit, who: &Person, path: &str, body: Json, key: &str) -> Got {
    kit.send(request(who, path, &body, key)).await
}

async fn rows(kit: &Kit) -> Vec<Model> {
    Entity::find().all(kit.hq.db().reader()).await.expect("the keys")
}

fn is_replayed(got: &Got) -> bool {
    got.headers.get("idempotency-replayed").is_some_and(|value| value == "true")
}

#[tokio::test]
async fn the_same_post_with_one_key_acts_once_and_another_content_is_refused() {
    let kit = Kit::new().await;
    let (admin, other) = (kit.admin().await, kit.person("otto", &[("administrator", None)]).await);
    let body = json!({"code": "TOYS", "name": "Toys"});
    let first = keyed(&kit, &admin, "/departments", body.clone(), "one").await;
    assert!(first.status == 201 && !is_replayed(&first), "{}", first.text);
    let again = keyed(&kit, &admin, "/departments", json!({"name": "Toys", "code": "TOYS"}), "one").await;
    assert!(is_replayed(&again), "{}", again.text);
    assert_eq!((again.status, &again.body), (201, &first.body));
    assert_eq!(rows(&kit).await.len(), 1);
    let got = keyed(&kit, &admin, "/departments", json!({"code": "TOYS", "name": "Games"}), "one").await;
    got.refused(422, "idempotency_key_reused");
    got.names("Idempotency-Key");
    // What the route does not know is said first, as without a key.
    keyed(&kit, &admin, "/departments?x=1", body.clone(), "one").await.refused(422, "unknown_parameter");
    // A key is its user's and its route's.
    keyed(&kit, &other, "/departments", body.clone(), "one").await.refused(409, "duplicate_code");
    keyed(&kit, &admin, "/tax-rates", json!({"code": "T", "name": "T", "ratePpm": 1}), "one").await.is(201);
    keyed(&kit, &admin, "/departments", body, "two").await.refused(409, "duplicate_code");
}

#[tokio::test]
async fn a_refused_post_keeps_no_key() {
    let kit = Kit::new().await;
    let (admin, guest) = (kit.admin().await, kit.person("guest", &[]).await);
    keyed(&kit, &admin, "/departments", json!({"code": "", "name": "Toys"}), "one").await.refused(422, "validation");
    keyed(&kit, &guest, "/departments", json!({}), "one").await.refused(403, "forbidden");
    assert!(rows(&kit).await.is_empty());
    let body = json!({"code": "TOYS", "name": "Toys"});
    keyed(&kit, &admin, "/departments", body.clone(), "one").await.is(201);
    // Who may not ask any more gets no old answer.
    let stranger = Person { id: admin.id, token: "e30.e30.x".to_owned() };
    keyed(&kit, &stranger, "/departments", body.clone(), "one").await.is(401);
    for bad in ["", &"k".repeat(256), "k\u{e9}y"] {
        let got = keyed(&kit, &admin, "/departments", body.clone(), bad).await;
        got.refused(400, "bad_request");
        got.names("Idempotency-Key");
    }
}

#[tokio::test]
async fn of_two_at_once_with_one_key_one_acts_on_one_server_and_on_two() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let second = Hq::open(&kit.settings, kit.clock.clone(), CancellationToken::new()).await.expect("a second server");
    let elsewhere = routes::router(second, &[]);
    for round in 0..3 {
        let (code, key) = (format!("D{round}"), format!("key {round}"));
        let body = json!({"lastName": code, "firstName": "Ann"});
        let there = async || {
            let answer =
                elsewhere.clone().oneshot(request(&admin, "/customers", &body, &key)).await.expect("an answer");
            answer.status().as_u16()
        };
        let (one, two, three) = tokio::join!(
            keyed(&kit, &admin, "/customers", body.clone(), &key),
            keyed(&kit, &admin, "/customers", body.clone(), &key),
            there()
        );
        let statuses = [one.status, two.status, three];
        assert!(statuses.iter().all(|status| [201, 409].contains(status)), "{} {} {three}", one.text, two.text);
        assert!(statuses.contains(&201));
        for refused in [&one, &two].iter().filter(|got| got.status == 409) {
            let code = refused.body["code"].as_str().unwrap_or_default();
            assert!(["in_progress", "already_done"].contains(&code), "{}", refused.text);
        }
        let found = kit.get(&admin, &format!("/customers?search={code}")).await.data();
        assert_eq!(column(&found, "lastName"), [code.as_str()], "round {round}");
        let again = keyed(&kit, &admin, "/customers", body, &key).await;
        assert!(again.status == 201 && is_replayed(&again), "{}", again.text);
    }
    assert_eq!(rows(&kit).await.len(), 3);
}

#[tokio::test]
async fn a_secret_is_given_once_and_never_kept() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let path = format!("/stores/{store}/provision");
    let token = keyed(&kit, &admin, &path, json!({}), "one").await.data()["syncToken"].clone();
    let again = keyed(&kit, &admin, &path, json!({}), "one").await;
    again.refused(409, "already_done");
    assert!(!again.text.contains(token.as_str().expect("a token")));
    let body = json!({"username": "ann", "displayName": "Ann"});
    let ann = id_of(&keyed(&kit, &admin, "/users", body.clone(), "one").await.data());
    keyed(&kit, &admin, "/users", body, "one").await.refused(409, "already_done");
    let pin = format!("/users/{ann}/pin");
    keyed(&kit, &admin, &pin, json!({}), "one").await.is(200);
    keyed(&kit, &admin, &pin, json!({}), "one").await.refused(409, "already_done");
    let kept = rows(&kit).await;
    assert_eq!(kept.len(), 3);
    assert!(kept.iter().all(|row| row.status.is_none() && row.answer.is_none()));
}

#[tokio::test]
async fn what_was_done_is_already_done_when_its_answer_was_lost() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let body = json!({"code": "TOYS", "name": "Toys"});
    keyed(&kit, &admin, "/departments", body.clone(), "one").await.is(201);
    // As if the server had died between the commit and the answer.
    let tx = kit.hq.db().begin().await.expect("begin");
    raw::execute(&tx, "UPDATE idempotency_keys SET status = NULL, answer = NULL", []).await.expect("an update");
    tx.commit().await.expect("commit");
    keyed(&kit, &admin, "/departments", body, "one").await.refused(409, "already_done");
}

#[tokio::test]
async fn a_key_counts_for_a_day_at_headquarters_and_is_then_forgotten() {
    let kit = Kit::new().await;
    let mut admin = kit.admin().await;
    let body = json!({"firstName": "Ann"});
    keyed(&kit, &admin, "/customers", body.clone(), "one").await.is(201);
    kit.clock.advance(24 * 3_600_000 - 60_000);
    admin.token = kit.sign_in(admin.id, "admin", None).await;
    assert!(is_replayed(&keyed(&kit, &admin, "/customers", body.clone(), "one").await));
    housekeeping::forget(&kit.hq.auth).await.expect("housekeeping");
    assert_eq!(rows(&kit).await.len(), 1);
    kit.clock.advance(60_000);
    admin.token = kit.sign_in(admin.id, "admin", None).await;
    let later = keyed(&kit, &admin, "/customers", body, "one").await;
    assert!(later.status == 201 && !is_replayed(&later), "{}", later.text);
    kit.clock.advance(24 * 3_600_000);
    housekeeping::forget(&kit.hq.auth).await.expect("housekeeping");
    assert!(rows(&kit).await.is_empty());
}

#[tokio::test]
async fn a_key_of_a_sign_in_tells_a_stranger_nothing() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    kit.with_pin(&admin, "ann", "739154", json!({})).await;
    let sign_in = async |name: &str, pin: &str| {
        let request = Request::post("/api/v1/auth/login")
            .header(header::CONTENT_TYPE, "application/json")
            .header("idempotency-key", "one")
            .extension(ConnectInfo(SocketAddr::from(([192, 0, 2, 1], 1))));
        let body = json!({"username": name, "pin": pin}).to_string();
        kit.send(request.body(Body::from(body)).expect("a request")).await
    };
    sign_in("ann", "862047").await.refused(401, "invalid_credentials");
    assert!(rows(&kit).await.is_empty(), "nothing is kept for a stranger");
    let tokens = sign_in("ann", "739154").await.data();
    let again = sign_in("ann", "739154").await;
    again.refused(409, "already_done");
    assert!(again.body.get("data").is_none());
    // Whoever does not know the PIN hears what they hear without a key.
    sign_in("ann", "862047").await.refused(401, "invalid_credentials");
    sign_in("bob", "862047").await.refused(401, "invalid_credentials");
    assert_eq!(rows(&kit).await.len(), 1);
    let refresh = async || {
        let request = Request::post("/api/v1/auth/refresh")
            .header(header::CONTENT_TYPE, "application/json")
            .header("idempotency-key", "two")
            .extension(ConnectInfo(SocketAddr::from(([192, 0, 2, 1], 1))));
        let body = json!({"refreshToken": tokens["refreshToken"]}).to_string();
        kit.send(request.body(Body::from(body)).expect("a request")).await
    };
    refresh().await.is(200);
    refresh().await.refused(409, "already_done");
    // A right PIN is no wrong attempt, however often its answer is lost.
    for _ in 0..12 {
        sign_in("ann", "739154").await.refused(409, "already_done");
    }
    // A replaced token that comes back late is a theft, whatever key it comes with: the session ends.
    let access = tokens["accessToken"].as_str().expect("a token");
    let me = async || {
        let request = Request::get("/api/v1/auth/me").header(header::AUTHORIZATION, format!("Bearer {access}"));
        kit.send(request.body(Body::empty()).expect("a request")).await
    };
    me().await.is(200);
    kit.clock.advance(31_000);
    refresh().await.refused(401, "token_reused");
    me().await.is(401);
}
