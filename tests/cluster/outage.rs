//! `PostgreSQL` goes away under load and comes back.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};

use serde_json::Value;

use crate::kit::{ADMIN, Client, Rows, TestCluster, TestStore, eventually};
use crate::own_postgres::Server;

/// Sells until it is to stop; the ids of the sales.
async fn sell(site: &TestStore, till: &Client, product: &str, stop: &AtomicBool) -> BTreeSet<String> {
    let mut sold = BTreeSet::new();
    while !stop.load(Ordering::SeqCst) {
        sold.insert(site.sell(till, product, 1).await["id"].to_string());
    }
    sold
}

/// Asks HQ as a person until it is to stop; every status it got.
async fn ask(client: Client, last: Arc<AtomicU16>, stop: Arc<AtomicBool>) -> BTreeSet<u16> {
    let mut got = BTreeSet::new();
    while !stop.load(Ordering::SeqCst) {
        let status = client.get("/departments").await.status.as_u16();
        got.insert(status);
        last.store(status, Ordering::SeqCst);
    }
    got
}

fn ids(rows: Rows) -> BTreeSet<String> {
    rows.into_keys().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_crashes_under_load_and_comes_back_loses_and_doubles_nothing() {
    let server = Server::new();
    // A durable one, so that nothing needs to be accepted.
    let environment = [("DATABASE_URL", server.url.as_str()), ("TILLKEEP_ACCEPT_UNSAFE_DATABASE", "")];
    let mut chain = TestCluster::with(&environment).await;
    let product = chain.product("A1", 1000).await;
    let (mut one, mut other) = (chain.store().await, chain.store().await);
    let (at_one, at_other) = (one.open_till().await, other.open_till().await);
    one.knows(&at_one, &product, None).await;
    other.knows(&at_other, &product, None).await;

    let (stop, last) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU16::new(0)));
    let asking = tokio::spawn(ask(chain.admin.clone(), last.clone(), stop.clone()));
    let is = |status| last.load(Ordering::SeqCst) == status;
    let crashes = async {
        for _ in 0..2 {
            let before = chain.sales(&one).await;
            eventually("pushes are on their way", async || (chain.sales(&one).await > before).then_some(())).await;
            server.crash();
            eventually("HQ says so", async || is(503).then_some(())).await;
            server.start();
            eventually("HQ is back by itself", async || is(200).then_some(())).await;
        }
        stop.store(true, Ordering::SeqCst);
    };
    let (sold, sold_other, ()) =
        tokio::join!(sell(&one, &at_one, &product, &stop), sell(&other, &at_other, &product, &stop), crashes);
    assert_eq!(asking.await.expect("answers"), [200, 503].into(), "nothing else was answered");
    Client::new(&chain.hq.url).sign_in(ADMIN.0, ADMIN.1).await.expect("people sign in again");

    for (site, till, sold) in [(&one, &at_one, &sold), (&other, &at_other, &sold_other)] {
        site.drained(till).await;
        for status in ["failed", "dead"] {
            assert!(site.outbox(till, status).await.is_empty(), "an outage is no verdict");
        }
        let level = chain.level(site, &product).await.expect("level");
        assert_eq!(level["quantity"], Value::from(-i64::try_from(sold.len()).expect("a count")));
    }
    assert!(chain.admin.get("/sync/errors").await.data().as_array().is_some_and(Vec::is_empty));

    one.process.stop();
    other.process.stop();
    chain.hq.stop();
    let log = chain.hq.log();
    assert!(!["500", "502", "504"].iter().any(|status| log.contains(&format!("\"status\":{status}"))), "503 alone");
    let made: BTreeSet<_> = sold.union(&sold_other).cloned().collect();
    let at_hq: BTreeSet<_> = ids(chain.rows("sales").await);
    assert_eq!(at_hq.len(), made.len());
    for name in ["sales", "sale_items", "sale_payments", "register_sessions"] {
        let stores: BTreeSet<_> = ids(one.rows(name).await).union(&ids(other.rows(name).await)).cloned().collect();
        assert_eq!(ids(chain.rows(name).await), stores, "{name}");
    }
}
