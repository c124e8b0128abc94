//! A standby that takes over before it has everything, under headquarters and stores that run on. `docs/sync.md`, rule D8.

use serde_json::{Value, json};

use crate::kit::{TestCluster, TestStore, eventually, id, metric};
use crate::own_postgres::Server;
use crate::private_postgres::OWNER;
use crate::standby::Standby;

/// Edits the price at headquarters, as soon as that can; what it was set to last.
async fn edit(chain: &TestCluster, product: &str, prices: std::ops::Range<i64>) -> i64 {
    let mut last = 0;
    for price in prices {
        eventually("headquarters takes an edit", async || {
            let reply = chain.admin.patch(&format!("/products/{product}"), json!({"price": price})).await;
            reply.status.is_success().then_some(())
        })
        .await;
        last = price;
    }
    last
}

async fn receipts(site: &TestStore, chain: &TestCluster) -> Vec<Value> {
    let path = format!("/sales?storeId={}&pageSize=200&sort=receiptNumber", site.id);
    let sales = chain.admin.get(&path).await.body["data"].clone();
    sales.as_array().map(|sales| sales.iter().map(|sale| sale["receiptNumber"].clone()).collect()).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_promoted_standby_had_not_got_goes_from_the_stores_and_what_they_sent_comes_again() {
    let mut server = Server::new();
    let environment = [("DATABASE_URL", server.url.as_str()), ("TILLKEEP_ACCEPT_UNSAFE_DATABASE", "")];
    let mut chain = TestCluster::with(&environment).await;
    let product = chain.product("A1", 1000).await;
    let site = chain.store().await;
    let till = site.open_till().await;
    site.knows(&till, &product, None).await;
    let mut sold = Vec::new();
    // Fewer edits than were lost, as many, and more: as many leave every number as it was.
    for (round, made_since) in (0_i64..).zip([0, 5, 8]) {
        site.drained(&till).await;
        let standby = Standby::new(&server);
        standby.fall_behind();
        let lost = edit(&chain, &product, 100_000 * (round + 1)..100_000 * (round + 1) + 5).await;
        site.knows(&till, &product, Some(lost)).await;
        let only_there = chain.product(&format!("LOST{round}"), 500).await;
        site.knows(&till, &only_there, None).await;
        // A drawer moves nothing that is pulled.
        let register = json!({"code": format!("1{round}"), "name": "Side", "terminalId": format!("S01-T1{round}")});
        let register = till.post("/registers", register).await.data();
        till.post(&format!("/registers/{}/open", id(&register)), json!({})).await.data();
        for _ in 0..3 {
            sold.push(site.sell(&till, &product, 1).await["receiptNumber"].clone());
        }
        site.drained(&till).await;

        standby.take_over(&mut server);
        edit(&chain, &product, 2000 * (round + 1)..2000 * (round + 1) + made_since).await;
        let kept = eventually("headquarters answers", async || {
            chain.admin.get(&format!("/products/{product}")).await.body["data"]["price"].as_i64()
        });
        let kept = kept.await;
        assert!(kept < 100_000, "the edits were lost");
        site.knows(&till, &product, Some(kept)).await;
        eventually("what headquarters lost is gone", async || {
            (till.get(&format!("/products/{only_there}")).await.status == 404).then_some(())
        })
        .await;
        eventually("what the store had sent is there again", async || {
            (receipts(&site, &chain).await == sold).then_some(())
        })
        .await;
        chain.settled(&[&site], &[]).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_promoted_standby_under_its_own_address_is_found_without_a_restart_where_the_address_names_both() {
    let server = Server::new();
    let standby = Standby::new(&server);
    // The standby first: it is not the order that decides.
    let both = format!("postgres://{OWNER}:hunter2@127.0.0.1:{},127.0.0.1:{}/{OWNER}", standby.port, server.port);
    let (url, read_url) =
        (format!("{both}?target_session_attrs=read-write"), format!("{both}?target_session_attrs=standby"));
    let environment =
        [("DATABASE_URL", url.as_str()), ("DATABASE_READ_URL", &read_url), ("TILLKEEP_ACCEPT_UNSAFE_DATABASE", "")];
    let mut chain = TestCluster::with(&environment).await;
    let product = chain.product("A1", 1000).await;
    let site = chain.store().await;
    let till = site.open_till().await;
    site.knows(&till, &product, None).await;
    site.sell(&till, &product, 1).await;
    site.drained(&till).await;
    let reads = async || metric(&chain.hq.url, "tillkeep_read_replica_up").await;
    eventually("the standby is read from", async || (reads().await == Some(1.0)).then_some(())).await;
    // It has everything: a promotion loses nothing.
    eventually("the replica has the sale", async || (receipts(&site, &chain).await.len() == 1).then_some(())).await;
    server.crash();
    site.sell(&till, &product, 1).await;
    standby.promote();
    site.drained(&till).await;
    eventually("people are answered again", async || {
        chain.admin.get("/departments").await.status.is_success().then_some(())
    })
    .await;
    eventually("both sales are there", async || (chain.sales(&site).await == 2).then_some(())).await;
    assert!(chain.hq.log().contains("another server is the database from now on"), "{}", chain.hq.log());
    assert!(!chain.hq.log().contains("hunter2"));
    // No server reads from the one that was lost, whatever it says when it is back.
    server.start();
    edit(&chain, &product, 2000..2005).await;
    site.knows(&till, &product, Some(2004)).await;
    chain.settled(&[&site], &[]).await;
}
