//! What is no verdict of headquarters on an envelope, and what it says of such. `docs/sync.md`, rules U2, D8 and U12.

use sea_orm::{ConnectionTrait, EntityTrait};
use serde_json::{Value as Json, json};
use tillkeep_model::Qty;
use tillkeep_model::wire::{Applied, Number, PushStatus};
use tillkeep_storage::entity::sync_status;
use tillkeep_storage::{nodes, sync_log as log};
use uuid::Uuid;

use crate::kit::chain::{Chain, id};
use crate::kit::envelopes::{create_sale, customer as new_customer, push, refuse, take, void_sale};
use crate::kit::{self, Hq, at};

/// Makes the database fail on the row `victim` of `table`, otherwise than for its data: as when the page is gone on which it
/// would stand. `None` mends it.
async fn fail_on(hq: &Hq, victim: Option<Uuid>) {
    let tx = hq.db.begin().await.expect("a transaction");
    let run = async |sql: &str| {
        tx.execute_unprepared(sql).await.expect("a statement");
    };
    match (hq.db.is_embedded(), victim) {
        // What a trigger of SQLite raises is a constraint; a sum that overflows is an error of the program.
        (true, Some(id)) => {
            let hex = id.simple();
            run(&format!(
                "CREATE TRIGGER broken_page BEFORE INSERT ON sales WHEN hex(NEW.id) = upper('{hex}') \
                 OR lower(replace(NEW.id, '-', '')) = '{hex}' BEGIN SELECT abs(-9223372036854775807 - 1); END"
            ))
            .await;
        }
        (true, None) => run("DROP TRIGGER broken_page").await,
        (false, Some(id)) => {
            run(&format!(
                "CREATE FUNCTION broken_page() RETURNS trigger AS $$ BEGIN IF NEW.id = '{id}' THEN \
                 RAISE EXCEPTION 'could not read block 7' USING ERRCODE = '58030'; END IF; RETURN NEW; END $$ LANGUAGE plpgsql"
            ))
            .await;
            run("CREATE TRIGGER broken_page BEFORE INSERT ON sales FOR EACH ROW EXECUTE FUNCTION broken_page()").await;
        }
        (false, None) => run("DROP TRIGGER broken_page ON sales").await,
    }
    tx.commit().await.expect("a commit");
}

/// What is noted of such an entry, on each database.
const NOTED: [&str; 2] = [
    "headquarters could not store an entry, which its store sends again: the database cannot read or write its disk",
    "headquarters could not store an entry, which its store sends again: an error of the database",
];

/// The last error of the sales of a store, and how many wait for a user.
async fn said_of_sales(hq: &Hq, store: Uuid) -> (Option<String>, i32) {
    let rows = sync_status::Entity::find().all(hq.db.reader()).await.expect("a read");
    let row =
        rows.into_iter().find(|row| row.store_id == store && row.entity_type == "sales" && row.direction == log::PUSH);
    row.map(|row| (row.last_error, row.pending_count)).expect("the counters of sales")
}

#[tokio::test]
async fn an_envelope_that_the_database_fails_on_is_put_off_without_a_verdict_and_the_others_are_taken() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let envelopes: Vec<Json> =
            (0..50).map(|n| create_sale(&chain.first, id(&format!("sale {n}")), &[(chain.tea, 1)])).collect();
        let mut void = void_sale(&chain.first, id("sale 7"), &[(chain.tea, 1)]);
        void["timestamp"] = json!(at(50));
        let sent: Vec<Json> = envelopes.iter().cloned().chain([void]).collect();
        fail_on(&hq, Some(id("sale 7"))).await;
        for applied in [Applied::Inserted, Applied::Duplicate] {
            let pushed = push(&hq, &chain.first, &sent).await;
            for (place, result) in pushed.results.iter().enumerate() {
                // The void does not overtake its sale.
                if [7, 50].contains(&place) {
                    assert_eq!((result.status, result.code.as_deref()), (PushStatus::Error, Some("try_later")));
                    let reason = result.error.as_deref().expect("a reason");
                    assert!(!reason.contains("block") && !reason.contains("does not answer"), "{reason}");
                } else {
                    assert_eq!((result.status, result.applied), (PushStatus::Ok, Some(applied)), "place {place}");
                }
            }
            let stock = hq.stock(chain.first.store_id, chain.tea).await.expect("the stock");
            assert_eq!(stock.quantity, Qty::pieces(-49));
            assert_eq!(hq.log().await.iter().filter(|row| row.status == log::FAILED).count(), 0, "no verdict");
            let (error, waiting) = said_of_sales(&hq, chain.first.store_id).await;
            assert_eq!((error.as_deref(), waiting), (Some(NOTED[usize::from(hq.db.is_embedded())]), 0));
        }
        fail_on(&hq, None).await;
        assert_eq!(push(&hq, &chain.first, &sent).await.refused, 0);
        let stock = hq.stock(chain.first.store_id, chain.tea).await.expect("the stock");
        assert_eq!(stock.quantity, Qty::pieces(-49), "sold and voided");
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_number_that_an_older_release_could_not_read_and_a_newer_one_takes_is_given_once() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let numbered = |mut envelope: Json, seq: i64| {
            (envelope["seq"], envelope["node_epoch"]) = (json!(seq), json!("this database"));
            envelope
        };
        let good = numbered(create_sale(&chain.first, id("sale"), &[(chain.tea, 1)]), 4);
        let twice = async || {
            nodes::numbers_twice(hq.db.reader(), chain.first.store_id, "this database", 1, 100).await.expect("a read")
        };
        for (field, value) in [("timestamp", "not yet readable"), ("entity_type", "of_a_newer_release")] {
            let mut unread = good.clone();
            unread[field] = json!(value);
            assert_eq!(push(&hq, &chain.first, &[unread]).await.refused, 1);
        }
        take(&hq, &chain.first, &good).await;
        assert!(!twice().await, "it is one entry");
        take(&hq, &chain.first, &numbered(create_sale(&chain.first, id("other"), &[(chain.tea, 1)]), 4)).await;
        assert!(twice().await, "and these are two");
    }
}

#[tokio::test]
async fn a_dead_letter_that_headquarters_never_refused_is_known_from_one_that_it_did() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        take(&hq, &chain.second, &new_customer(&chain.second, id("first"), "TAKEN")).await;
        let mut refused = new_customer(&chain.first, id("second"), "TAKEN");
        (refused["seq"], refused["node_epoch"]) = (json!(4), json!("this database"));
        assert_eq!(refuse(&hq, &chain.first, &refused).await, "not_storable");
        let number = |seq, node_epoch: &str| Number { seq, node_epoch: node_epoch.to_owned() };
        let dead = [number(3, "this database"), number(4, "this database"), number(4, "the one before")];
        let never = nodes::never_refused(hq.db.reader(), chain.first.store_id, &dead).await.expect("a read");
        assert_eq!(never, [3, 4], "the second one is that of the other database");
        let of_none = nodes::never_refused(hq.db.reader(), chain.first.store_id, &[]).await.expect("a read");
        assert_eq!(of_none, Vec::<i64>::new());
    }
}
