//! Many tills at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tillkeep_model::Qty;
use tillkeep_storage::entity::{outbox, register, sale};
use tillkeep_storage::fault;
use tillkeep_storage::sea_orm::EntityTrait;

use crate::kit::{Shop, cart, id, line, nothing_counted, rows};

const TILLS: usize = 8;
const SALES: usize = 25;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn eight_tills_selling_at_once_leave_gapless_receipts_and_the_right_stock() {
    let shop = Shop::open().await;
    let others = (2..=TILLS).map(|till| rows::register(&format!("{till:02}"), &format!("T{till}")));
    shop.insert::<register::Entity>(others.collect::<Vec<_>>()).await;
    let mut people = Vec::new();
    for till in 1..=TILLS {
        let person = shop.sign_in_at("administrator", &format!("T{till}")).await;
        person.post(&format!("/registers/{}/open", id(&format!("register {till:02}"))), json!({})).await.ok(201);
        people.push((till, person));
    }
    let mut tills = tokio::task::JoinSet::new();
    for (till, person) in people {
        tills.spawn(async move {
            for _ in 0..SALES {
                let mut request = cart(json!([line("TEA", 1), line("BANANA", 0.5)]), json!([{"tenderId": id("CASH")}]));
                request["terminalId"] = json!(format!("T{till}"));
                person.post("/pos/sales", request).await.ok(201);
            }
        });
    }
    while let Some(done) = tills.join_next().await {
        done.expect("a till");
    }
    let all = TILLS * SALES;
    let sales = sale::Entity::find().all(shop.store.test_db().reader()).await.expect("the sales");
    let mut by_register: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for sale in sales {
        by_register.entry(sale.register_code).or_default().insert(sale.receipt_number);
    }
    assert_eq!(by_register.len(), TILLS);
    for (code, receipts) in by_register {
        let expected: BTreeSet<String> = (1..=SALES).map(|number| format!("S01-{code}-{number:06}")).collect();
        assert_eq!(receipts, expected);
    }
    let sold = i64::try_from(all).expect("a number");
    assert_eq!(shop.level("TEA").await, Qty::pieces(10 - sold));
    assert_eq!(shop.level("BANANA").await, Qty(10_000 - sold * 500));
    let seqs: Vec<i64> = shop.outbox().await.iter().map(|entry| entry.seq).collect();
    assert_eq!(seqs, (1..=sold + i64::try_from(TILLS).expect("a number")).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_sale_sent_many_times_at_once_is_one_sale() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let request = cart(json!([line("TEA", 1)]), json!([{"tenderId": id("CASH")}]));
    let mut sent = tokio::task::JoinSet::new();
    for _ in 0..10 {
        let (person, request) = (person.clone(), request.clone());
        sent.spawn(async move { person.post("/pos/sales", request).await });
    }
    let mut made = 0;
    while let Some(reply) = sent.join_next().await {
        let reply = reply.expect("an answer");
        made += usize::from(reply.status == 201);
        assert_eq!(reply.body["data"]["receiptNumber"], "S01-01-000001", "{}", reply.body);
    }
    assert_eq!((made, shop.count::<sale::Entity>().await, shop.count::<outbox::Entity>().await), (1, 1, 2));
    assert_eq!(shop.level("TEA").await, Qty::pieces(9));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_last_piece_is_sold_once() {
    let shop = Shop::open_with(|own| own.allow_negative_stock = false).await;
    let person = shop.selling().await;
    let mut sent = tokio::task::JoinSet::new();
    for _ in 0..15 {
        let person = person.clone();
        sent.spawn(async move { person.sell(json!([line("BREAD", 1)])).await.status });
    }
    let mut by_status: BTreeMap<u16, usize> = BTreeMap::new();
    while let Some(status) = sent.join_next().await {
        *by_status.entry(status.expect("an answer")).or_default() += 1;
    }
    assert_eq!(by_status, BTreeMap::from([(201, 10), (409, 5)]));
    assert_eq!(shop.level("BREAD").await, Qty::ZERO);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_sale_slips_in_after_the_figures_of_a_close() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let session = person.get("/register-sessions/current").await.ok(200);
    let mut selling = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let person = person.clone();
        selling.spawn(async move { person.sell(json!([line("BREAD", 1)])).await.status });
    }
    let path = format!("/register-sessions/{}/close", session["id"].as_str().expect("an id"));
    let closed = person.post(&path, nothing_counted()).await.ok(200);
    let mut sold = 0;
    while let Some(status) = selling.join_next().await {
        match status.expect("an answer") {
            201 => sold += 1,
            status => assert_eq!(status, 409),
        }
    }
    assert_eq!(closed["saleCount"], sold);
    assert_eq!(closed["totals"]["totalAmount"], 250 * sold);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_tills_that_sell_at_once_the_one_with_a_failing_sale_fails_alone() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    for round in 0..TILLS {
        // No till can write until all of them wait for it: then they share their commits.
        let held = shop.store.test_db().begin().await.expect("the only writer");
        let coming = Arc::new(AtomicUsize::new(0));
        let counted = coming.clone();
        fault::call("tx.begin", move || {
            counted.fetch_add(1, Ordering::SeqCst);
        });
        // Once in each place of the queue.
        fault::set("sale.written", &format!("{round}*off->1*return(error)->off"));
        let mut tills = tokio::task::JoinSet::new();
        for _ in 0..TILLS {
            let person = person.clone();
            tills.spawn(async move { person.sell(json!([line("TEA", 1), line("BANANA", 0.5)])).await.status });
        }
        while coming.load(Ordering::SeqCst) < TILLS {
            tokio::task::yield_now().await;
        }
        drop(held);
        fault::set("tx.begin", "off");
        let mut statuses = tills.join_all().await;
        statuses.sort_unstable();
        assert_eq!(statuses, [vec![201; TILLS - 1], vec![503]].concat(), "round {round}");
    }
    let sold = TILLS * (TILLS - 1);
    let sales = sale::Entity::find().all(shop.store.test_db().reader()).await.expect("the sales");
    let receipts: BTreeSet<String> = sales.into_iter().map(|sale| sale.receipt_number).collect();
    assert_eq!(receipts, (1..=sold).map(|number| format!("S01-01-{number:06}")).collect());
    let seqs: Vec<i64> = shop.outbox().await.iter().map(|entry| entry.seq).collect();
    let sold = i64::try_from(sold).expect("a number");
    assert_eq!(seqs, (1..=sold + 1).collect::<Vec<_>>());
    assert_eq!(shop.level("TEA").await, Qty::pieces(10 - sold));
    assert_eq!(shop.level("BANANA").await, Qty(10_000 - sold * 500));
}
