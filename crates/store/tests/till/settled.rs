//! What a store shows of a customer whom headquarters never took. `docs/sync.md`, rule U12.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value as Json, json};
use tillkeep_model::wire::MAX_ATTEMPTS;
use tillkeep_storage::entity::outbox_sent;
use tillkeep_storage::outbox;
use tillkeep_storage::sea_orm::EntityTrait;
use tillkeep_store::headquarters::{Reply, Request, Transport};
use tillkeep_store::sync::{Cycle, Sender};

use crate::kit::Shop;

/// A headquarters that settles in each handshake what the test says, and looks at a clock of its own.
struct Settling {
    settled: Mutex<Json>,
    /// More of its answer to a handshake.
    more: Mutex<Json>,
    /// What it was sent.
    pushed: Mutex<Vec<Json>>,
}

impl Settling {
    fn new() -> Arc<Self> {
        Arc::new(Self { settled: Mutex::new(json!([])), more: Mutex::new(json!({})), pushed: Mutex::default() })
    }
}

#[async_trait::async_trait]
impl Transport for Settling {
    async fn send(&self, request: Request) -> Result<Reply, String> {
        let body = match request.path.split('?').next().unwrap_or_default() {
            "/handshake" => {
                let mut answer = json!({
                    "epoch": "e", "ticket": "t", "ticketKnown": true, "serverVersion": "", "versions": {},
                    "clock": "2026-11-20T14:00:00.000Z",
                    "acknowledged": *self.settled.lock().expect("not poisoned"),
                });
                for (key, value) in self.more.lock().expect("not poisoned").as_object().into_iter().flatten() {
                    answer[key] = value.clone();
                }
                answer
            }
            "/versions" => json!({"epoch": "e", "versions": {}}),
            // Sent once more before the store has learned of it, a settled entry is left aside.
            "/push" => {
                let sent: Json = serde_json::from_slice(&request.json.unwrap_or_default()).unwrap_or_default();
                self.pushed
                    .lock()
                    .expect("not poisoned")
                    .extend(sent["envelopes"].as_array().cloned().unwrap_or_default());
                let left = |envelope: &Json| {
                    json!({"entity_type": envelope["entity_type"], "entity_id": envelope["entity_id"], "status": "ok",
                           "applied": "skipped"})
                };
                json!({"results": sent["envelopes"].as_array().into_iter().flatten().map(left).collect::<Vec<_>>()})
            }
            other => return Err(format!("no test asks for {other}")),
        };
        Ok(Reply { status: 200, from_hq: true, retry_after: None, body: body.to_string().into() })
    }
}

#[tokio::test]
async fn a_customer_that_headquarters_refused_and_resolved_is_marked_for_the_people_here() {
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
        *hq.settled.lock().expect("not poisoned") = json!([{"seq": entry.seq, "outcome": "resolved", "nodeEpoch": entry.node_epoch, "entityId": entry.entity_id}]);
        Cycle::default().step(&shop.store).await;
        assert!(shop.outbox().await.is_empty(), "it is not tried again");
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

/// A store that has sent a customer, and one that was refused ten times.
async fn with_a_dead_letter(hq: &Arc<Settling>) -> Shop {
    let shop = Shop::with_line(hq.clone()).await;
    let person = shop.sign_in("administrator").await;
    person.post("/customers", json!({"firstName": "Ada"})).await.ok(201);
    Sender::default().step(&shop.store).await;
    person.post("/customers", json!({"firstName": "Eve"})).await.ok(201);
    let tx = shop.store.test_db().begin().await.expect("a transaction");
    for _ in 0..MAX_ATTEMPTS {
        let entry = shop.outbox().await.remove(0);
        outbox::refuse(&tx, &entry, "refused", shop.clock.now()).await.expect("a refusal");
    }
    tx.commit().await.expect("a commit");
    shop
}

#[tokio::test]
async fn what_was_sent_is_forgotten_when_both_clocks_say_so_and_is_made_again_from_its_document() {
    const DAY: i64 = 24 * 3600 * 1000;
    let hq = Settling::new();
    let shop = with_a_dead_letter(&hq).await;
    let sent =
        async || outbox_sent::Entity::find().one(shop.store.test_db().reader()).await.expect("a read").expect("a row");
    let first = sent().await;
    // How many entries are kept whole, as numbers, and in the outbox.
    let kept = async |up_to: Option<i64>| {
        let long_kept: Vec<Json> =
            up_to.map(|seq| json!({"seq": seq, "nodeEpoch": first.node_epoch})).into_iter().collect();
        *hq.more.lock().expect("not poisoned") = json!({"longKept": long_kept});
        Cycle::default().step(&shop.store).await;
        (
            usize::from(!sent().await.payload.is_empty()),
            shop.count::<outbox_sent::Entity>().await,
            shop.outbox().await.len(),
        )
    };
    assert_eq!(kept(Some(1)).await, (1, 1, 1), "the clock of headquarters alone is ahead");
    shop.clock.advance(1000 * DAY);
    assert_eq!(kept(None).await, (1, 1, 1), "the clock of the store alone is ahead");
    assert_eq!(kept(Some(0)).await, (1, 1, 1), "headquarters has none of it for so long");
    assert_eq!(kept(Some(1)).await, (0, 1, 1), "the number stays, and so does a dead letter until it is settled");

    hq.pushed.lock().expect("not poisoned").clear();
    *hq.more.lock().expect("not poisoned") = json!({"resendFrom": 1});
    Cycle::default().step(&shop.store).await;
    Sender::default().step(&shop.store).await;
    let again = hq.pushed.lock().expect("not poisoned").clone();
    assert_eq!(again.len(), 1, "{again:?}");
    assert_eq!((&again[0]["seq"], &again[0]["data"]["firstName"]), (&json!(1), &json!("Ada")));
    assert_eq!(again[0]["timestamp"], json!(first.timestamp));
    assert_eq!(again[0]["changed"], json!([]), "a customer whom headquarters has is left as it is there");
    assert!(!sent().await.payload.is_empty());
}

#[tokio::test]
async fn a_dead_letter_goes_again_when_headquarters_says_that_it_never_refused_it() {
    let hq = Settling::new();
    let shop = with_a_dead_letter(&hq).await;
    let dead = shop.outbox().await.remove(0);
    assert!(dead.dead_lettered_at.is_some());
    Cycle::default().step(&shop.store).await;
    assert!(shop.outbox().await[0].dead_lettered_at.is_some(), "it has the refusal");
    *hq.more.lock().expect("not poisoned") = json!({"neverRefused": [dead.seq, 4711]});
    Cycle::default().step(&shop.store).await;
    Sender::default().step(&shop.store).await;
    assert_eq!(shop.outbox().await, []);
}
