//! What a store shows of a customer whom headquarters never took. `docs/sync.md`, rule U12.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value as Json, json};
use tillkeep_model::Instant;
use tillkeep_model::wire::MAX_ATTEMPTS;
use tillkeep_storage::entity::outbox_sent;
use tillkeep_storage::outbox;
use tillkeep_store::sync::{Cycle, Reply, Request, Sender, Transport};

use crate::kit::Shop;

/// A headquarters that settles in each handshake what it was told to, and looks at a clock of its own.
struct Settling {
    settled: Mutex<Json>,
    clock: Mutex<Instant>,
}

impl Settling {
    fn new() -> Arc<Self> {
        let clock = Instant::parse("2026-11-20T14:00:00Z").expect("an instant");
        Arc::new(Self { settled: Mutex::new(json!([])), clock: Mutex::new(clock) })
    }
}

#[async_trait::async_trait]
impl Transport for Settling {
    async fn send(&self, request: Request) -> Result<Reply, String> {
        let body = match request.path.split('?').next().unwrap_or_default() {
            "/handshake" => json!({
                "epoch": "e", "ticket": "t", "ticketKnown": true, "serverVersion": "", "versions": {},
                "clock": *self.clock.lock().expect("nobody panicked"),
                "acknowledged": *self.settled.lock().expect("nobody panicked"),
            }),
            "/versions" => json!({"epoch": "e", "versions": {}}),
            // Sent once more before the store has learned of it, a settled entry is left aside.
            "/push" => {
                let sent: Json = serde_json::from_slice(&request.json.unwrap_or_default()).unwrap_or_default();
                let left = |envelope: &Json| {
                    json!({"entity_type": envelope["entity_type"], "entity_id": envelope["entity_id"], "status": "ok",
                           "applied": "skipped"})
                };
                json!({"results": sent["envelopes"].as_array().into_iter().flatten().map(left).collect::<Vec<_>>()})
            }
            other => return Err(format!("nobody asks for {other}")),
        };
        Ok(Reply { status: 200, from_hq: true, retry_after: None, body: body.to_string().into() })
    }
}

#[tokio::test]
async fn a_customer_that_headquarters_refused_and_somebody_resolved_is_marked_for_the_people_here() {
    for sent_again in [false, true] {
        let hq = Settling::new();
        let shop = Shop::with_line(hq.clone()).await;
        let person = shop.sign_in("administrator").await;
        let made = person.post("/customers", json!({"firstName": "Eve", "phone": "555 0101"})).await.ok(201);
        let path = format!("/customers/{}", made["id"].as_str().expect("an id"));
        assert_eq!(person.get(&path).await.ok(200)["flags"], json!([]));
        let entry = shop.outbox().await.remove(0);
        if sent_again {
            Sender::default().step(&shop.store).await;
        }
        *hq.settled.lock().expect("nobody panicked") = json!([{"seq": entry.seq, "outcome": "resolved", "nodeEpoch": entry.node_epoch, "entityId": entry.entity_id}]);
        Cycle::default().step(&shop.store).await;
        assert!(shop.outbox().await.is_empty(), "nobody will try it again");
        assert_eq!(person.get(&path).await.ok(200)["flags"], json!(["not_at_headquarters"]), "{sent_again}");
        assert_eq!(person.get("/customers?search=Eve").await.ok(200)[0]["flags"], json!(["not_at_headquarters"]));
    }
}

#[tokio::test]
async fn cycles_follow_one_another_after_the_interval_give_or_take_a_tenth() {
    let shop = Shop::with_line(Settling::new()).await;
    assert_eq!(shop.store.settings.sync_interval, Duration::from_secs(30));
    let mut cycle = Cycle::default();
    let mut waits = Vec::new();
    for _ in 0..100 {
        waits.push(cycle.step(&shop.store).await.as_millis());
    }
    assert!(waits.iter().all(|wait| (27_000..=33_000).contains(wait)), "{waits:?}");
    let (shortest, longest) = (waits.iter().min().expect("waits"), waits.iter().max().expect("waits"));
    assert!(*shortest < 28_000 && *longest > 32_000, "they spread: {shortest} to {longest}");
}

#[tokio::test]
async fn what_was_sent_is_forgotten_after_ninety_days_of_headquarters_clock_and_what_was_refused_is_kept() {
    const DAY: i64 = 24 * 3600 * 1000;
    let hq = Settling::new();
    let shop = Shop::with_line(hq.clone()).await;
    let person = shop.sign_in("administrator").await;
    person.post("/customers", json!({"firstName": "Ada"})).await.ok(201);
    Sender::default().step(&shop.store).await;
    person.post("/customers", json!({"firstName": "Eve"})).await.ok(201);
    let tx = shop.store.db().begin().await.expect("a transaction");
    for _ in 0..MAX_ATTEMPTS {
        let entry = shop.outbox().await.remove(0);
        outbox::refuse(&tx, &entry, "refused", shop.clock.now()).await.expect("a refusal");
    }
    tx.commit().await.expect("a commit");
    let kept = async |days_of_hq: i64| {
        *hq.clock.lock().expect("nobody panicked") =
            Instant::parse("2026-11-20T14:00:00Z").expect("an instant").plus_millis(days_of_hq * DAY);
        Cycle::default().step(&shop.store).await;
        (shop.count::<outbox_sent::Entity>().await, shop.outbox().await.len())
    };
    assert_eq!(kept(89).await, (1, 1));
    shop.clock.advance(1000 * DAY);
    assert_eq!(kept(89).await, (1, 1), "the clock of the store alone is ahead");
    assert_eq!(kept(91).await, (0, 1), "a dead letter stays until headquarters settles it");
}
