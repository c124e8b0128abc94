//! Many tills give back of one sale at once: never more than was sold, each request once.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use tillkeep_model::Qty;
use tillkeep_storage::entity::sale;
use tokio::task::JoinSet;

use super::path;
use super::refunds::{item, read, refund};
use crate::kit::{Person, Shop, line};

async fn at_once(person: &Person, sale: &Json, requests: Vec<Json>) -> BTreeMap<u16, usize> {
    let mut sent = JoinSet::new();
    for request in requests {
        let (person, to) = (person.clone(), path(sale, "refunds"));
        sent.spawn(async move { person.post(&to, request).await.status });
    }
    let mut by_status = BTreeMap::new();
    for status in sent.join_all().await {
        *by_status.entry(status).or_default() += 1;
    }
    by_status
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixteen_tills_that_give_one_line_back_give_back_what_was_sold() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let sale = person.sell(json!([line("TEA", 5)])).await.ok(201);
    let requests = (0..16).map(|_| refund(json!([item(&sale, 0, 1)]))).collect();
    assert_eq!(at_once(&person, &sale, requests).await, BTreeMap::from([(201, 5), (409, 11)]));
    let original = read(&person, &sale).await;
    assert_eq!((&original["status"], &original["refundedAmount"]), (&json!("refunded"), &sale["totalAmount"]));
    assert_eq!(original["saleItems"][0]["refundedQuantity"], 5);
    assert_eq!(shop.level("TEA").await, Qty::pieces(10));
    // The parts add up to the line, whoever came first.
    let back: i64 = original["refunds"]
        .as_array()
        .expect("refunds")
        .iter()
        .filter_map(|refund| refund["totalAmount"].as_i64())
        .sum();
    assert_eq!(json!(-back), sale["totalAmount"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_refund_that_is_sent_many_times_at_once_is_one() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    // All that there is of it, so that whoever comes second finds nothing left.
    let sale = person.sell(json!([line("TEA", 1)])).await.ok(201);
    let request = refund(json!([item(&sale, 0, 1)]));
    let done = at_once(&person, &sale, vec![request; 10]).await;
    assert_eq!(done, BTreeMap::from([(200, 9), (201, 1)]));
    assert_eq!((shop.count::<sale::Entity>().await, shop.level("TEA").await), (2, Qty::pieces(10)));
}
