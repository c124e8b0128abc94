//! `GET /pos/events`: what a till is told while it listens, and when that ends.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use http_body_util::BodyExt;
use serde_json::{Value as Json, json};
use tillkeep_model::ids;
use tillkeep_storage::entity::{product, user_store_role};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use tillkeep_store::headquarters::{Reply, Request, Transport};
use tillkeep_store::sync::Cycle;
use tokio::time::timeout;

use crate::kit::{Person, Shop, id, line, rows};

/// A till that listens.
struct Till {
    body: Body,
    text: String,
}

#[derive(Clone, Debug)]
struct Event {
    id: Option<String>,
    name: String,
    data: Json,
}

impl Till {
    async fn listens(person: &Person) -> Self {
        Self::listens_after(person, &[]).await
    }

    async fn listens_after(person: &Person, headers: &[(&str, &str)]) -> Self {
        let answer = person.response("/pos/events", headers).await;
        assert_eq!(answer.status(), 200);
        for (name, value) in [("cache-control", "no-store"), ("x-accel-buffering", "no")] {
            assert_eq!(answer.headers()[name], value);
        }
        assert!(answer.headers()["content-type"].to_str().expect("a text").starts_with("text/event-stream"));
        Self { body: answer.into_body(), text: String::new() }
    }

    /// The next event; nothing when the stream ended.
    async fn next(&mut self) -> Option<Event> {
        let read = async {
            loop {
                while let Some((text, rest)) = self.text.split_once("\n\n") {
                    let (text, rest) = (text.to_owned(), rest.to_owned());
                    self.text = rest;
                    if let Some(event) = parse(&text) {
                        return Some(event);
                    }
                }
                let bytes = self.body.frame().await?.expect("a frame").into_data().expect("data");
                self.text.push_str(std::str::from_utf8(&bytes).expect("a text"));
            }
        };
        timeout(Duration::from_mins(1), read).await.expect("in time")
    }

    /// The next one but for those of the line, which say how much waits for headquarters.
    async fn event(&mut self, name: &str) -> Event {
        loop {
            let event = self.next().await.expect("the stream goes on");
            if event.name == "line" && name != "line" {
                continue;
            }
            assert_eq!(event.name, name, "{event:?}");
            return event;
        }
    }

    /// The status of the next `count` events, which are of drawers.
    async fn drawers(&mut self, count: usize) -> Vec<String> {
        let mut seen = Vec::new();
        for _ in 0..count {
            seen.push(self.event("drawer").await.data["status"].as_str().expect("a status").to_owned());
        }
        seen
    }

    async fn end(&mut self) -> String {
        let end = self.event("end").await;
        assert!(self.next().await.is_none(), "nothing comes after the end");
        end.data["code"].as_str().expect("a code").to_owned()
    }
}

/// Comments are no events.
fn parse(text: &str) -> Option<Event> {
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    let data = serde_json::from_str(field("data")?).expect("JSON");
    Some(Event { id: field("id").map(str::to_owned), name: field("event")?.to_owned(), data })
}

async fn open(person: &Person) -> String {
    let session = person.post(&format!("/registers/{}/open", id("register 01")), json!({})).await.ok(201);
    session["id"].as_str().expect("an id").to_owned()
}

async fn close(person: &Person, session: &str) {
    let body = json!({"counts": [{"tenderId": id("CASH"), "amount": 20_000}, {"tenderId": id("CARD"), "amount": 0}]});
    person.post(&format!("/register-sessions/{session}/close"), body).await.ok(200);
}

#[tokio::test]
async fn a_stream_begins_with_how_everything_is_and_goes_on_with_what_happens() {
    let shop = Shop::open().await;
    let manager = shop.sign_in("administrator").await;
    let session = open(&manager).await;
    let mut till = Till::listens(&manager).await;
    let snapshot = till.event("snapshot").await;
    assert_eq!(
        snapshot.data["drawers"],
        json!([{"registerId": id("register 01"), "sessionId": session, "status": "open"}])
    );
    assert_eq!(snapshot.data["line"]["connected"], false);
    assert_eq!(snapshot.data["parked"], json!({"count": 0, "terminals": {}}));
    close(&manager, &session).await;
    let told = till.event("drawer").await;
    assert_eq!(told.data, json!({"registerId": id("register 01"), "sessionId": session, "status": "closed"}));
    let another = open(&manager).await;
    assert_eq!(till.event("drawer").await.data["sessionId"], another.as_str());
}

#[tokio::test]
async fn a_till_that_lost_the_line_gets_what_it_missed_in_order_and_once() {
    let shop = Shop::open().await;
    let manager = shop.sign_in("administrator").await;
    let mut till = Till::listens(&manager).await;
    let mut last = till.event("snapshot").await.id.expect("an id");
    drop(till);
    for _ in 0..3 {
        let session = open(&manager).await;
        close(&manager, &session).await;
        let mut till = Till::listens_after(&manager, &[("last-event-id", &last)]).await;
        let (opened, closed) = (till.event("drawer").await, till.event("drawer").await);
        assert_eq!((&opened.data["status"], &closed.data["status"]), (&json!("open"), &json!("closed")));
        assert_eq!((&opened.data["sessionId"], &closed.data["sessionId"]), (&json!(session), &json!(session)));
        // Live from there on, with nothing twice.
        let next = open(&manager).await;
        assert_eq!(till.event("drawer").await.data["sessionId"], next.as_str());
        close(&manager, &next).await;
        last = till.event("drawer").await.id.expect("an id");
    }
}

#[tokio::test]
async fn an_id_that_is_not_known_here_is_answered_with_a_reset_and_everything() {
    let shop = Shop::open().await;
    let manager = shop.sign_in("administrator").await;
    let known = Till::listens(&manager).await.event("snapshot").await.id.expect("an id");
    let (boot, _) = known.rsplit_once('-').expect("two parts");
    for last in ["7", "of another start-0", &format!("{boot}-999")] {
        let mut till = Till::listens_after(&manager, &[("last-event-id", last)]).await;
        assert_eq!(till.event("reset").await.data, json!({}), "{last}");
        till.event("snapshot").await;
    }
}

#[tokio::test]
async fn a_till_that_does_not_read_slows_no_sale_and_reads_everything_again_afterwards() {
    let shop = Shop::open().await;
    let manager = shop.sign_in("administrator").await;
    let mut asleep = Till::listens(&manager).await;
    for _ in 0..140 {
        let session = open(&manager).await;
        close(&manager, &session).await;
    }
    let session = open(&manager).await;
    manager.sell(json!([line("TEA", 1)])).await.ok(201);
    let mut names = Vec::new();
    let snapshot = loop {
        let event = asleep.next().await.expect("the stream goes on");
        names.push(event.name.clone());
        if event.name == "snapshot" && names.contains(&"reset".to_owned()) {
            break event;
        }
    };
    assert!(names.len() < 200, "{names:?}");
    assert_eq!(snapshot.data["drawers"][0]["sessionId"], session.as_str());
}

#[tokio::test]
async fn a_stream_ends_with_its_sign_in_however_that_ends() {
    let shop = Shop::open().await;
    let (gone, demoted, stale) =
        (shop.sign_in("cashier").await, shop.sign_in("cashier").await, shop.sign_in("cashier").await);
    let mut tills = Vec::new();
    for person in [&gone, &demoted, &stale] {
        let mut till = Till::listens(person).await;
        till.event("snapshot").await;
        tills.push(till);
    }
    assert_eq!(gone.post("/auth/logout", json!({})).await.status, 204);
    let tx = shop.store.test_db().begin().await.expect("a transaction");
    let of = user_store_role::Column::UserId.eq(demoted.user_id);
    user_store_role::Entity::delete_many().filter(of).exec(&tx).await.expect("a delete");
    tx.commit().await.expect("a commit");
    shop.store.auth.invalidate();
    assert_eq!(tills[0].end().await, "unauthorized");
    assert_eq!(tills[1].end().await, "forbidden");
    shop.clock.advance(24 * 3600 * 1000);
    assert_eq!(tills[2].end().await, "unauthorized");
}

#[tokio::test]
async fn a_stream_ends_when_the_server_stops_and_nobody_takes_all_places() {
    let shop = Shop::open().await;
    let (one, other) = (shop.sign_in("cashier").await, shop.sign_in("cashier").await);
    let mut tills = Vec::new();
    for _ in 0..16 {
        let mut till = Till::listens(&one).await;
        till.event("snapshot").await;
        tills.push(till);
    }
    assert_eq!(one.response("/pos/events", &[]).await.status(), 503);
    let mut till = Till::listens(&other).await;
    till.event("snapshot").await;
    shop.store.stop.cancel();
    for till in tills.iter_mut().chain([&mut till]) {
        assert_eq!(till.end().await, "unavailable");
    }
}

#[tokio::test]
async fn no_event_has_an_amount_in_a_store_that_counts_blind() {
    let shop = Shop::open_with(|own| own.blind_close = true).await;
    let (cashier, manager) = (shop.sign_in("cashier").await, shop.sign_in("store_manager").await);
    let mut till = Till::listens(&cashier).await;
    let mut events = vec![till.event("snapshot").await];
    let session = open(&cashier).await;
    cashier.sell(json!([line("TEA", 1)])).await.ok(201);
    let body = json!({"counts": [{"tenderId": id("CASH"), "amount": 22_176}, {"tenderId": id("CARD"), "amount": 0}]});
    manager.post(&format!("/register-sessions/{session}/close"), body).await.ok(200);
    events.push(till.event("drawer").await);
    events.push(till.event("drawer").await);
    for event in &events[1..] {
        let keys: Vec<&String> = event.data.as_object().expect("an object").keys().collect();
        assert_eq!(keys, ["registerId", "sessionId", "status"]);
    }
    let mut told = Vec::new();
    for event in &events {
        numbers(&event.data, &mut told);
    }
    for figure in [22_176, 2176, 1999, 20_000] {
        assert!(!told.contains(&figure), "{figure} in {events:?}");
    }
}

/// All numbers of an event.
fn numbers(value: &Json, into: &mut Vec<i64>) {
    match value {
        Json::Number(number) => into.extend(number.as_i64()),
        Json::Array(values) => values.iter().for_each(|value| numbers(value, into)),
        Json::Object(values) => values.values().for_each(|value| numbers(value, into)),
        Json::Null | Json::Bool(_) | Json::String(_) => {}
    }
}

#[tokio::test]
async fn an_act_that_was_refused_is_told_to_nobody() {
    let shop = Shop::open().await;
    let manager = shop.sign_in("administrator").await;
    let mut till = Till::listens(&manager).await;
    till.event("snapshot").await;
    let session = open(&manager).await;
    manager
        .post(&format!("/registers/{}/open", id("register 01")), json!({}))
        .await
        .refused(409, "session_already_open");
    close(&manager, &session).await;
    assert_eq!(till.drawers(2).await, ["open", "closed"]);
}

#[tokio::test]
async fn a_printer_that_is_set_is_told_of() {
    let shop = Shop::open().await;
    let manager = shop.sign_in("administrator").await;
    let mut till = Till::listens(&manager).await;
    assert_eq!(till.event("snapshot").await.data["printers"], json!([]));
    let printer = json!({"address": "127.0.0.1:9", "width": 42, "codePage": "PC858", "automatic": false});
    let path = format!("/registers/{}", id("register 01"));
    manager.patch(&path, json!({"printer": printer})).await.ok(200);
    let told = json!({"registerId": id("register 01"), "state": "unknown"});
    assert_eq!(till.event("printer").await.data, told);
    assert_eq!(Till::listens(&manager).await.event("snapshot").await.data["printers"], json!([told]));
}

/// A headquarters where tea has another price.
struct Dearer;

#[async_trait::async_trait]
impl Transport for Dearer {
    async fn send(&self, request: Request) -> Result<Reply, String> {
        let ok =
            |body: Json| Ok(Reply { from_hq: true, status: 200, retry_after: None, body: body.to_string().into() });
        match request.path.split('?').next().unwrap_or_default() {
            "/handshake" => ok(json!({
                "epoch": "e", "ticket": "t", "ticketKnown": true, "serverVersion": "", "versions": {},
                "clock": "2026-11-20T14:00:00.000Z",
            })),
            "/versions" => ok(json!({"epoch": "e", "versions": {"products": 7}})),
            _ => {
                let tea = product::Model { sync_version: 7, ..rows::product("TEA", 2500, "EXCLUSIVE") };
                let page = json!({
                    "entity_type": "products", "since_version": 0, "rows": [tea], "latest_version": 7, "epoch": "e",
                });
                ok(page)
            }
        }
    }
}

#[tokio::test]
async fn new_prices_are_told_when_they_are_here() {
    let shop = Shop::with_line(Arc::new(Dearer)).await;
    let cashier = shop.sign_in("cashier").await;
    let mut till = Till::listens(&cashier).await;
    till.event("snapshot").await;
    Cycle::default().step(&shop.store).await;
    let told = till.event("prices").await;
    let changed = told.data["changed"].as_array().expect("names");
    assert!(changed.contains(&json!("products")), "{told:?}");
    let priced = cashier.get(&format!("/pos/products?search={}", "TEA")).await.ok(200);
    let tea = priced.as_array().expect("a list").iter().find(|row| row["id"] == json!(ids::named("TEA")));
    assert_eq!(tea.expect("tea")["effectivePrice"], 2500);
}
