//! Sales that receivers are to be told of: each that was stored has its place, and none appears below one that was told.
//! `docs/integrate.md`, "Sales by webhook".

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use tillkeep_model::{Instant, JsonText};
use tillkeep_storage::Tx;
use tillkeep_storage::alerts::deliveries::Answer;
use tillkeep_storage::alerts::{hooks, receivers, sales};
use tillkeep_storage::db::{Turn, share_turn};
use tillkeep_storage::entity::{alert_hook, sale_news};
use tillkeep_storage::sea_orm::{EntityTrait, IntoActiveModel, PaginatorTrait};
use tokio::time::timeout;
use uuid::Uuid;

use crate::kit::chain::{Chain, id};
use crate::kit::envelopes::{create_sale, push, refunds, take, void_sale};
use crate::kit::{self, Hq, at};

/// A receiver of the sales of these stores, or of all.
async fn receiver(hq: &Hq, stores: &[Uuid]) -> alert_hook::Model {
    let tx = hq.db.begin().await.expect("begin");
    let hook = made(&tx, stores).await;
    tx.commit().await.expect("commit");
    hook
}

async fn made(tx: &Tx, stores: &[Uuid]) -> alert_hook::Model {
    let hook = alert_hook::Model {
        id: Uuid::now_v7(),
        what: hooks::SALES.to_owned(),
        kinds: JsonText::empty_list(),
        all_stores: stores.is_empty(),
        is_active: true,
        version: 1,
        told_to: sales::beginning(tx).await.expect("a place"),
        ..alert_hook::Model::default()
    };
    hooks::add(tx, hook.clone()).await.expect("a hook");
    hooks::set_stores(tx, hook.id, stores).await.expect("its stores");
    hook
}

/// Gives places to what is committed; the last one.
async fn numbered(hq: &Hq) -> i64 {
    let tx = hq.db.begin().await.expect("begin");
    sales::number(&tx).await.expect("places");
    tx.commit().await.expect("commit");
    sales::head(hq.db.reader()).await.expect("a place")
}

/// Has `hook` taken what there is for it: the sales, in their order.
async fn taken(hq: &Hq, hook: &mut alert_hook::Model) -> Vec<Uuid> {
    let head = numbered(hq).await;
    let page = sales::page(hq.db.reader(), hook, head, 1000).await.expect("a page");
    assert!(page.is_sorted_by(|one, next| one.place < next.place), "{page:?}");
    assert!(page.iter().all(|news| news.place > hook.told_to), "{page:?} behind {}", hook.told_to);
    hook.told_to = head;
    page.into_iter().map(|news| news.sale_id).collect()
}

#[tokio::test]
async fn a_sale_its_void_and_what_a_refund_makes_of_it_are_told_and_a_repetition_is_not() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let tea = [(chain.tea, 2)];
        take(&hq, &chain.first, &create_sale(&chain.first, id("before"), &tea)).await;
        assert_eq!(sale_news::Entity::find().count(hq.db.reader()).await.expect("a count"), 0, "nobody is to be told");

        let mut hook = receiver(&hq, &[]).await;
        let create = create_sale(&chain.first, id("one"), &tea);
        take(&hq, &chain.first, &create).await;
        assert_eq!(taken(&hq, &mut hook).await, [id("one")]);
        take(&hq, &chain.first, &create).await;
        assert!(taken(&hq, &mut hook).await.is_empty(), "it is the same");
        take(&hq, &chain.second, &refunds(&chain.second, id("back"), &create, &[(0, 1)])).await;
        let both: BTreeSet<Uuid> = taken(&hq, &mut hook).await.into_iter().collect();
        assert_eq!(both, BTreeSet::from([id("one"), id("back")]), "the sale is another one too");
        take(&hq, &chain.first, &create_sale(&chain.first, id("two"), &tea)).await;
        take(&hq, &chain.first, &void_sale(&chain.first, id("two"), &tea)).await;
        assert_eq!(taken(&hq, &mut hook).await, [id("two"), id("two")]);
    }
}

#[tokio::test]
async fn who_is_told_of_one_store_is_not_told_of_another_and_knows_how_far_behind_it_is() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let (mut all, mut one) = (receiver(&hq, &[]).await, receiver(&hq, &[chain.second.store_id]).await);
        for n in 0..3 {
            take(&hq, &chain.first, &create_sale(&chain.first, id(&format!("first {n}")), &[(chain.tea, 1)])).await;
        }
        take(&hq, &chain.second, &create_sale(&chain.second, id("second"), &[(chain.tea, 1)])).await;
        let lags = sales::lags(hq.db.reader()).await.expect("lags");
        assert_eq!([all.id, one.id].map(|hook| lags[&hook].sales), [4, 1], "before they have places");
        assert_eq!(lags[&one.id].since, Some(at(100)));
        numbered(&hq).await;
        let behind = async |before: Instant, kept_before: Instant| {
            sales::behind(hq.db.reader(), before, kept_before).await.expect("a look")
        };
        assert_eq!(behind(at(100), at(100)).await, None);
        assert_eq!(behind(at(101), at(100)).await, Some((2, at(100))));
        one.is_active = false;
        let tx = hq.db.begin().await.expect("begin");
        hooks::change(&tx, one.clone()).await.expect("a change");
        tx.commit().await.expect("commit");
        assert_eq!(behind(at(101), at(100)).await, Some((1, at(100))), "who is switched off has longer");
        assert_eq!(behind(at(100), at(101)).await, Some((1, at(100))));
        assert_eq!(taken(&hq, &mut all).await.len(), 4);
        assert_eq!(taken(&hq, &mut one).await, [id("second")]);
    }
}

#[tokio::test]
async fn what_all_have_taken_is_forgotten_and_what_one_has_not_is_kept() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let (quick, slow) = (receiver(&hq, &[]).await, receiver(&hq, &[]).await);
        take(&hq, &chain.first, &create_sale(&chain.first, id("one"), &[(chain.tea, 1)])).await;
        let head = numbered(&hq).await;
        let kept = async || sale_news::Entity::find().count(hq.db.reader()).await.expect("a count");
        let good = Answer { status: Some(204), text: String::new() };
        for (hook, left) in [(quick, 1), (slow, 0)] {
            let tx = hq.db.begin().await.expect("begin");
            let event = Uuid::now_v7();
            assert!(receivers::begin(&tx, &hook, event, head).await.expect("a message"));
            assert!(!receivers::begin(&tx, &hook, Uuid::now_v7(), head).await.expect("none"), "one is under way");
            receivers::settle(&tx, &hook, Some(event), &good, at(200)).await.expect("settled");
            sales::forget(&tx).await.expect("forgotten");
            tx.commit().await.expect("commit");
            assert_eq!(kept().await, left);
        }
        assert_eq!(numbered(&hq).await, head, "places go on where they were");
    }
}

#[tokio::test]
async fn what_commits_late_has_a_place_behind_what_was_told_before_it() {
    let hq = Hq::postgres().await;
    let mut hook = receiver(&hq, &[]).await;
    let news = |name: &str| sale_news::Model {
        batch: Uuid::now_v7(),
        sale_id: id(name),
        store_id: id("S01"),
        at: at(100),
        place: None,
    };
    let add = async |name: &str| {
        let tx = hq.db.begin().await.expect("begin");
        let row = news(name).into_active_model();
        sale_news::Entity::insert(row).exec_without_returning(&tx).await.expect("a row");
        tx
    };
    // The first one is written first, and committed last.
    let late = add("late").await;
    add("early").await.commit().await.expect("commit");
    assert_eq!(taken(&hq, &mut hook).await, [id("early")]);
    late.commit().await.expect("commit");
    assert_eq!(taken(&hq, &mut hook).await, [id("late")]);
}

#[tokio::test]
async fn a_receiver_that_is_made_beside_a_push_waits_for_it_and_a_push_beside_it_is_told() {
    const WHILE: Duration = Duration::from_millis(200);
    let hq = Hq::postgres().await;
    let chain = Chain::found(&hq).await;
    let sale = |name: &str| create_sale(&chain.first, id(name), &[(chain.tea, 1)]);
    // What a push holds until its commit.
    let pushing = hq.db.begin().await.expect("begin");
    share_turn(&pushing, Turn::Sales).await.expect("a turn");
    let (before, after) = (sale("before"), sale("after"));
    let mut waits = pin!(receiver(&hq, &[]));
    assert!(timeout(WHILE, waits.as_mut()).await.is_err(), "it waits for the push");
    pushing.commit().await.expect("commit");
    let mut first = waits.await;
    take(&hq, &chain.first, &before).await;
    assert_eq!(taken(&hq, &mut first).await, [id("before")]);

    let tx = hq.db.begin().await.expect("begin");
    let mut second = made(&tx, &[]).await;
    let mut waits = pin!(take(&hq, &chain.first, &after));
    assert!(timeout(WHILE, waits.as_mut()).await.is_err(), "a push waits until it is made");
    tx.commit().await.expect("commit");
    waits.await;
    assert_eq!(taken(&hq, &mut second).await, [id("after")]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_receiver_beside_stores_that_push_at_once_is_told_of_each_sale_once() {
    const PUSHES: usize = 15;
    for hq in kit::both().await {
        let hq = Arc::new(hq);
        let chain = Arc::new(Chain::found(&hq).await);
        let mut hook = receiver(&hq, &[]).await;
        let running = Arc::new(AtomicUsize::new(2));
        let writers: Vec<_> = (0..2)
            .map(|store| {
                let (hq, chain, running) = (hq.clone(), chain.clone(), running.clone());
                tokio::spawn(async move {
                    let sender = if store == 0 { &chain.first } else { &chain.second };
                    for n in 0..PUSHES {
                        let sale = |part: usize| id(&format!("{} {n} {part}", sender.store_code));
                        let sales: Vec<_> =
                            (0..3).map(|part| create_sale(sender, sale(part), &[(chain.tea, 1)])).collect();
                        assert_eq!(push(&hq, sender, &sales).await.refused, 0);
                    }
                    running.fetch_sub(1, Ordering::SeqCst);
                })
            })
            .collect();
        let mut told = Vec::new();
        loop {
            // Read before: what was committed by then must be in it.
            let is_finished = running.load(Ordering::SeqCst) == 0;
            told.extend(taken(&hq, &mut hook).await);
            if is_finished {
                break;
            }
            tokio::task::yield_now().await;
        }
        for writer in writers {
            writer.await.expect("a writer");
        }
        let distinct: BTreeSet<Uuid> = told.iter().copied().collect();
        assert_eq!((distinct.len(), told.len()), (2 * 3 * PUSHES, 2 * 3 * PUSHES), "{}", json!(told));
    }
}
