//! What is asked of headquarters before money is given back: its word counts, and what is no word of it is no answer.
//! `docs/sync.md`, rule U17.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value as Json, json};
use tillkeep_model::wire::{ClaimLine, ClaimRequest};
use tillkeep_model::{ErrorCode, Qty, ids};
use tillkeep_store::headquarters::{Asked, Reply, Request, Transport, Waits};
use tillkeep_store::sync::Cycle;
use uuid::Uuid;

use crate::kit::Shop;

/// A headquarters that says this to whatever is asked below `/sales`; nothing at all without it.
#[derive(Default)]
struct Says {
    answer: Mutex<Option<(u16, Json)>>,
    asked: Mutex<Vec<String>>,
}

impl Says {
    fn say(&self, status: u16, body: Json) {
        *self.answer.lock().expect("not poisoned") = Some((status, body));
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().expect("not poisoned"))
    }
}

#[async_trait::async_trait]
impl Transport for Says {
    async fn send(&self, request: Request) -> Result<Reply, String> {
        let path = request.path.split('?').next().unwrap_or_default();
        let said = match path {
            "/handshake" => Some((
                200,
                json!({
                    "epoch": "e", "ticket": "t", "ticketKnown": true, "serverVersion": "", "versions": {},
                    "clock": "2026-11-20T14:00:00.000Z",
                }),
            )),
            "/versions" => Some((200, json!({"epoch": "e", "versions": {}}))),
            _ if path.starts_with("/sales/") => {
                let method = match (&request.json, request.deletes) {
                    (Some(_), _) => "POST",
                    (None, true) => "DELETE",
                    (None, false) => "GET",
                };
                self.asked.lock().expect("not poisoned").push(format!("{method} {path}"));
                self.answer.lock().expect("not poisoned").clone()
            }
            _ => {
                Some((200, json!({"entity_type": "departments", "since_version": 0, "rows": [], "latest_version": 0})))
            }
        };
        let Some((status, body)) = said else { return std::future::pending().await };
        let body = if body.is_null() { String::new() } else { body.to_string() };
        Ok(Reply { status, from_hq: true, retry_after: None, body: body.into() })
    }
}

struct Scene {
    hq: Arc<Says>,
    shop: Shop,
}

fn sale() -> Uuid {
    ids::named("the sale")
}

fn back() -> ClaimRequest {
    let line = ClaimLine { sale_item_id: ids::named("the line"), quantity: Qty::pieces(1) };
    ClaimRequest { id: ids::named("the refund"), lines: vec![line] }
}

impl Scene {
    /// A shop that has reached headquarters.
    async fn new() -> Self {
        let hq = Arc::new(Says::default());
        let shop = Shop::with_line(hq.clone()).await;
        Cycle::default().step(&shop.store).await;
        assert!(shop.store.sync.has_line());
        Self { hq, shop }
    }

    async fn claims(&self) -> Asked<bool> {
        self.claims_within(Waits::begin()).await
    }

    async fn claims_within(&self, waits: Waits) -> Asked<bool> {
        match self.shop.store.hq.claim(&self.shop.store.sync, waits, sale(), &back()).await {
            Asked::Answered(answer) => Asked::Answered(answer.known),
            Asked::Refused { code, text, details } => Asked::Refused { code, text, details },
            Asked::Unreachable => Asked::Unreachable,
        }
    }
}

#[tokio::test]
async fn the_word_of_headquarters_on_a_claim_counts_and_nothing_else_is_one() {
    let scene = Scene::new().await;
    scene.hq.say(200, json!({"known": true, "givenBack": []}));
    assert!(matches!(scene.claims().await, Asked::Answered(true)));
    assert_eq!(scene.hq.asked(), [format!("POST /sales/{}/claims", sale())]);
    let given = json!([{"saleItemId": ids::named("the line"), "refundId": sale(), "quantity": 1, "storeCode": "S02"}]);
    for (code, wanted) in [
        ("over_refund", ErrorCode::OverRefund),
        ("sale_voided", ErrorCode::SaleVoided),
        ("not_refundable", ErrorCode::NotRefundable),
    ] {
        scene.hq.say(409, json!({"success": false, "error": "no", "code": code, "givenBack": given}));
        match scene.claims().await {
            Asked::Refused { code, text, details } => {
                assert_eq!((code, text.as_str(), &details["givenBack"]), (wanted, "no", &given));
            }
            other => panic!("{code}: {other:?}"),
        }
    }
    for (status, body) in [
        // An older headquarters, one that is busy, one that does not want this token, and what is in between.
        (404, json!({"success": false, "error": "there is no such route", "code": "not_found"})),
        (503, json!({"code": "busy"})),
        (500, json!({"code": "internal"})),
        (401, json!({"success": false, "error": "Unauthorized"})),
        (409, json!({"code": "store_runs_elsewhere", "error": "another copy"})),
        (409, json!({"code": "of_a_newer_release", "error": "no"})),
        (200, json!("<html>Welcome to our wireless network</html>")),
        (302, Json::Null),
    ] {
        scene.hq.say(status, body.clone());
        assert!(matches!(scene.claims().await, Asked::Unreachable), "{status} {body}");
    }
}

#[tokio::test]
async fn a_sale_that_headquarters_does_not_have_is_another_thing_than_a_route_that_it_does_not_have() {
    let scene = Scene::new().await;
    let (hq, line, waits) = (&scene.shop.store.hq, &scene.shop.store.sync, Waits::begin());
    let found = json!({
        "sale": {"id": sale()}, "storeId": ids::named("S02"), "storeCode": "S02",
        "givenBack": [{"saleItemId": sale(), "refundId": sale(), "quantity": 1.5, "receiptNumber": "R", "storeCode": "S02"}],
    });
    scene.hq.say(200, found);
    let sale_at_hq = hq.sale_at(line, waits, "S02", "S02-01/7 ?").await.answered().flatten().expect("the sale");
    assert_eq!((sale_at_hq.store_code.as_str(), sale_at_hq.given_back[0].quantity), ("S02", Qty(1500)));
    assert!(hq.sale_by_id(line, waits, sale()).await.answered().flatten().is_some());
    assert_eq!(scene.hq.asked(), ["GET /sales/S02/S02%2D01%2F7%20%3F".to_owned(), format!("GET /sales/{}", sale())]);
    let none = json!({"code": "not_found", "error": "no such sale", "details": [{"field": "id", "message": "no"}]});
    scene.hq.say(404, none);
    assert!(matches!(hq.sale_by_id(line, waits, sale()).await, Asked::Answered(None)));
    scene.hq.say(404, json!({"code": "not_found", "error": "there is no such route"}));
    assert!(matches!(hq.sale_by_id(line, waits, sale()).await, Asked::Unreachable));
    scene.hq.say(204, Json::Null);
    assert!(matches!(hq.release(line, waits, sale(), back().id).await, Asked::Answered(())));
    scene.hq.asked();
    scene.hq.say(200, json!({}));
    assert!(matches!(hq.release(line, waits, sale(), back().id).await, Asked::Unreachable), "another one's answer");
    assert_eq!(scene.hq.asked(), [format!("DELETE /sales/{}/claims/{}", sale(), back().id)]);
}

#[tokio::test]
async fn a_customer_waits_two_seconds_for_headquarters_and_not_at_all_without_a_line() {
    let scene = Scene::new().await;
    // Nothing here reads a database, so that the clock of the runtime may go on by itself.
    tokio::time::pause();
    let before = tokio::time::Instant::now();
    assert!(matches!(scene.claims().await, Asked::Unreachable));
    let waited = before.elapsed();
    assert!(waited >= Duration::from_secs(2) && waited < Duration::from_millis(2100), "{waited:?}");
    assert_eq!(scene.hq.asked().len(), 1);
    // For all questions before one answer together: a second one has what the first one left, and what is given up then is said.
    let (before, waits) = (tokio::time::Instant::now(), Waits::begin());
    tokio::time::advance(Duration::from_millis(1500)).await;
    for _ in 0..2 {
        assert!(matches!(scene.claims_within(waits).await, Asked::Unreachable));
    }
    let (hq, line) = (&scene.shop.store.hq, &scene.shop.store.sync);
    assert!(matches!(hq.release(line, waits.to_give_up(), sale(), back().id).await, Asked::Unreachable));
    let waited = before.elapsed();
    assert!(waited >= Duration::from_secs(2) && waited < Duration::from_millis(2400), "{waited:?}");
    let claims = format!("/sales/{}/claims", sale());
    assert_eq!(scene.hq.asked(), [format!("POST {claims}"), format!("DELETE {claims}/{}", back().id)]);
    tokio::time::resume();
    // A headquarters that speaks the specification alone has no such question.
    scene.hq.say(200, json!({"known": true, "givenBack": []}));
    scene.shop.store.hq.note_plain(true);
    assert!(matches!(scene.claims().await, Asked::Unreachable));
    scene.shop.store.hq.note_plain(false);
    assert!(matches!(scene.claims().await, Asked::Answered(true)));
    // Before anything was heard of it.
    let offline = Shop::with_line(scene.hq.clone()).await;
    scene.hq.asked();
    let claim = offline.store.hq.claim(&offline.store.sync, Waits::begin(), sale(), &back()).await;
    assert!(matches!(claim, Asked::Unreachable) && scene.hq.asked().is_empty());
}
