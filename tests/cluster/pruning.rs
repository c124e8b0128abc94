//! What left the log of entries at headquarters is still known there, and one server of several does such work.
//! `docs/sync.md`, rule U13.

use serde_json::json;
use tillkeep_model::Instant;
use tillkeep_storage::{Db, raw};

use crate::kit::{ADMIN, Client, TestCluster, TestStore, eventually, id, metric};

/// A hundred days.
const LATER_MS: i64 = 100 * 24 * 3600 * 1000;

/// The one number that `sql` finds in the database of headquarters.
async fn number(chain: &TestCluster, sql: &str) -> i64 {
    let conn = Db::open_to_read(&chain.hq.database()).await.expect("the database");
    let rows = raw::query(&conn, &format!("SELECT CAST(({sql}) AS BIGINT) AS n"), []).await.expect("a number");
    let number = rows[0].try_get("", "n").expect("a number");
    conn.close().await.expect("closed");
    number
}

/// When the store shook hands last.
async fn handshake_at(chain: &TestCluster) -> Option<Instant> {
    let conn = Db::open_to_read(&chain.hq.database()).await.expect("the database");
    let rows = raw::query(&conn, "SELECT handshake_at FROM store_nodes", []).await.expect("the store");
    let at = rows[0].try_get("", "handshake_at").expect("a moment");
    conn.close().await.expect("closed");
    at
}

/// The store starts again, and headquarters knows what it has sent.
async fn shakes_hands(chain: &TestCluster, site: &mut TestStore) {
    let before = handshake_at(chain).await;
    site.process.stop();
    site.process.restart();
    eventually("the store shakes hands", async || (handshake_at(chain).await > before).then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_sends_nothing_again_when_headquarters_has_pruned_what_it_sent() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1000).await;
    let mut site = chain.store().await;
    let till = site.open_till().await;
    site.knows(&till, &product, None).await;
    for _ in 0..11 {
        site.sell(&till, &product, 1).await;
    }
    let sale = site.sell(&till, &product, 1).await;
    // No till sells into a drawer of a hundred days.
    let session = sale["registerSessionId"].as_str().expect("a session");
    let counted = till.nothing_counted().await;
    till.post(&format!("/register-sessions/{session}/close"), counted).await.data();
    site.drained(&till).await;
    let sent = number(&chain, "SELECT COUNT(*) FROM sync_log").await;
    assert!(sent > 12, "sales and their drawer");
    site.process.stop();
    chain.hq.stop();
    for process in [&mut chain.hq, &mut site.process] {
        process.set_environment("CLOCK_OFFSET_MS", &LATER_MS.to_string());
        process.restart();
    }
    eventually("headquarters has pruned its log", async || {
        let pruned = metric(&chain.hq.url, "tillkeep_sync_log_pruned_total").await;
        pruned.is_some_and(|pruned| pruned >= f64::from(i32::try_from(sent).expect("a number"))).then_some(())
    })
    .await;
    eventually("it says so", async || {
        chain.hq.log().contains("successes of long ago left the log of entries").then_some(())
    })
    .await;

    shakes_hands(&chain, &mut site).await;
    let till = site.admin().await;
    let register = id(&till.get("/registers").await.data()[0]);
    till.post(&format!("/registers/{register}/open"), json!({})).await.data();
    site.sell(&till, &product, 1).await;
    site.drained(&till).await;
    assert_eq!(number(&chain, "SELECT COUNT(*) FROM sync_log_kept").await, sent);
    let newest = number(&chain, "SELECT MAX(seq) FROM sync_log_kept").await;
    let again = format!("SELECT COUNT(*) FROM sync_log WHERE seq <= {newest}");
    assert_eq!(number(&chain, &again).await, 0, "nothing was sent again");
    assert!(number(&chain, "SELECT COUNT(*) FROM sync_log").await > 0, "the new sale came");
    assert!(!chain.hq.log().contains("do not continue where they were"), "{}", chain.hq.log());
    chain.admin = Client::new(&chain.hq.url).sign_in(ADMIN.0, ADMIN.1).await.expect("the administrator signs in");
    assert_eq!(chain.sales(&site).await, 13);
    chain.settled(&[&site], &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stops_leaves_its_work_to_the_others_at_once() {
    let mut chain = TestCluster::new().await;
    let held = "SELECT COUNT(*) FROM leases";
    if chain.hq.database().starts_with("sqlite") {
        // The one server on a file leaves nothing to anybody.
        chain.hq.stop();
        assert_eq!(number(&chain, held).await, 0);
        return;
    }
    let both = "SELECT COUNT(*) FROM leases WHERE name IN ('pruning of sync_log', 'forgetting of sign-ins')";
    eventually("it does what one server does", async || (number(&chain, both).await == 2).then_some(())).await;
    chain.hq.stop();
    assert_eq!(number(&chain, held).await, 0);
}
