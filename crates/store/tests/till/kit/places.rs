//! Where somebody types a PIN: an address of the shop's network, with or without the key of an enrolled till.

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

/// Nine digits that nobody has: PINs of the test store are made from ids, and this one is not.
pub const WRONG: &str = "000000000";

/// A place in the network of a shop.
#[derive(Clone)]
pub struct Place {
    router: Router,
    store: Uuid,
    address: &'static str,
    device: Option<String>,
}

/// An answer there.
pub struct Told {
    pub status: u16,
    pub body: Json,
    /// Seconds to wait before the next try, when there is something to wait for.
    pub wait: Option<i64>,
}

impl Told {
    #[track_caller]
    pub fn refused(&self, status: u16, code: &str) {
        assert_eq!((self.status, self.body["code"].as_str()), (status, Some(code)), "{}", self.body);
    }

    #[track_caller]
    pub fn is(&self, status: u16) {
        assert_eq!(self.status, status, "{}", self.body);
    }
}

impl Place {
    pub fn at(shop: &Shop, address: &'static str) -> Self {
        Self { router: routes::router(shop.store.clone(), &[]), store: shop.store.id, address, device: None }
    }

    /// The same place with the key of an enrolled till.
    pub fn with(&self, key: &str) -> Self {
        Self { device: Some(key.to_owned()), ..self.clone() }
    }

    /// The same place when another server has taken over.
    pub fn served_by(self, store: Arc<Store>) -> Self {
        Self { router: routes::router(store, &[]), ..self }
    }

    async fn send(&self, path: &str, token: Option<&str>, body: Json) -> Told {
        let peer = SocketAddr::new(self.address.parse().expect("an address"), 40_000);
        let mut request = Request::post(format!("/api/v1{path}"))
            .header(header::CONTENT_TYPE, "application/json")
            .extension(ConnectInfo(peer));
        if let Some(key) = &self.device {
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
        Told { status, body: serde_json::from_slice(&bytes).expect("JSON"), wait }
    }

    /// A PIN alone, typed at what calls itself `terminal`.
    pub async fn pin(&self, terminal: &str, pin: &str) -> Told {
        self.send("/auth/pin-login", None, json!({"pin": pin, "storeId": self.store, "terminalId": terminal})).await
    }

    pub async fn guess(&self, terminal: &str) -> u16 {
        self.pin(terminal, WRONG).await.status
    }

    pub async fn login(&self, username: &str, pin: &str) -> Told {
        self.send("/auth/login", None, json!({"username": username, "pin": pin})).await
    }

    /// Somebody who is signed in asks for a second person's yes.
    pub async fn approval(&self, person: &Person, pin: &str) -> Told {
        let context = json!({"cartHash": "a".repeat(64)});
        let body = json!({"permission": "pos.price.override", "pin": pin, "reason": "a tin", "context": context});
        self.send("/pos/approvals", Some(&person.token), body).await
    }

    /// Somebody who signed in elsewhere, asking here.
    pub fn again(&self, person: &Person) -> Person {
        Person { token: person.token.clone(), user_id: person.user_id, router: self.router.clone() }
    }

    /// Whoever signed in with this answer.
    pub fn person(&self, told: &Told) -> Person {
        assert_eq!(told.status, 200, "{}", told.body);
        let data = &told.body["data"];
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
