//! The numbers of a store whose database or file was restored or lost. `docs/sync.md`, rule D14.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use tillkeep_store::sync::{Cycle, Reply, Request, Transport};

use crate::kit::{Person, Shop, id, line};

/// A headquarters that knows the highest receipt of this store and nothing else.
struct Knows(i64);

#[async_trait::async_trait]
impl Transport for Knows {
    async fn send(&self, request: Request) -> Result<Reply, String> {
        let body = match request.path.split('?').next().unwrap_or_default() {
            "/handshake" => json!({
                "epoch": "e", "ticket": "t", "ticketKnown": true, "serverVersion": "", "versions": {},
                "clock": "2026-11-20T12:00:00.000Z", "highWater": {"receipt:01": self.0},
            }),
            "/versions" => json!({"epoch": "e", "versions": {}}),
            _ => return Err("the line breaks".to_owned()),
        };
        Ok(Reply { from_hq: true, status: 200, retry_after: None, body: body.to_string().into() })
    }
}

async fn sell(person: &Person) -> String {
    let sold = person.sell(json!([line("TEA", 1)])).await.ok(201);
    sold["receiptNumber"].as_str().expect("a number").to_owned()
}

fn database(dir: &Path) -> Vec<u8> {
    fs::read(dir.join("tillkeep.db")).expect("the database")
}

fn restore(dir: &Path, content: &[u8]) {
    fs::write(dir.join("tillkeep.db"), content).expect("the database");
}

#[tokio::test]
async fn a_till_of_a_restored_database_goes_on_above_what_it_printed() {
    let shop = Shop::open().await;
    let till = shop.selling().await;
    assert_eq!(sell(&till).await, "S01-01-000001");
    let mut copy = Vec::new();
    let mut shop = shop.again(None, |dir| copy = database(dir)).await;
    let mut printed = vec!["S01-01-000001".to_owned()];
    for round in 0..20_usize {
        for _ in 0..=round % 3 {
            printed.push(sell(&shop.person(&till)).await);
        }
        shop = shop.again(None, |dir| restore(dir, &copy)).await;
    }
    let expected: Vec<String> = (1..=printed.len()).map(|number| format!("S01-01-{number:06}")).collect();
    assert_eq!(printed, expected);
}

#[tokio::test]
async fn a_till_of_a_restored_directory_waits_for_headquarters_when_there_is_a_line() {
    let shop = Shop::open().await;
    let till = shop.selling().await;
    assert_eq!(sell(&till).await, "S01-01-000001");
    // As it is here, so it was: what headquarters has since then is not in the directory.
    let shop = shop.again(Some(Arc::new(Knows(7))), |_| ()).await;
    shop.store.numbers.ask();
    let till = shop.person(&till);
    let (receipt, _wait) = tokio::join!(sell(&till), async {
        // The sale is under way by then.
        tokio::task::yield_now().await;
        Cycle::default().step(&shop.store).await
    });
    assert_eq!(receipt, "S01-01-000008");
    assert_eq!(sell(&till).await, "S01-01-000009");
}

#[tokio::test]
async fn a_till_whose_file_is_gone_refuses_until_headquarters_was_asked() {
    let shop = Shop::open().await;
    let till = shop.selling().await;
    assert_eq!(sell(&till).await, "S01-01-000001");
    let shop = shop.again(Some(Arc::new(Knows(4))), |dir| fs::remove_file(dir.join("numbers")).expect("gone")).await;
    let till = shop.person(&till);
    till.sell(json!([line("TEA", 1)])).await.refused(503, "numbers_unknown");
    Cycle::default().step(&shop.store).await;
    assert_eq!(sell(&till).await, "S01-01-000005");
}

#[tokio::test]
async fn a_till_whose_file_is_gone_and_that_has_no_line_begins_a_series_with_a_letter() {
    let shop = Shop::open().await;
    let till = shop.selling().await;
    let customer = |name: &str| json!({"lastName": name});
    assert_eq!(sell(&till).await, "S01-01-000001");
    let first = till.post("/customers", customer("Ada")).await.ok(201);
    assert_eq!(first["customerNumber"], "S01-000001");
    let shop = shop.again(None, |dir| fs::remove_file(dir.join("numbers")).expect("gone")).await;
    let till = shop.person(&till);
    Cycle::default().step(&shop.store).await;
    assert_eq!([sell(&till).await, sell(&till).await], ["S01-01A-000001", "S01-01A-000002"]);
    let second = till.post("/customers", customer("Grace")).await.ok(201);
    assert_eq!(second["customerNumber"], "S01-A000001");

    // The drawer that was opened before counts both series; the next one has a number of the new one.
    let current = till.get("/register-sessions/current?terminalId=T1").await.ok(200);
    let session = current["id"].as_str().expect("an id");
    let report = till.post(&format!("/register-sessions/{session}/close"), json!({})).await.ok(200);
    assert_eq!(report["firstReceiptNumber"], "S01-01-000001");
    assert_eq!(report["lastReceiptNumber"], "S01-01A-000002");
    let opened = till.post(&format!("/registers/{}/open", id("register 01")), json!({})).await.ok(201);
    assert_eq!(opened["sessionNumber"], 100_001);
}
