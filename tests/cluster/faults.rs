//! What the network and bad data do, and what they must not do.

use serde_json::{Value, json};
use tillkeep_storage::Side;
use uuid::Uuid;

use crate::kit::{ADMIN, Client, Fault, TestCluster, database, eventually};

#[tokio::test(flavor = "multi_thread")]
async fn a_store_sells_while_headquarters_is_away_and_all_of_it_arrives_once() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1000).await;
    let site = chain.store().await;
    let till = site.open_till().await;
    site.knows(&till, &product, None).await;

    chain.hq.stop();
    let mut receipts = Vec::new();
    for _ in 0..50 {
        receipts.push(site.sell(&till, &product, 1).await["receiptNumber"].as_str().expect("receipt").to_owned());
    }
    let numbers: Vec<_> = (1..=50).map(|number| format!("S01-01-{number:06}")).collect();
    assert_eq!(receipts, numbers, "no gap");
    // People sign in without a line, too.
    site.admin().await;
    let waiting = site.outbox(&till, "pending").await;
    assert!(waiting.len() >= 50);
    assert!(waiting.iter().all(|entry| entry["attempts"] == 0), "an outage is no verdict");

    chain.hq.restart();
    site.drained(&till).await;
    assert_eq!(chain.sales(&site).await, 50);
    let level = chain.level(&site, &product).await.expect("level");
    assert_eq!(level["quantity"], -50);
    assert!(site.outbox(&till, "failed").await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_lost_after_the_commit_does_not_double_a_sale() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1000).await;
    let site = chain.store().await;
    let till = site.open_till().await;
    site.knows(&till, &product, None).await;
    site.drained(&till).await;

    site.proxy.set(Fault::LoseAnswers);
    for _ in 0..5 {
        site.sell(&till, &product, 1).await;
    }
    eventually("HQ has the sales and their answers were lost", async || {
        (chain.sales(&site).await == 5 && site.proxy.lost_answers() > 0).then_some(())
    })
    .await;
    assert!(site.outbox(&till, "pending").await.len() >= 5, "the store has no answer, so it keeps them");

    site.proxy.set(Fault::None);
    site.drained(&till).await;
    assert_eq!(chain.sales(&site).await, 5);
    assert_eq!(chain.level(&site, &product).await.expect("level")["quantity"], -5);
    assert_eq!(site.quantity(&till, &product).await, -5);
}

/// Makes HQ refuse the next customer of the store: its number is taken.
pub async fn take_the_number(chain: &TestCluster, site: &crate::kit::TestStore, number: &str) {
    let id = Uuid::now_v7();
    let envelope = json!({
        "store_id": site.id, "entity_type": "customers", "entity_id": id, "action": "create",
        "timestamp": "2026-11-20T10:00:00.000Z",
        "data": {"id": id, "customerNumber": number, "lastName": "First"},
    });
    let reply = chain.machine(site).post("/sync/push", json!({"envelopes": [envelope]})).await;
    assert_eq!(reply.body["results"][0]["status"], "ok", "{}", reply.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_entry_becomes_a_dead_letter_after_ten_refusals_while_others_pass() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1000).await;
    let site = chain.store().await;
    let till = site.open_till().await;
    site.knows(&till, &product, None).await;
    // Pulling the customer that has the number would make the store's own number clash before HQ can: no pull now.
    take_the_number(&chain, &site, "S01-000001").await;
    let customer = till.post("/customers", json!({"lastName": "Second"})).await.data();
    assert_eq!(customer["customerNumber"], "S01-000001");

    let failed = eventually("HQ refused it", async || site.outbox(&till, "failed").await.first().cloned()).await;
    assert_eq!(failed["entityId"], customer["id"]);
    assert!(failed["lastError"].as_str().expect("error").contains("same key"), "{failed}");
    site.sell(&till, &product, 1).await;
    eventually("the sale passes all the same", async || (chain.sales(&site).await == 1).then_some(())).await;

    let dead = eventually("the tenth refusal", async || site.outbox(&till, "dead").await.first().cloned()).await;
    assert_eq!(dead["attempts"], 10);
    let marker = format!("SYNC DEAD LETTER customers {} after 10 failures", customer["id"].as_str().expect("id"));
    let log = site.process.log();
    assert!(log.contains(&marker), "{marker} is not in the log");
    // It stays where it is, and is not tried again.
    site.sell(&till, &product, 1).await;
    eventually("the next sale passes", async || (chain.sales(&site).await == 2).then_some(())).await;
    assert_eq!(site.outbox(&till, "dead").await[0]["attempts"], 10);

    // HQ shows one failed entry, with its payload; it can be retried, resolved, and the store learns of it.
    let errors = chain.admin.get(&format!("/sync/errors?storeId={}", site.id)).await.data();
    assert_eq!(errors.as_array().expect("list").len(), 1);
    assert_eq!(errors[0]["envelope"]["data"]["lastName"], "Second");
    assert_eq!((&errors[0]["storeCode"], &errors[0]["status"]), (&json!("S01"), &json!("failed")));
    let entry = errors[0]["id"].as_str().expect("id");
    let retried = chain.admin.post(&format!("/sync/retry/{entry}"), json!({})).await.data();
    assert_eq!(retried["status"], "failed");
    let resolved = chain.admin.post(&format!("/sync/resolve/{entry}"), json!({"note": "typed twice"})).await.data();
    assert_eq!(resolved["status"], "resolved");
    assert_eq!(chain.admin.post(&format!("/sync/resolve/{entry}"), json!({})).await.refused(409), "not_failed");
    eventually("the store takes it out of its outbox", async || {
        site.outbox(&till, "dead").await.is_empty().then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_that_works_is_marked_and_takes_the_dead_letter_out() {
    let mut chain = TestCluster::new().await;
    let site = chain.store().await;
    let till = site.open_till().await;
    take_the_number(&chain, &site, "S01-000001").await;
    let customer = till.post("/customers", json!({"lastName": "Second"})).await.data();
    eventually("a dead letter", async || site.outbox(&till, "dead").await.first().cloned()).await;

    // The customer that has the number goes away, so the number is free.
    let customers = chain.admin.get("/customers?search=First").await.data();
    chain.admin.delete(&format!("/customers/{}", customers[0]["id"].as_str().expect("id"))).await;
    let all = chain.admin.post("/sync/retry-all", json!({"storeId": site.id})).await.data();
    assert_eq!(all, json!({"attempted": 1, "retried": 1, "failed": 0, "next": null}));
    let found = chain.admin.get(&format!("/customers/{}", customer["id"].as_str().expect("id"))).await.data();
    assert_eq!(found["lastName"], "Second");
    let retried = chain.admin.get("/sync/errors?status=retried").await.data();
    assert_eq!(retried.as_array().map(Vec::len), Some(1));
    eventually("the store has nothing dead any more", async || {
        site.outbox(&till, "dead").await.is_empty().then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn kills_in_between_lose_and_double_nothing() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1000).await;
    let mut site = chain.store().await;
    let mut till = site.open_till().await;
    site.knows(&till, &product, None).await;
    let mut sold: Vec<Value> = Vec::new();
    for round in 0..4 {
        for _ in 0..5 {
            sold.push(site.sell(&till, &product, 1).await);
        }
        if round % 2 == 0 {
            chain.hq.kill();
            chain.hq.restart();
        } else {
            site.process.kill();
            site.process.restart();
            till = site.admin().await;
        }
    }
    chain.admin = crate::kit::Client::new(&chain.hq.url)
        .sign_in(crate::kit::ADMIN.0, crate::kit::ADMIN.1)
        .await
        .expect("sign in");
    site.drained(&till).await;
    site.process.stop();
    chain.hq.stop();
    for name in ["sales", "sale_items", "sale_payments", "register_sessions"] {
        let (at_store, mut at_hq) = (site.rows(name).await, chain.rows(name).await);
        for row in at_hq.values_mut().filter_map(Value::as_object_mut) {
            // When HQ received it is HQ's alone.
            if row.remove("receivedAt").is_some() {
                row.insert("receivedAt".to_owned(), Value::Null);
            }
        }
        assert_eq!(at_store.len(), if name == "register_sessions" { 1 } else { 20 });
        assert_eq!(at_store, at_hq, "{name}");
    }
}

/// Makes the database of headquarters fail on the sale with this receipt, otherwise than for its data; or mends it.
async fn fail_on(chain: &mut TestCluster, receipt: Option<&str>) {
    chain.hq.stop();
    let url = chain.hq.database_url();
    let postgres = url.starts_with("postgres");
    let statements: Vec<String> = match (postgres, receipt) {
        (true, Some(receipt)) => vec![
            format!(
                "CREATE FUNCTION broken_page() RETURNS trigger AS $$ BEGIN IF NEW.receipt_number = '{receipt}' THEN \
                 RAISE EXCEPTION 'could not read block 7' USING ERRCODE = '58030'; END IF; RETURN NEW; END $$ LANGUAGE plpgsql"
            ),
            "CREATE TRIGGER broken_page BEFORE INSERT ON sales FOR EACH ROW EXECUTE FUNCTION broken_page()".to_owned(),
        ],
        (true, None) => vec!["DROP TRIGGER broken_page ON sales".to_owned()],
        // What a trigger of SQLite raises is a constraint; a sum that overflows is none.
        (false, Some(receipt)) => vec![format!(
            "CREATE TRIGGER broken_page BEFORE INSERT ON sales WHEN NEW.receipt_number = '{receipt}' \
             BEGIN SELECT abs(-9223372036854775807 - 1); END"
        )],
        (false, None) => vec!["DROP TRIGGER broken_page".to_owned()],
    };
    for statement in statements {
        database::execute(&url, Side::Hq, &statement).await;
    }
    chain.hq.restart();
    chain.admin = Client::new(&chain.hq.url).sign_in(ADMIN.0, ADMIN.1).await.expect("sign in");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_that_the_database_of_headquarters_fails_on_holds_up_no_other_and_arrives_once_it_does_not() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1000).await;
    let site = chain.store().await;
    let till = site.open_till().await;
    site.knows(&till, &product, None).await;
    site.drained(&till).await;
    fail_on(&mut chain, Some("S01-01-000003")).await;
    for _ in 0..7 {
        site.sell(&till, &product, 1).await;
    }
    eventually("the six others arrive", async || (chain.sales(&site).await == 6).then_some(())).await;
    let waits = eventually("it waits alone", async || {
        let waiting = site.outbox(&till, "pending").await;
        waiting.first().filter(|entry| waiting.len() == 1 && entry["waitsAloneSince"].is_string()).cloned()
    })
    .await;
    assert_eq!((&waits["attempts"], &waits["data"]["receiptNumber"]), (&json!(0), &json!("S01-01-000003")));
    let words = waits["lastError"].as_str().expect("why");
    assert!(words.contains("send it again") && !words.contains("block"), "{words}");
    // Headquarters shows no failure of the entry, which has none.
    assert_eq!(chain.admin.get("/sync/errors").await.data(), json!([]));
    site.sell(&till, &product, 1).await;
    eventually("the next one arrives at once", async || (chain.sales(&site).await == 7).then_some(())).await;
    fail_on(&mut chain, None).await;
    site.drained(&till).await;
    assert_eq!(chain.sales(&site).await, 8);
    assert_eq!(chain.level(&site, &product).await.expect("level")["quantity"], -8);
}

#[tokio::test(flavor = "multi_thread")]
async fn entries_that_are_dead_though_headquarters_never_refused_them_go_again_by_themselves() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1000).await;
    let mut site = chain.store().await;
    let till = site.open_till().await;
    site.knows(&till, &product, None).await;
    site.drained(&till).await;
    site.proxy.set(Fault::Down);
    for _ in 0..3 {
        site.sell(&till, &product, 1).await;
    }
    // As an earlier release left them behind a gateway that takes nothing so large.
    site.process.stop();
    site.execute(
        "UPDATE sync_outbox SET attempts = 10, last_error = 'headquarters answered 413: ', \
         last_attempt_at = timestamp, dead_lettered_at = timestamp",
    )
    .await;
    site.proxy.set(Fault::None);
    site.process.restart();
    let till = site.admin().await;
    // None is pending until the first handshake says that they were never refused.
    eventually("they arrive", async || (chain.sales(&site).await == 3).then_some(())).await;
    site.drained(&till).await;
    assert_eq!(chain.sales(&site).await, 3);
    assert!(site.outbox(&till, "dead").await.is_empty());
}
