//! A headquarters of its own for each test, people with roles, and requests that say what they got.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{HeaderMap, Request, header};
use axum::response::Response;
use http_body_util::BodyExt;
use serde_json::{Value as Json, json};
use tempfile::TempDir;
use tillkeep_hq::live::Times;
use tillkeep_hq::notify::Broker;
use tillkeep_hq::testing::Databases as _;
use tillkeep_hq::{Hq, Settings, routes};
use tillkeep_http::Clock;
use tillkeep_http::auth::{SignInSettings, new_pin};
use tillkeep_http::elsewhere::WriteRoute;
use tillkeep_http::server::{self, Limits};
use tillkeep_http::tokens::{ACCESS, ACCESS_SECONDS, AccessClaims, STORE_SYNC, SyncClaims};
use tillkeep_model::ids;
use tillkeep_storage::entity::{session, store, user, user_store_role};
use tillkeep_storage::raw::sea_orm::sea_query::Expr;
use tillkeep_storage::raw::sea_orm::{ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter};
use tillkeep_storage::registry::fold;
use tillkeep_storage::{Opening, user_pins};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;
use uuid::Uuid;

use crate::Home;

/// One route of the other side: what refuses it is tried.
const ELSEWHERE: &[WriteRoute] = &[WriteRoute { method: "POST", path: "/pos/sales" }];

pub struct Kit {
    pub hq: Arc<Hq>,
    pub clock: Clock,
    pub settings: Settings,
    router: Router,
    /// Tokens that were made without a sign-in.
    made: Mutex<HashSet<String>>,
    /// Removed with the kit.
    _home: (TempDir, Home),
}

/// A user who is signed in.
#[derive(Clone, Debug)]
pub struct Person {
    pub id: Uuid,
    pub token: String,
}

/// What a request got.
#[derive(Debug)]
pub struct Got {
    pub status: u16,
    pub body: Json,
    pub text: String,
    pub headers: HeaderMap,
}

impl Got {
    /// Seconds to wait before the next try.
    #[track_caller]
    pub fn retry_after(&self) -> i64 {
        let seconds = self.headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok());
        seconds.and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("no Retry-After: {}", self.text))
    }

    /// The data of a success.
    #[track_caller]
    pub fn data(self) -> Json {
        assert!((200..300).contains(&self.status), "{} {}", self.status, self.text);
        self.body["data"].clone()
    }

    #[track_caller]
    pub fn is(&self, status: u16) {
        assert_eq!(self.status, status, "{}", self.text);
    }

    /// A refusal with this code.
    #[track_caller]
    pub fn refused(&self, status: u16, code: &str) {
        assert_eq!((self.status, self.body["code"].as_str()), (status, Some(code)), "{}", self.text);
    }

    /// A refusal that names this field.
    #[track_caller]
    pub fn names(&self, field: &str) {
        let named = self.body["details"].as_array().into_iter().flatten().any(|detail| detail["field"] == field);
        assert!((400..500).contains(&self.status) && named, "{field} in {} {}", self.status, self.text);
    }
}

impl Kit {
    pub async fn new() -> Self {
        Self::with(SignInSettings::default()).await
    }

    /// As [`Kit::new`], signing people in as the operator of this test wants it.
    pub async fn with(sign_in: SignInSettings) -> Self {
        Self::open(sign_in, None, Times::default()).await
    }

    /// As [`Kit::new`], with a message broker.
    pub async fn with_broker(broker: Broker) -> Self {
        Self::open(SignInSettings::default(), Some(broker), Times::default()).await
    }

    /// As [`Kit::new`], with a headquarters that waits so long for stores.
    pub async fn waiting(times: Times) -> Self {
        Self::open(SignInSettings::default(), None, times).await
    }

    async fn open(sign_in: SignInSettings, broker: Option<Broker>, times: Times) -> Self {
        let (dir, home) = (tempfile::tempdir().expect("dir"), Home::default());
        let clock = Clock::default();
        let settings = Settings {
            data_dir: dir.path().to_owned(),
            database_url: home.url.clone().map(Into::into),
            // The private PostgreSQL has nothing to keep.
            database: Opening { accept_unsafe: true, ..Opening::default() },
            public_url: None,
            allow_insecure: false,
            node: String::new(),
            sign_in,
            global_people: tillkeep_storage::staff::GlobalPeople::default(),
            broker,
            sync_log_days: 90,
            new_customers_per_hour: 1000,
        };
        let stop = CancellationToken::new();
        let hq = Hq::open_with(&settings, clock.clone(), times, stop).await.expect("headquarters");
        Self {
            router: routes::router(hq.clone(), ELSEWHERE),
            hq,
            clock,
            settings,
            made: Mutex::default(),
            _home: (dir, home),
        }
    }

    /// Starts headquarters once more on the same data; what was there is kept from then on.
    pub async fn restart(&mut self) {
        // Else the next one would find it running.
        self.hq.stop.cancel();
        self.hq.left.cancelled().await;
        self.hq = Hq::open(&self.settings, self.clock.clone(), CancellationToken::new()).await.expect("headquarters");
        self.router = routes::router(self.hq.clone(), ELSEWHERE);
    }

    /// A person, by way of the back office, who has chosen this PIN.
    pub async fn with_pin(&self, admin: &Person, name: &str, pin: &str, more: Json) -> Uuid {
        let mut body = json!({"username": name, "displayName": name});
        for (key, value) in more.as_object().into_iter().flatten() {
            body[key] = value.clone();
        }
        let id = id_of(&self.post(admin, "/users", body).await.data());
        let tx = self.hq.db().begin().await.expect("begin");
        user_pins::made(&tx, id, None, 6, self.clock.now()).await.expect("no approver answers for them");
        tx.commit().await.expect("commit");
        self.chooses(id, pin).await;
        id
    }

    /// A user changed their PIN to this one, without the cost of the present one.
    pub async fn chooses(&self, id: Uuid, pin: &str) {
        let hashed = self.hq.auth.pins.hash(pin).await.expect("a hash");
        let mut tx = self.hq.db().begin().await.expect("begin");
        new_pin::set_pin(&self.hq.auth, &mut tx, id, &hashed, None, self.clock.now()).await.expect("it is free");
        self.hq.commit(tx).await.expect("commit");
    }

    pub async fn login(&self, name: &str, pin: &str) -> Got {
        self.stranger("/auth/login", json!({"username": name, "pin": pin}), "192.0.2.1", None).await
    }

    /// A person with roles (code, store; `None` is everywhere), signed in without the cost of a PIN.
    pub async fn person(&self, name: &str, roles: &[(&str, Option<Uuid>)]) -> Person {
        let now = self.clock.now();
        let row = user::Model {
            id: Uuid::now_v7(),
            username: name.to_owned(),
            username_folded: fold(name),
            display_name: name.to_owned(),
            is_active: true,
            created_at: now,
            updated_at: now,
            ..user::Model::default()
        };
        let id = row.id;
        let mut tx = self.hq.db().begin().await.expect("begin");
        tx.insert::<user::Entity>(row).await.expect("user");
        for (code, store_id) in roles {
            let row = user_store_role::Model {
                id: Uuid::now_v7(),
                user_id: id,
                role_id: ids::role(code),
                store_id: *store_id,
                created_at: now,
                updated_at: now,
                ..user_store_role::Model::default()
            };
            tx.insert::<user_store_role::Entity>(row).await.expect("assignment");
        }
        self.hq.commit(tx).await.expect("commit");
        Person { id, token: self.sign_in(id, name, None).await }
    }

    /// An access token of a new session.
    pub async fn sign_in(&self, user_id: Uuid, username: &str, store_id: Option<Uuid>) -> String {
        let now = self.clock.now();
        let person = user::Entity::find_by_id(user_id).one(self.hq.db().reader()).await.expect("a read");
        let row = session::Model {
            pin_changed_at: person.as_ref().and_then(|person| person.pin_changed_at),
            sessions_valid_from: person.and_then(|person| person.sessions_valid_from),
            id: Uuid::now_v7(),
            user_id,
            store_id,
            issued_at: now,
            expires_at: now.plus_millis(ACCESS_SECONDS * 1000),
            factor_at: Some(now),
            ..session::Model::default()
        };
        let claims = AccessClaims {
            user_id,
            username: username.to_owned(),
            store_id,
            terminal_id: None,
            kind: ACCESS.to_owned(),
            sid: row.id,
            iat: now.millis() / 1000,
            exp: now.millis() / 1000 + ACCESS_SECONDS,
            jti: Uuid::now_v7(),
        };
        let tx = self.hq.db().begin().await.expect("begin");
        row.into_active_model().insert(&tx).await.expect("session");
        tx.commit().await.expect("commit");
        let token = self.hq.auth.tokens.sign_access(&claims).expect("token");
        self.made.lock().expect("no panic").insert(token.clone());
        token
    }

    /// Whoever was signed in without a PIN has shown all that is asked of them just now, however far the clock was moved.
    async fn renew(&self, who: &Person) {
        let tx = self.hq.db().begin().await.expect("begin");
        session::Entity::update_many()
            .col_expr(session::Column::FactorAt, Expr::value(self.clock.now()))
            .filter(session::Column::UserId.eq(who.id))
            .exec(&tx)
            .await
            .expect("sessions");
        tx.commit().await.expect("commit");
        self.hq.auth.sessions.forget();
    }

    /// The first administrator.
    pub async fn admin(&self) -> Person {
        self.person("admin", &[("administrator", None)]).await
    }

    /// A role with these codes, by its code.
    pub async fn role(&self, admin: &Person, code: &str, permissions: &[&str]) -> Uuid {
        let body = json!({"id": ids::role(code), "code": code, "name": code, "permissions": permissions});
        id_of(&self.post(admin, "/roles", body).await.data())
    }

    /// An active store.
    pub async fn store(&self, code: &str) -> Uuid {
        let now = self.clock.now();
        let row = store::Model {
            id: Uuid::now_v7(),
            code: code.to_owned(),
            name: format!("Store {code}"),
            country_code: "US".to_owned(),
            timezone: "UTC".to_owned(),
            currency_code: "USD".to_owned(),
            currency_exponent: 2,
            locale: "en-US".to_owned(),
            is_active: true,
            sync_token_version: 1,
            tax_rounding: "line".to_owned(),
            cash_rounding_increment: 1,
            cash_rounding_mode: "nearest".to_owned(),
            business_day_start: "04:00".to_owned(),
            max_session_hours: 30,
            created_at: now,
            updated_at: now,
            ..store::Model::default()
        };
        let id = row.id;
        let mut tx = self.hq.db().begin().await.expect("begin");
        tx.insert::<store::Entity>(row).await.expect("store");
        self.hq.commit(tx).await.expect("commit");
        id
    }

    /// A product in the seeded department without tax; `more` adds to it.
    pub async fn product(&self, admin: &Person, sku: &str, more: Json) -> Json {
        let mut body = json!({
            "sku": sku, "name": format!("Product {sku}"), "price": 1000,
            "departmentId": general(), "taxGroupId": untaxed(),
        });
        for (key, value) in more.as_object().expect("object") {
            body[key] = value.clone();
        }
        self.post(admin, "/products", body).await.data()
    }

    /// What the database has of one row.
    pub async fn row<E: EntityTrait>(
        &self,
        id: <E::PrimaryKey as tillkeep_storage::raw::sea_orm::PrimaryKeyTrait>::ValueType,
    ) -> E::Model {
        E::find_by_id(id).one(self.hq.db().reader()).await.expect("query").expect("row")
    }

    pub async fn call(&self, who: &Person, method: &str, path: &str, body: Option<Json>) -> Got {
        let got = self.call_once(who, method, path, body.clone()).await;
        let is_made = self.made.lock().expect("no panic").contains(&who.token);
        if !is_made || got.body["code"] != "second_factor_stale" {
            return got;
        }
        self.renew(who).await;
        self.call_once(who, method, path, body).await
    }

    async fn call_once(&self, who: &Person, method: &str, path: &str, body: Option<Json>) -> Got {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("/api/v1{path}"))
            .header(header::HOST, "hq.example:8080")
            .header(header::AUTHORIZATION, format!("Bearer {}", who.token));
        let (kind, body) = match body {
            None => return self.send(request.body(Body::empty()).expect("request")).await,
            // A table is the text that it is.
            Some(Json::String(table)) if path.ends_with("/import") => ("text/csv", Body::from(table)),
            Some(body) => ("application/json", Body::from(body.to_string())),
        };
        request = request.header(header::CONTENT_TYPE, kind);
        self.send(request.body(body).expect("request")).await
    }

    /// A POST of a CSV file.
    pub async fn import(&self, who: &Person, path: &str, table: impl Into<Body>) -> Got {
        let request = Request::post(format!("/api/v1{path}"))
            .header(header::HOST, "hq.example:8080")
            .header(header::AUTHORIZATION, format!("Bearer {}", who.token))
            .header(header::CONTENT_TYPE, "text/csv; charset=utf-8");
        self.send(request.body(table.into()).expect("request")).await
    }

    /// A request without a token, from `peer`, that says it was forwarded for `forwarded`.
    pub async fn stranger(&self, path: &str, body: Json, peer: &str, forwarded: Option<&str>) -> Got {
        let peer = SocketAddr::new(peer.parse().expect("an address"), 40_000);
        let mut request = Request::post(format!("/api/v1{path}"))
            .header(header::CONTENT_TYPE, "application/json")
            .header("x-request-id", "the-same")
            .extension(ConnectInfo(peer));
        if let Some(forwarded) = forwarded {
            request = request.header("x-forwarded-for", forwarded);
        }
        self.send(request.body(Body::from(body.to_string())).expect("request")).await
    }

    /// As [`Kit::stranger`], from a browser that sends this as its key.
    pub async fn browser(&self, path: &str, body: Json, peer: &str, forwarded: &str, key: &str) -> Got {
        let peer = SocketAddr::new(peer.parse().expect("an address"), 40_000);
        let request = Request::post(format!("/api/v1{path}"))
            .header(header::CONTENT_TYPE, "application/json")
            .header("x-forwarded-for", forwarded)
            .header("tillkeep-device", key)
            .extension(ConnectInfo(peer));
        self.send(request.body(Body::from(body.to_string())).expect("request")).await
    }

    /// An answer as it is.
    pub async fn answer(&self, request: Request<Body>) -> Response {
        self.router.clone().oneshot(request).await.expect("answer")
    }

    pub async fn send(&self, request: Request<Body>) -> Got {
        let got = self.send_plainly(request).await;
        let text = &got.text;
        assert!(
            !text.contains("\"pinHash\":") && !text.contains("\"pinLookup\":"),
            "a PIN's hash in an answer: {text}"
        );
        got
    }

    /// As [`Kit::send`], of what a store asks, which may have hashes of PINs in its answer.
    pub async fn send_plainly(&self, request: Request<Body>) -> Got {
        let response = self.answer(request).await;
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let bytes = response.into_body().collect().await.expect("body").to_bytes();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if status >= 400 {
            // What fails is reported in words of this program, not of the database or a library.
            for word in
                ["sqlite", "postgres", "unique constraint", "constraint", "relation \"", "panicked", "src/", "axum"]
            {
                assert!(!text.to_lowercase().contains(word), "{word} in {text}");
            }
        }
        Got { status, body: serde_json::from_slice(&bytes).unwrap_or_default(), text, headers }
    }

    /// The sync token of a store, as its first provisioning would have made it.
    pub fn sync_token(&self, store_id: Uuid) -> String {
        let claims = SyncClaims {
            store_id: Some(store_id),
            store_code: String::new(),
            kind: STORE_SYNC.to_owned(),
            tv: 1,
            iat: self.clock.now().millis() / 1000,
            jti: Some(Uuid::now_v7()),
        };
        self.hq.auth.tokens.sign_sync(&claims).expect("a token")
    }

    /// A store's question of the machine protocol; the body as it came.
    pub async fn machine(&self, token: &str, path: &str, coding: &str) -> (HeaderMap, Vec<u8>) {
        let request = Request::get(format!("/api/v1/sync{path}"))
            .header(header::AUTHORIZATION, format!("Bearer {token}"))
            .header(header::ACCEPT_ENCODING, coding);
        let response = self.router.clone().oneshot(request.body(Body::empty()).expect("request")).await;
        let (head, body) = response.expect("answer").into_parts();
        let bytes = body.collect().await.expect("body").to_bytes().to_vec();
        assert_eq!(head.status, 200, "{}", String::from_utf8_lossy(&bytes));
        (head.headers, bytes)
    }

    /// The same as JSON.
    pub async fn ask(&self, token: &str, path: &str) -> Json {
        serde_json::from_slice(&self.machine(token, path, "identity").await.1).expect("JSON")
    }

    /// Pushes envelopes as a store does; its results.
    pub async fn push(&self, token: &str, envelopes: &[Json]) -> Json {
        let who = Person { id: Uuid::nil(), token: token.to_owned() };
        let got = self.post(&who, "/sync/push", json!({"envelopes": envelopes})).await;
        got.is(200);
        got.body["results"].clone()
    }

    /// Takes every connection that reads, until they are dropped: whatever still answers asks no database.
    pub async fn hold_readers(&self) -> Vec<tillkeep_storage::Transaction> {
        let mut held = Vec::new();
        for db in [self.hq.db(), self.hq.sync_db()] {
            while let Ok(Ok(conn)) = timeout(Duration::from_millis(500), db.snapshot()).await {
                held.push(conn);
            }
        }
        held
    }

    /// Listens with a server of its own until the token is cancelled.
    pub async fn listen(&self, limits: Limits, stop: &CancellationToken) -> SocketAddr {
        let listener = server::listen("127.0.0.1:0", None).await.expect("a port");
        let address = listener.url.split_once("://").expect("a url").1.parse().expect("an address");
        tokio::spawn(server::serve(listener, self.router.clone(), limits, stop.clone()));
        address
    }

    pub async fn get(&self, who: &Person, path: &str) -> Got {
        self.call(who, "GET", path, None).await
    }

    pub async fn post(&self, who: &Person, path: &str, body: Json) -> Got {
        self.call(who, "POST", path, Some(body)).await
    }

    pub async fn patch(&self, who: &Person, path: &str, body: Json) -> Got {
        self.call(who, "PATCH", path, Some(body)).await
    }

    pub async fn put(&self, who: &Person, path: &str, body: Json) -> Got {
        self.call(who, "PUT", path, Some(body)).await
    }

    pub async fn delete(&self, who: &Person, path: &str) -> Got {
        self.call(who, "DELETE", path, None).await
    }
}

pub fn general() -> Uuid {
    ids::named("department:GENERAL")
}

pub fn untaxed() -> Uuid {
    ids::named("tax_group:NONE")
}

#[track_caller]
pub fn id_of(row: &Json) -> Uuid {
    row["id"].as_str().and_then(|id| id.parse().ok()).expect("an id")
}

/// One column of the rows of a list.
pub fn column<'a>(rows: &'a Json, key: &str) -> Vec<&'a str> {
    rows.as_array().into_iter().flatten().filter_map(|row| row[key].as_str()).collect()
}
