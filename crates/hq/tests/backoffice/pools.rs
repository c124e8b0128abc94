//! Stores and people have connections of their own: however busy one side is, the other one is served.

use std::time::Duration;

use serde_json::json;
use tillkeep_hq::testing::Databases as _;
use tillkeep_storage::raw::sea_orm::{ConnectionTrait, DbBackend};
use tillkeep_storage::{Db, Tx};
use tokio::time::timeout;
use uuid::Uuid;

use super::kit::{Kit, Person, id_of};

/// Longer than it takes to get a connection that is free.
const IN_VAIN: Duration = Duration::from_millis(500);

/// Takes every connection for the purpose of `db` but the one writer of the embedded database, which all share.
async fn take_all(db: &Db) -> (Vec<tillkeep_storage::Transaction>, Vec<Tx>) {
    let (mut readers, mut writers) = (Vec::new(), Vec::new());
    while let Ok(taken) = timeout(IN_VAIN, db.snapshot()).await {
        readers.push(taken.expect("a reader"));
    }
    while db.reader().get_database_backend() == DbBackend::Postgres
        && let Ok(taken) = timeout(IN_VAIN, db.begin()).await
    {
        writers.push(taken.expect("a writer"));
    }
    assert!(readers.len() >= 3, "{}", readers.len());
    (readers, writers)
}

#[tokio::test]
async fn people_are_served_while_stores_have_every_connection_of_theirs() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    kit.with_pin(&admin, "ann", "739154", json!({})).await;
    let held = take_all(kit.hq.sync_db()).await;
    kit.login("ann", "739154").await.is(200);
    kit.get(&admin, "/departments").await.is(200);
    kit.post(&admin, "/departments", json!({"code": "X", "name": "X"})).await.is(201);
    drop(held);
}

#[tokio::test]
async fn stores_are_served_while_people_have_every_connection_of_theirs() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.post(&admin, "/stores", json!({"code": "S01", "name": "First"})).await.data();
    let store_id = id_of(&store);
    let provisioned = kit.post(&admin, &format!("/stores/{store_id}/provision"), json!({})).await.data();
    let token = provisioned["syncToken"].as_str().expect("a token").to_owned();
    let machine = Person { id: Uuid::nil(), token };
    let held = take_all(kit.hq.db()).await;
    kit.get(&machine, "/sync/versions").await.is(200);
    for path in ["/sync/pull?entity_type=stores&since_version=0&limit=10", "/sync/pull?entity_type=stores"] {
        let page = kit.get(&machine, path).await;
        assert_eq!(page.body["rows"].as_array().map(Vec::len), Some(1), "{}", page.text);
    }
    let id = Uuid::now_v7();
    let envelope = json!({
        "store_id": store_id, "entity_type": "customers", "entity_id": id, "action": "create",
        "timestamp": "2026-11-20T10:00:00.000Z", "data": {"id": id, "customerNumber": "S01-000001", "lastName": "One"},
    });
    let pushed = kit.post(&machine, "/sync/push", json!({"envelopes": [envelope]})).await;
    assert_eq!(pushed.body["results"][0]["status"], "ok", "{}", pushed.text);
    drop(held);
}
