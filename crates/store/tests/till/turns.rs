//! Who waits for whom in a store. `docs/sync.md`, rules D6 and U4.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tillkeep_store::headquarters::{Reply, Request, Transport};
use tillkeep_store::sync::{Cycle, Sender, watchdog};

use crate::kit::{Shop, line};

/// A headquarters that takes its time over a push.
#[derive(Default)]
struct Slow {
    pushing: AtomicBool,
    pulled: AtomicBool,
    pulled_in_a_push: AtomicBool,
}

#[async_trait::async_trait]
impl Transport for Slow {
    async fn send(&self, request: Request) -> Result<Reply, String> {
        let body = match request.path.split('?').next().unwrap_or_default() {
            "/handshake" => json!({
                "epoch": "e", "ticket": "t", "ticketKnown": true, "serverVersion": "", "versions": {},
                "clock": "2026-11-20T14:00:00.000Z",
            }),
            "/versions" => json!({"epoch": "e", "versions": {"customers": 1}}),
            "/pull" => {
                self.pulled.store(true, Ordering::SeqCst);
                if self.pushing.load(Ordering::SeqCst) {
                    self.pulled_in_a_push.store(true, Ordering::SeqCst);
                }
                json!({"entity_type": "customers", "rows": [], "since_version": 0, "latest_version": 1, "has_more": false})
            }
            "/push" => {
                self.pushing.store(true, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_millis(500)).await;
                self.pushing.store(false, Ordering::SeqCst);
                let sent: Value = serde_json::from_slice(&request.json.unwrap_or_default()).unwrap_or_default();
                let taken = |envelope: &Value| json!({"entity_type": envelope["entity_type"], "entity_id": envelope["entity_id"], "status": "ok"});
                json!({"results": sent["envelopes"].as_array().into_iter().flatten().map(taken).collect::<Vec<_>>()})
            }
            other => return Err(format!("no test asks for {other}")),
        };
        Ok(Reply { status: 200, from_hq: true, retry_after: None, body: body.to_string().into() })
    }
}

#[tokio::test]
async fn a_pull_of_what_a_store_pushes_waits_for_the_push_under_way() {
    let hq = Arc::new(Slow::default());
    let shop = Shop::with_line(hq.clone()).await;
    let till = shop.selling().await;
    till.sell(json!([line("TEA", 1)])).await.ok(201);
    let (mut sender, mut cycle) = (Sender::default(), Cycle::default());
    let pull = async {
        while !hq.pushing.load(Ordering::SeqCst) {
            tokio::task::yield_now().await;
        }
        cycle.step(&shop.store).await;
    };
    tokio::join!(sender.step(&shop.store), pull);
    assert!(hq.pulled.load(Ordering::SeqCst));
    assert!(!hq.pulled_in_a_push.load(Ordering::SeqCst), "its row would be left aside and never come again");
}

#[tokio::test]
async fn what_dies_in_the_background_is_started_again() {
    let starts = Arc::new(AtomicUsize::new(0));
    let counted = starts.clone();
    watchdog::supervised("a task of a test", move || {
        let start = counted.fetch_add(1, Ordering::SeqCst);
        async move { assert!(start > 0, "the first one dies of this") }
    })
    .await;
    assert_eq!(starts.load(Ordering::SeqCst), 2);
}
