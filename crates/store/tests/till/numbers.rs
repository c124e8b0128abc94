//! The numbers of a store after its database or file was restored or lost. `docs/sync.md`, rule D14.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value as Json, json};
use tillkeep_storage::fault;
use tillkeep_storage::numbers::lost;
use tillkeep_store::headquarters::{Reply, Request, Transport};
use tillkeep_store::sync::Cycle;

use crate::kit::{Person, Shop, cart, id, line, nothing_counted};

/// A headquarters that knows the highest receipt of this store and nothing else.
struct Knows(i64);

#[async_trait::async_trait]
impl Transport for Knows {
    async fn send(&self, request: Request) -> Result<Reply, String> {
        let body = match request.path.split('?').next().unwrap_or_default() {
            "/handshake" => json!({
                "epoch": "e", "ticket": "t", "ticketKnown": true, "serverVersion": "", "versions": {},
                "clock": "2026-11-20T14:00:00.000Z", "highWater": {"receipt:01": self.0},
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
async fn a_till_without_its_file_refuses_until_headquarters_was_asked() {
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
async fn a_till_without_its_file_and_without_a_line_begins_a_series_with_a_letter() {
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
    let report = till.post(&format!("/register-sessions/{session}/close"), nothing_counted()).await.ok(200);
    assert_eq!(report["firstReceiptNumber"], "S01-01-000001");
    assert_eq!(report["lastReceiptNumber"], "S01-01A-000002");
    let opened = till.post(&format!("/registers/{}/open", id("register 01")), json!({})).await.ok(201);
    assert_eq!(opened["sessionNumber"], 100_001);
}

#[tokio::test]
async fn what_is_done_is_answered_so_whatever_the_file_of_numbers_does() {
    let hq = Arc::new(Hears::default());
    let shop = Shop::with_line(hq.clone()).await;
    let till = shop.selling().await;
    assert_eq!(sell(&till).await, "S01-01-000001");
    fault::set("numbers.write", "return(error)");
    let request = cart(json!([line("TEA", 1)]), json!([{"tenderId": id("CASH")}]));
    let sold = till.post("/pos/sales", request.clone()).await.ok(201);
    assert_eq!(sold["receiptNumber"], "S01-01-000002");
    let again = till.post("/pos/sales", request).await.ok(200);
    assert_eq!(again["receiptNumber"], "S01-01-000002", "and so is what is asked again");
    assert_eq!(till.post("/customers", json!({"lastName": "Ada"})).await.ok(201)["customerNumber"], "S01-000001");
    let session = till.get("/register-sessions/current?terminalId=T1").await.ok(200);
    let path = format!("/register-sessions/{}/close", session["id"].as_str().expect("an id"));
    till.post(&path, nothing_counted()).await.ok(200);
    let opened = till.post(&format!("/registers/{}/open", id("register 01")), json!({})).await.ok(201);
    assert_eq!(opened["sessionNumber"], 2);

    // It is ready, and says what is wrong: to people, to a monitor and to headquarters.
    let ready = shop.ready().await;
    assert_eq!(
        (ready.status, &ready.body["data"]["alarms"][0]["code"]),
        (200, &json!("numbers_file")),
        "{}",
        ready.body
    );
    let status = till.get("/sync/status").await.ok(200);
    assert_eq!(status["alarms"][0]["code"], "numbers_file");
    let mut cycle = Cycle::default();
    cycle.step(&shop.store).await;
    assert!(hq.said().contains("alarms=numbers_file%3A"), "{}", hq.said());

    // It mends itself, also when no till sells, and has all that was given meanwhile.
    fault::set("numbers.write", "off");
    cycle.step(&shop.store).await;
    assert_eq!(shop.alarms(), [""; 0]);
    assert_eq!(shop.ready().await.body["data"], json!({"status": "ready"}));
    assert!(!hq.said().contains("alarms="), "{}", hq.said());
    let written = fs::read_to_string(shop.file()).expect("the file");
    for last in [r#""receipt:01":2"#, r#""session:01":2"#, r#""customer":1"#] {
        assert!(written.contains(last), "{last} in {written}");
    }
}

/// A headquarters that hears what a store says of itself.
#[derive(Default)]
struct Hears(std::sync::Mutex<String>);

impl Hears {
    /// The last question.
    fn said(&self) -> String {
        self.0.lock().expect("not poisoned").clone()
    }
}

#[async_trait::async_trait]
impl Transport for Hears {
    async fn send(&self, request: Request) -> Result<Reply, String> {
        if request.path.starts_with("/versions") {
            self.0.lock().expect("not poisoned").clone_from(&request.path);
        }
        Knows(0).send(request).await
    }
}

#[tokio::test]
async fn a_till_with_a_file_that_says_nothing_is_one_without_its_file_and_says_so() {
    let shop = Shop::open().await;
    let till = shop.selling().await;
    assert_eq!(sell(&till).await, "S01-01-000001");
    let shop =
        shop.again(Some(Arc::new(Knows(4))), |dir| fs::write(dir.join("numbers"), [0; 70]).expect("zeros")).await;
    let till = shop.person(&till);
    till.sell(json!([line("TEA", 1)])).await.refused(503, "numbers_unknown");
    Cycle::default().step(&shop.store).await;
    assert_eq!(sell(&till).await, "S01-01-000005");
    assert_eq!(shop.alarms(), ["numbers_file"], "until the next start");
    let shop = shop.again(None, |_| ()).await;
    assert_eq!(shop.alarms(), [""; 0]);
}

/// A sale of a till that says what it has printed last.
fn after(printed: impl Into<Json>) -> Json {
    let mut request = cart(json!([line("TEA", 1)]), json!([{"tenderId": id("CASH")}]));
    request["lastReceipt"] = printed.into();
    request
}

async fn sell_after(till: &Person, printed: &str) -> String {
    let sold = till.post("/pos/sales", after(printed)).await.ok(201);
    sold["receiptNumber"].as_str().expect("a number").to_owned()
}

#[tokio::test]
async fn a_sale_is_numbered_above_what_its_till_has_printed_and_nothing_else_is() {
    let shop = Shop::open().await;
    let till = shop.selling().await;
    assert_eq!(sell(&till).await, "S01-01-000001");
    // A quote and the bootstrap take it, and nothing follows from it.
    let mut quote = after("S01-01-000040");
    quote.as_object_mut().expect("a cart").remove("payments");
    till.post("/pos/quote", quote).await.ok(200);
    let known = till.get("/pos/bootstrap?terminalId=T1&lastReceipt=S01-01-000040").await.ok(200);
    assert_eq!(known["takesLastReceipt"], true);
    let again = after("S01-01-000001");
    let sold = till.post("/pos/sales", again.clone()).await.ok(201);
    assert_eq!(sold["receiptNumber"], "S01-01-000002");
    let mut later = again;
    later["lastReceipt"] = json!("S01-01-000300");
    assert_eq!(till.post("/pos/sales", later).await.ok(200), sold, "a sale that is asked again raises nothing");
    let mut refused = after("S01-01-000300");
    refused["expectedTotal"] = json!(1);
    till.post("/pos/sales", refused).await.refused(409, "total_mismatch");

    assert_eq!(sell_after(&till, "S01-01-000040").await, "S01-01-000041");
    assert_eq!((shop.alarms(), lost(&shop).await), (vec![], vec![("receipt:01".to_owned(), 3, 40)]));
    // Beyond a thousand, of another register, another store or a letter that was never given: the sale goes on.
    for printed in ["S01-01-001043", "S01-02-000009", "S07-01-000001", "S01-01B-000001", "S01-01-9223372036854775807"] {
        assert_eq!(sell_after(&till, "S01-01-000005").await.len(), 13);
        assert_eq!(shop.alarms(), [""; 0]);
        sell_after(&till, printed).await;
        assert_eq!(shop.alarms(), ["till_ahead"], "{printed}");
    }
    assert_eq!(sell_after(&till, "S01-01-000051").await, "S01-01-000052");
    assert_eq!((shop.alarms(), lost(&shop).await.len()), (vec![], 1));
    // What is no receipt number is refused by name, wherever it is said.
    for printed in [json!("41"), json!(""), json!("S01-01-"), json!("S01-01-zero"), json!(41)] {
        let (sale, mut quote) = (after(printed.clone()), after(printed.clone()));
        till.post("/pos/sales", sale).await.refused_at(422, "validation", "lastReceipt");
        quote.as_object_mut().expect("a cart").remove("payments");
        till.post("/pos/quote", quote).await.refused_at(422, "validation", "lastReceipt");
    }
    let asked = till.get("/pos/bootstrap?terminalId=T1&lastReceipt=41").await;
    asked.refused_at(422, "validation", "lastReceipt");
}

async fn lost(shop: &Shop) -> Vec<(String, i64, i64)> {
    let lost = lost::newest(shop.store.test_db().reader(), shop.store.id).await.expect("what is lost");
    lost.into_iter().map(|lost| (lost.series, lost.from, lost.to)).collect()
}

#[tokio::test]
async fn a_whole_directory_put_back_without_a_line_gives_no_number_twice_to_tills_that_say_what_they_printed() {
    let shop = Shop::open().await;
    let till = shop.selling().await;
    let mut printed = vec![sell(&till).await];
    let mut copy = Vec::new();
    let mut shop = shop.again(None, |dir| copy = files(dir)).await;
    for round in 0..6_usize {
        for _ in 0..=round % 3 {
            let last = printed.last().expect("a receipt").clone();
            printed.push(sell_after(&shop.person(&till), &last).await);
        }
        shop = shop.again(None, |dir| put_back(dir, &copy)).await;
        // Headquarters is asked and does not answer, as while it starts again.
        shop.store.numbers.ask();
        Cycle::default().step(&shop.store).await;
    }
    let expected: Vec<String> = (1..=printed.len()).map(|number| format!("S01-01-{number:06}")).collect();
    assert_eq!(printed, expected);
}

fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    ["tillkeep.db", "numbers"].map(|name| (name.to_owned(), fs::read(dir.join(name)).expect("a file"))).into()
}

fn put_back(dir: &Path, copy: &[(String, Vec<u8>)]) {
    for (name, content) in copy {
        fs::write(dir.join(name), content).expect("put back");
    }
}
