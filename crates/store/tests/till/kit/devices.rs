//! A device at which users type PINs: an address of the shop's network, with or without the key of an enrolled till.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Request, header};
use http_body_util::BodyExt;
use serde_json::{Value as Json, json};
use tillkeep_store::{Store, routes};
use tower::ServiceExt;
use uuid::Uuid;

use super::{Person, Shop, id};

/// Nine digits that no user has: PINs of the test store are made from ids, and this one is not.
pub const WRONG: &str = "000000000";

/// A device in the network of a shop, enrolled or not.
#[derive(Clone)]
pub struct Device {
    router: Router,
    store: Uuid,
    address: &'static str,
    key: Option<String>,
}

/// An answer to it.
pub struct PinAnswer {
    pub status: u16,
    pub body: Json,
    /// Seconds to wait before the next try, when there is something to wait for.
    pub wait: Option<i64>,
}

impl PinAnswer {
    #[track_caller]
    pub fn refused(&self, status: u16, code: &str) {
        assert_eq!((self.status, self.body["code"].as_str()), (status, Some(code)), "{}", self.body);
    }

    #[track_caller]
    pub fn is(&self, status: u16) {
        assert_eq!(self.status, status, "{}", self.body);
    }
}

impl Device {
    pub fn at(shop: &Shop, address: &'static str) -> Self {
        Self { router: routes::router(shop.store.clone(), &[]), store: shop.store.id, address, key: None }
    }

    /// The same device with the key of an enrolled till.
    pub fn with(&self, key: &str) -> Self {
        Self { key: Some(key.to_owned()), ..self.clone() }
    }

    /// The same device when another server has taken over.
    pub fn served_by(self, store: Arc<Store>) -> Self {
        Self { router: routes::router(store, &[]), ..self }
    }

    async fn send(&self, path: &str, token: Option<&str>, body: Json) -> PinAnswer {
        let peer = SocketAddr::new(self.address.parse().expect("an address"), 40_000);
        let mut request = Request::post(format!("/api/v1{path}"))
            .header(header::CONTENT_TYPE, "application/json")
            .extension(ConnectInfo(peer));
        if let Some(key) = &self.key {
            request = request.header("tillkeep-device", key);
        }
        if let Some(token) = token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let request = request.body(Body::from(body.to_string())).expect("a request");
        let answer = self.router.clone().oneshot(request).await.expect("an answer");
        let (status, wait) = (answer.status().as_u16(), answer.headers().get(header::RETRY_AFTER).cloned());
        let bytes = answer.into_body().collect().await.expect("a body").to_bytes();
        let wait = wait.map(|wait| wait.to_str().expect("a text").parse().expect("seconds"));
        PinAnswer { status, body: serde_json::from_slice(&bytes).expect("JSON"), wait }
    }

    /// A PIN alone, typed at what calls itself `terminal`.
    pub async fn pin(&self, terminal: &str, pin: &str) -> PinAnswer {
        self.send("/auth/pin-login", None, json!({"pin": pin, "storeId": self.store, "terminalId": terminal})).await
    }

    pub async fn guess(&self, terminal: &str) -> u16 {
        self.pin(terminal, WRONG).await.status
    }

    pub async fn login(&self, username: &str, pin: &str) -> PinAnswer {
        self.send("/auth/login", None, json!({"username": username, "pin": pin})).await
    }

    /// A user who is signed in asks for a second person's yes.
    pub async fn approval(&self, person: &Person, pin: &str) -> PinAnswer {
        let context = json!({"cartHash": "a".repeat(64)});
        let body = json!({"permission": "pos.price.override", "pin": pin, "reason": "a tin", "context": context});
        self.send("/pos/approvals", Some(&person.token), body).await
    }

    /// A user who signed in elsewhere, asking here.
    pub fn again(&self, person: &Person) -> Person {
        Person { token: person.token.clone(), user_id: person.user_id, router: self.router.clone() }
    }

    /// Whoever signed in with this answer.
    pub fn person(&self, answer: &PinAnswer) -> Person {
        assert_eq!(answer.status, 200, "{}", answer.body);
        let data = &answer.body["data"];
        Person {
            token: data["accessToken"].as_str().expect("a token").to_owned(),
            user_id: data["user"]["id"].as_str().expect("an id").parse().expect("a UUID"),
            router: self.router.clone(),
        }
    }
}

impl Shop {
    /// Enrols a device as the register with this code; its id and its key.
    pub async fn enrolled(&self, manager: &Person, code: &str) -> (String, String) {
        let body = json!({"registerId": id(&format!("register {code}")), "name": format!("Till {code}")});
        let made = manager.post("/devices", body).await.ok(201);
        let text = |key: &str| made[key].as_str().expect("a text").to_owned();
        (text("id"), text("deviceKey"))
    }
}
