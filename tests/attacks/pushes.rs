//! What a thief can do with the sync token of one store. `docs/sync.md`, rules U9 and U14.

use std::process::Command;
use std::time::{Duration, Instant};

use async_compression::tokio::bufread::GzipEncoder;
use serde_json::{Value, json};
use tillkeep_model::wire::MAX_ENVELOPE_BYTES;
use tokio::io::{AsyncReadExt, repeat};
use uuid::Uuid;

use crate::kit::{Client, Process, Program, TestCluster, id};

/// A thief with the token of a store, and no store.
struct Thief {
    chain: TestCluster,
    store: String,
    machine: Client,
    http: reqwest::Client,
}

impl Thief {
    async fn new() -> Self {
        let chain = TestCluster::new().await;
        let body = json!({"code": "S01", "name": "Harbor Street", "timezone": "America/New_York"});
        let store = id(&chain.admin.post("/stores", body).await.data());
        let provisioned = chain.admin.post(&format!("/stores/{store}/provision"), json!({})).await.data();
        let token = provisioned["syncToken"].as_str().expect("a token");
        let machine = Client::new(&chain.hq.url).with_token(token);
        // Each on a connection of its own: who sends too much is answered early and hung up on.
        let http = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).build().expect("a client");
        Self { chain, store, machine, http }
    }

    fn envelope(&self, kind: &str, id: Uuid, seconds: usize, data: &Value) -> Value {
        let timestamp = format!("2026-11-20T{:02}:{:02}:{:02}.000Z", seconds / 3600, seconds / 60 % 60, seconds % 60);
        json!({
            "store_id": self.store, "entity_type": kind, "entity_id": id, "action": "update", "timestamp": timestamp,
            "data": data,
        })
    }

    async fn push(&self, envelopes: &[Value]) -> Vec<Value> {
        let reply = self.machine.post("/sync/push", json!({"envelopes": envelopes})).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.body["results"].as_array().expect("results").clone()
    }

    /// The answer to a body that was packed with gzip.
    async fn push_packed(&self, body: Vec<u8>) -> (u16, Value) {
        let request = self.http.post(format!("{}/sync/push", self.machine.base));
        let request = request.header("content-type", "application/json").header("content-encoding", "gzip");
        let token = self.machine.token.as_deref().expect("a token");
        let answer = request.bearer_auth(token).body(body).send().await.expect("an answer");
        let status = answer.status().as_u16();
        (status, serde_json::from_str(&answer.text().await.expect("a text")).expect("JSON"))
    }

    /// Bytes of the files of the database.
    fn stored(&self) -> u64 {
        let size = |name| std::fs::metadata(self.chain.hq.dir.join(name)).map_or(0, |file| file.len());
        size("tillkeep.db") + size("tillkeep.db-wal")
    }

    /// Resident memory of headquarters in MiB.
    fn memory(&self) -> u64 {
        self.chain.hq.footprint().0 / 1024
    }

    async fn failed(&self) -> Vec<Value> {
        let page = self.chain.admin.get("/sync/errors?pageSize=200").await.data();
        page.as_array().expect("entries").clone()
    }
}

async fn packed(body: &[u8]) -> Vec<u8> {
    let mut gzip = Vec::new();
    GzipEncoder::new(body).read_to_end(&mut gzip).await.expect("gzip");
    gzip
}

#[tokio::test(flavor = "multi_thread")]
async fn nineteen_million_envelopes_in_a_small_body_hold_no_request_up_and_take_no_memory() {
    let thief = Thief::new().await;
    let body = [&br#"{"envelopes": [{}"#[..], &b",{}".repeat(19_000_000), b"]}"].concat();
    let gzip = packed(&body).await;
    drop(body);
    assert!(gzip.len() < 64 << 10, "{} bytes on the wire", gzip.len());
    let before = thief.memory();
    let honest = async {
        let (mut slowest, begun) = (Duration::ZERO, Instant::now());
        while begun.elapsed() < Duration::from_secs(2) {
            let asked = Instant::now();
            thief.chain.admin.get("/auth/me").await.data();
            slowest = slowest.max(asked.elapsed());
        }
        slowest
    };
    let (attacks, slowest) = tokio::join!(
        async {
            let attack = || thief.push_packed(gzip.clone());
            let (a, b, c, d) = tokio::join!(attack(), attack(), attack(), attack());
            [a, b, c, d]
        },
        honest
    );
    for (status, body) in attacks {
        // Two of them are further pushes of one store at once.
        let answer = (status, body["code"].as_str());
        assert!([(400, Some("too_many_envelopes")), (503, Some("unavailable"))].contains(&answer), "{answer:?}");
    }
    let grown = thief.memory().saturating_sub(before);
    println!("the slowest honest request took {slowest:?}; headquarters grew by {grown} MiB");
    // Whoever waits for the attack waits for all of it.
    assert!(slowest < Duration::from_secs(10), "an honest request took {slowest:?}");
    assert!(grown <= 16, "headquarters grew by {grown} MiB");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_can_never_be_taken_is_kept_as_its_beginning_and_not_tried_again() {
    let thief = Thief::new().await;
    let mut letters = vec![0; MAX_ENVELOPE_BYTES];
    repeat(b'x').take(MAX_ENVELOPE_BYTES as u64).read_exact(&mut letters).await.expect("letters");
    let letters = String::from_utf8(letters).expect("text");
    // Twenty-five that cannot be read, and one of a type that there may be one day.
    let huge: Vec<Value> = (0..25).map(|number| json!({"entity_type": "sales", "n": number, "x": letters})).collect();
    let small = thief.envelope("spaceships", Uuid::now_v7(), 1, &json!({"name": "Nostromo"}));
    let body = json!({"envelopes": huge.iter().chain([&small]).collect::<Vec<_>>()}).to_string();
    let gzip = packed(body.as_bytes()).await;
    let before = thief.stored();
    let (status, answer) = thief.push_packed(gzip).await;
    assert_eq!(status, 200, "{answer}");
    let grown = (thief.stored() - before) / 1024;
    println!("{} KiB of {} were kept", grown, body.len() / 1024);
    assert!(grown < 2048, "{grown} KiB of {} were kept", body.len() / 1024);
    let failed = thief.failed().await;
    assert_eq!(failed.len(), 26);
    for entry in failed {
        let path = format!("/sync/retry/{}", entry["id"].as_str().expect("an id"));
        let again = thief.chain.admin.post(&path, json!({})).await;
        if entry["code"] == "unknown_type" {
            assert_eq!(entry["envelope"], small, "what a newer headquarters may take is kept whole");
            assert_eq!(again.data()["status"], "failed");
        } else {
            assert_eq!(again.refused(409), "payload_not_kept");
            let length = huge[0].to_string().len();
            assert!(entry["length"].as_u64().is_some_and(|kept| kept.abs_diff(length as u64) < 3), "{entry}");
            assert!(entry["beginning"].as_str().is_some_and(|text| text.len() == 16 << 10));
            assert_eq!(entry["sha256"].as_str().map(str::len), Some(64));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_customer_in_every_envelope_makes_no_later_request_slower() {
    let thief = Thief::new().await;
    let customer = Uuid::now_v7();
    // Failures that stay open, as they are newer than all that is taken: each success looks whether it closes them.
    let broken = |number: usize| {
        let data = json!({"id": customer, "customerNumber": "S01-1", "firstName": {"no": number}});
        thief.envelope("customers", customer, 23 * 3600 + number, &data)
    };
    let refused = thief.push(&(0..60).map(broken).collect::<Vec<_>>()).await;
    assert!(refused.iter().all(|result| result["status"] == "error"), "{refused:?}");
    let mut took = Vec::new();
    for request in 0..20_usize {
        let envelope = |number: usize| {
            let seconds = request * 60 + number;
            let data = json!({"id": customer, "customerNumber": "S01-1", "firstName": format!("A{seconds}")});
            thief.envelope("customers", customer, seconds, &data)
        };
        let envelopes: Vec<Value> = (0..60).map(envelope).collect();
        let before = thief.chain.hq.processor_time();
        let results = thief.push(&envelopes).await;
        took.push(thief.chain.hq.processor_time().saturating_sub(before));
        assert!(results.iter().all(|result| result["status"] == "ok"), "{results:?}");
    }
    println!("requests took {took:?} of processors");
    let (early, late) = (took[1..4].iter().min(), took[17..].iter().min());
    let (early, late) = (*early.expect("early ones"), *late.expect("late ones"));
    // If each looked at those before it, these would take six times as long.
    assert!(late < early * 3 + Duration::from_millis(50), "{early:?} at first and {late:?} later: {took:?}");
    assert_eq!(thief.failed().await.len(), 60, "they are newer, and open");
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_far_ahead_make_no_series_of_the_store_unusable() {
    let mut thief = Thief::new().await;
    // Sales that add up to nothing are made up.
    thief.chain.broken_on_purpose = true;
    let sale = |receipt: &str, seq: i64| {
        let sale = Uuid::now_v7();
        let data = json!({"id": sale, "receiptNumber": receipt, "registerCode": "01", "status": "completed"});
        let mut envelope = thief.envelope("sales", sale, 1, &data);
        (envelope["action"], envelope["seq"], envelope["node_epoch"]) = (json!("create"), json!(seq), json!("e"));
        envelope
    };
    let (honest, huge) = (sale("S01-01-7", 1), sale("S01-01-999999999", 2));
    let far = sale("S01-01-8", 1 << 53);
    let malformed = json!({"entity_type": "sales", "entity_id": "x", "seq": 1_i64 << 53, "node_epoch": "e"});
    let results = thief.push(&[honest, huge, far, malformed]).await;
    let codes: Vec<_> = results.iter().map(|result| result["code"].as_str().unwrap_or("ok")).collect();
    assert_eq!(codes, ["ok", "ok", "number_ahead", "malformed"], "money is taken, whatever number it has");
    let error = results[2]["error"].as_str().expect("an error");
    assert!(error.contains("seq: must be at most 1000000") && error.contains("set-series"), "{error}");
    let flagged = thief.chain.admin.get("/sales?flagged=true").await.data();
    let flags = |receipt: &str| {
        let sale = flagged.as_array()?.iter().find(|sale| sale["receiptNumber"] == receipt)?;
        Some(sale["flags"].to_string())
    };
    assert!(flags("S01-01-999999999").is_some_and(|flags| flags.contains("number_ahead")), "{flagged}");
    assert!(flags("S01-01-7").is_none_or(|flags| !flags.contains("number_ahead")), "{flagged}");

    let asked = json!({"nodeEpoch": "e", "lastSeq": 0, "ticket": "of another copy"});
    let answer = thief.machine.post("/sync/handshake", asked).await.body;
    assert_eq!(
        (&answer["highWater"]["receipt:01"], &answer["highWater"]["outbox"]),
        (&json!(7), &json!(2)),
        "{answer}"
    );
    let next = thief.push(&[sale("S01-01-8", 3)]).await;
    assert_eq!(next[0]["status"], "ok", "{next:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_has_one_push_under_way_and_others_wait_their_turn() {
    let thief = Thief::new().await;
    let before = thief.memory();
    let half = format!(
        "POST /api/v1/sync/push HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 60000000\r\n\
         Authorization: Bearer {}\r\n\r\n{{\"envelopes\": [\"{}",
        thief.machine.token.as_deref().expect("a token"),
        "x".repeat(6 << 20),
    );
    let address = thief.chain.hq.url.trim_start_matches("http://").to_owned();
    let mut held = Vec::new();
    for _ in 0..8 {
        let mut line = tokio::net::TcpStream::connect(&address).await.expect("a connection");
        let text = half.clone();
        held.push(tokio::spawn(async move {
            use tokio::io::AsyncWriteExt;
            // Most are refused before they are read.
            drop(line.write_all(text.as_bytes()).await);
            line
        }));
    }
    // What the store itself sends goes through: it overtakes what does not come.
    let envelopes = json!({"envelopes": []});
    let begun = Instant::now();
    crate::kit::eventually("the store is heard", async || {
        let reply = thief.machine.post("/sync/push", envelopes.clone()).await;
        reply.status.is_success().then_some(())
    })
    .await;
    println!("the store's own push was answered after {:?}", begun.elapsed());
    let grown = thief.memory().saturating_sub(before);
    println!("headquarters grew by {grown} MiB");
    // Of 48 that were sent.
    assert!(grown <= 24, "headquarters grew by {grown} MiB");
    drop(held);
}

/// What `tillkeep` says to these arguments.
fn tillkeep(arguments: &[&str]) -> String {
    let output = Command::new(Program::This.path()).args(arguments).env_clear().output().expect("the program runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_series_that_was_driven_too_far_is_set_right_at_both_servers() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 100).await;
    let mut site = chain.store().await;
    // A sale that no till made, and numbers that no till gave.
    (chain.broken_on_purpose, site.broken_on_purpose) = (true, true);
    let till = site.open_till().await;
    site.knows(&till, &product, None).await;
    assert_eq!(site.sell(&till, &product, 1).await["receiptNumber"], "S01-01-000001");
    let machine = chain.machine(&site);
    let sale = Uuid::now_v7();
    let data = json!({"id": sale, "receiptNumber": "S01-01-900000", "registerCode": "01", "status": "completed"});
    let envelope = json!({
        "store_id": site.id, "entity_type": "sales", "entity_id": sale, "action": "create",
        "timestamp": "2026-11-20T10:00:00Z", "data": data,
    });
    let pushed = machine.post("/sync/push", json!({"envelopes": [envelope]})).await;
    assert_eq!(pushed.body["results"][0]["status"], "ok", "{}", pushed.text);

    let path = |process: &Process| process.dir.to_str().expect("a path").to_owned();
    let (hq, store) = (path(&chain.hq), path(&site.process));
    tillkeep(&["hq", "--data-dir", &hq, "set-series", "--store", "S01", "--series", "receipt:01", "--last", "41"]);
    site.process.stop();
    tillkeep(&["store", "set-series", "--data-dir", &store, "--series", "receipt:01", "--last", "41"]);
    site.process.restart();
    let till = site.admin().await;
    assert_eq!(site.sell(&till, &product, 1).await["receiptNumber"], "S01-01-000042");
    for who in [&chain.admin, &till] {
        let log = who.get("/audit-log?action=series.set").await;
        assert!(log.text.contains("receipt:01"), "{}", log.text);
    }
    site.drained(&till).await;
    site.process.kill();
    let asked =
        json!({"nodeEpoch": "of no node", "lastSeq": 0, "ticket": "of another copy", "instance": Uuid::new_v4()});
    let known = machine.post("/sync/handshake", asked).await.body;
    assert_eq!(known["highWater"]["receipt:01"], 42, "the one that was made up counts for nothing: {known}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_largest_document_of_each_route_of_a_till_is_pushed() {
    let mut chain = TestCluster::new().await;
    // Four bytes a letter, as long as the columns are.
    let long = |letters: usize| "\u{1f600}".repeat(letters);
    let product = chain.product("LARGE", 1000).await;
    chain.admin.patch(&format!("/products/{product}"), json!({"name": long(200)})).await.data();
    let site = chain.store().await;
    let till = site.open_till().await;
    site.knows(&till, &product, None).await;
    chain.caught_up(&site, &till).await;
    let customer = json!({
        "firstName": long(100), "lastName": long(100), "companyName": long(200), "addressLine1": long(200),
        "addressLine2": long(200), "city": long(100), "region": long(100), "postalCode": long(20), "notes": long(4000),
    });
    let customer = till.post("/customers", customer).await.data();
    let line = json!({
        "productId": product, "quantity": 1, "unitPriceOverride": 900, "overrideReason": long(200), "lineId": long(100),
    });
    let tenders = till.get("/tenders").await.data();
    let card = tenders.as_array().expect("list").iter().find(|tender| tender["code"] == "CARD").expect("card");
    let sale = json!({
        "id": Uuid::now_v7(), "terminalId": site.terminal, "customerId": customer["id"],
        "lines": vec![line; 500], "payments": [{"tenderId": card["id"], "reference": long(200)}],
    });
    let sold = till.post("/pos/sales", sale).await;
    let bytes = sold.text.len();
    sold.data();
    let adjustment = json!({
        "id": Uuid::now_v7(), "productId": product, "quantityChange": 1, "reason": "received", "unitCost": 500,
        "note": long(500),
    });
    till.post("/inventory/adjustments", adjustment).await.data();
    let drawer =
        till.get(&format!("/register-sessions/current?terminalId={}", site.terminal)).await.data()["id"].clone();
    let drawer = drawer.as_str().expect("the drawer").to_owned();
    let mut counted = till.nothing_counted().await;
    counted["note"] = json!(long(2000));
    let closed = till.post(&format!("/register-sessions/{drawer}/close"), counted).await;
    assert!(closed.status.is_success(), "{}", closed.text);
    site.drained(&till).await;
    assert_eq!(chain.sales(&site).await, 1, "a sale of {bytes} bytes");
    assert_eq!(chain.admin.get("/sync/errors").await.data(), json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stolen_token_fills_no_database_with_customers() {
    let thief = Thief::new().await;
    // It says what a store of this release says, so that it can be asked to wait.
    let hello = json!({"nodeEpoch": "n", "storeVersion": "0.2.0"});
    assert_eq!(thief.machine.post("/sync/handshake", hello).await.status, 200);
    let mut taken = 0;
    for request in 0..4_usize {
        let customer = |number: usize| {
            let id = Uuid::now_v7();
            let data = json!({"id": id, "customerNumber": format!("S01-{request}-{number}"), "firstName": "A"});
            thief.envelope("customers", id, 1, &data)
        };
        let results = thief.push(&(0..600).map(customer).collect::<Vec<_>>()).await;
        let later = results.iter().filter(|result| result["code"] == "try_later").count();
        taken += results.iter().filter(|result| result["status"] == "ok").count();
        assert_eq!(later + results.iter().filter(|result| result["status"] == "ok").count(), 600, "no refusal");
    }
    println!("{taken} of 2400 were taken");
    // Two thousand only where an hour ended meanwhile.
    assert!([1000, 2000].contains(&taken), "{taken} were taken");
    let dashboard = thief.chain.admin.get("/sync/dashboard").await.data();
    let alarms = dashboard["stores"][0]["alarms"].as_array().expect("alarms").clone();
    assert!(alarms.iter().any(|alarm| alarm["code"] == "too_many_new_customers"), "{dashboard}");
}

#[tokio::test(flavor = "multi_thread")]
async fn all_that_a_store_may_leave_behind_is_tried_again_in_pieces_that_take_little_memory() {
    let thief = Thief::new().await;
    let letters = "x".repeat(MAX_ENVELOPE_BYTES - 1024);
    // Of a type that there may be one day, so that each is kept whole: what a store may leave is 64 MiB.
    for part in 0..16_usize {
        let ship = |number: usize| thief.envelope("spaceships", Uuid::now_v7(), number, &json!({"name": letters}));
        let body = json!({"envelopes": [ship(part * 2), ship(part * 2 + 1)]}).to_string();
        let (status, answer) = thief.push_packed(packed(body.as_bytes()).await).await;
        assert_eq!(status, 200, "{answer}");
    }
    let before = thief.memory();
    let (grown, done) = (std::sync::atomic::AtomicU64::new(0), tokio::sync::Notify::new());
    let watch = async {
        loop {
            grown.fetch_max(thief.memory().saturating_sub(before), std::sync::atomic::Ordering::Relaxed);
            tokio::select! {
                () = done.notified() => return,
                () = tokio::time::sleep(Duration::from_millis(5)) => {}
            }
        }
    };
    let retry = async {
        let retried = thief.chain.admin.post("/sync/retry-all", json!({})).await.data();
        done.notify_one();
        retried
    };
    let (retried, ()) = tokio::join!(retry, watch);
    assert_eq!((&retried["attempted"], &retried["failed"]), (&json!(32), &json!(32)), "{retried}");
    let grown = grown.into_inner();
    println!("headquarters grew by {grown} MiB while 64 MiB were tried again");
    // 20 to 45, as the allocator gives back what it has; all of it at once would be 64 before anything is read of it.
    assert!(grown < 64, "headquarters grew by {grown} MiB");
}
