//! What a person gets when `PostgreSQL` broke their request off.

mod imports;

use std::time::Duration;

use serde_json::json;
use tillkeep_hq::testing::Databases as _;
use tillkeep_storage::db::{self, Turn};
use tillkeep_storage::entity::sync_log;
use tillkeep_storage::raw;
use tillkeep_storage::sea_orm::{EntityTrait, IntoActiveModel};
use tillkeep_storage::sync_log::{FAILED, PUSH, RETRIED};
use uuid::Uuid;

use crate::backoffice::kit::{Kit, Person, id_of};
use crate::several::waiting_for_a_lock;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_request_that_loses_a_deadlock_may_be_sent_again() {
    let mut kit = Kit::new().await;
    let admin = kit.admin().await;
    let department = kit.post(&admin, "/departments", json!({"code": "A", "name": "A"})).await.data();
    let path = format!("/departments/{}", id_of(&department));
    let later =
        "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET deadlock_timeout = 3000', current_database()); END $$";
    let tx = kit.hq.db().begin().await.expect("begin");
    raw::execute(&tx, later, []).await.expect("when a deadlock is looked for");
    tx.commit().await.expect("commit");
    // It holds for connections that come after it.
    kit.restart().await;

    let other = kit.hq.db().begin().await.expect("begin");
    // It is the request that looks for a deadlock, and loses it.
    raw::execute(&other, "SET LOCAL deadlock_timeout = '1min'", []).await.expect("this one does not");
    let counter = "SELECT value FROM sync_counters WHERE entity_type = 'departments' FOR UPDATE";
    raw::query(&other, counter, []).await.expect("the counter");
    let cross = async {
        let waits = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        while raw::query(kit.hq.db().reader(), waits, []).await.expect("activity").is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        // The request holds the row and waits for the counter; this holds the counter and wants the row.
        raw::execute(&other, "UPDATE departments SET sort_order = 5", []).await.expect("the row");
    };
    let (got, ()) = tokio::join!(kit.patch(&admin, &path, json!({"name": "B"})), cross);
    got.refused(503, "unavailable");
    assert!(got.retry_after() > 0);
    other.commit().await.expect("commit");
    kit.patch(&admin, &path, json!({"name": "B"})).await.is(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_handshake_that_settles_counters_waits_for_a_push_before_it_holds_a_row_of_the_log() {
    let kit = Kit::new().await;
    let store = kit.store("S01").await;
    let row = |status: &str| sync_log::Model {
        id: Uuid::now_v7(),
        store_id: store,
        direction: PUSH.to_owned(),
        entity_type: "sales".to_owned(),
        status: status.to_owned(),
        first_seen_at: kit.clock.now(),
        last_seen_at: kit.clock.now(),
        ..sync_log::Model::default()
    };
    let acknowledged = sync_log::Model {
        entity_id: Uuid::now_v7().to_string(),
        seq: Some(1),
        node_epoch: Some("e".to_owned()),
        to_acknowledge: true,
        ..row(RETRIED)
    };
    let counted = sync_log::Model { code: Some("not_kept".to_owned()), ..row(FAILED) };
    let tx = kit.hq.db().begin().await.expect("begin");
    for row in [acknowledged, counted] {
        sync_log::Entity::insert(row.into_active_model()).exec_without_returning(&tx).await.expect("a row");
    }
    tx.commit().await.expect("commit");

    let push = kit.hq.db().begin().await.expect("begin");
    db::take_turn_of(&push, Turn::Push, store).await.expect("the turn");
    let pushes = async {
        waiting_for_a_lock(&kit, 1).await;
        raw::execute(&push, "UPDATE sync_log SET note = 'pushed'", []).await.expect("the rows are free");
        push.commit().await.expect("commit");
    };
    let caller = Person { id: Uuid::nil(), token: kit.sync_token(store) };
    let (got, ()) = tokio::join!(kit.post(&caller, "/sync/handshake", json!({"nodeEpoch": "e"})), pushes);
    got.is(200);
    assert_eq!(got.body["acknowledged"].as_array().map(Vec::len), Some(1), "{}", got.text);
}
