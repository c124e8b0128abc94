//! Figures of one run: a first pull, a push of sales, a price on its way, memory. Each beside something of the same
//! machine and minute, because a time alone says nothing. `make bench` prints them and writes `target/figures.json`.

#[path = "../cluster/home.rs"]
mod home;
#[path = "../cluster/kit/mod.rs"]
#[expect(dead_code, unused_imports, reason = "the kit serves the cluster tests, of which this needs a part")]
mod kit;
mod sign_in;

use std::path::Path;
use std::time::{Duration, Instant as Stopwatch};

use home::Home;
use kit::{Process, TestCluster, eventually};
use serde_json::{Value, json};
use tillkeep_model::{Instant, Money};
use tillkeep_storage::entity::product;
use tillkeep_storage::sea_orm::{EntityTrait, IntoActiveModel};
use tillkeep_storage::{Db, Side};
use uuid::Uuid;

const PRODUCTS: usize = 100_000;
const PUSHES: usize = 10;
const SALES: usize = 1000;
const CHANGES: usize = 100;
const SLOW: usize = 2000;
const HONEST: usize = 2000;

#[tokio::main]
async fn main() {
    let mut chain = TestCluster::new().await;
    chain.hq.stop();
    let inserted = plant(&chain.hq.dir, &chain.department, &chain.tax_group).await;
    chain.hq.restart();

    let begun = Stopwatch::now();
    let mut site = chain.store().await;
    // Whoever signs in before the store knows anybody waits for the brake on guessing, and that is not the pull.
    eventually("the store has pulled people, and products before them", async || {
        let stores = chain.admin.get("/sync/dashboard").await.data()["stores"].clone();
        let asked = |row: &Value| row["entityType"] == "user_store_roles" && row["direction"] == "pull";
        stores[0]["sync"].as_array()?.iter().any(asked).then_some(())
    })
    .await;
    let admin = site.admin().await;
    eventually("the store has every product", async || {
        let versions = admin.get("/sync/status").await.data()["versions"].clone();
        (versions["products"].as_u64()? >= PRODUCTS as u64).then_some(())
    })
    .await;
    let pulled = begun.elapsed();
    let (hq_memory, store_memory) = (peak_memory(&chain.hq), peak_memory(&site.process));

    let mut pushes: Vec<Duration> = Vec::new();
    let machine = chain.machine(&site);
    let listed = chain.admin.get("/products?pageSize=200").await.data();
    let ids: Vec<&str> = listed.as_array().expect("list").iter().filter_map(|row| row["id"].as_str()).collect();
    for _ in 0..PUSHES {
        let envelopes: Vec<Value> = (0..SALES).map(|number| sale(&site.id, &ids, number)).collect();
        let body = json!({"envelopes": envelopes});
        let begun = Stopwatch::now();
        let reply = machine.post("/sync/push", body).await;
        pushes.push(begun.elapsed());
        let results = reply.body["results"].as_array().expect("results");
        assert!(results.iter().all(|result| result["status"] == "ok"), "{}", results[0]);
    }
    pushes.sort();

    let mut changes = Vec::new();
    for number in 0..CHANGES {
        let id = ids[number % ids.len()];
        let price = 50_000 + number;
        let begun = Stopwatch::now();
        chain.admin.patch(&format!("/products/{id}"), json!({"price": price})).await.data();
        let committed = begun.elapsed();
        while admin.get(&format!("/products/{id}")).await.body["data"]["price"] != price {}
        changes.push(begun.elapsed().saturating_sub(committed));
    }
    changes.sort();

    let slow = slow_clients(&chain.hq.url).await;

    let micros = |time: Duration| u64::try_from(time.as_micros()).expect("short");
    let per_second = |count: usize, time: Duration| count as u64 * 1_000_000 / micros(time).max(1);
    let (pull, insert) = (per_second(PRODUCTS, pulled), per_second(PRODUCTS, inserted));
    let push = per_second(SALES, pushes[PUSHES / 2]);
    let signing_in = sign_in::run().await;
    let figures = json!({
        "signIn": signing_in,
        "pull": {"products": PRODUCTS, "perSecond": pull, "insertsPerSecondOfTheSameRows": insert,
                 "ratioPercent": pull * 100 / insert},
        "push": {"sales": SALES, "linesEach": 3, "salesPerSecondMedian": push},
        "change": {"medianMicros": micros(changes[CHANGES / 2]), "p99Micros": micros(changes[CHANGES * 99 / 100])},
        "slowClients": {"opened": slow.opened, "leftAfter15Seconds": slow.left,
                        "honestP99MicrosBefore": micros(slow.before), "honestP99MicrosBeside": micros(slow.beside)},
        "memoryPeakMiB": {"hqAfterPull": hq_memory, "storeAfterPull": store_memory,
                          "hqAtEnd": peak_memory(&chain.hq), "storeAtEnd": peak_memory(&site.process)},
        "cores": std::thread::available_parallelism().map_or(0, usize::from),
    });
    println!("first pull       {pull} products/s, start of the store included");
    println!("  beside         {insert} rows/s: the same rows inserted by the same library without a network");
    println!("  ratio          {} %", pull * 100 / insert);
    println!(
        "push             {push} sales/s of 3 lines, 1 payment, stock and log, {SALES} a request (median of {PUSHES})"
    );
    println!(
        "price change     {} µs median, {} µs p99 from HQ's answer to the store's",
        micros(changes[CHANGES / 2]),
        micros(changes[CHANGES * 99 / 100])
    );
    println!(
        "slow clients     {} of {} left after 15 s; an honest request {} µs p99 beside them, {} µs before",
        slow.left,
        slow.opened,
        micros(slow.beside),
        micros(slow.before)
    );
    println!("peak memory      HQ {hq_memory} MiB, store {store_memory} MiB after the pull");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("target").join("figures.json");
    std::fs::write(&target, format!("{figures:#}\n")).expect("figures");
    println!("written to       {}", target.display());
    site.process.stop();
    chain.hq.stop();
}

struct SlowClients {
    opened: usize,
    left: usize,
    before: Duration,
    beside: Duration,
}

/// Clients that begin a request and do not go on, and what honest ones notice of them.
async fn slow_clients(url: &str) -> SlowClients {
    use tokio::io::AsyncWriteExt;
    let address = url.trim_start_matches("http://").to_owned();
    let health = format!("{url}/health");
    let client = reqwest::Client::builder().no_proxy().build().expect("client");
    let honest = async || {
        let mut times = Vec::new();
        for _ in 0..HONEST {
            let begun = Stopwatch::now();
            assert!(client.get(&health).send().await.expect("an answer").status().is_success());
            times.push(begun.elapsed());
        }
        times.sort();
        times[HONEST * 99 / 100]
    };
    let before = honest().await;
    let mut slow = Vec::new();
    for _ in 0..SLOW {
        // The machine may not allow so many open files; the figure says how many there were.
        let Ok(mut stream) = tokio::net::TcpStream::connect(&address).await else { break };
        stream.write_all(b"GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: ").await.expect("send");
        slow.push(stream);
    }
    let beside = honest().await;
    tokio::time::sleep(Duration::from_secs(15)).await;
    let open = |stream: &&tokio::net::TcpStream| match stream.try_read(&mut [0; 1]) {
        Ok(read) => read > 0,
        Err(error) => error.kind() == std::io::ErrorKind::WouldBlock,
    };
    // A read says what the system knows only after the runtime has looked.
    let mut left = 0;
    for stream in &slow {
        let told = tokio::time::timeout(Duration::from_millis(1), stream.readable()).await;
        left += usize::from(told.is_err() || open(&stream));
    }
    SlowClients { opened: slow.len(), left, before, beside }
}

/// Inserts the products while no server runs; how long that took.
async fn plant(dir: &Path, department: &str, tax_group: &str) -> Duration {
    let db = Db::open_file(&dir.join("tillkeep.db"), Side::Hq).await.expect("database");
    let now = Instant::parse("2026-11-20T10:00:00Z").expect("instant");
    let rows: Vec<_> = (0..PRODUCTS)
        .map(|number| {
            product::Model {
                id: Uuid::now_v7(),
                sku: format!("SKU-{number:06}"),
                sku_folded: format!("sku-{number:06}"),
                barcode: Some(format!("29{number:011}")),
                name: format!("Product number {number}"),
                department_id: department.parse().expect("id"),
                tax_group_id: tax_group.parse().expect("id"),
                product_type: "standard".into(),
                unit_of_measure: "ea".into(),
                price: Money(100 + i64::try_from(number % 5000).expect("small")),
                cost: Money(50),
                allow_discount: true,
                is_returnable: true,
                track_stock: true,
                is_active: true,
                created_at: now,
                updated_at: now,
                ..product::Model::default()
            }
            .into_active_model()
        })
        .collect();
    let begun = Stopwatch::now();
    let mut tx = db.begin().await.expect("begin");
    for chunk in rows.chunks(500) {
        product::Entity::insert_many(chunk.to_vec()).exec_without_returning(&tx).await.expect("insert");
    }
    tx.touch("products");
    tx.commit().await.expect("commit");
    let inserted = begun.elapsed();
    db.close().await.expect("close");
    inserted
}

fn sale(store: &str, products: &[&str], number: usize) -> Value {
    let id = Uuid::now_v7();
    let at = "2026-11-20T15:04:05.123Z";
    let items: Vec<Value> = (0..3)
        .map(|line| {
            json!({
                "id": Uuid::now_v7(), "lineNo": line + 1, "productId": products[(number + line) % products.len()],
                "sku": "SKU", "productName": "Product", "quantity": 1, "unitPrice": 1000, "regularPrice": 1000,
                "listAmount": 1000, "netAmount": 1000, "taxAmount": 89, "totalAmount": 1089,
            })
        })
        .collect();
    json!({
        "store_id": store, "entity_type": "sales", "entity_id": id, "action": "create", "timestamp": at,
        "data": {
            "id": id, "receiptNumber": format!("S01-09-{id}"), "registerCode": "09", "saleType": "sale",
            "status": "completed", "businessDate": "2026-11-20", "netAmount": 3000, "taxAmount": 267,
            "totalAmount": 3267, "createdAt": at, "completedAt": at, "currencyCode": "USD", "cashierName": "Ann",
            "saleItems": items,
            "salePayments": [{"id": Uuid::now_v7(), "lineNo": 1, "tenderCode": "CARD", "tenderKind": "card", "amount": 3267}],
        },
    })
}

/// The highest resident memory of a process so far, in MiB.
fn peak_memory(process: &Process) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id())).expect("status");
    let line = status.lines().find(|line| line.starts_with("VmHWM")).expect("VmHWM");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).expect("KiB") / 1024
}
