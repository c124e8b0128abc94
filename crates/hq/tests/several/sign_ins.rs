//! A user who signs in at one server of headquarters just after another one has changed them.

use std::net::SocketAddr;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Request, header};
use serde_json::{Value as Json, json};
use uuid::Uuid;

use super::{another, answered};
use crate::backoffice::kit::{Kit, Person};

const PIN: &str = "739154";

async fn post(router: &Router, path: &str, body: Json) -> (u16, Json) {
    let request = Request::post(format!("/api/v1{path}"))
        .header(header::CONTENT_TYPE, "application/json")
        .extension(ConnectInfo(SocketAddr::from(([192, 0, 2, 1], 40_000))));
    answered(router, request.body(Body::from(body.to_string())).expect("a request")).await
}

/// The tokens of a user who signs in.
async fn sign_in(router: &Router, pin: &str) -> Json {
    let (status, said) = post(router, "/auth/login", json!({"username": "ann", "pin": pin})).await;
    assert_eq!(status, 200, "{said}");
    said["data"].clone()
}

async fn me(router: &Router, tokens: &Json) -> (u16, Json) {
    let token = tokens["accessToken"].as_str().expect("a token");
    let request = Request::get("/api/v1/auth/me").header(header::AUTHORIZATION, format!("Bearer {token}"));
    answered(router, request.body(Body::empty()).expect("a request")).await
}

/// A server that does not hear what the other one does, with a user who works at it.
async fn deaf(kit: &Kit, admin: &Person) -> (Router, Uuid) {
    let ann = kit.with_pin(admin, "ann", PIN, json!({})).await;
    let (other, elsewhere) = another(kit).await;
    // For some seconds it believes what it knows.
    other.stop.cancel();
    let tokens = sign_in(&elsewhere, PIN).await;
    assert_eq!(me(&elsewhere, &tokens).await.0, 200);
    (elsewhere, ann)
}

#[tokio::test(flavor = "multi_thread")]
async fn who_signs_in_at_one_server_just_after_the_other_has_reset_the_pin_stays_signed_in() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (elsewhere, ann) = deaf(&kit, &admin).await;
    let pin = kit.post(&admin, &format!("/users/{ann}/pin"), json!({})).await.data()["generatedPin"].clone();
    let tokens = sign_in(&elsewhere, pin.as_str().expect("a PIN")).await;
    assert_eq!(tokens["user"]["mustChangePin"], true, "{tokens}");
    let (status, said) = me(&elsewhere, &tokens).await;
    assert_eq!(status, 200, "{said}");
    let (status, said) = post(&elsewhere, "/auth/refresh", json!({"refreshToken": tokens["refreshToken"]})).await;
    assert_eq!(status, 200, "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_signs_in_at_one_server_just_after_the_other_has_let_them_in_again_stays_signed_in() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (elsewhere, ann) = deaf(&kit, &admin).await;
    let path = format!("/users/{ann}");
    for is_active in [false, true] {
        kit.patch(&admin, &path, json!({"isActive": is_active})).await.is(200);
    }
    let tokens = sign_in(&elsewhere, PIN).await;
    let (status, said) = me(&elsewhere, &tokens).await;
    assert_eq!(status, 200, "{said}");
}
