//! A store with its replica filled by hand, and people who sign in to it.

pub mod devices;
pub mod people;
pub mod printer;
pub mod rows;
pub mod taxes;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Request, StatusCode, header};
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http_body_util::BodyExt;
use serde_json::{Value as Json, json};
use tempfile::TempDir;
use tillkeep_http::Clock;
use tillkeep_http::auth::SignInSettings;
use tillkeep_model::{Instant, Qty, ids};
use tillkeep_storage::entity::{audit_log, outbox, product, store, store_product};
use tillkeep_storage::raw::sea_orm::ConnectionTrait;
use tillkeep_storage::registry::COST_KEYS;
use tillkeep_storage::sea_orm::{ActiveModelTrait, EntityTrait, IntoActiveModel, QueryOrder};
use tillkeep_store::headquarters::{Http, Transport};
use tillkeep_store::{Chance, Settings, Store, World, routes};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;
use uuid::Uuid;

/// A moment of the day on which every test begins: nine in the morning in New York.
const BEGIN: &str = "2026-11-20T14:00:00Z";

fn begin() -> Instant {
    Instant::parse(BEGIN).expect("an instant")
}

fn running() -> Clock {
    let clock = Clock::default();
    clock.advance(begin().millis_since(clock.now()));
    clock
}

pub fn id(name: &str) -> Uuid {
    ids::named(name)
}

/// A store server with its data in a directory of its own; no server answers at its headquarters' address.
pub struct Shop {
    pub store: Arc<Store>,
    pub clock: Clock,
    router: Router,
    directory: TempDir,
}

/// An answer: its status and its JSON.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub body: Json,
}

impl Reply {
    /// `data` of an answer with this status.
    #[track_caller]
    pub fn ok(self, status: u16) -> Json {
        assert_eq!(self.status, status, "{}", self.body);
        self.body["data"].clone()
    }

    /// The body of a refusal with this status and code.
    #[track_caller]
    pub fn refused(self, status: u16, code: &str) -> Json {
        assert_eq!((self.status, self.body["code"].as_str()), (status, Some(code)), "{}", self.body);
        assert!(self.body["error"].as_str().is_some_and(|text| !text.is_empty()), "{}", self.body);
        self.body
    }

    /// A 422 or 409 that names `field`.
    #[track_caller]
    pub fn refused_at(self, status: u16, code: &str, field: &str) {
        let body = self.refused(status, code);
        let named = body["details"].as_array().into_iter().flatten().any(|detail| detail["field"] == field);
        assert!(named, "{field} is not named: {body}");
    }
}

/// A user who signed in.
#[derive(Clone)]
pub struct Person {
    token: String,
    pub user_id: Uuid,
    router: Router,
}

impl Person {
    pub async fn send(&self, method: &str, path: &str, body: Option<Json>) -> Reply {
        ask(&self.router, method, path, Some(&self.token), body).await
    }

    /// The status of what may fail inside.
    pub async fn attempt(&self, method: &str, path: &str, body: Json) -> u16 {
        answer(&self.router, method, path, Some(&self.token), Some(body)).await.0.as_u16()
    }

    /// What is answered, whatever it is.
    pub async fn text(&self, path: &str) -> String {
        let (status, bytes) = answer(&self.router, "GET", path, Some(&self.token), None).await;
        assert_eq!(status, StatusCode::OK, "{path}");
        String::from_utf8(bytes.to_vec()).expect("a text")
    }

    /// The status and the text of an answer, whatever it is; of a stream its first part, which has how everything is.
    pub async fn raw(&self, method: &str, path: &str, body: Option<&Json>) -> (u16, String) {
        let request = Request::builder().method(method).uri(format!("/api/v1{path}"));
        let request = request.header(header::AUTHORIZATION, format!("Bearer {}", self.token));
        let request = match body {
            Some(body) => request.header(header::CONTENT_TYPE, "application/json").body(Body::from(body.to_string())),
            None => request.body(Body::empty()),
        };
        let answer = self.router.clone().oneshot(request.expect("a request")).await.expect("an answer");
        let status = answer.status().as_u16();
        let kind = answer.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let is_stream = kind.is_some_and(|kind| kind.starts_with("text/event-stream"));
        let (mut body, mut bytes) = (answer.into_body(), Vec::new());
        while let Some(part) = timeout(Duration::from_mins(1), body.frame()).await.expect("in time") {
            bytes.extend(part.expect("a part").into_data().unwrap_or_default());
            if is_stream {
                break;
            }
        }
        (status, String::from_utf8_lossy(&bytes).into_owned())
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.send("GET", path, None).await
    }

    /// What is answered as something else than JSON, with its headers.
    pub async fn fetch(&self, path: &str) -> (HeaderMap, Vec<u8>) {
        let request = Request::builder().uri(format!("/api/v1{path}"));
        let request = request.header(header::AUTHORIZATION, format!("Bearer {}", self.token)).body(Body::empty());
        let answer = self.router.clone().oneshot(request.expect("a request")).await.expect("an answer");
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        let (head, body) = answer.into_parts();
        (head.headers, body.collect().await.expect("a body").to_bytes().to_vec())
    }

    /// The whole answer to a question with these headers, while it is being sent.
    pub async fn response(&self, path: &str, headers: &[(&str, &str)]) -> Response {
        let mut request = Request::builder().uri(format!("/api/v1{path}"));
        request = request.header(header::AUTHORIZATION, format!("Bearer {}", self.token));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.router.clone().oneshot(request.body(Body::empty()).expect("a request")).await.expect("an answer")
    }

    pub async fn post(&self, path: &str, body: Json) -> Reply {
        self.send("POST", path, Some(body)).await
    }

    pub async fn patch(&self, path: &str, body: Json) -> Reply {
        self.send("PATCH", path, Some(body)).await
    }

    /// Sells `lines` at terminal T1 for exactly what they cost in cash.
    pub async fn sell(&self, lines: Json) -> Reply {
        self.post("/pos/sales", cart(lines, json!([{"tenderId": id("CASH")}]))).await
    }
}

/// A cart at terminal T1 with an id of its own.
pub fn cart(lines: Json, payments: Json) -> Json {
    let mut cart = json!({"id": Uuid::now_v7(), "terminalId": "T1"});
    cart["lines"] = lines;
    cart["payments"] = payments;
    cart
}

/// The document in the answer to a sale: its warnings are said and not stored.
pub fn document(sold: &Json) -> Json {
    let mut document = sold.clone();
    document.as_object_mut().expect("a sale").remove("warnings").expect("warnings");
    document
}

/// A sale as it is read, nothing of which was given back.
pub fn as_read(sold: &Json) -> Json {
    let mut sale = document(sold);
    sale["refunds"] = json!([]);
    sale
}

/// What a cashier sees of a sale: no costs.
pub fn public(sale: &Json) -> Json {
    let mut shown = sale.clone();
    let items = shown["saleItems"].as_array_mut().expect("lines").iter_mut();
    items.for_each(|item| item.as_object_mut().expect("a line").retain(|key, _| !COST_KEYS.contains(key)));
    shown.as_object_mut().expect("a sale").retain(|key, _| !COST_KEYS.contains(key));
    shown
}

/// Waits for something that comes by itself.
pub async fn eventually(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    for _ in 0..1000 {
        if is_so().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{what} did not come");
}

/// The end of a drawer of which no cash is counted, for who may answer for that.
pub fn nothing_counted() -> Json {
    json!({"counts": [{"tenderId": id("CASH"), "amount": 0}], "acceptVariance": true})
}

/// One line of a cart.
pub fn line(product: &str, quantity: impl Into<Json>) -> Json {
    json!({"productId": id(product), "quantity": quantity.into()})
}

async fn ask(router: &Router, method: &str, path: &str, token: Option<&str>, body: Option<Json>) -> Reply {
    let (status, bytes) = answer(router, method, path, token, body).await;
    assert!(status != StatusCode::INTERNAL_SERVER_ERROR, "{method} {path} failed inside");
    if status.is_client_error() || status.is_server_error() {
        // What fails is said in words of this program, not of the database or a library.
        let text = String::from_utf8_lossy(&bytes).to_lowercase();
        for word in ["sqlite", "unique", "constraint", "column", "panicked", "src/", "axum"] {
            assert!(!text.contains(word), "{word} in {text}");
        }
    }
    Reply { status: status.as_u16(), body: serde_json::from_slice(&bytes).unwrap_or(Json::Null) }
}

async fn answer(
    router: &Router,
    method: &str,
    path: &str,
    token: Option<&str>,
    body: Option<Json>,
) -> (StatusCode, Bytes) {
    let mut request = Request::builder().method(method).uri(format!("/api/v1{path}"));
    if let Some(token) = token {
        request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
    }
    let request = match body {
        Some(body) => request.header(header::CONTENT_TYPE, "application/json").body(Body::from(body.to_string())),
        None => request.body(Body::empty()),
    };
    let answer = router.clone().oneshot(request.expect("a request")).await.expect("an answer");
    let status = answer.status();
    (status, answer.into_body().collect().await.expect("a body").to_bytes())
}

impl Shop {
    /// A shop with its replica, an administrator to come, and register 01 at terminal T1.
    pub async fn open() -> Self {
        Self::open_with(|_| ()).await
    }

    /// As [`Shop::open`], with other settings of the store.
    pub async fn open_with(change: impl FnOnce(&mut store::Model)) -> Self {
        let shop = Self::unfilled().await;
        let mut own = rows::store();
        change(&mut own);
        rows::fill(&shop, own).await;
        shop
    }

    /// As [`Shop::open`], with a line to headquarters of the test's own.
    pub async fn with_line(line: Arc<dyn Transport>) -> Self {
        let shop = Self::unfilled_with(Some(line), running()).await;
        rows::fill(&shop, rows::store()).await;
        shop
    }

    /// As [`Shop::with_line`], with a clock that [`Clock::pass`] alone moves.
    pub async fn standing_still(line: Arc<dyn Transport>) -> Self {
        let shop = Self::unfilled_with(Some(line), Clock::standing_at(begin())).await;
        rows::fill(&shop, rows::store()).await;
        shop
    }

    /// As [`Shop::standing_still`], at a headquarters with this address, which is spoken to over HTTP.
    pub async fn of_headquarters(url: &str) -> Self {
        let directory = TempDir::new().expect("a temporary directory");
        let clock = Clock::standing_at(begin());
        let shop = Self::reaching(url, directory, clock, None, CancellationToken::new()).await;
        rows::fill(&shop, rows::store()).await;
        shop
    }

    /// As [`Shop::open`], with nothing going on but what the test asks for.
    pub async fn that_rests() -> Self {
        let at_rest = CancellationToken::new();
        at_rest.cancel();
        let directory = TempDir::new().expect("a temporary directory");
        let shop = Self::within(directory, running(), None, at_rest).await;
        rows::fill(&shop, rows::store()).await;
        shop
    }

    /// A store server that has not reached headquarters yet.
    async fn unfilled() -> Self {
        Self::unfilled_with(None, running()).await
    }

    async fn unfilled_with(line: Option<Arc<dyn Transport>>, clock: Clock) -> Self {
        Self::within(TempDir::new().expect("a temporary directory"), clock, line, CancellationToken::new()).await
    }

    /// The same store after its server was stopped and something happened to its files.
    pub async fn again(self, line: Option<Arc<dyn Transport>>, happens: impl FnOnce(&Path)) -> Self {
        self.store.stop.cancel();
        self.store.close().await.expect("the database closes");
        happens(self.directory.path());
        Self::within(self.directory, self.clock, line, CancellationToken::new()).await
    }

    /// A user who is signed in at this store already.
    pub fn person(&self, known: &Person) -> Person {
        Person { router: self.router.clone(), ..known.clone() }
    }

    async fn within(
        directory: TempDir,
        clock: Clock,
        line: Option<Arc<dyn Transport>>,
        stop: CancellationToken,
    ) -> Self {
        // Nothing listens there: whatever works in these tests works without a line.
        Self::reaching("http://127.0.0.1:9", directory, clock, line, stop).await
    }

    async fn reaching(
        hq_url: &str,
        directory: TempDir,
        clock: Clock,
        line: Option<Arc<dyn Transport>>,
        stop: CancellationToken,
    ) -> Self {
        let claims = json!({"storeId": id("S01"), "storeCode": "S01", "type": "store_sync"});
        let payload = URL_SAFE_NO_PAD.encode(claims.to_string());
        let settings = Settings {
            data_dir: directory.path().to_owned(),
            sync_token: format!("e30.{payload}.signature").into(),
            hq_url: hq_url.to_owned(),
            hq_ca_file: None,
            sync_interval: Duration::from_secs(30),
            sign_in: SignInSettings::default(),
            numbers_file: None,
        };
        let over_http = Http::new(&settings.hq_url, &settings.sync_token, None).expect("a line");
        let hq = line.unwrap_or_else(|| Arc::new(over_http.clone()));
        let world = World { hq, clock: clock.clone(), chance: Chance::of_seed(1) };
        let store = Store::open_in(settings, over_http, world, stop).await.expect("a store");
        store.auth.pins.ensure_key().expect("a key");
        let router = routes::router(store.clone(), &[]);
        Self { store, clock, router, directory }
    }

    pub async fn insert<E>(&self, rows: impl IntoIterator<Item = E::Model>)
    where
        E: EntityTrait,
        E::Model: IntoActiveModel<E::ActiveModel>,
    {
        let tx = self.store.test_db().begin().await.expect("a transaction");
        let rows = rows.into_iter().map(IntoActiveModel::into_active_model);
        E::insert_many(rows).exec_without_returning(&tx).await.expect("an insert");
        tx.commit().await.expect("a commit");
    }

    /// A user with one of the default roles signs in at terminal T1 with a PIN.
    pub async fn sign_in(&self, role: &str) -> Person {
        self.sign_in_at(role, "T1").await
    }

    pub async fn sign_in_at(&self, role: &str, terminal: &str) -> Person {
        let known = people::person(self, role).await;
        self.sign_in_with(&known, terminal).await
    }

    /// A user with a known PIN signs in.
    pub async fn sign_in_with(&self, (user_id, pin): &(Uuid, String), terminal: &str) -> Person {
        let body = json!({"pin": pin, "storeId": self.store.id, "terminalId": terminal});
        let answer = ask(&self.router, "POST", "/auth/pin-login", None, Some(body)).await.ok(200);
        let token = answer["accessToken"].as_str().expect("a token").to_owned();
        Person { token, user_id: *user_id, router: self.router.clone() }
    }

    /// An administrator, with the drawer of register 01 opened.
    pub async fn selling(&self) -> Person {
        let person = self.sign_in("administrator").await;
        person.post(&format!("/registers/{}/open", id("register 01")), json!({})).await.ok(201);
        person
    }

    /// What a balancer gets.
    pub async fn ready(&self) -> Reply {
        let request = Request::builder().uri("/ready").body(Body::empty()).expect("a request");
        let answer = self.router.clone().oneshot(request).await.expect("an answer");
        let status = answer.status().as_u16();
        let bytes = answer.into_body().collect().await.expect("a body").to_bytes();
        Reply { status, body: serde_json::from_slice(&bytes).expect("JSON") }
    }

    /// The file of its last numbers.
    pub fn file(&self) -> std::path::PathBuf {
        self.directory.path().join("numbers")
    }

    /// The codes of the alarms that it has.
    pub fn alarms(&self) -> Vec<&'static str> {
        self.store.alarms.all().into_iter().map(|alarm| alarm.code.as_str()).collect()
    }

    pub async fn level(&self, product: &str) -> Qty {
        self.stock_row(product).await.quantity
    }

    pub async fn stock_row(&self, product: &str) -> store_product::Model {
        let key = ids::store_product(self.store.id, id(product));
        let row = store_product::Entity::find_by_id(key).one(self.store.test_db().reader()).await.expect("a read");
        row.expect("a stock row")
    }

    /// What waits for headquarters, oldest first.
    pub async fn outbox(&self) -> Vec<outbox::Model> {
        let select = outbox::Entity::find().order_by_asc(outbox::Column::Seq);
        select.all(self.store.test_db().reader()).await.expect("the outbox")
    }

    /// The lines of the audit log with this name, oldest first.
    pub async fn audited(&self, action: &str) -> Vec<audit_log::Model> {
        let select = audit_log::Entity::find().order_by_asc(audit_log::Column::Seq);
        let rows = select.all(self.store.test_db().reader()).await.expect("the audit log");
        rows.into_iter().filter(|row| row.action == action).collect()
    }

    /// The number of rows of a table.
    pub async fn count<E>(&self) -> usize
    where
        E: EntityTrait,
    {
        E::find().all(self.store.test_db().reader()).await.expect("the rows").len()
    }
}

impl Shop {
    /// Changes the database behind the back of the store.
    pub async fn run(&self, sql: &str) {
        let tx = self.store.test_db().begin().await.expect("a transaction");
        tx.execute_unprepared(sql).await.expect(sql);
        tx.commit().await.expect("a commit");
    }
}

/// Changes of the replica, as a pull would make them.
impl Shop {
    /// Moves a product to another tax group.
    pub async fn tax(&self, product: &str, group: &str) {
        self.change_product(product, |row| row.tax_group_id = id(group)).await;
    }

    pub async fn change_store(&self, change: impl FnOnce(&mut store::Model)) {
        let tx = self.store.test_db().begin().await.expect("a transaction");
        let mut row = store::Entity::find_by_id(self.store.id).one(&tx).await.expect("a read").expect("the store");
        change(&mut row);
        store::Entity::update(row.into_active_model().reset_all()).exec(&tx).await.expect("an update");
        tx.commit().await.expect("a commit");
    }

    pub async fn change_product(&self, name: &str, change: impl FnOnce(&mut product::Model)) {
        let tx = self.store.test_db().begin().await.expect("a transaction");
        let mut row = product::Entity::find_by_id(id(name)).one(&tx).await.expect("a read").expect("a product");
        change(&mut row);
        product::Entity::update(row.into_active_model().reset_all()).exec(&tx).await.expect("an update");
        tx.commit().await.expect("a commit");
    }
}
