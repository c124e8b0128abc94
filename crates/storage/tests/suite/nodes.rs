//! What headquarters notes of its stores. `docs/sync.md`, rules D8 and U12; specification, section 2.7.

use serde_json::json;
use tillkeep_model::wire::{Acknowledged, Outcome};
use tillkeep_storage::entity::{store_node, sync_status};
use tillkeep_storage::sea_orm::EntityTrait;
use tillkeep_storage::sync_log::{self, Pulled};
use tillkeep_storage::{db, high_water, nodes};

use crate::kit::chain::{Chain, id};
use crate::kit::envelopes::{create_sale, envelope, push, refuse};
use crate::kit::{self, at, fill};

#[tokio::test]
async fn a_store_that_was_heard_of_has_a_row_and_keeps_what_is_in_it() {
    for hq in kit::both().await {
        let known = fill::model::<store_node::Entity>(1);
        let tx = hq.db.begin().await.expect("a transaction");
        nodes::save(&tx, known.clone()).await.expect("a row");
        nodes::save(&tx, known.clone()).await.expect("the same row again");
        let seen = [(known.store_id, at(500)), (id("new"), at(501))];
        nodes::seen(&tx, &seen).await.expect("a note");
        tx.commit().await.expect("a commit");
        let expected = store_node::Model { last_seen_at: Some(at(500)), ..known };
        assert_eq!(nodes::find(hq.db.reader(), expected.store_id).await.expect("a read"), Some(expected));
        let new = nodes::find(hq.db.reader(), id("new")).await.expect("a read").expect("a row");
        assert_eq!((new.last_seen_at, new.last_seq, new.ticket.as_str()), (Some(at(501)), 0, ""));
    }
}

#[tokio::test]
async fn the_high_water_is_the_highest_number_of_each_register_also_beyond_six_digits() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let mut envelopes = Vec::new();
        for (register, number) in [("01", "000009"), ("02", "999999"), ("02", "1000000"), ("02", "999998")] {
            let name = format!("{register} {number}");
            let mut sale = create_sale(&chain.first, id(&name), &[(chain.tea, 1)]);
            sale["data"]["registerCode"] = json!(register);
            sale["data"]["receiptNumber"] = json!(format!("S01-{register}-{number}"));
            envelopes.push(sale);
        }
        for (register, number) in [("01", 3), ("01", 12)] {
            let data = json!({"registerCode": register, "sessionNumber": number, "status": "open"});
            let session = id(&format!("session {number}"));
            envelopes.push(envelope(&chain.first, "register_sessions", session, "create", &data, at(0)));
        }
        for (envelope, seq) in envelopes.iter_mut().zip(40..) {
            envelope["seq"] = json!(seq);
            envelope["node_epoch"] = json!("this database");
        }
        assert_eq!(push(&hq, &chain.first, &envelopes).await.refused, 0);
        let found = high_water::of_store(hq.db.reader(), chain.first.store_id, "S01", "this database")
            .await
            .expect("the numbers");
        let time = at(0).millis();
        let expected =
            [("outbox", 45), ("outbox_time", time), ("receipt:01", 9), ("receipt:02", 1_000_000), ("session:01", 12)];
        assert_eq!(found, expected.map(|(name, number)| (name.to_owned(), number)).into());
        let other = high_water::of_store(hq.db.reader(), chain.first.store_id, "S01", "another database")
            .await
            .expect("numbers");
        assert!(!other.contains_key("outbox"), "each database counts its outbox for itself");
        assert!(high_water::of_store(hq.db.reader(), chain.second.store_id, "S02", "").await.expect("none").is_empty());
    }
}

#[tokio::test]
async fn what_was_settled_is_told_once() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let store = chain.first.store_id;
        for seq in [5, 6] {
            let mut bad = envelope(&chain.first, "sales", id(&seq.to_string()), "create", &json!([]), at(0));
            bad["seq"] = json!(seq);
            bad["node_epoch"] = json!("this database");
            refuse(&hq, &chain.first, &bad).await;
        }
        let told = async |ticket: &str| {
            let tx = hq.db.begin().await.expect("a transaction");
            let told = nodes::to_acknowledge(&tx, store, ticket).await.expect("a note");
            tx.commit().await.expect("a commit");
            told.into_iter().map(|settled| settled.told).collect::<Vec<_>>()
        };
        let came_back = async |ticket: &str| {
            let tx = hq.db.begin().await.expect("a transaction");
            nodes::acknowledged(&tx, store, ticket).await.expect("a note");
            tx.commit().await.expect("a commit");
        };
        assert!(told("first").await.is_empty());
        // The times are those of a clock that was put right in between.
        let settle = async |status: &str, seconds, seq: i64| {
            let sql = "UPDATE sync_log SET status = $1, to_acknowledge = TRUE, resolved_at = $2, resolved_by = store_id WHERE seq = $3";
            let tx = hq.db.begin().await.expect("a transaction");
            db::execute(&tx, sql, [status.into(), at(seconds).into(), seq.into()]).await.expect("an update");
            tx.commit().await.expect("a commit");
        };
        settle(sync_log::RETRIED, 20, 5).await;
        let of = |seq: i64, outcome| Acknowledged {
            seq,
            outcome,
            // Another database of the store has other entries under the same numbers.
            node_epoch: Some("this database".to_owned()),
            entity_id: id(&seq.to_string()).to_string(),
        };
        assert_eq!(told("second").await, [of(5, Outcome::Ok)]);
        assert_eq!(nodes::stores_to_tell(hq.db.reader()).await.expect("a read"), [store]);
        settle(sync_log::RESOLVED, 10, 6).await;
        came_back("second").await;
        assert_eq!(told("third").await, [of(6, Outcome::Resolved)], "what came after the answer was not told with it");
        // That answer is lost.
        assert_eq!(told("fourth").await, [of(6, Outcome::Resolved)]);
        came_back("third").await;
        assert_eq!(told("fifth").await.len(), 1, "told with a ticket that has not come back");
        came_back("fifth").await;
        assert!(told("sixth").await.is_empty());
    }
}

#[tokio::test]
async fn a_number_that_was_given_to_two_entries_shows_that_a_store_was_put_back() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let store = chain.first.store_id;
        let twice = async |from, to| {
            nodes::numbers_twice(hq.db.reader(), store, "this database", from, to).await.expect("a read")
        };
        let sale = |name: &str, seq: i64| {
            let mut sale = create_sale(&chain.first, id(name), &[(chain.tea, 1)]);
            sale["data"]["receiptNumber"] = json!(format!("S01-01-{name}"));
            sale["seq"] = json!(seq);
            sale["node_epoch"] = json!("this database");
            sale
        };
        let (one, two) = (sale("000001", 1), sale("000002", 2));
        push(&hq, &chain.first, &[one.clone(), two]).await;
        assert!(!push(&hq, &chain.first, &[one]).await.handshake, "the same entry may arrive twice");
        assert!(!twice(1, 2).await);
        assert!(push(&hq, &chain.first, &[sale("000003", 2), sale("000004", 3)]).await.handshake);
        assert!(twice(1, 2).await && !twice(3, 9).await);
    }
}

#[tokio::test]
async fn pulls_are_counted_in_place() {
    for hq in kit::both().await {
        let store = id("S01");
        let tx = hq.db.begin().await.expect("a transaction");
        let pulled = |rows, since, seconds| Pulled { rows, since, at: Some(at(seconds)) };
        sync_log::record_pulls(
            &tx,
            &[((store, "products"), pulled(3, 7, 1)), ((id("S02"), "products"), pulled(1, 0, 1))],
        )
        .await
        .expect("a note");
        sync_log::record_pulls(&tx, &[((store, "products"), pulled(2, 9, 2))]).await.expect("a note");
        tx.commit().await.expect("a commit");
        let rows = sync_status::Entity::find().all(hq.db.reader()).await.expect("the status");
        assert_eq!(rows.len(), 2);
        let row = rows.iter().find(|row| row.store_id == store).expect("a row");
        assert_eq!((row.total_pulled, row.last_since_version, row.last_success_at), (5, 9, Some(at(2))));
        assert_eq!((row.direction.as_str(), row.total_pushed, row.pending_count), (sync_log::PULL, 0, 0));
    }
}
