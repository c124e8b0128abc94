//! A store whose token one server replaces, and which asks another one.

use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, header};
use serde_json::{Value as Json, json};
use tokio::time::timeout;
use uuid::Uuid;

use super::{another, answered};
use crate::backoffice::kit::{Kit, Person};

/// A store that has a token, and that.
async fn provisioned(kit: &Kit, admin: &Person) -> (Uuid, String) {
    let store = kit.store("S01").await;
    kit.post(admin, &format!("/stores/{store}/provision"), json!({})).await.is(200);
    (store, kit.sync_token(store))
}

/// The token that replaces the one before, which goes on for an hour.
async fn rotated(kit: &Kit, admin: &Person, store: Uuid) -> String {
    let body = json!({"rotate": true, "graceMinutes": 60});
    let data = kit.post(admin, &format!("/stores/{store}/provision"), body).await.data();
    data["syncToken"].as_str().expect("a token").to_owned()
}

async fn versions(router: &Router, token: &str) -> (u16, Json) {
    let request = Request::get("/api/v1/sync/versions").header(header::AUTHORIZATION, format!("Bearer {token}"));
    answered(router, request.body(Body::empty()).expect("a request")).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_one_server_has_just_given_is_good_at_another_that_has_not_heard_of_it() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (store, token) = provisioned(&kit, &admin).await;
    let (other, elsewhere) = another(&kit).await;
    // For some seconds it believes what it knows.
    other.stop.cancel();
    assert_eq!(versions(&elsewhere, &token).await.0, 200);
    let next = rotated(&kit, &admin, store).await;
    for token in [&next, &token, &next] {
        let (status, said) = versions(&elsewhere, token).await;
        assert_eq!(status, 200, "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rotated_token_is_handed_over_by_whichever_server_the_store_asks() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (store, token) = provisioned(&kit, &admin).await;
    let (other, elsewhere) = another(&kit).await;
    // As after the first handshake: a server that starts asks every store for one.
    other.stores_to_notify.remove(store);
    let (status, said) = versions(&elsewhere, &token).await;
    assert_eq!((status, &said["handshake"]), (200, &json!(false)), "{said}");
    rotated(&kit, &admin, store).await;
    // It has no socket there, by which the other server would know of it.
    let heard = async {
        while !other.stores_to_notify.contains(store) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(Duration::from_secs(50), heard).await.expect("the other server hears of it");
    let (status, said) = versions(&elsewhere, &token).await;
    assert_eq!((status, &said["handshake"]), (200, &json!(true)), "{said}");
    other.stop.cancel();
}
