//! What a person is told whose request `PostgreSQL` broke off.

use std::time::Duration;

use serde_json::json;
use tillkeep_hq::testing::Databases as _;
use tillkeep_storage::db;

use crate::backoffice::kit::{Kit, id_of};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_request_that_loses_a_deadlock_may_be_sent_again() {
    let mut kit = Kit::new().await;
    let admin = kit.admin().await;
    let department = kit.post(&admin, "/departments", json!({"code": "A", "name": "A"})).await.data();
    let path = format!("/departments/{}", id_of(&department));
    let later =
        "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET deadlock_timeout = 3000', current_database()); END $$";
    let tx = kit.hq.db().begin().await.expect("begin");
    db::execute(&tx, later, []).await.expect("when a deadlock is looked for");
    tx.commit().await.expect("commit");
    // It holds for connections that come after it.
    kit.restart().await;

    let other = kit.hq.db().begin().await.expect("begin");
    // It is the request that looks for a deadlock, and loses it.
    db::execute(&other, "SET LOCAL deadlock_timeout = '1min'", []).await.expect("this one does not");
    let counter = "SELECT value FROM sync_counters WHERE entity_type = 'departments' FOR UPDATE";
    db::query(&other, counter, []).await.expect("the counter");
    let cross = async {
        let waits = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        while db::query(kit.hq.db().reader(), waits, []).await.expect("activity").is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        // The request holds the row and waits for the counter; this holds the counter and wants the row.
        db::execute(&other, "UPDATE departments SET sort_order = 5", []).await.expect("the row");
    };
    let (got, ()) = tokio::join!(kit.patch(&admin, &path, json!({"name": "B"})), cross);
    got.refused(503, "unavailable");
    assert!(got.retry_after() > 0);
    other.commit().await.expect("commit");
    kit.patch(&admin, &path, json!({"name": "B"})).await.is(200);
}
