//! A store with a server that is frozen, replaced meanwhile from a copy, and thaws. `docs/sync.md`, rule D8.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::kit::{ADMIN, Client, Fault, Process, eventually};
use crate::restored::{Shop, copy_files};

/// A replacement that is at work, and a cashier at its till.
struct Replacement {
    process: Process,
    till: Client,
}

impl Replacement {
    /// Prepared from what the store has on its disk now.
    fn copy(shop: &Shop) -> Process {
        let dir = shop.site.process.dir.with_extension("replacement");
        let own = [
            ("SYNC_TOKEN", shop.site.sync_token.as_str()),
            ("HQ_URL", &shop.chain.hq.url),
            ("SYNC_INTERVAL_MS", "200"),
        ];
        let process = Process::prepared("store", &dir, &own);
        copy_files(&shop.site.process.dir, &process.dir);
        process
    }

    async fn start(mut process: Process) -> Self {
        process.start_prepared();
        let client = Client::new(&process.url);
        let till =
            eventually("the replacement knows its people", async || client.sign_in(ADMIN.0, ADMIN.1).await).await;
        eventually("the replacement has a line", async || {
            till.get("/sync/status").await.data()["line"]["lastCycleAt"].is_string().then_some(())
        })
        .await;
        Self { process, till }
    }
}

/// That the cashier at this till sees that another copy goes on.
async fn is_stopped(till: &Client, log: impl Fn() -> String, why: &str) {
    eventually("the copy that stops says so", async || {
        let line = till.get("/sync/status").await.data()["line"].clone();
        let says_why = line["lastError"].as_str().is_some_and(|error| error.contains(why));
        (line["runsElsewhere"] == true && says_why).then_some(())
    })
    .await;
    let said = till.post("/customers", json!({"lastName": "Refused", "allowDuplicate": true})).await;
    assert_eq!(said.refused(409), "store_runs_elsewhere");
    assert!(log().contains(why), "its log says why");
}

async fn goes_on(till: &Client) {
    let customer = json!({"lastName": "Taken", "allowDuplicate": true});
    assert!(till.post("/customers", customer).await.status.is_success());
    assert_eq!(till.get("/sync/status").await.data()["line"]["runsElsewhere"], false);
}

/// Headquarters has so many sales, and says that the store runs twice.
async fn headquarters_has(shop: &Shop, sales: u64) {
    eventually("nothing that was sold is lost", async || (shop.chain.sales(&shop.site).await == sales).then_some(()))
        .await;
    let shown: Value = shop.chain.admin.get("/sync/dashboard").await.data();
    assert_eq!(shown["summary"]["runningTwice"], 1);
}

/// What the two made apart is the fault of the copying alone.
fn broken(mut shop: Shop) {
    shop.site.broken_on_purpose = true;
    shop.chain.broken_on_purpose = true;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_thaws_stops_when_its_replacement_has_sold_and_what_it_had_sold_arrives() {
    let mut shop = Shop::open().await;
    shop.sell(2).await;
    shop.sent().await;
    shop.site.process.freeze();
    let replacement = Replacement::copy(&shop);
    shop.site.process.thaw();
    // It sells one more that headquarters does not hear of, and falls silent.
    shop.site.proxy.set(Fault::Down);
    shop.sell(1).await;
    shop.site.process.freeze();
    let replacement = Replacement::start(replacement).await;
    for _ in 0..3 {
        shop.site.sell(&replacement.till, &shop.product, 1).await;
    }
    shop.site.drained(&replacement.till).await;

    shop.site.proxy.set(Fault::None);
    shop.site.process.thaw();
    is_stopped(&shop.till, || shop.site.process.log(), "it has newer documents than this one").await;
    goes_on(&replacement.till).await;
    shop.site.sell(&replacement.till, &shop.product, 1).await;
    headquarters_has(&shop, 7).await;
    let log = shop.chain.hq.log();
    assert!(log.contains("two copies of this store run at once"), "{log}");
    // Both gave the number of the third receipt: that is flagged.
    let flagged = shop.chain.admin.get("/sync/dashboard").await.data()["stores"][0]["warnings"].as_i64();
    assert!(flagged.is_some_and(|warnings| warnings > 0), "{flagged:?}");
    // It stays refused when it starts again.
    shop.site.process.kill();
    shop.site.process.restart();
    let said = shop.till.post("/customers", json!({"lastName": "Refused", "allowDuplicate": true})).await;
    assert_eq!(said.refused(409), "store_runs_elsewhere");
    drop(replacement.process);
    broken(shop);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_thaws_stops_when_it_sold_nothing_and_its_replacement_was_heard_meanwhile() {
    let mut shop = Shop::open().await;
    shop.sell(1).await;
    shop.sent().await;
    shop.site.process.freeze();
    let replacement = Replacement::start(Replacement::copy(&shop)).await;
    // The store counts as silent from when its replacement is heard.
    let began = Instant::now();
    eventually("the store was silent for long", async || (began.elapsed() > Duration::from_secs(12)).then_some(()))
        .await;
    shop.site.process.thaw();
    is_stopped(&shop.till, || shop.site.process.log(), "headquarters heard it while this one was silent").await;
    goes_on(&replacement.till).await;
    shop.site.sell(&replacement.till, &shop.product, 1).await;
    headquarters_has(&shop, 2).await;
    drop(replacement.process);
    broken(shop);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_thaws_goes_on_when_it_had_sold_more_than_its_replacement_has() {
    let mut shop = Shop::open().await;
    shop.sell(1).await;
    shop.sent().await;
    shop.site.process.freeze();
    let replacement = Replacement::copy(&shop);
    shop.site.process.thaw();
    shop.site.proxy.set(Fault::Down);
    shop.sell(3).await;
    shop.site.process.freeze();
    let replacement = Replacement::start(replacement).await;
    let began = Instant::now();
    shop.site.sell(&replacement.till, &shop.product, 1).await;
    eventually("the store was silent for long", async || (began.elapsed() > Duration::from_secs(12)).then_some(()))
        .await;
    shop.site.proxy.set(Fault::None);
    shop.site.process.thaw();
    is_stopped(&replacement.till, || replacement.process.log(), "headquarters heard it before this one").await;
    goes_on(&shop.till).await;
    shop.sell(1).await;
    headquarters_has(&shop, 6).await;
    drop(replacement.process);
    broken(shop);
}
