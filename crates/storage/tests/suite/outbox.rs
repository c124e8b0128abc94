//! The store's outbox. Specification, section 3; `docs/sync.md`, rules U1, U2, U4, U8, U12 and U13.

use serde_json::json;
use tillkeep_model::Instant;
use tillkeep_model::wire::{MAX_ATTEMPTS, OutboxState};
use tillkeep_storage::entity::{customer, outbox::Model, outbox_sent};
use tillkeep_storage::outbox::{self, Entry};
use tillkeep_storage::sea_orm::EntityTrait;
use uuid::Uuid;

use crate::kit::chain::id;
use crate::kit::{Shop, at};

async fn shop() -> Shop {
    Shop::open(id("S01")).await
}

fn entry<'a>(entity_type: &'a str, entity_id: Uuid, data: &'a serde_json::Value) -> Entry<'a> {
    Entry { entity_type, entity_id, action: "update", data, created_at: at(0), depends_on: None }
}

async fn enqueue(shop: &Shop, name: &str, now: Instant) -> i64 {
    let tx = shop.begin().await;
    let data = json!({"id": id(name)});
    let seq = outbox::enqueue(&tx, &entry("customers", id(name), &data), now).await.expect("an entry");
    tx.commit().await.expect("a commit");
    seq
}

async fn batch(shop: &Shop) -> Vec<Model> {
    outbox::batch(shop.db.reader(), 100, at(1_000_000), 0).await.expect("a batch")
}

async fn seqs(shop: &Shop) -> Vec<i64> {
    batch(shop).await.into_iter().map(|entry| entry.seq).collect()
}

async fn confirm(shop: &Shop, entries: &[Model]) {
    let tx = shop.begin().await;
    outbox::confirm(&tx, &entries.iter().collect::<Vec<_>>(), at(50)).await.expect("a confirmation");
    tx.commit().await.expect("a commit");
}

/// Refuses the entry `seq` as it now stands; whether that made it a dead letter.
async fn refuse(shop: &Shop, seq: i64) -> bool {
    let entry = outbox::find(shop.db.reader(), seq).await.expect("a read").expect("the entry");
    let tx = shop.begin().await;
    let dead = outbox::refuse(&tx, &entry, "no such thing", at(40)).await.expect("a refusal");
    tx.commit().await.expect("a commit");
    dead
}

#[tokio::test]
async fn the_numbers_have_no_gap_also_when_a_transaction_is_rolled_back() {
    let shop = shop().await;
    assert_eq!(enqueue(&shop, "a", at(1)).await, 1);
    {
        let tx = shop.begin().await;
        let data = json!({});
        let seq = outbox::enqueue(&tx, &entry("sales", id("lost"), &data), at(2)).await.expect("an entry");
        assert_eq!(seq, 2);
    }
    assert_eq!(enqueue(&shop, "b", at(3)).await, 2);
    assert_eq!(seqs(&shop).await, [1, 2]);
    confirm(&shop, &batch(&shop).await).await;
    assert_eq!(enqueue(&shop, "c", at(4)).await, 3, "what was sent keeps its number");
}

#[tokio::test]
async fn the_timestamps_never_go_back_and_never_stand_before_the_creation() {
    let shop = shop().await;
    for (name, now) in [("a", at(10)), ("b", at(10)), ("c", at(5)), ("d", at(20)), ("e", at(-60))] {
        enqueue(&shop, name, now).await;
    }
    let times: Vec<_> = batch(&shop).await.into_iter().map(|entry| entry.timestamp).collect();
    let ten = at(10);
    let twenty = at(20);
    assert_eq!(times, [ten, ten.plus_millis(1), ten.plus_millis(2), twenty, twenty.plus_millis(1)]);
    let fresh = self::shop().await;
    enqueue(&fresh, "a", at(-60)).await;
    assert_eq!(batch(&fresh).await[0].timestamp, at(0), "a clock that runs behind HQ's");
}

#[tokio::test]
async fn an_entry_carries_its_entity_as_it_was() {
    let shop = shop().await;
    let tx = shop.begin().await;
    let data = json!({"id": id("a"), "firstName": "\u{c9}ve \"x\""});
    outbox::enqueue(&tx, &entry("customers", id("a"), &data), at(7)).await.expect("an entry");
    tx.commit().await.expect("a commit");
    let entry = batch(&shop).await.remove(0);
    assert_eq!(crate::kit::parse(&entry.payload), data);
    assert_eq!((entry.entity_type.as_str(), entry.entity_id, entry.action.as_str()), ("customers", id("a"), "update"));
    assert_eq!((entry.attempts, entry.last_error, entry.created_at), (0, None, at(7)));
}

#[tokio::test]
async fn later_entries_of_an_entity_wait_and_all_others_go_on() {
    let shop = shop().await;
    for name in ["a", "a", "b", "c", "b"] {
        enqueue(&shop, name, at(1)).await;
    }
    assert_eq!(seqs(&shop).await, [1, 3, 4], "the oldest of each");
    refuse(&shop, 1).await;
    assert_eq!(seqs(&shop).await, [1, 3, 4], "a failed one is tried again before its successor");
    confirm(&shop, &batch(&shop).await.into_iter().filter(|entry| entry.seq != 1).collect::<Vec<_>>()).await;
    assert_eq!(seqs(&shop).await, [1, 5]);
    while !refuse(&shop, 1).await {}
    assert_eq!(seqs(&shop).await, [5], "behind a dead letter its entity stands still, the others go on");
}

#[tokio::test]
async fn entities_of_different_types_with_one_id_do_not_wait_for_each_other() {
    let shop = shop().await;
    let tx = shop.begin().await;
    let data = json!({});
    for name in ["sales", "customers"] {
        outbox::enqueue(&tx, &entry(name, id("x"), &data), at(1)).await.expect("an entry");
    }
    tx.commit().await.expect("a commit");
    assert_eq!(seqs(&shop).await, [1, 2]);
}

#[tokio::test]
async fn a_line_waits_for_its_parent() {
    let shop = shop().await;
    let data = json!({});
    let tx = shop.begin().await;
    let parent = entry("purchase_orders", id("PO"), &data);
    outbox::enqueue(&tx, &parent, at(1)).await.expect("an entry");
    let line = Entry { depends_on: Some(id("PO")), ..entry("purchase_order_items", id("line"), &data) };
    outbox::enqueue(&tx, &line, at(1)).await.expect("an entry");
    tx.commit().await.expect("a commit");
    assert_eq!(seqs(&shop).await, [1]);
    confirm(&shop, &batch(&shop).await).await;
    assert_eq!(seqs(&shop).await, [2]);
}

#[tokio::test]
async fn a_batch_is_limited_and_a_failed_entry_rests() {
    let shop = shop().await;
    for n in 0..5 {
        enqueue(&shop, &n.to_string(), at(1)).await;
    }
    let three = outbox::batch(shop.db.reader(), 3, at(1), 0).await.expect("a batch");
    assert_eq!(three.iter().map(|entry| entry.seq).collect::<Vec<_>>(), [1, 2, 3]);
    refuse(&shop, 2).await;
    let before = outbox::batch(shop.db.reader(), 10, at(69), 30_000).await.expect("a batch");
    assert_eq!(before.iter().map(|entry| entry.seq).collect::<Vec<_>>(), [1, 3, 4, 5]);
    let after = outbox::batch(shop.db.reader(), 10, at(70), 30_000).await.expect("a batch");
    assert_eq!(after.len(), 5);
    let put_right = outbox::batch(shop.db.reader(), 10, at(10), 30_000).await.expect("a batch");
    assert_eq!(put_right.len(), 5, "the clock was ahead when it was refused: it does not rest for as long");
}

#[tokio::test]
async fn ten_refusals_make_a_dead_letter_that_stays() {
    let shop = shop().await;
    enqueue(&shop, "bad", at(1)).await;
    enqueue(&shop, "good", at(2)).await;
    for attempt in 1..=MAX_ATTEMPTS {
        assert_eq!(refuse(&shop, 1).await, attempt == MAX_ATTEMPTS, "attempt {attempt}");
        let entry = outbox::find(shop.db.reader(), 1).await.expect("a read").expect("the entry stays");
        assert_eq!((entry.attempts, entry.last_error.as_deref()), (attempt, Some("no such thing")));
        assert_eq!(entry.dead_lettered_at.is_some(), attempt == MAX_ATTEMPTS);
        assert_eq!(seqs(&shop).await.contains(&1), attempt < MAX_ATTEMPTS);
    }
    let state = outbox::state(shop.db.reader()).await.expect("the state");
    assert_eq!(state, OutboxState { pending: 1, dead_lettered: 1, oldest: Some(at(2)) });
    let tx = shop.begin().await;
    assert_eq!(outbox::requeue(&tx, Some(2)).await.expect("a requeue"), 0);
    assert_eq!(outbox::requeue(&tx, None).await.expect("a requeue"), 1);
    tx.commit().await.expect("a commit");
    assert_eq!(seqs(&shop).await, [1, 2], "ten more attempts");
}

#[tokio::test]
async fn what_waits_behind_a_dead_letter_is_not_the_oldest_that_waits() {
    let shop = shop().await;
    for (name, now) in [("bad", 1), ("bad", 2), ("good", 3)] {
        enqueue(&shop, name, at(now)).await;
    }
    let oldest = async || outbox::state(shop.db.reader()).await.expect("the state").oldest;
    assert_eq!(oldest().await, Some(at(1)));
    while !refuse(&shop, 1).await {}
    assert_eq!(oldest().await, Some(at(3)));
    confirm(&shop, &batch(&shop).await).await;
    let state = outbox::state(shop.db.reader()).await.expect("the state");
    assert_eq!(state, OutboxState { pending: 1, dead_lettered: 1, oldest: None }, "it waits, and for a person alone");
    // What was before the dead letter does not wait behind it.
    let tx = shop.begin().await;
    outbox::requeue(&tx, None).await.expect("a requeue");
    tx.commit().await.expect("a commit");
    while !refuse(&shop, 2).await {}
    assert_eq!(oldest().await, Some(at(1)));
}

#[tokio::test]
async fn an_empty_outbox_has_nothing_pending() {
    let shop = shop().await;
    assert_eq!(outbox::state(shop.db.reader()).await.expect("the state"), OutboxState::default());
    assert!(batch(&shop).await.is_empty());
    confirm(&shop, &[]).await;
}

#[tokio::test]
async fn a_confirmed_entry_moves_to_the_sent_ones_and_its_row_is_synced() {
    let shop = shop().await;
    shop.insert::<customer::Entity>(customer::Model { id: id("a"), ..Default::default() }).await;
    shop.insert::<customer::Entity>(customer::Model { id: id("b"), ..Default::default() }).await;
    for name in ["a", "a", "b"] {
        enqueue(&shop, name, at(1)).await;
    }
    let synced = async |name| shop.row::<customer::Entity>(id(name)).await.expect("a customer").synced;
    let first = batch(&shop).await;
    assert_eq!(first.len(), 2);
    confirm(&shop, &first).await;
    assert!(synced("b").await);
    assert!(!synced("a").await, "a later change of it still waits");
    confirm(&shop, &batch(&shop).await).await;
    assert!(synced("a").await);
    assert!(batch(&shop).await.is_empty());
    let sent = outbox_sent::Entity::find().all(shop.db.reader()).await.expect("the sent ones");
    assert_eq!(sent.iter().map(|row| row.seq).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(sent.iter().all(|row| row.sent_at == at(50)));
    assert_eq!((sent[0].payload.clone(), sent[0].timestamp), (first[0].payload.clone(), first[0].timestamp));
}

#[tokio::test]
async fn a_thousand_entries_are_confirmed_at_once() {
    let shop = shop().await;
    let tx = shop.begin().await;
    let data = json!({});
    for n in 0..1000 {
        outbox::enqueue(&tx, &entry("sales", id(&n.to_string()), &data), at(1)).await.expect("an entry");
    }
    tx.commit().await.expect("a commit");
    let all = outbox::batch(shop.db.reader(), 1000, at(1), 0).await.expect("a batch");
    assert_eq!(all.len(), 1000);
    confirm(&shop, &all).await;
    assert_eq!(outbox::state(shop.db.reader()).await.expect("the state").pending, 0);
}
