//! What the socket says while a cycle is under way, where several servers answer. `docs/sync.md`, "Several servers of headquarters".

use std::sync::{Arc, Mutex, OnceLock};

use serde_json::json;
use tillkeep_storage::entity::department;
use tillkeep_store::Store;
use tillkeep_store::headquarters::{Reply, Request, Transport};
use tillkeep_store::sync::Cycle;

use crate::kit::{Shop, id};

/// A headquarters whose socket says that there is more while the first page is read; what questions for the heads named of it.
#[derive(Default)]
struct Beside {
    store: OnceLock<Arc<Store>>,
    named: Mutex<Vec<String>>,
}

#[async_trait::async_trait]
impl Transport for Beside {
    async fn send(&self, request: Request) -> Result<Reply, String> {
        let body = match request.path.split('?').next().unwrap_or_default() {
            "/handshake" => json!({
                "epoch": "e", "ticket": "t", "ticketKnown": true, "serverVersion": "", "versions": {},
                "clock": "2026-11-20T14:00:00.000Z",
            }),
            "/versions" => {
                self.named.lock().expect("not poisoned").push(request.announced.clone());
                json!({"epoch": "e", "versions": {"departments": 1}})
            }
            _ => {
                self.store.get().expect("the store").hq.announced.heard("departments".to_owned(), 2);
                let row = department::Model {
                    id: id("first"),
                    code: "FIRST".into(),
                    name: "First".into(),
                    sync_version: 1,
                    is_active: true,
                    ..department::Model::default()
                };
                json!({"entity_type": "departments", "since_version": 0, "rows": [row], "latest_version": 1, "epoch": "e"})
            }
        };
        Ok(Reply { status: 200, from_hq: true, retry_after: None, body: body.to_string().into() })
    }
}

#[tokio::test]
async fn what_the_socket_says_while_a_page_is_read_is_named_by_the_next_cycle_too() {
    let hq = Arc::new(Beside::default());
    let shop = Shop::with_line(hq.clone()).await;
    assert!(hq.store.set(shop.store.clone()).is_ok());
    let mut cycle = Cycle::default();
    for _ in 0..3 {
        cycle.step(&shop.store).await;
    }
    // The report after the page pulls nothing, whatever its answer has; the server that answers next may not have heard of it.
    let named = hq.named.lock().expect("not poisoned").clone();
    assert_eq!(named, ["", "departments:2", "departments:2", ""]);
}
