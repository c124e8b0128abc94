//! What a store says that it has. `docs/sync.md`, rule D8.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;
use tillkeep_store::headquarters::{Reply, Request, Transport};
use tillkeep_store::sync::Cycle;

use crate::kit::{Shop, id};

const TAG: &str = "01939e3c-0000-7000-8000-000000000001";

/// A headquarters that loses its last commits: from then on it has another tag, and its line breaks at every pull.
#[derive(Default)]
struct Lost {
    lost: AtomicBool,
    /// What the store said that it has.
    had: Mutex<Vec<String>>,
}

#[async_trait::async_trait]
impl Transport for Lost {
    async fn send(&self, request: Request) -> Result<Reply, String> {
        let lost = self.lost.load(Ordering::SeqCst);
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let body = match path {
            "/handshake" => json!({
                "epoch": "e", "ticket": "t", "ticketKnown": true, "serverVersion": "", "versions": {},
                "clock": "2026-11-20T14:00:00.000Z",
            }),
            "/versions" => {
                let had = query.split('&').find_map(|part| part.strip_prefix("have=")).unwrap_or_default().to_owned();
                let resync: &[&str] = if lost && had.contains(TAG) { &["departments"] } else { &[] };
                self.had.lock().expect("not poisoned").push(had);
                json!({"epoch": "e", "versions": {"departments": 5}, "resync": resync})
            }
            "/pull" if !lost => json!({
                "entity_type": "departments", "since_version": 0, "rows": [], "latest_version": 5, "tag": TAG,
            }),
            _ => return Err("the line breaks".to_owned()),
        };
        Ok(Reply { status: 200, from_hq: true, retry_after: None, body: body.to_string().into() })
    }
}

#[tokio::test]
async fn a_load_that_a_bad_line_breaks_off_is_not_started_over_because_of_an_old_tag() {
    let hq = Arc::new(Lost::default());
    let shop = Shop::with_line(hq.clone()).await;
    let mut cycle = Cycle::default();
    cycle.step(&shop.store).await;
    hq.lost.store(true, Ordering::SeqCst);
    cycle.step(&shop.store).await;
    cycle.step(&shop.store).await;
    let had = hq.had.lock().expect("not poisoned").clone();
    assert_eq!(had, [String::new(), format!("departments:5:{TAG}"), "departments:0".to_owned()]);
}

/// A line that carries no page of more than a hundred rows; what it was asked for.
#[derive(Default)]
struct Narrow(Mutex<Vec<(String, u64)>>);

#[async_trait::async_trait]
impl Transport for Narrow {
    async fn send(&self, request: Request) -> Result<Reply, String> {
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let said = |name: &str| query.split('&').find_map(|part| part.strip_prefix(name)?.parse::<u64>().ok());
        let body = match path {
            "/handshake" => json!({
                "epoch": "e", "ticket": "t", "ticketKnown": true, "serverVersion": "", "versions": {},
                "clock": "2026-11-20T14:00:00.000Z",
            }),
            "/versions" => {
                let moved = self.0.lock().expect("not poisoned").len();
                json!({"epoch": "e", "versions": {"departments": 2, "store_product_dynamic": moved + 1}})
            }
            _ => {
                let (rows, since) = (said("limit=").unwrap_or_default(), said("since_version=").unwrap_or_default());
                let name = query.split('&').find_map(|part| part.strip_prefix("entity_type=")).unwrap_or_default();
                self.0.lock().expect("not poisoned").push((name.to_owned(), rows));
                let large = name == "departments";
                if large && rows > 100 {
                    return Err("the line breaks".to_owned());
                }
                json!({
                    "entity_type": name, "since_version": since, "rows": [], "latest_version": since + 1,
                    "has_more": large && since == 0,
                })
            }
        };
        Ok(Reply { from_hq: true, status: 200, retry_after: None, body: body.to_string().into() })
    }
}

#[tokio::test]
async fn a_page_that_the_line_does_not_carry_is_halved_whatever_else_comes_until_its_type_is_here() {
    let hq = Arc::new(Narrow::default());
    let shop = Shop::with_line(hq.clone()).await;
    let mut cycle = Cycle::default();
    for _ in 0..5 {
        cycle.step(&shop.store).await;
    }
    let asked = hq.0.lock().expect("not poisoned").clone();
    // What moves in every cycle comes before the type at which the line broke, and fits whatever its size.
    let moving = ("store_product_dynamic".to_owned(), 500);
    let products = |rows| ("departments".to_owned(), rows);
    let halved = [500, 250, 125].map(products).into_iter().chain([62, 62].map(products));
    let asked_for_goods: Vec<_> = asked.iter().filter(|page| **page != moving).cloned().collect();
    assert_eq!(asked_for_goods, halved.collect::<Vec<_>>());
    assert!(asked.iter().filter(|page| **page == moving).count() >= 3, "{asked:?}");
}

/// A headquarters that has nothing and writes down what it hears in handshakes.
#[derive(Default)]
struct Listening {
    unenrolled: Mutex<Vec<Option<i64>>>,
}

#[async_trait::async_trait]
impl Transport for Listening {
    async fn send(&self, request: Request) -> Result<Reply, String> {
        let path = request.path.split('?').next().unwrap_or_default();
        let body = match path {
            "/handshake" => {
                let said: serde_json::Value =
                    serde_json::from_slice(request.json.as_deref().unwrap_or_default()).expect("JSON");
                self.unenrolled.lock().expect("not poisoned").push(said["unenrolled"].as_i64());
                json!({
                    "epoch": "e", "ticket": "t", "ticketKnown": true, "serverVersion": "", "versions": {},
                    "clock": "2026-11-20T14:00:00.000Z",
                })
            }
            "/versions" => json!({"epoch": "e", "versions": {}}),
            _ => return Err("the line breaks".to_owned()),
        };
        Ok(Reply { status: 200, from_hq: true, retry_after: None, body: body.to_string().into() })
    }
}

#[tokio::test]
async fn headquarters_hears_of_registers_without_a_till_as_soon_as_that_changes() {
    let hq = Arc::new(Listening::default());
    let shop = Shop::with_line(hq.clone()).await;
    let manager = shop.sign_in("store_manager").await;
    let mut cycle = Cycle::default();
    cycle.step(&shop.store).await;
    cycle.step(&shop.store).await;
    let register = json!({"code": "07", "name": "Door", "terminalId": "T7"});
    let made = manager.post("/registers", register).await.ok(201);
    cycle.step(&shop.store).await;
    let device = json!({"registerId": made["id"], "name": "Door till"});
    let device = manager.post("/devices", device).await.ok(201);
    cycle.step(&shop.store).await;
    cycle.step(&shop.store).await;
    let path = format!("/devices/{}", device["id"].as_str().expect("an id"));
    assert_eq!(manager.send("DELETE", &path, None).await.status, 204);
    cycle.step(&shop.store).await;
    let heard = hq.unenrolled.lock().expect("not poisoned").clone();
    let before = heard[0].expect("a number");
    assert_eq!(heard, [before, before + 1, before, before + 1].map(Some), "once for each change");
}

/// A headquarters that replaced the token of its store, and gives the next one with its first answer.
struct Rotated {
    next: String,
    gives: AtomicBool,
    /// What the store said of its alarms in its last handshake.
    alarms: Mutex<String>,
}

#[async_trait::async_trait]
impl Transport for Rotated {
    async fn send(&self, request: Request) -> Result<Reply, String> {
        let path = request.path.split('?').next().unwrap_or_default();
        let body = match path {
            "/handshake" => {
                let said: serde_json::Value =
                    serde_json::from_slice(request.json.as_deref().unwrap_or_default()).expect("JSON");
                let alarms = said["alarms"].as_str().unwrap_or_default();
                alarms.clone_into(&mut self.alarms.lock().expect("not poisoned"));
                let gives = self.gives.swap(false, Ordering::SeqCst);
                json!({
                    "epoch": "e", "ticket": "t", "ticketKnown": true, "serverVersion": "", "versions": {},
                    "clock": "2026-11-20T14:00:00.000Z", "syncToken": gives.then_some(&self.next),
                })
            }
            "/versions" => json!({"epoch": "e", "versions": {}}),
            _ => return Err("the line breaks".to_owned()),
        };
        Ok(Reply { status: 200, from_hq: true, retry_after: None, body: body.to_string().into() })
    }
}

#[tokio::test]
async fn a_token_that_the_disk_does_not_take_is_an_alarm_until_it_is_there() {
    let claims = json!({"storeId": id("S01"), "storeCode": "S01", "type": "store_sync", "tv": 2});
    let next = format!("e30.{}.next", URL_SAFE_NO_PAD.encode(claims.to_string()));
    let (gives, alarms) = (AtomicBool::new(true), Mutex::default());
    let hq = Arc::new(Rotated { next: next.clone(), gives, alarms });
    let shop = Shop::with_line(hq.clone()).await;
    let manager = shop.sign_in("store_manager").await;
    // No file is put in the place of a directory.
    let place = shop.file().with_file_name("sync.token");
    fs::create_dir(&place).expect("a directory");
    let mut cycle = Cycle::default();
    cycle.step(&shop.store).await;
    assert_eq!(shop.alarms(), ["token_not_kept"]);
    assert_eq!(manager.get("/sync/status").await.ok(200)["alarms"][0]["code"], "token_not_kept");
    assert_eq!(shop.ready().await.body["data"]["alarms"][0]["code"], "token_not_kept");
    assert!(hq.alarms.lock().expect("not poisoned").starts_with("token_not_kept:"), "headquarters hears of it");

    // It is tried again with each cycle, also without a handshake.
    cycle.step(&shop.store).await;
    assert_eq!(shop.alarms(), ["token_not_kept"]);
    fs::remove_dir(&place).expect("removed");
    cycle.step(&shop.store).await;
    assert_eq!(shop.alarms(), [""; 0]);
    assert_eq!(fs::read_to_string(&place).expect("the file").trim(), next);
}
