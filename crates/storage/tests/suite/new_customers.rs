//! How many customers one store makes in an hour. `docs/sync.md`, rule U16.

use serde_json::Value as Json;
use tillkeep_model::Instant;
use tillkeep_model::wire::{PushStatus, TRY_LATER};
use tillkeep_storage::entity::{customer, store_node};
use tillkeep_storage::envelope::{ByHand, Sender};
use tillkeep_storage::push::{self, Pushed};
use tillkeep_storage::sea_orm::{EntityTrait, PaginatorTrait};
use tillkeep_storage::{new_customers, nodes, sync_log};

use crate::kit::chain::{Chain, id};
use crate::kit::envelopes::{customer as made, envelope};
use crate::kit::{self, Hq, at};

const MOST: u32 = 4;
const HOUR_MS: i64 = 3_600_000;

/// A store that may make so many, and that waits when headquarters says so, or is of the release before.
async fn shop(hq: &Hq, version: &str) -> Sender {
    let chain = Chain::found(hq).await;
    let node = store_node::Model {
        store_id: chain.first.store_id,
        store_version: version.to_owned(),
        ..store_node::Model::default()
    };
    let tx = hq.db.begin().await.expect("a transaction");
    nodes::save(&tx, node).await.expect("a node");
    tx.commit().await.expect("a commit");
    Sender { new_customers: Some(MOST), ..chain.first }
}

fn new(sender: &Sender, name: &str) -> Json {
    made(sender, id(name), name)
}

fn changed(sender: &Sender, name: &str) -> Json {
    envelope(sender, "customers", id(name), "update", &made(sender, id(name), name)["data"], at(1))
}

async fn sent(hq: &Hq, sender: &Sender, envelopes: &[Json], now: Instant) -> Pushed {
    let raw: Vec<String> = envelopes.iter().map(Json::to_string).collect();
    let raw: Vec<&str> = raw.iter().map(String::as_str).collect();
    push::push(&hq.db, sender, &raw, now).await.expect("an answer to the push")
}

/// What became of each: taken, or to be sent later.
fn outcomes(pushed: &Pushed) -> Vec<bool> {
    let outcomes = pushed.results.iter().map(|result| match (result.status, result.code.as_deref()) {
        (PushStatus::Ok, None) => true,
        (PushStatus::Error, Some(TRY_LATER)) => false,
        other => panic!("{other:?} {:?}", result.error),
    });
    outcomes.collect()
}

async fn customers(hq: &Hq) -> u64 {
    customer::Entity::find().count(hq.db.reader()).await.expect("a count")
}

async fn alarm(hq: &Hq, sender: &Sender, now: Instant) -> Option<Instant> {
    let beyond = new_customers::stores_beyond(hq.db.reader(), Some(&[sender.store_id]), now).await.expect("stores");
    beyond.get(&sender.store_id).copied()
}

#[tokio::test]
async fn a_store_makes_so_many_customers_an_hour_and_the_rest_waits_for_the_next_without_a_word_in_the_log() {
    for hq in kit::both().await {
        let shop = shop(&hq, "0.2.0").await;
        let now = at(100);
        let names: Vec<String> = (0..6).map(|number| format!("C{number}")).collect();
        let all: Vec<Json> = names.iter().map(|name| new(&shop, name)).collect();
        assert_eq!(outcomes(&sent(&hq, &shop, &all[..3], now).await), [true; 3]);
        assert_eq!(alarm(&hq, &shop, now).await, None);
        // What follows of one that waits does not overtake it; those that are here are changed as ever.
        let mut rest = all[2..].to_vec();
        rest.push(changed(&shop, "C5"));
        rest.push(changed(&shop, "C0"));
        assert_eq!(outcomes(&sent(&hq, &shop, &rest, now).await), [true, true, false, false, false, true]);
        assert_eq!((customers(&hq).await, alarm(&hq, &shop, now).await), (4, Some(now)));
        for _ in 0..11 {
            assert_eq!(outcomes(&sent(&hq, &shop, &rest[2..4], now).await), [false; 2]);
        }
        assert!(hq.log().await.iter().all(|row| row.status != sync_log::FAILED), "no refusal, however often it comes");
        // A user at headquarters who tries again what was refused is not counted.
        let by_hand = Sender { by_hand: Some(ByHand::default()), new_customers: None, ..shop.clone() };
        assert_eq!(outcomes(&sent(&hq, &by_hand, &rest[2..3], now).await), [true]);
        let later = now.plus_millis(HOUR_MS);
        assert_eq!(outcomes(&sent(&hq, &shop, &rest[3..5], later).await), [true, true]);
        assert_eq!(customers(&hq).await, 6);
        let still = alarm(&hq, &shop, later).await;
        assert_eq!((still, alarm(&hq, &shop, now.plus_millis(24 * HOUR_MS)).await), (Some(now), None));
        hq.verify().await;
    }
}

#[tokio::test]
async fn of_a_store_that_takes_it_for_a_refusal_all_are_taken_with_the_alarm_alone() {
    for version in ["0.1.0", ""] {
        for hq in kit::both().await {
            let shop = shop(&hq, version).await;
            let all: Vec<Json> = (0..9).map(|number| new(&shop, &format!("C{number}"))).collect();
            assert_eq!(outcomes(&sent(&hq, &shop, &all, at(100)).await), [true; 9]);
            assert_eq!(alarm(&hq, &shop, at(100)).await, Some(at(100)), "{version:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_at_once_take_no_more_of_a_store_than_one() {
    for hq in kit::both().await {
        let shop = shop(&hq, "0.2.0").await;
        let half = |of: &str| (0..3).map(|number| new(&shop, &format!("{of}{number}"))).collect::<Vec<Json>>();
        let (one, other) = (half("A"), half("B"));
        let (one, other) = tokio::join!(sent(&hq, &shop, &one, at(100)), sent(&hq, &shop, &other, at(100)));
        let taken = outcomes(&one).iter().chain(&outcomes(&other)).filter(|taken| **taken).count();
        assert_eq!((taken, customers(&hq).await), (4, 4));
    }
}
