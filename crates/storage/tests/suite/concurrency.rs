//! Many writers at once: no version is ever missed, no effect happens twice, no two nodes disagree.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use tillkeep_model::wire::{Applied, PushStatus};
use tillkeep_model::{Money, Qty};
use tillkeep_storage::entity::{audit_log, product, sale};
use tillkeep_storage::sea_orm::{EntityTrait, IntoActiveModel, PaginatorTrait, QueryOrder};
use tillkeep_storage::verify::{self, Options, Source};
use tillkeep_storage::{Purpose, Side, audit, push as storage_push, raw, seed, series, settings};
use tokio::sync::Barrier;

use crate::kit::chain::{Chain, id, product as new_product, sender};
use crate::kit::envelopes::{adjustment, create_sale, customer, push};
use crate::kit::{self, Hq, at, private_postgres};

const WRITERS: usize = 8;
const COMMITS: usize = 25;

/// Where the versions of the writers come from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Versions {
    /// The product's: a counter, raised as the last thing before the commit.
    Counter,
    /// What rule D1 forbids: a sequence of the database, asked when a row is written.
    Sequence,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_puller_beside_eight_writers_misses_no_version() {
    for hq in kit::both().await {
        let hq = Arc::new(hq);
        let missed = race(&hq, Versions::Counter).await;
        assert!(missed.is_empty(), "never seen: {missed:?}");
        hq.verify().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_same_puller_does_miss_rows_with_versions_from_a_sequence() {
    // It is a race: on a busy machine one of them can miss nothing.
    for _ in 0..5 {
        if !race(&Arc::new(Hq::postgres().await), Versions::Sequence).await.is_empty() {
            return;
        }
    }
    panic!("the race above shows nothing: it does not find what it looks for");
}

/// Eight writers, and a puller every five milliseconds that asks for what is newer than its cursor. The rows that are
/// there in the end and that it never saw.
async fn race(hq: &Arc<Hq>, versions: Versions) -> BTreeSet<(String, i64)> {
    Chain::found(hq).await;
    if versions == Versions::Sequence {
        let tx = hq.db.begin().await.expect("a transaction");
        raw::execute(&tx, "CREATE SEQUENCE planted START 1000", []).await.expect("a sequence");
        tx.commit().await.expect("a commit");
    }
    let running = Arc::new(AtomicUsize::new(WRITERS));
    let writers: Vec<_> =
        (0..WRITERS).map(|writer| tokio::spawn(write(hq.clone(), writer, versions, running.clone()))).collect();
    let store = id("S01");
    let (mut cursor, mut found) = (0, BTreeSet::new());
    let mut interval = tokio::time::interval(Duration::from_millis(5));
    loop {
        interval.tick().await;
        // Read before the pull: what was committed by then must be in it.
        let finished = running.load(Ordering::SeqCst) == 0;
        let answer = hq.answer("products", store, cursor, 7).await;
        for row in &answer.rows {
            let row = kit::parse(row.get());
            let version = row["syncVersion"].as_i64().expect("a version");
            assert!(version > cursor, "version {version} came after {cursor} was pulled");
            found.insert((row["sku"].as_str().expect("a sku").to_owned(), version));
        }
        cursor = answer.latest_version;
        if finished && answer.rows.is_empty() {
            break;
        }
    }
    for writer in writers {
        writer.await.expect("a writer");
    }
    let present: BTreeSet<_> = product::Entity::find()
        .all(hq.db.reader())
        .await
        .expect("a read")
        .into_iter()
        .map(|row| (row.sku, row.sync_version))
        .collect();
    assert_eq!(present.len(), 2 + WRITERS * COMMITS * 2);
    present.difference(&found).cloned().collect()
}

/// Each commit adds two products; every fifth also edits one that all writers fight for.
async fn write(hq: Arc<Hq>, writer: usize, versions: Versions, running: Arc<AtomicUsize>) {
    for commit in 0..COMMITS {
        let mut tx = hq.db.begin().await.expect("a transaction");
        for half in [1, 2] {
            let mut row = new_product(&format!("W{writer}-{commit}-{half}"), half);
            if versions == Versions::Sequence {
                let next = raw::query(&tx, "SELECT nextval('planted') AS n", []).await.expect("a number");
                row.sync_version = next[0].try_get("", "n").expect("a number");
            }
            product::Entity::insert(row.into_active_model()).exec_without_returning(&tx).await.expect("an insert");
            // What else a transaction does before it commits, for some longer than for others.
            tokio::time::sleep(Duration::from_millis((writer % 4) as u64)).await;
        }
        if versions == Versions::Counter {
            tx.touch(kit::entity("products"));
        }
        tx.commit().await.expect("a commit");
        if versions == Versions::Counter && commit % 5 == 0 {
            hq.edit::<product::Entity>(id("product:TEA"), |row| row.price += Money(1)).await;
        }
    }
    running.fetch_sub(1, Ordering::SeqCst);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_same_push_twice_at_once_changes_stock_once() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let sales: Vec<_> = (0..20)
            .map(|n| create_sale(&chain.first, id(&format!("sale {n}")), &[(chain.tea, 1), (chain.rice, 2)]))
            .collect();
        let (hq, sales, start) = (Arc::new(hq), Arc::new(sales), Arc::new(Barrier::new(4)));
        let pushes: Vec<_> = (0..4)
            .map(|_| {
                let (hq, sales, start) = (hq.clone(), sales.clone(), start.clone());
                tokio::spawn(async move {
                    start.wait().await;
                    push(&hq, &sender("S01"), &sales).await.results
                })
            })
            .collect();
        for results in pushes {
            for result in results.await.expect("a push") {
                assert_eq!(result.status, PushStatus::Ok, "{result:?}");
            }
        }
        let level = |product| hq.stock(chain.first.store_id, product);
        assert_eq!(level(chain.tea).await.expect("tea").quantity, Qty::pieces(-20));
        assert_eq!(level(chain.rice).await.expect("rice").quantity, Qty::pieces(-40));
        hq.verify().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_request_that_comes_twice_at_once_is_applied_once_and_called_a_duplicate_the_other_time() {
    const ROUNDS: usize = 50;
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let store = chain.first.store_id;
        let hq = Arc::new(hq);
        for round in 0..ROUNDS {
            let named = |what: &str| id(&format!("{what} {round}"));
            let mut request = vec![
                customer(&chain.first, named("customer"), &format!("S01-{round:06}")),
                create_sale(&chain.first, named("sale"), &[(chain.tea, 1), (chain.rice, 2)]),
                adjustment(&chain.first, named("adjustment"), chain.tea, "received", 3, Some(400)),
                // What is refused has one row in the log as well.
                customer(&chain.first, named("refused"), &"9".repeat(1000)),
                json!({"entity_type": "sales", "entity_id": named("unreadable")}),
            ];
            for (place, envelope) in request.iter_mut().enumerate() {
                envelope["seq"] = json!(5 * round + place + 1);
                envelope["node_epoch"] = json!("node");
            }
            let (request, start) = (Arc::new(request), Arc::new(Barrier::new(2)));
            let pushes: Vec<_> = (0..2)
                .map(|_| {
                    let (hq, request, start) = (hq.clone(), request.clone(), start.clone());
                    tokio::spawn(async move {
                        start.wait().await;
                        push(&hq, &sender("S01"), &request).await.results
                    })
                })
                .collect();
            let mut applied: Vec<Vec<Option<Applied>>> = Vec::new();
            for results in pushes {
                let results = results.await.expect("a push");
                applied.push(results.iter().map(|result| result.applied).collect());
            }
            applied.sort_by_key(|applied| applied[0] == Some(Applied::Duplicate));
            let of = |applied| [Some(applied), Some(applied), Some(applied), None, None];
            assert_eq!(applied, [of(Applied::Inserted), of(Applied::Duplicate)], "round {round}");
        }
        let log = hq.log().await;
        let with = |status: &str| log.iter().filter(|row| row.status == status).count();
        assert_eq!((with("success"), with("skipped"), with("failed")), (3 * ROUNDS, 3 * ROUNDS, 2 * ROUNDS));
        for name in ["customers", "sales", "inventory_adjustments"] {
            let status = hq.status(store, name).await.expect("a status");
            assert_eq!(status.total_pushed, i64::try_from(ROUNDS).expect("a number"), "{name}");
        }
        let pieces = i64::try_from(2 * ROUNDS).expect("a number");
        assert_eq!(hq.stock(store, chain.tea).await.expect("tea").quantity, Qty::pieces(pieces));
        hq.verify().await;
        let source = Source::new(hq.db.reader(), Side::Hq).await.expect("a source");
        assert_eq!(verify::run(Some(&source), &[], &Options::default()).await.expect("a verdict"), []);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn pushes_of_many_stores_at_once_do_not_get_in_each_other_s_way() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let (hq, start) = (Arc::new(hq), Arc::new(Barrier::new(8)));
        let pushes: Vec<_> = (0..8)
            .map(|n| {
                let (hq, start) = (hq.clone(), start.clone());
                // Two stores, four senders each, the products in both orders.
                let store = sender(if n % 2 == 0 { "S01" } else { "S02" });
                let mut lines = vec![(chain.tea, 1), (chain.rice, 1)];
                if n >= 4 {
                    lines.reverse();
                }
                let sales: Vec<_> =
                    (0..10).map(|sale| create_sale(&store, id(&format!("{n} {sale}")), &lines)).collect();
                tokio::spawn(async move {
                    start.wait().await;
                    push(&hq, &store, &sales).await.refused
                })
            })
            .collect();
        for refused in pushes {
            assert_eq!(refused.await.expect("a push"), 0);
        }
        for store in [&chain.first, &chain.second] {
            let level = hq.stock(store.store_id, chain.tea).await.expect("tea");
            assert_eq!(level.quantity, Qty::pieces(-40));
        }
        hq.verify().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whoever_changes_something_waits_for_a_hundred_envelopes_of_a_push_and_not_for_all() {
    let hq = Hq::sqlite().await;
    let chain = Chain::found(&hq).await;
    let sales: Vec<String> =
        (0..1000).map(|n| create_sale(&chain.first, id(&format!("sale {n}")), &[(chain.tea, 1)]).to_string()).collect();
    let (sync, first) = (hq.db.with_pool(Purpose::Sync), chain.first.clone());
    let pushing = tokio::spawn(async move {
        let envelopes: Vec<&str> = sales.iter().map(String::as_str).collect();
        storage_push::push(&sync, &first, &envelopes, at(100)).await.expect("an answer to the push")
    });
    // Three of them, so that one waits whenever a part is done. Each sees how far the push has come.
    let people = (0..3).map(|_| async {
        let mut seen = Vec::new();
        while !pushing.is_finished() {
            let tx = hq.db.begin().await.expect("a transaction");
            seen.push(sale::Entity::find().count(&tx).await.expect("a count"));
            tx.commit().await.expect("a commit");
        }
        seen
    });
    let mut seen = futures_util::future::join_all(people).await.concat();
    let pushed = pushing.await.expect("the push");
    assert_eq!((pushed.results.len(), pushed.refused), (1000, 0));
    seen.extend([0, 1000]);
    seen.sort_unstable();
    let longest = seen.windows(2).map(|pair| pair[1] - pair[0]).max();
    // One that was not there in the moment when a part was done waits for another one.
    assert!(longest <= Some(200), "{longest:?} were stored while somebody waited");
    hq.verify().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn several_nodes_may_start_on_one_empty_database_at_once() {
    let database = private_postgres::Database::create();
    let start = Arc::new(Barrier::new(4));
    let nodes: Vec<_> = (0..4)
        .map(|node| {
            let (url, start) = (database.url.clone(), start.clone());
            tokio::spawn(async move {
                start.wait().await;
                let db = kit::open_private(&url).await.expect("a migrated database");
                seed::ensure(&db, at(0)).await.expect("the seed");
                let epoch = settings::get_or_set(db.reader(), settings::EPOCH, || format!("epoch of node {node}"));
                epoch.await.expect("an epoch")
            })
        })
        .collect();
    let mut epochs = BTreeSet::new();
    for node in nodes {
        epochs.insert(node.await.expect("a node"));
    }
    assert_eq!(epochs.len(), 1, "one database has one epoch: {epochs:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_audit_log_is_one_chain_whoever_writes() {
    for hq in kit::both().await {
        let (db, start) = (hq.db.clone(), Arc::new(Barrier::new(8)));
        let writers: Vec<_> = (0..8)
            .map(|_| {
                let (db, start) = (db.clone(), start.clone());
                tokio::spawn(async move {
                    start.wait().await;
                    for _ in 0..5 {
                        let tx = db.begin().await.expect("a transaction");
                        let entry = audit::Entry { action: "login", ..audit::Entry::default() };
                        audit::record(&tx, entry, at(0)).await.expect("a line in the log");
                        tx.commit().await.expect("a commit");
                    }
                })
            })
            .collect();
        for writer in writers {
            writer.await.expect("a writer");
        }
        let select = audit_log::Entity::find().order_by_asc(audit_log::Column::Seq);
        let rows = select.all(hq.db.reader()).await.expect("the log");
        assert_eq!(rows.iter().map(|row| row.seq).collect::<Vec<_>>(), (1..=40).collect::<Vec<_>>());
        let mut previous = String::new();
        for row in rows {
            assert_eq!(row.previous_hash, previous);
            assert_eq!(audit::hash(&row), row.hash);
            previous = row.hash;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_series_gives_no_number_twice_and_leaves_none_out() {
    for hq in kit::both().await {
        let db = hq.db.clone();
        let takers: Vec<_> = (0..8)
            .map(|taker| {
                let db = db.clone();
                tokio::spawn(async move {
                    let mut taken = Vec::new();
                    for round in 0..10 {
                        let tx = db.begin().await.expect("a transaction");
                        let number = series::next(&tx, "po").await.expect("a number");
                        // Some documents are never finished.
                        if (taker + round) % 3 != 0 {
                            tx.commit().await.expect("a commit");
                            taken.push(number);
                        }
                    }
                    taken
                })
            })
            .collect();
        let mut taken = Vec::new();
        for taker in takers {
            taken.extend(taker.await.expect("a taker"));
        }
        taken.sort_unstable();
        assert_eq!(taken, (1..=i64::try_from(taken.len()).expect("a count")).collect::<Vec<_>>(), "on {}", hq.name);
    }
}
