//! A store at a headquarters that speaks the specification alone: no handshake, no question for versions, no mark, no field that
//! the specification does not name. `docs/sync.md`, rule U2.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use axum::body::Bytes;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json as Body, Router};
use serde_json::{Value as Json, json};
use tillkeep_model::wire::MAX_ATTEMPTS;
use tillkeep_storage::entity::{department, permission, role_permission};
use tillkeep_storage::sea_orm::EntityTrait;
use tillkeep_store::sync::{Cycle, Round, Sender, start};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio_util::task::TaskTracker;

use crate::kit::taxes::{of_local, rates};
use crate::kit::{Shop, eventually, id, line, rows};

#[derive(Default)]
struct Plain {
    seen: Mutex<Seen>,
    /// A store is notified that its departments changed.
    tells: Notify,
}

#[derive(Default)]
struct Seen {
    /// Whether it is another headquarters, which knows more.
    shakes_hands: bool,
    /// Names and versions of the departments.
    departments: Vec<(&'static str, i64)>,
    /// Taxes by their types and versions.
    taxes: Vec<(&'static str, i64, Json)>,
    /// A type that it does not know for a moment.
    without: Option<&'static str>,
    /// What is always pulled in full.
    whole: BTreeMap<&'static str, Vec<Json>>,
    /// The parameters of each pull.
    pulls: Vec<BTreeMap<String, String>>,
    /// The envelopes of each push that could be read.
    pushes: Vec<Vec<Json>>,
    unreadable: usize,
    /// First messages of sockets.
    signed: Vec<Json>,
}

impl Plain {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().expect("not poisoned")
    }

    /// The versions from which a type was asked for.
    fn asked(&self, entity_type: &str) -> Vec<String> {
        let of_type = |pull: &&BTreeMap<String, String>| pull["entity_type"] == entity_type;
        self.seen().pulls.iter().filter(of_type).map(|pull| pull["since_version"].clone()).collect()
    }
}

/// Serves it; its address.
async fn serve(hq: Arc<Plain>) -> String {
    let routes = Router::new()
        .route("/api/v1/sync/pull", get(pull))
        .route("/api/v1/sync/push", post(push))
        .route("/api/v1/sync/handshake", post(handshake))
        .route("/api/v1/sync/versions", get(versions))
        .route("/api/v1/sync/ws", get(socket))
        .with_state(hq);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move { axum::serve(listener, routes).await });
    url
}

async fn pull(State(hq): State<Arc<Plain>>, Query(query): Query<BTreeMap<String, String>>) -> Response {
    let mut seen = hq.seen();
    let (name, since) = (query["entity_type"].clone(), query["since_version"].parse::<i64>().expect("a version"));
    seen.pulls.push(query);
    // The specification does not have them among what is pulled.
    if name == "transfers" || seen.without == Some(name.as_str()) {
        return (StatusCode::BAD_REQUEST, Body(json!({"error": "no such type"}))).into_response();
    }
    if let Some(rows) = seen.whole.get(name.as_str()) {
        return Body(json!({"rows": rows, "latest_version": since})).into_response();
    }
    if name.starts_with("tax_") {
        let new = seen.taxes.iter().filter(|(of, version, _)| *of == name && *version > since);
        let (rows, versions): (Vec<Json>, Vec<i64>) = new.map(|(_, version, row)| (row.clone(), *version)).unzip();
        // Nothing new has no number.
        return Body(json!({"rows": rows, "latest_version": versions.into_iter().max().unwrap_or(0)})).into_response();
    }
    let new = seen.departments.iter().filter(|(_, version)| name == "departments" && *version > since);
    let rows: Vec<Json> = new
        .map(|(name, version)| json!({"id": id(name), "code": name, "name": name, "is_active": true, "sync_version": version}))
        .collect();
    let latest = seen.departments.iter().map(|(_, version)| *version).max().filter(|_| name == "departments");
    Body(json!({"rows": rows, "latest_version": latest.unwrap_or(since)})).into_response()
}

async fn push(State(hq): State<Arc<Plain>>, headers: HeaderMap, body: Bytes) -> Response {
    let sent: Json = serde_json::from_slice(&body).unwrap_or_default();
    let keys = |json: &Json| json.as_object().map(|keys| keys.keys().cloned().collect::<Vec<_>>()).unwrap_or_default();
    let mut seen = hq.seen();
    if headers.contains_key("content-encoding") || keys(&sent) != ["envelopes"] {
        seen.unreadable += 1;
        return (StatusCode::BAD_REQUEST, Body(json!({"error": "this is no push"}))).into_response();
    }
    let envelopes = sent["envelopes"].as_array().expect("envelopes").clone();
    let mut results = Vec::new();
    for envelope in &envelopes {
        assert_eq!(keys(envelope), ["action", "data", "entity_id", "entity_type", "store_id", "timestamp"]);
        let mut result = json!({"entityId": envelope["entity_id"], "status": "ok"});
        if envelope["entity_type"] == "customers" {
            (result["status"], result["error"]) = (json!("error"), json!("no more customers"));
        }
        // Whoever looks for one by its place finds another one.
        results.insert(0, result);
    }
    seen.pushes.push(envelopes);
    Body(json!({"results": results})).into_response()
}

async fn handshake(State(hq): State<Arc<Plain>>) -> Response {
    let answer = json!({
        "epoch": "e", "ticket": "t", "ticketKnown": true, "serverVersion": "", "versions": {},
        "clock": "2026-11-20T14:00:00.000Z",
    });
    known(&hq, answer)
}

async fn versions(State(hq): State<Arc<Plain>>) -> Response {
    known(&hq, json!({"epoch": "e", "versions": {}}))
}

fn known(hq: &Plain, answer: Json) -> Response {
    if hq.seen().shakes_hands { Body(answer).into_response() } else { StatusCode::NOT_FOUND.into_response() }
}

async fn socket(State(hq): State<Arc<Plain>>, upgrade: WebSocketUpgrade) -> Response {
    upgrade.on_upgrade(async move |mut socket: WebSocket| {
        let Some(Ok(Message::Text(text))) = socket.recv().await else { return };
        let first: Json = serde_json::from_str(&text).expect("JSON");
        hq.seen().signed.push(first);
        loop {
            hq.tells.notified().await;
            let notice = json!({"type": "sync:notify", "entityType": "departments"}).to_string();
            if socket.send(Message::Text(notice.into())).await.is_err() {
                return;
            }
        }
    })
}

/// A headquarters with a department that the store lacks, and a store of it.
async fn plain() -> (Arc<Plain>, Shop) {
    let hq = Arc::new(Plain::default());
    hq.seen().departments.push(("NEW", 5));
    let url = serve(hq.clone()).await;
    let shop = Shop::of_headquarters(&url).await;
    let reader = shop.store.test_db().reader();
    let permissions = permission::Entity::find().all(reader).await.expect("permissions");
    let granted = role_permission::Entity::find().all(reader).await.expect("grants");
    let json = |row: Result<Json, serde_json::Error>| row.expect("JSON");
    hq.seen().whole = BTreeMap::from([
        ("permissions", permissions.iter().map(|row| json(serde_json::to_value(row))).collect()),
        ("role_permissions", granted.iter().map(|row| json(serde_json::to_value(row))).collect()),
    ]);
    (hq, shop)
}

/// Whether a department of this name is at the store.
async fn has(shop: &Shop, name: &str) -> bool {
    let row = department::Entity::find_by_id(id(name)).one(shop.store.test_db().reader()).await;
    row.expect("a read").is_some_and(|row| row.name == name)
}

#[tokio::test]
async fn at_a_headquarters_that_speaks_the_specification_alone_a_store_pulls_and_pushes_and_counts_refusals() {
    let (hq, shop) = plain().await;
    let till = shop.selling().await;
    till.post("/customers", json!({"lastName": "Refused"})).await.ok(201);
    for _ in 0..3 {
        till.sell(json!([line("TEA", 1)])).await.ok(201);
    }
    let (mut cycle, mut sender) = (Cycle::default(), Sender::default());
    // It is not known yet what is spoken there.
    assert!(matches!(sender.step(&shop.store).await, Round::Wait(_)));
    assert!(shop.outbox().await.iter().all(|entry| entry.attempts == 0));
    cycle.step(&shop.store).await;
    assert_eq!(shop.store.sync.line().last_error, None);
    assert!(shop.store.sync.has_line() && has(&shop, "NEW").await);
    assert_eq!(sender.step(&shop.store).await, Round::Sent);
    assert_eq!(hq.seen().pushes[0].len(), 5);
    for attempt in 1..=MAX_ATTEMPTS {
        let left = shop.outbox().await;
        assert_eq!(left.len(), 1, "{left:?}");
        assert_eq!((left[0].entity_type.as_str(), left[0].attempts), ("customers", attempt));
        assert_eq!(left[0].last_error.as_deref(), Some("no more customers"));
        assert_eq!(left[0].dead_lettered_at.is_some(), attempt == MAX_ATTEMPTS);
        shop.clock.pass(30_000);
        sender.step(&shop.store).await;
    }
    // A dead letter stays, and is sent no more; the others go on.
    assert_eq!(hq.seen().pushes.len(), 10);
    till.sell(json!([line("TEA", 1)])).await.ok(201);
    assert_eq!(sender.step(&shop.store).await, Round::Sent);
    assert_eq!(shop.outbox().await.len(), 1);
    assert_eq!(hq.seen().pushes[10..].iter().map(Vec::len).collect::<Vec<_>>(), [1]);

    hq.seen().departments.push(("LATER", 6));
    cycle.step(&shop.store).await;
    assert!(has(&shop, "LATER").await);
    assert_eq!(hq.asked("departments"), ["0", "5"]);
    let seen = hq.seen();
    let plain = |pull: &BTreeMap<String, String>| pull.keys().eq(["entity_type", "since_version"]);
    assert!(seen.pulls.iter().all(plain), "{:?}", seen.pulls);
    assert_eq!(seen.unreadable, 1, "the one before it was known");
}

#[tokio::test]
async fn a_store_that_ever_shook_hands_takes_a_missing_handshake_for_the_word_of_another_server() {
    let (hq, shop) = plain().await;
    hq.seen().shakes_hands = true;
    Cycle::default().step(&shop.store).await;
    assert_eq!(shop.store.sync.line().last_error, None);
    assert!(hq.seen().pulls.is_empty(), "nothing moved");
    hq.seen().shakes_hands = false;
    // Also after a restart.
    for mut cycle in [Cycle::default(), Cycle::default()] {
        cycle.step(&shop.store).await;
        assert!(hq.seen().pulls.is_empty());
        assert!(shop.store.sync.line().last_error.is_some_and(|error| error.contains("404")));
    }
}

#[tokio::test]
async fn a_store_says_who_it_is_on_the_socket_and_pulls_what_it_is_notified_of_as_the_specification_has_it() {
    let (hq, shop) = plain().await;
    let tasks = TaskTracker::new();
    start(&shop.store, &tasks);
    eventually("the socket", async || !hq.seen().signed.is_empty()).await;
    let first = hq.seen().signed[0].clone();
    let token = shop.store.settings.sync_token.expose();
    assert_eq!(first, json!({"type": "auth", "sync_token": token}));
    eventually("the first department", async || has(&shop, "NEW").await).await;
    shop.selling().await.sell(json!([line("TEA", 1)])).await.ok(201);
    eventually("an empty outbox", async || shop.outbox().await.is_empty()).await;
    hq.seen().departments.push(("LATER", 6));
    hq.tells.notify_one();
    eventually("the second department", async || has(&shop, "LATER").await).await;
    shop.store.stop.cancel();
    tasks.close();
    tasks.wait().await;
}

#[tokio::test]
async fn taxes_of_a_headquarters_that_speaks_the_specification_alone_are_shown_when_all_of_them_are_here() {
    let (hq, shop) = plain().await;
    let json = |row: Result<Json, serde_json::Error>| row.expect("JSON");
    let before = of_local(&shop.store).await;
    let link = rows::link("LOCAL", "NEW", 2, false, Some(id("S01")));
    hq.seen().taxes = vec![
        ("tax_rates", 3, json(serde_json::to_value(rows::rate("NEW", 20_000)))),
        ("tax_group_rates", 7, json(serde_json::to_value(link))),
    ];
    hq.seen().without = Some("tax_group_rates");
    let mut cycle = Cycle::default();
    cycle.step(&shop.store).await;
    assert_eq!(of_local(&shop.store).await, before, "one of the three did not come");
    hq.seen().without = None;
    cycle.step(&shop.store).await;
    assert_eq!(of_local(&shop.store).await, rates(&[("GST", 50_000), ("NEW", 20_000)]));
    hq.seen().pulls.clear();
    cycle.step(&shop.store).await;
    let asked = hq.asked("tax_group_rates");
    assert!(
        !asked.is_empty() && asked.iter().all(|since| since == "7"),
        "what brings nothing moves nothing: {asked:?}"
    );
}
