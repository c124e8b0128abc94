//! What a store presents in a handshake. `docs/sync.md`, rule D8.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tillkeep_store::sync::{Cycle, Reply, Request, Transport};

use crate::kit::Shop;

const MARK: &str = "01939e3c-0000-7000-8000-000000000001";

/// A headquarters that is put back: from then on it knows no ticket, and its line breaks at every pull.
#[derive(Default)]
struct PutBack {
    put_back: AtomicBool,
    presented: Mutex<Vec<Value>>,
}

#[async_trait::async_trait]
impl Transport for PutBack {
    async fn send(&self, request: Request) -> Result<Reply, String> {
        let put_back = self.put_back.load(Ordering::SeqCst);
        let body = match request.path.split('?').next().unwrap_or_default() {
            "/handshake" => {
                let said = serde_json::from_slice(&request.json.unwrap_or_default()).unwrap_or_default();
                self.presented.lock().expect("nobody panicked").push(said);
                json!({
                    "epoch": "e", "ticket": "t", "ticketKnown": !put_back, "serverVersion": "", "versions": {},
                    "clock": "2026-11-20T12:00:00.000Z",
                })
            }
            "/versions" if put_back => json!({"epoch": "e", "versions": {"products": 5}, "handshake": true}),
            "/versions" => json!({"epoch": "e", "versions": {}, "mark": MARK}),
            _ => return Err("the line breaks".to_owned()),
        };
        Ok(Reply { status: 200, from_hq: true, retry_after: None, body: body.to_string().into() })
    }
}

#[tokio::test]
async fn a_load_that_a_bad_line_breaks_off_is_not_started_over_because_of_an_old_mark() {
    let hq = Arc::new(PutBack::default());
    let shop = Shop::with_line(hq.clone()).await;
    let mut cycle = Cycle::default();
    cycle.step(&shop.store).await;
    hq.put_back.store(true, Ordering::SeqCst);
    // The handshake that finds it out presents what the store has seen.
    cycle.step(&shop.store).await;
    cycle.step(&shop.store).await;
    let presented: Vec<Value> =
        hq.presented.lock().expect("nobody panicked").iter().map(|said| said["mark"].clone()).collect();
    assert_eq!(presented[..3], [Value::Null, json!(MARK), Value::Null], "{presented:?}");
}
