//! What leaves the log after months is still known. `docs/sync.md`, rule U13.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value as Json, json};
use tillkeep_model::wire::{Applied, Number, PushResult, SentRange};
use tillkeep_model::{Instant, Qty};
use tillkeep_storage::completeness::{self, Reported};
use tillkeep_storage::entity::{sync_log, sync_log_kept};
use tillkeep_storage::envelope::Sender;
use tillkeep_storage::reports::history::{self, By};
use tillkeep_storage::sea_orm::EntityTrait;
use tillkeep_storage::sync_log::kept::{self, AT_ONCE};
use tillkeep_storage::{fault, high_water, known_numbers, nodes, push, raw, series, sync_log as log};

use crate::kit::chain::{Chain, id, sender};
use crate::kit::envelopes::{adjustment, create_sale, customer, push, void_sale};
use crate::kit::{self, Hq, at};

/// Moves what was first seen before `before`; how many rows of the log that were.
async fn prune(hq: &Hq, chain: &Chain, before: Instant) -> u64 {
    let mut pruned = 0;
    for store in kept::stores_before(hq.db.reader(), before).await.expect("the stores") {
        assert!([chain.first.store_id, chain.second.store_id].contains(&store));
        let mut next = Some(Instant::default());
        while let Some(from) = next {
            let batch = kept::prune(&hq.db, store, from, before).await.expect("a batch");
            (pruned, next) = (pruned + batch.rows, batch.next);
        }
    }
    pruned
}

async fn kept_rows(hq: &Hq) -> Vec<sync_log_kept::Model> {
    sync_log_kept::Entity::find().all(hq.db.reader()).await.expect("the kept rows")
}

fn numbered(mut envelope: Json, node_epoch: &str, seq: i64) -> Json {
    envelope["seq"] = json!(seq);
    envelope["node_epoch"] = json!(node_epoch);
    envelope
}

/// What a store sends on one day: goods, a sale that is voided, a customer who is changed.
fn day(chain: &Chain) -> Vec<Json> {
    let named = |number: i64, envelope| numbered(envelope, "node", number);
    let sale = [(chain.tea, 2), (chain.rice, 1)];
    let mut changed = customer(&chain.first, id("ada"), "S01-000001");
    changed["action"] = json!("update");
    changed["timestamp"] = json!(at(60));
    changed["data"]["firstName"] = json!("Grace");
    vec![
        named(1, adjustment(&chain.first, id("goods"), chain.tea, "received", 10, Some(400))),
        named(2, create_sale(&chain.first, id("sale"), &sale)),
        named(3, void_sale(&chain.first, id("sale"), &sale)),
        named(4, customer(&chain.first, id("ada"), "S01-000001")),
        named(5, changed),
    ]
}

fn applied(results: &[PushResult]) -> Vec<Option<Applied>> {
    results.iter().map(|result| result.applied).collect()
}

#[tokio::test]
async fn a_push_that_comes_again_after_pruning_has_no_effect_and_the_same_answer() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let day = day(&chain);
        assert_eq!(push(&hq, &chain.first, &day).await.refused, 0);
        let again = push(&hq, &chain.first, &day).await.results;
        assert_eq!(applied(&again), [Some(Applied::Duplicate); 5]);
        let again = json!(again);
        // What was made before the last that was applied, and comes late; another content under the same id and time.
        let mut late = customer(&chain.first, id("ada"), "S01-000001");
        late["timestamp"] = json!(at(30));
        let mut other = day[4].clone();
        other["data"]["firstName"] = json!("Joan");
        let level = async || hq.stock(chain.first.store_id, chain.tea).await.expect("tea").quantity;
        let name = async || hq.rows("customers", chain.first.store_id).await[0]["firstName"].clone();
        assert_eq!((level().await, name().await), (Qty::pieces(10), json!("Grace")));

        assert_eq!(prune(&hq, &chain, at(200)).await, 10, "five and their repetitions");
        assert_eq!(hq.log().await, []);
        assert_eq!(kept_rows(&hq).await.len(), 5, "a repetition leaves nothing of its own");
        assert_eq!(json!(push(&hq, &chain.first, &day).await.results), again);
        assert_eq!(applied(&push(&hq, &chain.first, &[late]).await.results), [Some(Applied::Skipped)]);
        assert_eq!((level().await, name().await), (Qty::pieces(10), json!("Grace")));
        // The repetitions leave the log in their turn, and are known by what was kept first.
        assert_eq!(prune(&hq, &chain, at(200)).await, 6);
        assert_eq!(kept_rows(&hq).await.len(), 6, "the late one is the only new one");
        assert_eq!(json!(push(&hq, &chain.first, &day).await.results), again);
        assert_eq!(applied(&push(&hq, &chain.first, &[other]).await.results), [Some(Applied::Updated)]);
        hq.verify().await;
    }
}

#[tokio::test]
async fn the_same_envelope_of_another_store_is_no_repetition_of_one_that_was_pruned() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let of = |sender: &Sender, name: &str, time| {
            let mut envelope = numbered(customer(sender, id("ada"), "S01-000001"), "node", 1);
            (envelope["action"], envelope["timestamp"]) = (json!("update"), json!(time));
            envelope["data"]["firstName"] = json!(name);
            envelope
        };
        assert_eq!(push(&hq, &chain.first, &[of(&chain.first, "Grace", at(60))]).await.refused, 0);
        assert_eq!(prune(&hq, &chain, at(200)).await, 1);
        let answers = push(&hq, &chain.second, &[of(&chain.second, "Joan", at(30))]).await.results;
        assert_eq!(applied(&answers), [Some(Applied::Updated)], "what one store said last is nothing to another one");
        assert_eq!(prune(&hq, &chain, at(200)).await, 1);
        assert_eq!(kept_rows(&hq).await.len(), 2);
    }
}

/// All that is asked of the numbers of a store.
async fn asked(hq: &Hq, sender: &Sender) -> Json {
    let (conn, store) = (hq.db.reader(), sender.store_id);
    let reported = Reported { node_epoch: "second".to_owned(), last_seq: 40, pending: 0, dead_lettered: 0 };
    let outbox = completeness::outbox(conn, store, &reported).await.expect("completeness");
    let mut out = json!({"completeness": outbox});
    for node_epoch in ["first", "second", "third"] {
        let water = high_water::of_store(conn, store, &sender.store_code, node_epoch).await.expect("the numbers");
        out["highWater"][node_epoch] = json!(water);
        let mut found = Vec::new();
        for (first, last) in [(1, 3), (1, 12), (2, 12), (5, 9), (8, 30), (20, 40), (31, 50)] {
            let range = SentRange {
                node_epoch: node_epoch.to_owned(),
                first,
                last,
                whole_from: Some(first),
                recent: (last - first + 1).min(SentRange::RECENT),
            };
            let ranges = std::slice::from_ref(&range);
            let missing = nodes::lowest_missing(conn, store, ranges).await.expect("what is missing");
            let lacks = nodes::lacks_recent(conn, store, ranges).await.expect("what is lacking");
            let twice = nodes::numbers_twice(conn, store, node_epoch, first, last).await.expect("what is twice");
            let mut long = Vec::new();
            for before in [50, 150, 1000] {
                let kept = nodes::long_kept(conn, store, ranges, at(before)).await.expect("what is kept");
                long.extend(kept.into_iter().map(|number| (before, number.seq)));
            }
            found.push(json!([first, last, missing, lacks, twice, long]));
        }
        out["ranges"][node_epoch] = json!(found);
        let dead: Vec<Number> = (1..40).map(|seq| Number { seq, node_epoch: node_epoch.to_owned() }).collect();
        out["neverRefused"][node_epoch] = json!(nodes::never_refused(conn, store, &dead).await.expect("the dead"));
    }
    out["epochs"] = json!(nodes::epochs(conn, store).await.expect("the databases"));
    out["highest"] = json!(known_numbers::highest_seq(conn, store).await.expect("a number"));
    for by in [By::Hour, By::Day] {
        let counts = history::counts(conn, store, by, at(-7200), at(100_000)).await.expect("the history");
        let mut counts: Vec<String> = counts.iter().map(|(point, counts)| format!("{point} {counts:?}")).collect();
        counts.sort();
        out["history"][format!("{by:?}")] = json!(counts);
    }
    out
}

#[tokio::test]
async fn completeness_and_all_that_is_asked_of_numbers_is_the_same_before_and_after_pruning() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        // Two databases of the store, each with holes, refusals among successes, and entries without a number.
        let sale = |node: &str, seq: i64| {
            numbered(create_sale(&chain.first, id(&format!("{node} {seq}")), &[(chain.tea, 1)]), node, seq)
        };
        let mut first: Vec<Json> = [1, 2, 3, 5, 6, 7, 8, 9, 12].map(|seq| sale("first", seq)).into();
        // A sum that does not add up is a warning; a number of a thousand digits is refused.
        first[1]["data"]["totalAmount"] = json!(1);
        first[4] = numbered(customer(&chain.first, id("refused"), &"9".repeat(1000)), "first", 6);
        let second: Vec<Json> = (8..=30).chain([33]).map(|seq| sale("second", seq)).collect();
        let mut without = create_sale(&chain.first, id("without"), &[(chain.tea, 1)]);
        let half = numbered(create_sale(&chain.first, id("half"), &[(chain.tea, 1)]), "third", 4);
        without["node_epoch"] = json!("third");
        let days = [(10, first.clone()), (20, first[..1].to_vec()), (4000, vec![without, half]), (90_000, second)];
        for (now, envelopes) in days {
            let raw: Vec<String> = envelopes.iter().map(Json::to_string).collect();
            let raw: Vec<&str> = raw.iter().map(String::as_str).collect();
            push::push(&hq.db, &chain.first, &raw, at(now)).await.expect("an answer");
        }
        let mut before = asked(&hq, &chain.first).await;
        assert_eq!(before["epochs"], json!({"first": 12, "second": 33, "third": 4}));
        assert_eq!(
            before["completeness"]["epochs"][0]["missing"],
            json!([{"from": 4, "to": 4}, {"from": 10, "to": 11}])
        );
        // But for one: an envelope that came twice counts once from then on.
        for (by, taken) in [("Hour", 9), ("Day", 11)] {
            let counts = |taken| format!("taken: {taken}, warnings: 1, sales: {taken}, settled: 0, failed: 1");
            let point = before["history"][by][0].as_str().expect("a point");
            assert!(point.contains(&counts(taken)), "{point}");
            before["history"][by][0] = json!(point.replace(&counts(taken), &counts(taken - 1)));
        }
        let mut left = hq.log().await.len();
        for (then, of_day) in [(at(3000), 9), (at(50_000), 2), (at(200_000), 24)] {
            assert_eq!(prune(&hq, &chain, then).await, of_day);
            left -= usize::try_from(of_day).expect("a number");
            assert_eq!((hq.log().await.len(), asked(&hq, &chain.first).await), (left, before.clone()), "{then}");
        }
        assert_eq!(left, 1, "what was refused is there");
    }
}

#[tokio::test]
async fn one_number_of_two_entries_is_found_also_when_the_first_one_was_pruned() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let twice = async || {
            let found = nodes::numbers_twice(hq.db.reader(), chain.first.store_id, "node", 1, i64::MAX).await;
            found.expect("an answer")
        };
        let day = day(&chain);
        let first = push(&hq, &chain.first, &day).await;
        assert!(prune(&hq, &chain, at(200)).await == 5 && !first.handshake && !twice().await);
        assert!(!push(&hq, &chain.first, &day).await.handshake && !twice().await, "the same ones again");
        assert_eq!(prune(&hq, &chain, at(200)).await, 5, "nothing of it is in the log");
        let mut other = numbered(create_sale(&chain.first, id("another"), &[(chain.tea, 1)]), "node", 2);
        other["timestamp"] = json!(at(5_000_000));
        assert!(push(&hq, &chain.first, &[other]).await.handshake && twice().await);
        prune(&hq, &chain, at(200)).await;
        assert!(twice().await, "also when both were pruned");
    }
}

#[tokio::test]
async fn what_was_refused_stays_in_the_log_settled_or_not() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let refused = |name: &str, seq| {
            let mut envelope = numbered(customer(&chain.first, id(name), &"9".repeat(1000)), "node", seq);
            envelope["data"]["creditLimit"] = json!("much");
            envelope
        };
        let sent: Vec<Json> = (1..=4).map(|seq| refused(&format!("customer {seq}"), seq)).collect();
        assert_eq!(push(&hq, &chain.first, &sent).await.refused, 4);
        // A later envelope closes the first, of which the store does not know yet; people settle two others.
        let mut mended = numbered(customer(&chain.first, id("customer 1"), "S01-000001"), "node", 5);
        mended["timestamp"] = json!(at(70));
        assert_eq!(push(&hq, &chain.first, &[mended]).await.refused, 0);
        let tx = hq.db.begin().await.expect("a transaction");
        for (status, name) in [(log::RETRIED, "customer 2"), (log::RESOLVED, "customer 3")] {
            let sql = "UPDATE sync_log SET status = $1, resolved_by = $2, resolved_at = last_seen_at, to_acknowledge = TRUE \
                       WHERE entity_id = $3";
            let values = [status.into(), id("user").into(), id(name).to_string().into()];
            assert_eq!(raw::execute(&tx, sql, values).await.expect("an update"), 1);
        }
        tx.commit().await.expect("a commit");
        let stays: Vec<sync_log::Model> = hq.log().await.into_iter().filter(|row| row.status != log::SUCCESS).collect();
        assert_eq!(stays.iter().filter(|row| row.to_acknowledge).count(), 3);
        assert_eq!(prune(&hq, &chain, at(200)).await, 1);
        assert_eq!(hq.log().await, stays);
        // What a user settled is not applied when it comes once more, pruned or not.
        for _ in 0..2 {
            assert_eq!(applied(&push(&hq, &chain.first, &sent[2..3]).await.results), [Some(Applied::Skipped)]);
            assert_eq!(prune(&hq, &chain, at(200)).await, 1);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_that_prune_beside_pushes_and_repetitions_lose_and_double_nothing() {
    const PUSHERS: usize = 4;
    const PUSHES: usize = 12;
    const EACH: usize = 25;
    for hq in kit::both().await {
        let chain = Arc::new(Chain::found(&hq).await);
        let hq = Arc::new(hq);
        let running = Arc::new(AtomicUsize::new(PUSHERS));
        let pushers: Vec<_> = (0..PUSHERS)
            .map(|pusher| {
                let (hq, chain, running) = (hq.clone(), chain.clone(), running.clone());
                tokio::spawn(async move {
                    let node = format!("node {pusher}");
                    for round in 0..PUSHES {
                        let sale = |place: usize| {
                            let row = id(&format!("sale {pusher} {round} {place}"));
                            let seq = i64::try_from(round * EACH + place + 1).expect("a number");
                            numbered(create_sale(&chain.first, row, &[(chain.tea, 1)]), &node, seq)
                        };
                        let sales: Vec<Json> = (0..EACH).map(sale).collect();
                        for is_first in [true, false] {
                            let results = push(&hq, &sender("S01"), &sales).await.results;
                            let wanted = if is_first { Applied::Inserted } else { Applied::Duplicate };
                            assert_eq!(applied(&results), vec![Some(wanted); EACH]);
                        }
                    }
                    running.fetch_sub(1, Ordering::SeqCst);
                })
            })
            .collect();
        let pruners: Vec<_> = (0..2)
            .map(|_| {
                let (hq, chain, running) = (hq.clone(), chain.clone(), running.clone());
                tokio::spawn(async move {
                    let mut pruned = 0;
                    while running.load(Ordering::SeqCst) > 0 {
                        pruned += prune(&hq, &chain, at(200)).await;
                        let known = nodes::epochs(hq.db.reader(), chain.first.store_id).await.expect("the databases");
                        for (node, last) in known {
                            let whole = SentRange { node_epoch: node, first: 1, last, whole_from: None, recent: 1 };
                            let missing = nodes::lowest_missing(hq.db.reader(), chain.first.store_id, &[whole]).await;
                            assert_eq!(missing.expect("an answer"), None, "nothing is missing at any moment");
                        }
                    }
                    pruned
                })
            })
            .collect();
        for pusher in pushers {
            pusher.await.expect("a pusher");
        }
        let mut pruned = 0;
        for pruner in pruners {
            pruned += pruner.await.expect("a pruner");
        }
        pruned += prune(&hq, &chain, at(200)).await;
        let all = PUSHERS * PUSHES * EACH;
        assert_eq!(usize::try_from(pruned).expect("a number"), 2 * all, "each row left the log once");
        let kept = kept_rows(&hq).await;
        assert_eq!((kept.len(), kept.iter().filter(|row| row.applied == 1).count()), (all, all));
        let level = hq.stock(chain.first.store_id, chain.tea).await.expect("tea").quantity;
        assert_eq!(level, Qty::pieces(-i64::try_from(all).expect("a number")));
        hq.verify().await;
    }
}

#[tokio::test]
async fn pruning_goes_in_batches_and_goes_on_after_one_that_broke_off() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let many = usize::try_from(AT_ONCE).expect("a number") + 200;
        let sales: Vec<Json> = (0..many)
            .map(|seq| {
                let row = id(&format!("sale {seq}"));
                let seq = i64::try_from(seq).expect("a number") + 1;
                numbered(create_sale(&chain.first, row, &[(chain.tea, 1)]), "node", seq)
            })
            .collect();
        for part in sales.chunks(600) {
            assert_eq!(push(&hq, &chain.first, part).await.refused, 0);
        }
        let batch = async |from| kept::prune(&hq.db, chain.first.store_id, from, at(200)).await;
        let before = (hq.log().await, asked(&hq, &chain.first).await);
        fault::set("prune.kept", "1*return(error)->off");
        batch(Instant::default()).await.expect_err("broken off");
        assert_eq!((hq.log().await, asked(&hq, &chain.first).await), before);
        assert_eq!(kept_rows(&hq).await, []);
        let done = batch(Instant::default()).await.expect("a batch");
        assert_eq!((done.rows, done.next), (AT_ONCE, Some(at(100))));
        assert_eq!(asked(&hq, &chain.first).await, before.1);
        let done = batch(at(100)).await.expect("a batch");
        assert_eq!((done.rows, done.next), (200, None));
        assert_eq!((hq.log().await.len(), kept_rows(&hq).await.len()), (0, many));
        assert_eq!(asked(&hq, &chain.first).await, before.1);
    }
}

#[tokio::test]
async fn numbers_that_a_user_takes_back_are_none_also_where_they_were_pruned() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let far = known_numbers::AHEAD - 5;
        let sale = |seq| numbered(create_sale(&chain.first, id("sale"), &[(chain.tea, 1)]), "node", seq);
        let sent = [sale(1), sale(far), sale(far + 1)];
        assert_eq!(push(&hq, &chain.first, &sent).await.refused, 0);
        assert_eq!(prune(&hq, &chain, at(200)).await, 3);
        let tx = hq.db.begin().await.expect("a transaction");
        known_numbers::set(&tx, chain.first.store_id, series::OUTBOX, 10).await.expect("set");
        tx.commit().await.expect("a commit");
        let epochs = nodes::epochs(hq.db.reader(), chain.first.store_id).await.expect("the databases");
        assert_eq!(epochs, [("node".to_owned(), 1)].into());
        assert_eq!(applied(&push(&hq, &chain.first, &[sale(2)]).await.results), [Some(Applied::Duplicate)]);
    }
}

#[tokio::test]
async fn what_is_kept_takes_less_than_half_of_the_room() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        for part in 0..2 {
            let sale = |place: i64| {
                let seq = part * 1000 + place + 1;
                numbered(
                    create_sale(&chain.first, uuid::Uuid::now_v7(), &[(chain.tea, 1)]),
                    "0b7c1b7e-6a7e-4f0e-9d2e-0d2f6b1c9a55",
                    seq,
                )
            };
            let sales: Vec<Json> = (0..1000).map(sale).collect();
            assert_eq!(push(&hq, &chain.first, &sales).await.refused, 0);
        }
        let logged = room(&hq, "sync_log").await;
        assert_eq!(prune(&hq, &chain, at(200)).await, 2000);
        let kept = room(&hq, "sync_log_kept").await;
        eprintln!("bytes a row with indexes: {} in the log, {} kept", logged / 2000, kept / 2000);
        assert!(kept * 2 < logged, "{kept} of {logged}");
    }
}

/// Bytes of a table with its indexes.
async fn room(hq: &Hq, table: &str) -> i64 {
    let sql = if hq.db.is_embedded() {
        "SELECT SUM(pgsize) AS bytes FROM dbstat WHERE aggregate = TRUE AND name IN \
         (SELECT name FROM sqlite_schema WHERE tbl_name = $1)"
    } else {
        "SELECT pg_total_relation_size(CAST(CAST($1 AS TEXT) AS regclass)) AS bytes"
    };
    let rows = raw::query(hq.db.reader(), sql, [table.into()]).await.expect("the size");
    rows[0].try_get("", "bytes").expect("a number")
}
