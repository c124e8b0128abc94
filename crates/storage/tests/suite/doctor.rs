//! What `tillkeep doctor` reads of a database.

use tillkeep_storage::doctor::{self, Damage};
use tillkeep_storage::entity::store_node;
use tillkeep_storage::migration::{STEPS, Step};
use tillkeep_storage::upgrade::{Release, release};
use tillkeep_storage::{Db, Side, nodes, raw};

use crate::kit::chain::Chain;
use crate::kit::{self, at};

#[tokio::test]
async fn a_diagnosis_reads_how_stores_stand_and_writes_nothing() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let node = store_node::Model {
            store_id: chain.first.store_id,
            store_version: "0.1.0".to_owned(),
            handshake_at: Some(at(10)),
            last_seen_at: Some(at(5)),
            clock_offset_ms: Some(-7),
            dead_lettered: 3,
            ..store_node::Model::default()
        };
        let tx = hq.db.begin().await.expect("a transaction");
        nodes::save(&tx, node).await.expect("a node");
        tx.commit().await.expect("a commit");

        let conn = Db::open_to_diagnose(&hq.url()).await.expect("open");
        let seen = doctor::seen(&conn).await.expect("a read");
        assert_eq!(seen.len(), 1, "a store that was never there is none: {seen:?}");
        assert_eq!((&*seen[0].version, seen[0].dead_lettered, seen[0].unstored), ("0.1.0", 3, 0));
        assert_eq!((seen[0].last_seen_at, seen[0].clock_offset_ms), (Some(at(10)), Some(-7)));
        assert!(raw::execute(&conn, "DELETE FROM store_nodes", []).await.is_err(), "it only reads");
        conn.close().await.expect("closed");
    }
}

#[tokio::test]
async fn a_schema_is_new_older_the_same_or_newer() {
    for hq in kit::both().await {
        let conn = Db::open_to_diagnose(&hq.url()).await.expect("open");
        let of = async |steps: &[Step]| release(&conn, Side::Hq, steps).await.expect("a read");
        assert_eq!(of(STEPS).await, Release::Same);
        let later = Step { name: "9999_later", changes: &[], beside: None };
        assert_eq!(of(&[STEPS, &[later]].concat()).await, Release::Older("9999_later"));
        let (last, before) = STEPS.split_last().expect("steps");
        assert!(matches!(of(before).await, Release::Newer(step, _) if step == last.name));
        conn.close().await.expect("closed");
    }
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("tillkeep.db");
    drop(Db::open_alone(&path).expect("an empty file"));
    let conn = Db::open_to_diagnose(&Db::url_of_file(&path)).await.expect("open");
    assert_eq!(release(&conn, Side::Store, STEPS).await.expect("a read"), Release::New);
}

#[tokio::test]
async fn a_file_says_how_it_is_set_and_that_it_is_whole() {
    let hq = kit::Hq::sqlite().await;
    let conn = Db::open_to_diagnose(&hq.url()).await.expect("open");
    assert_eq!(doctor::embedded(&conn).await.expect("a read").journal, "wal");
    assert_eq!(doctor::damage(&conn).await.expect("a read"), Damage::default());
    conn.close().await.expect("closed");
}

#[tokio::test]
async fn a_server_says_how_it_is_set() {
    let hq = kit::Hq::postgres().await;
    let conn = Db::open_to_diagnose(&hq.url()).await.expect("open");
    let server = doctor::server(&conn).await.expect("a read");
    assert!(server.version >= 15 && !server.is_standby, "{server:?}");
    assert!(server.connections > 0 && (1..=server.connections).contains(&server.used), "{server:?}");
    // The one of the tests has nothing to keep.
    assert!(server.refusal.is_some_and(|refusal| refusal.contains("fsync")));
    conn.close().await.expect("closed");
}
