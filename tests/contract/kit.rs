//! A headquarters and one of its stores in this process, each listening, the store filled by its own sync; and people of
//! every role.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Request, header};
use http_body_util::BodyExt;
use serde_json::{Value as Json, json};
use tempfile::TempDir;
use tillkeep_hq::Account;
use tillkeep_hq::Hq;
use tillkeep_hq::testing::Databases as _;
use tillkeep_http::auth::{PinLogin, SignInSettings, new_pin};
use tillkeep_http::routes::{Protection, Route};
use tillkeep_http::tokens::{ACCESS, ACCESS_SECONDS, AccessClaims};
use tillkeep_http::{Auth, Clock, HasAuth, server};
use tillkeep_model::permission::ADMINISTRATOR;
use tillkeep_storage::entity::{session, user};
use tillkeep_storage::sea_orm::{ActiveModelTrait, EntityTrait, IntoActiveModel, PaginatorTrait};
use tillkeep_storage::{Db, Opening};
use tillkeep_store::Store;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;
use uuid::Uuid;

pub const PIN: &str = "739154";
pub const UNAUTHORIZED: &str = r#"{"success":false,"error":"Unauthorized"}"#;
pub const NOT_SYNC: &str = r#"{"error":"Invalid sync token type"}"#;
pub const NO_STORE: &str = r#"{"error":"Store not found or inactive"}"#;

/// One of the two servers: its routes, and who signs people in.
pub struct Server {
    pub name: &'static str,
    pub router: Router,
    pub routes: Vec<Route>,
    pub auth: Arc<Auth>,
    pub db: Db,
    /// The store that sign-ins count in.
    pub store_id: Option<Uuid>,
}

pub struct World {
    pub hq: Arc<Hq>,
    pub store: Arc<Store>,
    pub servers: [Server; 2],
    pub admin: Uuid,
    /// The store that runs here, and one that never came.
    pub s01: Uuid,
    pub s02: Uuid,
    pub sync_token: String,
    pub dir: TempDir,
    stop: CancellationToken,
}

/// What a request got.
#[derive(Clone, Debug)]
pub struct Got {
    pub status: u16,
    pub text: String,
    pub body: Json,
}

impl Got {
    #[track_caller]
    pub fn data(self) -> Json {
        assert!((200..300).contains(&self.status), "{} {}", self.status, self.text);
        self.body["data"].clone()
    }

    pub fn code(&self) -> &str {
        self.body["code"].as_str().unwrap_or_default()
    }
}

impl Server {
    /// Calls `path` below `/api/v1` with the header `authorization`.
    pub async fn call(&self, method: &str, path: &str, authorization: Option<&str>, body: Option<Json>) -> Got {
        self.ask(method, &format!("/api/v1{path}"), authorization, body).await
    }

    /// Calls `path` as it is.
    pub async fn ask(&self, method: &str, path: &str, authorization: Option<&str>, body: Option<Json>) -> Got {
        let mut request = Request::builder().method(method).uri(path);
        if let Some(value) = authorization {
            request = request.header(header::AUTHORIZATION, value);
        }
        let Some(body) = body else { return self.send(request.body(Body::empty()).expect("a request")).await };
        let (kind, text) = as_sent(path, &body);
        request = request.header(header::CONTENT_TYPE, kind);
        self.send(request.body(Body::from(text)).expect("a request")).await
    }

    pub async fn send(&self, mut request: Request<Body>) -> Got {
        // As the accept loop does it.
        request.extensions_mut().insert(ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 1))));
        let answer = self.router.clone().oneshot(request).await.expect("an answer");
        let status = answer.status().as_u16();
        // A stream of events goes on; its status says enough.
        let kind = answer.headers().get(header::CONTENT_TYPE);
        let endless = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        let bytes =
            if endless { Vec::new() } else { answer.into_body().collect().await.expect("a body").to_bytes().to_vec() };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Got { status, body: serde_json::from_str(&text).unwrap_or_default(), text }
    }

    /// Calls `route` with every parameter of its path filled in, and an empty object where a body belongs.
    pub async fn try_route(&self, route: &Route, token: Option<&str>) -> Got {
        let authorization = token.map(|token| format!("Bearer {token}"));
        let body = (!["GET", "DELETE"].contains(&route.method)).then(|| json!({}));
        self.ask(route.method, &path_of(&route.full_path()), authorization.as_deref(), body).await
    }

    pub async fn get(&self, token: &str, path: &str) -> Got {
        self.call("GET", path, Some(&format!("Bearer {token}")), None).await
    }

    pub async fn post(&self, token: &str, path: &str, body: Json) -> Got {
        self.call("POST", path, Some(&format!("Bearer {token}")), Some(body)).await
    }

    /// The claims of a new session of a person, kept as a sign-in keeps it.
    pub async fn claims(&self, user_id: Uuid) -> AccessClaims {
        let now = self.auth.clock.now();
        let person = user::Entity::find_by_id(user_id).one(self.db.reader()).await.expect("a read");
        let row = session::Model {
            pin_changed_at: person.as_ref().and_then(|person| person.pin_changed_at),
            sessions_valid_from: person.and_then(|person| person.sessions_valid_from),
            id: Uuid::now_v7(),
            user_id,
            store_id: self.store_id,
            issued_at: now,
            expires_at: now.plus_millis(ACCESS_SECONDS * 1000),
            factor_at: Some(now),
            ..session::Model::default()
        };
        let claims = AccessClaims {
            user_id,
            username: "tester".to_owned(),
            store_id: self.store_id,
            terminal_id: None,
            kind: ACCESS.to_owned(),
            sid: row.id,
            iat: now.millis() / 1000,
            exp: now.millis() / 1000 + ACCESS_SECONDS,
            jti: Uuid::now_v7(),
        };
        let tx = self.db.begin().await.expect("a transaction");
        row.into_active_model().insert(&tx).await.expect("a session");
        tx.commit().await.expect("a commit");
        claims
    }

    /// A good access token, without the cost of a PIN.
    pub async fn sign_in(&self, user_id: Uuid) -> String {
        let claims = self.claims(user_id).await;
        self.auth.tokens.sign_access(&claims).expect("a token")
    }

    /// The routes that need a token of people, but for the one that ends the session it is called with.
    pub fn user_routes(&self) -> impl Iterator<Item = (&Route, &[&'static str])> {
        self.routes.iter().filter(|route| route.path != "/auth/logout").filter_map(|route| match &route.protection {
            Protection::User(codes) => Some((route, codes.as_slice())),
            _ => None,
        })
    }
}

/// Whether this one of many is tried in this run: every `of`th of them, and each with `ALL_PLACES` (`make sweeps`).
pub fn is_tried(number: usize, of: usize) -> bool {
    number.is_multiple_of(of) || std::env::var_os("ALL_PLACES").is_some()
}

/// How a body is sent: a table, which is the text that it is, as such, and anything else as JSON.
pub fn as_sent(path: &str, body: &Json) -> (&'static str, String) {
    let route = path.split('?').next().unwrap_or_default();
    match body {
        Json::String(table) if route.ends_with("/import") => ("text/csv", table.clone()),
        body => ("application/json", body.to_string()),
    }
}

/// A path with a value for each parameter that no row has.
pub fn path_of(pattern: &str) -> String {
    let part = |part: &str| if part.starts_with('{') { Uuid::nil().to_string() } else { part.to_owned() };
    pattern.split('/').map(part).collect::<Vec<_>>().join("/")
}

/// Waits for a condition; a minute is far more than it takes.
pub async fn until<F: Future<Output = bool>>(what: &str, condition: impl Fn() -> F) {
    for _ in 0..1200 {
        if condition().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("not within a minute: {what}");
}

impl World {
    pub async fn new() -> Self {
        if rustls::crypto::aws_lc_rs::default_provider().install_default().is_err() {
            eprintln!("a provider was there already");
        }
        let dir = tempfile::tempdir().expect("a directory");
        let (stop, clock) = (CancellationToken::new(), Clock::default());
        for part in ["hq", "store"] {
            std::fs::create_dir(dir.path().join(part)).expect("a directory");
        }
        let settings = tillkeep_hq::Settings {
            data_dir: dir.path().join("hq"),
            database_url: None,
            database: Opening::default(),
            public_url: None,
            allow_insecure: false,
            node: String::new(),
            // As the specification has it.
            sign_in: SignInSettings { pin_login_at_hq: PinLogin::All, ..SignInSettings::default() },
            global_people: tillkeep_storage::staff::GlobalPeople::All,
            broker: None,
            sync_log_days: 90,
            new_customers_per_hour: 1000,
        };
        let hq = Hq::open(&settings, clock.clone(), stop.clone()).await.expect("headquarters");
        let account = Account { username: "root".to_owned(), pin: PIN.to_owned().into(), role: ADMINISTRATOR };
        hq.make_account(&account, false, "a test").await.expect("an administrator");
        let admin = user::Entity::find().one(hq.db().reader()).await.expect("a read").expect("a user").id;
        let listener = server::bind("127.0.0.1:0", &settings.data_dir, None).await.expect("a port");
        let hq_url = listener.url.clone();
        let router = tillkeep_hq::routes::router(hq.clone(), &tillkeep_store::routes::writes());
        tokio::spawn(server::serve(listener, router, server::Limits::default(), stop.clone()));
        let at_hq = Server {
            name: "hq",
            router: tillkeep_hq::routes::router(hq.clone(), &tillkeep_store::routes::writes()),
            routes: tillkeep_hq::routes::table(&tillkeep_store::routes::writes()).1,
            auth: hq.auth().clone(),
            db: hq.db().clone(),
            store_id: None,
        };
        let token = at_hq.sign_in(admin).await;
        let mut ids = Vec::new();
        for code in ["S01", "S02"] {
            let made = at_hq.post(&token, "/stores", json!({"code": code, "name": code})).await.data();
            let id: Uuid = made["id"].as_str().expect("an id").parse().expect("a UUID");
            at_hq.post(&token, &format!("/stores/{id}/activate"), json!({})).await.data();
            ids.push(id);
        }
        let provisioned = at_hq.post(&token, &format!("/stores/{}/provision", ids[0]), json!({})).await.data();
        let sync_token = provisioned["syncToken"].as_str().expect("a token").to_owned();
        let settings = tillkeep_store::Settings {
            data_dir: dir.path().join("store"),
            sync_token: sync_token.clone().into(),
            hq_url,
            hq_ca_file: None,
            sync_interval: Duration::from_millis(200),
            sign_in: SignInSettings::default(),
            numbers_file: None,
        };
        let store = Store::open(settings, clock, stop.clone()).await.expect("a store");
        tillkeep_store::sync::start(&store, &TaskTracker::new());
        let at_store = Server {
            name: "store",
            router: tillkeep_store::routes::router(store.clone(), &tillkeep_hq::routes::writes()),
            routes: tillkeep_store::routes::table(&tillkeep_hq::routes::writes()).1,
            auth: store.auth().clone(),
            db: store.test_db().clone(),
            store_id: Some(store.id),
        };
        let world =
            Self { hq, store, servers: [at_hq, at_store], admin, s01: ids[0], s02: ids[1], sync_token, dir, stop };
        world.synced().await;
        world
    }

    pub fn at_hq(&self) -> &Server {
        &self.servers[0]
    }

    pub fn at_store(&self) -> &Server {
        &self.servers[1]
    }

    /// A user with roles (id of the role, store; `None` is everywhere) and, if it is given, a PIN; known at both servers.
    pub async fn person(&self, name: &str, pin: Option<&str>, roles: &[(Uuid, Option<Uuid>)]) -> Uuid {
        let token = self.at_hq().sign_in(self.admin).await;
        let roles: Vec<Json> = roles.iter().map(|(role, store)| json!({"roleId": role, "storeId": store})).collect();
        let body = json!({"username": name, "displayName": name, "assignments": roles});
        let made = self.at_hq().post(&token, "/users", body).await.data();
        let id = made["id"].as_str().expect("an id").parse().expect("a UUID");
        // As after the change that a made PIN asks for, without what it costs.
        let chosen = pin.or_else(|| made["generatedPin"].as_str()).expect("a PIN");
        let hashed = self.hq.auth.pins.hash(chosen).await.expect("a hash");
        let mut tx = self.hq.db().begin().await.expect("begin");
        new_pin::set_pin(&self.hq.auth, &mut tx, id, &hashed, None, self.hq.clock.now()).await.expect("it is free");
        self.hq.commit(tx).await.expect("commit");
        self.synced().await;
        until("the store knows of the PIN", async || {
            let known = user::Entity::find_by_id(id).one(self.store.test_db().reader()).await.expect("a read");
            known.is_some_and(|known| !known.must_change_pin)
        })
        .await;
        id
    }

    /// Waits until the store has pulled every user, role and assignment.
    pub async fn synced(&self) {
        use tillkeep_storage::entity::{role_permission, user_store_role};
        let counts = async |db: &tillkeep_storage::Db| {
            let users = user::Entity::find().count(db.reader()).await.expect("a count");
            let roles = user_store_role::Entity::find().count(db.reader()).await.expect("a count");
            let codes = role_permission::Entity::find().count(db.reader()).await.expect("a count");
            (users, roles, codes)
        };
        let wanted = counts(self.hq.db()).await;
        until("the store has everybody", async || counts(self.store.test_db()).await == wanted).await;
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}
