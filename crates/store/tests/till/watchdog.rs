//! The outbox moves on whatever happens to its sender. `docs/sync.md`, promise P3.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tillkeep_store::headquarters::{Reply, Request, Transport};
use tillkeep_store::sync::{Cycle, watchdog};

use crate::kit::{Shop, line};

/// A headquarters that takes everything, but not at the first push.
struct Unlucky {
    pushes: AtomicUsize,
    panics: bool,
}

#[async_trait::async_trait]
impl Transport for Unlucky {
    async fn send(&self, request: Request) -> Result<Reply, String> {
        let body = match request.path.split('?').next().unwrap_or_default() {
            "/handshake" => json!({
                "epoch": "e", "ticket": "t", "ticketKnown": true, "serverVersion": "", "versions": {},
                "clock": "2026-11-20T14:00:00.000Z",
            }),
            "/versions" => json!({"epoch": "e", "versions": {}}),
            "/push" => {
                let first = self.pushes.fetch_add(1, Ordering::SeqCst) == 0;
                assert!(!(first && self.panics), "the sender dies of this");
                if first {
                    pending::<()>().await;
                }
                let sent: Value = serde_json::from_slice(&request.json.unwrap_or_default()).unwrap_or_default();
                let taken = |envelope: &Value| json!({"entity_type": envelope["entity_type"], "entity_id": envelope["entity_id"], "status": "ok"});
                json!({"results": sent["envelopes"].as_array().into_iter().flatten().map(taken).collect::<Vec<_>>()})
            }
            other => return Err(format!("no test asks for {other}")),
        };
        Ok(Reply { status: 200, from_hq: true, retry_after: None, body: body.to_string().into() })
    }
}

async fn moves_on(panics: bool) {
    let hq = Arc::new(Unlucky { pushes: AtomicUsize::new(0), panics });
    let shop = Shop::with_line(hq.clone()).await;
    let till = shop.selling().await;
    till.sell(json!([line("TEA", 1)])).await.ok(201);
    assert!(!shop.outbox().await.is_empty());
    // There is a line: a cycle gets through.
    Cycle::default().step(&shop.store).await;
    let watched = tokio::spawn(watchdog::run(shop.store.clone(), Duration::from_millis(500)));
    for _ in 0..3000 {
        if shop.outbox().await.is_empty() {
            assert!(hq.pushes.load(Ordering::SeqCst) >= 2);
            watched.abort();
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the outbox did not move");
}

#[tokio::test]
async fn a_sender_that_gets_nowhere_although_there_is_a_line_is_replaced() {
    moves_on(false).await;
}

#[tokio::test]
async fn a_sender_that_died_is_started_again() {
    moves_on(true).await;
}
