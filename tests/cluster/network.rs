//! What a line can do to a store, and that it heals by itself: rule P3 of the promises, "whatever the network did, the
//! outbox empties within 35 seconds after it heals".

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::faults::take_the_number;
use crate::kit::{Client, Fault, Shift, TestCluster, TestStore, eventually};

/// An outbox that takes so long does not empty by itself. That it takes 35 seconds at the most is shown in virtual time, by
/// `tests/sim`: here the machine decides, and the figure is printed.
const BROKEN: Duration = Duration::from_mins(3);

async fn empty(site: &TestStore, client: &Client) -> Duration {
    let begun = Instant::now();
    while client.get("/sync/status").await.data()["outbox"]["pending"] != 0 {
        assert!(begun.elapsed() < BROKEN, "the outbox of {} does not empty", site.id);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    begun.elapsed()
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_the_line_does_everything_arrives_once_and_nothing_is_counted() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1000).await;
    let site = chain.store().await;
    let mut shift = Shift::begin(&site, &product).await;
    let faults = [
        Fault::CutRequest(100),
        Fault::CutRequest(1500),
        Fault::CutAnswer(1),
        Fault::CutAnswer(200),
        Fault::Duplicate,
        Fault::Reset,
        Fault::Portal,
        Fault::Flapping(Duration::from_millis(150)),
        Fault::Throttle(8000),
        Fault::Delay(Duration::from_millis(300)),
        Fault::Down,
        Fault::LoseAnswers,
    ];
    for (round, fault) in (1..).zip(faults) {
        let before = site.proxy.hits();
        site.proxy.set(fault);
        for _ in 0..5 {
            assert!(shift.sell(&product, 1).await, "a till needs no line");
        }
        chain.admin.patch(&format!("/products/{product}"), json!({"price": 1000 + round})).await.data();
        if !matches!(fault, Fault::Throttle(_) | Fault::Delay(_)) {
            eventually("the fault strikes", async || (site.proxy.hits() > before + 1).then_some(())).await;
        }
        let failed = site.outbox(shift.client(), "failed").await;
        assert_eq!(failed, Vec::<Value>::new(), "{fault:?} is counted against an entry");
        site.proxy.set(Fault::None);
        let took = empty(&site, shift.client()).await;
        eprintln!("{fault:?}: the outbox was empty after {took:?}");
        site.knows(shift.client(), &product, Some(1000 + round)).await;
    }
    chain.settled(&[&site], &shift.sold).await;
    assert_eq!(chain.sales(&site).await, 60);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_answers_every_push_itself_makes_no_dead_letter_and_all_of_it_arrives_once() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1000).await;
    let site = chain.store().await;
    let mut shift = Shift::begin(&site, &product).await;
    for status in [413, 422, 500] {
        site.drained(shift.client()).await;
        site.proxy.set(Fault::Gateway(status));
        let before = site.proxy.hits();
        for _ in 0..3 {
            assert!(shift.sell(&product, 1).await, "a till needs no line");
        }
        // More than ten tries of each of the three, which would be the end of them if one counted.
        eventually("the gateway answers", async || (site.proxy.hits() > before + 40).then_some(())).await;
        for kind in ["failed", "dead"] {
            assert_eq!(site.outbox(shift.client(), kind).await, Vec::<Value>::new(), "{status} is counted");
        }
        site.proxy.set(Fault::None);
        let took = empty(&site, shift.client()).await;
        eprintln!("a gateway that says {status}: the outbox was empty after {took:?}");
    }
    chain.settled(&[&site], &shift.sold).await;
    assert_eq!(chain.sales(&site).await, 9);
}

#[tokio::test(flavor = "multi_thread")]
async fn behind_a_gateway_that_drops_headers_it_does_not_know_everything_leaves_and_refusals_count() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1000).await;
    let site = chain.store().await;
    let mut shift = Shift::begin(&site, &product).await;
    site.drained(shift.client()).await;
    site.proxy.set(Fault::Down);
    take_the_number(&chain, &site, "S01-000001").await;
    shift.client().post("/customers", json!({"lastName": "Second"})).await.data();
    for _ in 0..260 {
        assert!(shift.sell(&product, 1).await, "a till needs no line");
    }
    let before = site.proxy.hits();
    site.proxy.set(Fault::DropsHeaders);
    let dead =
        eventually("the tenth refusal", async || site.outbox(shift.client(), "dead").await.first().cloned()).await;
    assert_eq!((&dead["attempts"], &dead["entityType"]), (&json!(10), &json!("customers")));
    assert!(site.proxy.hits() > before + 20, "questions and answers are without their headers");
    let took = empty(&site, shift.client()).await;
    eprintln!("without headers: the outbox was empty after {took:?}");
    assert_eq!(chain.sales(&site).await, 260);
    let errors = chain.admin.get(&format!("/sync/errors?storeId={}", site.id)).await.data();
    assert_eq!((errors.as_array().map(Vec::len), &errors[0]["retryCount"]), (Some(1), &json!(10)));
    let entry = errors[0]["id"].as_str().expect("id");
    chain.admin.post(&format!("/sync/resolve/{entry}"), json!({})).await.data();
    eventually("the store learns of it", async || site.outbox(shift.client(), "dead").await.is_empty().then_some(()))
        .await;
    chain.settled(&[&site], &shift.sold).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_is_dead_without_saying_so_holds_the_outbox_for_no_more_than_promised() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1000).await;
    let site = chain.store().await;
    let mut shift = Shift::begin(&site, &product).await;
    site.drained(shift.client()).await;
    let before = site.proxy.hits();
    site.proxy.set(Fault::HalfOpen);
    assert!(shift.sell(&product, 1).await);
    // The socket, a cycle and a batch hang by now, and what hangs stays so when the line is good again.
    eventually("requests are swallowed", async || (site.proxy.hits() > before + 2).then_some(())).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    site.proxy.set(Fault::None);
    let took = empty(&site, shift.client()).await;
    eprintln!("half-open: the outbox was empty after {took:?}");
    assert!(site.outbox(shift.client(), "failed").await.is_empty());
    chain.settled(&[&site], &shift.sold).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backlog_gets_through_a_line_that_is_slow_for_ever() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1000).await;
    let site = chain.store().await;
    let mut shift = Shift::begin(&site, &product).await;
    site.drained(shift.client()).await;
    site.proxy.set(Fault::Down);
    for _ in 0..120 {
        assert!(shift.sell(&product, 1).await, "a till needs no line");
    }
    // As plain JSON in one batch, it would be under way for a minute and a half: no request is waited for as long.
    site.proxy.set(Fault::Throttle(4000));
    let took = empty(&site, shift.client()).await;
    eprintln!("32 kbit/s: the outbox was empty after {took:?}");
    assert!(site.outbox(shift.client(), "failed").await.is_empty());
    site.proxy.set(Fault::None);
    chain.settled(&[&site], &shift.sold).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_on_a_full_disk_refuses_sales_and_sells_again_when_there_is_room() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1000).await;
    let site = chain.store().await;
    let mut shift = Shift::begin(&site, &product).await;
    for _ in 0..5 {
        assert!(shift.sell(&product, 1).await);
    }
    site.process.limit_files(Some(8192));
    for _ in 0..3 {
        assert!(!shift.sell(&product, 1).await, "there is no room for a sale");
    }
    assert_eq!(shift.wrong, Vec::<String>::new(), "refused with 503, which says to come again");
    // What reads goes on.
    assert!(shift.client().get("/pos/lookup/A1").await.status.is_success());
    site.process.limit_files(None);
    eventually("there is room", async || shift.sell(&product, 1).await.then_some(())).await;
    chain.settled(&[&site], &shift.sold).await;
    assert_eq!(shift.sold.last().expect("sales").receipt, "S01-01-000006", "what was refused took no number");
    assert_eq!(chain.sales(&site).await, 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_set_by_a_day_loses_no_update() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1000).await;
    let mut site = chain.store().await;
    let mut shift = Shift::begin(&site, &product).await;
    assert!(shift.sell(&product, 1).await);
    let day = 24 * 3600 * 1000;
    for offset in [day, -day, 0] {
        site.process.stop();
        site.process.set_environment("CLOCK_OFFSET_MS", &offset.to_string());
        site.process.restart();
        // A drawer opened by one clock is closed by the other: the close must not be older than the opening.
        eventually("the till sells", async || shift.sell(&product, 1).await.then_some(())).await;
        shift.drawer(true).await;
        eventually("the till sells", async || shift.sell(&product, 1).await.then_some(())).await;
    }
    chain.settled(&[&site], &shift.sold).await;
    assert_eq!(shift.wrong, Vec::<String>::new());
}
