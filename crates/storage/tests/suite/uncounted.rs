//! Refusals of one store without an end: rows for the first ones, and one row for each type that counts the rest. `docs/sync.md`,
//! rule U12.

use serde_json::{Value as Json, json};
use tillkeep_model::wire::Number;
use tillkeep_storage::entity::sync_log::{Column, Entity, Model};
use tillkeep_storage::nodes;
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};
use tillkeep_storage::sync_log::{FAILED, RESOLVED, count_pending, counters_turn, room_again};

use crate::kit::chain::Chain;
use crate::kit::envelopes::push;
use crate::kit::{self, Hq, at};

const MOST: usize = 10_000;

/// What cannot be read, and each another one.
fn broken(entity_type: &str, numbers: std::ops::Range<usize>) -> Vec<Json> {
    numbers.map(|seq| json!({"entity_type": entity_type, "entity_id": "x", "seq": seq, "node_epoch": "n"})).collect()
}

async fn failed(hq: &Hq) -> usize {
    let count = Entity::find().filter(Column::Status.eq(FAILED)).count(hq.db.reader()).await.expect("a count");
    usize::try_from(count).expect("a number")
}

async fn counting(hq: &Hq) -> Vec<Model> {
    let rows = Entity::find().filter(Column::Code.eq("not_kept")).all(hq.db.reader()).await.expect("rows");
    let mut rows: Vec<Model> = rows.into_iter().filter(|row| row.status == FAILED).collect();
    rows.sort_by_key(|row| row.entity_type.clone());
    rows
}

#[tokio::test]
async fn refusals_without_an_end_take_ten_thousand_rows_and_one_for_each_type() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        for part in 0..MOST / 1000 {
            push(&hq, &chain.first, &broken("sales", part * 1000 + 1..(part + 1) * 1000 + 1)).await;
        }
        assert_eq!((failed(&hq).await, counting(&hq).await.len()), (MOST, 0));
        for round in 0..3 {
            let first = MOST + 1 + round * 100;
            let mut more = broken("sales", first..first + 100);
            more.extend(broken("customers", first..first + 7));
            more.extend(broken("made up", first..first + 2));
            // One that has its row comes again and is counted in it; the same one twice counts once.
            more.extend(broken("sales", 5..6));
            more.extend(broken("customers", first..first + 1));
            let pushed = push(&hq, &chain.first, &more).await;
            assert_eq!(pushed.refused, more.len(), "each is answered");
        }
        let rows = counting(&hq).await;
        let listed: Vec<_> = rows.iter().map(|row| (row.entity_type.as_str(), row.retry_count + 1)).collect();
        assert_eq!(listed, [("customers", 21), ("sales", 300), ("unknown", 6)]);
        assert!(rows.iter().all(|row| row.envelope.is_none() && row.seq.is_none() && row.entity_id.is_empty()));
        assert_eq!(failed(&hq).await, MOST + 3);
        let again = Entity::find().filter(Column::Seq.eq(5)).one(hq.db.reader()).await.expect("a read").expect("a row");
        assert_eq!(again.retry_count, 3);
        let status = hq.status(chain.first.store_id, "sales").await.expect("a counter");
        assert_eq!(status.pending_count, 10_001);
        // Another store has its own.
        push(&hq, &chain.second, &broken("sales", 1..3)).await;
        assert_eq!((failed(&hq).await, counting(&hq).await.len()), (MOST + 5, 3));
    }
}

#[tokio::test]
async fn what_was_only_counted_is_asked_for_again_when_there_is_room_and_not_before() {
    for hq in kit::both().await {
        let (chain, now) = (Chain::found(&hq).await, at(200));
        let store = chain.first.store_id;
        for part in 0..MOST / 1000 {
            push(&hq, &chain.first, &broken("sales", part * 1000 + 1..(part + 1) * 1000 + 1)).await;
        }
        push(&hq, &chain.first, &broken("sales", MOST + 1..MOST + 3)).await;
        let dead: Vec<Number> = [1, 10_001, 10_002].map(|seq| Number { seq, node_epoch: "n".to_owned() }).into();
        let tx = hq.db.begin().await.expect("a transaction");
        let turn = counters_turn(&tx, store).await.expect("the turn");
        assert!(!room_again(&tx, store, &turn, now).await.expect("an answer"), "it would go on without an end");
        tx.commit().await.expect("a commit");
        assert_eq!(counting(&hq).await.len(), 1);
        // A user settles some.
        let tx = hq.db.begin().await.expect("a transaction");
        Entity::update_many()
            .col_expr(Column::Status, Expr::value(RESOLVED))
            .filter(Column::Seq.between(2, 11))
            .exec(&tx)
            .await
            .expect("an update");
        count_pending(&tx, store).await.expect("counted");
        // Whoever did not take the turn before all else leaves it to the next handshake. (Of another store nothing is counted.)
        let none = counters_turn(&tx, chain.second.store_id).await.expect("no turn");
        assert!(!room_again(&tx, store, &none, now).await.expect("an answer"));
        let turn = counters_turn(&tx, store).await.expect("the turn");
        assert!(room_again(&tx, store, &turn, now).await.expect("an answer"));
        let asked = nodes::never_refused(&tx, store, &dead).await.expect("numbers");
        assert_eq!(asked, [10_001, 10_002], "those that have no row");
        tx.commit().await.expect("a commit");
        assert_eq!((counting(&hq).await.len(), failed(&hq).await), (0, MOST - 10));
        let status = hq.status(store, "sales").await.expect("a counter");
        assert_eq!(usize::try_from(status.pending_count).expect("a number"), MOST - 10);
        // They come again, and have rows now.
        push(&hq, &chain.first, &broken("sales", MOST + 1..MOST + 3)).await;
        assert_eq!((counting(&hq).await.len(), failed(&hq).await), (0, MOST - 8));
    }
}
