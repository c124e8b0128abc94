//! What a store makes of a type that headquarters cannot answer. `docs/sync.md`, rule D13.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tillkeep_storage::{apply, registry};
use tillkeep_store::headquarters::{Reply, Request, Transport};
use tillkeep_store::sync::Cycle;

use crate::kit::Shop;

/// A headquarters where every type has moved, and some are never answered well.
struct Halting {
    broken: &'static [&'static str],
    /// The status of their answers, or none: the line breaks.
    status: Option<u16>,
    asked: Mutex<Vec<String>>,
}

#[async_trait::async_trait]
impl Transport for Halting {
    async fn send(&self, request: Request) -> Result<Reply, String> {
        let ok =
            |body: Value| Ok(Reply { from_hq: true, status: 200, retry_after: None, body: body.to_string().into() });
        match request.path.split('?').next().unwrap_or_default() {
            "/handshake" => ok(json!({
                "epoch": "e", "ticket": "t", "ticketKnown": true, "serverVersion": "", "versions": {},
                "clock": "2026-11-20T14:00:00.000Z",
            })),
            "/versions" => {
                let heads: serde_json::Map<String, Value> =
                    registry::pulled().map(|entity| (entity.name.to_owned(), json!(7))).collect();
                ok(json!({"epoch": "e", "versions": heads}))
            }
            _ => {
                let name = request.path.split("entity_type=").nth(1).and_then(|rest| rest.split('&').next());
                let name = name.unwrap_or_default().to_owned();
                self.asked.lock().expect("not poisoned").push(name.clone());
                if self.broken.contains(&name.as_str()) {
                    let status = self.status.ok_or_else(|| "the line breaks".to_owned())?;
                    return Ok(Reply { from_hq: true, status, retry_after: None, body: "{}".into() });
                }
                ok(json!({"entity_type": name, "since_version": 0, "rows": [], "latest_version": 7, "epoch": "e"}))
            }
        }
    }
}

/// How many types lack after each of some cycles, and what was asked for in the first one.
async fn lacking(broken: &'static [&'static str], status: Option<u16>) -> (Vec<usize>, usize) {
    let hq = Arc::new(Halting { broken, status, asked: Mutex::default() });
    let shop = Shop::with_line(hq.clone()).await;
    let mut cycle = Cycle::default();
    let (mut lacking, mut asked) = (Vec::new(), 0);
    for _ in 0..3 {
        cycle.step(&shop.store).await;
        let cursors = apply::cursors(shop.store.test_db().reader()).await.expect("cursors");
        let here = |name: &str| cursors.get(name).is_some_and(|cursor| cursor.version == 7);
        lacking.push(registry::pulled().filter(|entity| !here(entity.name)).count());
        if asked == 0 {
            asked = hq.asked.lock().expect("not poisoned").len();
        }
    }
    (lacking, asked)
}

#[tokio::test]
async fn a_type_that_headquarters_cannot_answer_holds_up_no_other_one() {
    let all = registry::pulled().count();
    for status in [500, 503, 404] {
        let (lacking, asked) = lacking(&["products"], Some(status)).await;
        assert_eq!((lacking, asked), (vec![1, 1, 1], all), "{status}");
    }
}

#[tokio::test]
async fn a_type_at_which_the_line_breaks_ends_the_cycle_and_is_asked_for_last_in_the_next_one() {
    // In a first pull, what signing in needs comes before the goods.
    let (first, rest): (Vec<_>, Vec<_>) = registry::pulled().partition(|entity| registry::FIRST.contains(&entity.name));
    let place = first.iter().chain(&rest).position(|entity| entity.name == "products").expect("products");
    let all = registry::pulled().count();
    let (after, asked) = lacking(&["products"], None).await;
    assert_eq!((after, asked), (vec![all - place, 1, 1], place + 1));
    // As busy as headquarters is then, it is not asked for all of the rest.
    let busy = &["products", "users"];
    let (after, asked) = lacking(busy, Some(503)).await;
    assert_eq!((after, asked), (vec![all - place + 1, 2, 2], place + 1));
}
