//! A cycle in which nothing moved. `docs/sync.md`, rule D10.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tillkeep_store::headquarters::{Reply, Request, Transport};
use tillkeep_store::sync::Cycle;
use tokio::time::timeout;

use crate::kit::Shop;

/// A headquarters where nothing happens; what it was asked.
#[derive(Default)]
struct Quiet(Mutex<Vec<String>>);

#[async_trait::async_trait]
impl Transport for Quiet {
    async fn send(&self, request: Request) -> Result<Reply, String> {
        let path = request.path.split('?').next().unwrap_or_default().to_owned();
        let body = match path.as_str() {
            "/handshake" => json!({
                "epoch": "e", "ticket": "t", "ticketKnown": true, "serverVersion": "", "versions": {},
                "clock": "2026-11-20T14:00:00.000Z",
            }),
            "/versions" => json!({"epoch": "e", "versions": {"departments": 5, "customers": 0}}),
            _ => json!({"entity_type": "departments", "since_version": 0, "rows": [], "latest_version": 5}),
        };
        self.0.lock().expect("not poisoned").push(path);
        Ok(Reply { status: 200, from_hq: true, retry_after: None, body: body.to_string().into() })
    }
}

#[tokio::test]
async fn a_quiet_cycle_is_one_question_and_writes_nothing() {
    let hq = Arc::new(Quiet::default());
    let shop = Shop::with_line(hq.clone()).await;
    let mut cycle = Cycle::default();
    let asked = || std::mem::take(&mut *hq.0.lock().expect("not poisoned"));
    cycle.step(&shop.store).await;
    assert_eq!(asked(), ["/handshake", "/versions", "/pull"]);
    // Whoever wants to write would wait for this one.
    let writer = shop.store.test_db().begin().await.expect("the writer");
    for _ in 0..3 {
        timeout(Duration::from_mins(1), cycle.step(&shop.store)).await.expect("a cycle beside a writer");
        assert_eq!(asked(), ["/versions"]);
    }
    drop(writer);
}
