//! Two processes of one store. `docs/sync.md`, rule D8.

use std::fs;

use serde_json::{Value, json};

use crate::kit::{ADMIN, Client, Process, eventually};
use crate::restored::{Shop, copy_files, done, new_admin, refused, tillkeep};

/// What headquarters shows of the store.
async fn shown(shop: &Shop) -> Value {
    shop.chain.admin.get("/sync/dashboard").await.data()
}

async fn metric(shop: &Shop) -> String {
    let text = reqwest::get(format!("{}/metrics", shop.chain.hq.url)).await.expect("an answer").text().await;
    let text = text.expect("metrics");
    let line = text.lines().find_map(|line| line.strip_prefix("tillkeep_stores_running_twice "));
    line.expect("the metric").to_owned()
}

/// A copy of the store's directory, at work beside it.
fn twin(shop: &Shop) -> Process {
    let dir = shop.site.process.dir.with_extension("twin");
    Process::prepared(
        "store",
        &dir,
        &[("SYNC_TOKEN", &shop.site.sync_token), ("HQ_URL", &shop.chain.hq.url), ("SYNC_INTERVAL_MS", "200")],
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn two_copies_of_one_store_are_noticed_while_idle_and_the_one_heard_later_sells_nothing() {
    let mut shop = Shop::open().await;
    shop.sell(1).await;
    shop.sent().await;
    shop.site.process.stop();
    let mut twin = twin(&shop);
    copy_files(&shop.site.process.dir, &twin.dir);
    shop.site.process.restart();
    shop.till = shop.site.admin().await;
    shop.sent().await;
    assert_eq!(metric(&shop).await, "0");
    twin.start_prepared();

    // No till sells and nothing changes.
    let since = eventually("headquarters shows it", async || {
        let state = shown(&shop).await["stores"][0]["runsTwiceSince"].clone();
        state.is_string().then_some(state)
    })
    .await;
    assert_eq!(shown(&shop).await["summary"]["runningTwice"], 1);
    assert_eq!(metric(&shop).await, "1");
    let at_twin = Client::new(&twin.url).sign_in(ADMIN.0, ADMIN.1).await.expect("the copy knows its people");
    eventually("the copy knows", async || {
        (at_twin.get("/sync/status").await.data()["line"]["runsElsewhere"] == true).then_some(())
    })
    .await;
    let customer = json!({"lastName": "Refused", "allowDuplicate": true});
    let said = at_twin.post("/customers", customer.clone()).await;
    assert!(said.body["error"].as_str().expect("a sentence").contains("take-over"), "{}", said.body);
    assert_eq!(said.refused(409), "store_runs_elsewhere");
    shop.sell(1).await;
    shop.sent().await;
    assert_eq!(shop.chain.sales(&shop.site).await, 2);

    // It stays refused over its restart, and headquarters'.
    twin.kill();
    twin.restart();
    assert_eq!(at_twin.post("/customers", customer.clone()).await.refused(409), "store_runs_elsewhere");
    shop.chain.hq.kill();
    shop.chain.hq.restart();
    new_admin(&mut shop.chain).await;
    eventually("headquarters shows it as it did", async || {
        (shown(&shop).await["stores"][0]["runsTwiceSince"] == since).then_some(())
    })
    .await;

    // A user decides for the copy.
    let said = refused(&tillkeep(&["store", "take-over"], &shop.site.process.dir));
    assert!(said.contains("does not refuse this copy"), "{said}");
    done(&tillkeep(&["store", "take-over"], &twin.dir));
    eventually("the copy is the store", async || {
        at_twin.post("/customers", customer.clone()).await.status.is_success().then_some(())
    })
    .await;
    eventually("the other one is refused", async || {
        let said = shop.till.post("/customers", json!({"lastName": "Other"})).await;
        (said.status == 409).then_some(())
    })
    .await;
    assert_eq!(shown(&shop).await["summary"]["runningTwice"], 1);
    // What the two had made apart is the fault of the copying alone.
    shop.site.broken_on_purpose = true;
    shop.chain.broken_on_purpose = true;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_is_new_or_starts_again_and_again_is_neither_two_nor_restored() {
    let mut shop = Shop::open().await;
    for round in 0..20 {
        if round % 2 == 0 {
            shop.site.process.kill();
        } else {
            shop.site.process.stop();
        }
        shop.site.process.restart();
    }
    shop.till = shop.site.admin().await;
    shop.sell(1).await;
    shop.sent().await;
    assert_eq!(shown(&shop).await["summary"]["runningTwice"], 0);
    assert_eq!(metric(&shop).await, "0");
    let log = fs::read_to_string(shop.chain.hq.dir.join("server.log")).expect("the log");
    for line in ["was reinstalled, restored from a backup or cloned", "two copies of this store"] {
        assert!(!log.contains(line), "{line} in {log}");
    }
}
