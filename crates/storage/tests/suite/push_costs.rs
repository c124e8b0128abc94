//! What a push costs the database, and when: it is read before its turn, and what it costs grows with its entries and no faster.
//! `docs/sync.md`, rule U5.

use std::ops::Range;
use std::time::Duration;

use serde_json::{Value as Json, json};
use tillkeep_model::Qty;
use tillkeep_model::wire::Applied;
use tillkeep_storage::{count, push as storage_push, raw};
use tokio::time::timeout;

use crate::kit::chain::{Chain, id};
use crate::kit::envelopes::{create_sale, push};
use crate::kit::till::Till;
use crate::kit::{self, Hq, at};

/// Sales with these numbers, one product each in turn, as text.
fn sales(chain: &Chain, numbers: Range<usize>) -> Vec<String> {
    let sale = |number: usize| {
        let product = if number.is_multiple_of(2) { chain.tea } else { chain.rice };
        let mut sale = create_sale(&chain.first, id(&format!("sale {number}")), &[(product, 1)]);
        sale["data"]["receiptNumber"] = json!(format!("S01-01-{number:06}"));
        (sale["seq"], sale["node_epoch"]) = (json!(number + 1), json!("node"));
        sale.to_string()
    };
    numbers.map(sale).collect()
}

/// The statements of a push of sales with these numbers.
async fn cost(hq: &Hq, chain: &Chain, numbers: Range<usize>) -> u64 {
    statements(hq, chain, &sales(chain, numbers)).await
}

/// The statements of a push of these new sales, all of which are taken.
async fn statements(hq: &Hq, chain: &Chain, sales: &[String]) -> u64 {
    let sent: Vec<&str> = sales.iter().map(String::as_str).collect();
    let before = count::statements();
    let pushed = storage_push::push(&hq.db, &chain.first, &sent, at(100)).await.expect("an answer to the push");
    let cost = count::statements() - before;
    let inserted = pushed.results.iter().filter(|result| result.applied == Some(Applied::Inserted)).count();
    assert_eq!(inserted, sent.len());
    cost
}

#[tokio::test]
async fn two_thousand_entries_cost_no_more_than_twice_the_statements_of_a_thousand() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let thousand = cost(&hq, &chain, 0..1000).await;
        let two_thousand = cost(&hq, &chain, 1000..3000).await;
        assert!(thousand > 0);
        assert!(two_thousand <= 2 * thousand, "{two_thousand} after {thousand} on {}", hq.name);
        for product in [chain.tea, chain.rice] {
            let level = hq.stock(chain.first.store_id, product).await.expect("a level");
            assert_eq!(level.quantity, Qty::pieces(-1500), "on {}", hq.name);
        }
        hq.verify().await;
    }
}

#[tokio::test]
async fn products_are_read_once_in_a_transaction_however_many_parts_it_has() {
    let hq = Hq::sqlite().await;
    let chain = Chain::found(&hq).await;
    cost(&hq, &chain, 0..2).await;
    let of = |number: usize, product| {
        let mut sale = create_sale(&chain.first, id(&format!("another sale {number}")), &[(product, 1)]);
        sale["data"]["receiptNumber"] = json!(format!("S01-02-{number:06}"));
        sale.to_string()
    };
    let mut costs = Vec::new();
    for (begun, second) in [(0, chain.tea), (200, chain.rice)] {
        // Two parts of a hundred in one transaction.
        let first = (begun..begun + 100).map(|number| of(number, chain.tea));
        let sales: Vec<String> = first.chain((begun + 100..begun + 200).map(|number| of(number, second))).collect();
        costs.push(statements(&hq, &chain, &sales).await);
    }
    let [same, other] = costs[..] else { panic!("two pushes") };
    // Which products the store has, and what those are.
    assert_eq!(other, same + 2);
}

#[tokio::test]
async fn what_was_sent_is_read_while_somebody_else_writes() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let held = hq.db.begin().await.expect("the writer");
        let sales = sales(&chain, 0..50);
        let sent: Vec<&str> = sales.iter().map(String::as_str).collect();
        let prepared = storage_push::prepare(&hq.db, &chain.first, &sent);
        let prepared = timeout(Duration::from_secs(20), prepared).await.expect("nobody is waited for");
        let prepared = prepared.expect("what was read");
        held.commit().await.expect("a commit");
        let pushed = prepared.apply(&hq.db, &chain.first, at(100)).await.expect("an answer to the push");
        assert_eq!((pushed.results.len(), pushed.refused), (50, 0));
        let level = hq.stock(chain.first.store_id, chain.tea).await.expect("a level");
        assert_eq!(level.quantity, Qty::pieces(-25), "on {}", hq.name);
    }
}

#[tokio::test]
async fn what_is_more_than_can_be_in_memory_is_applied_in_several_transactions() {
    let hq = Hq::sqlite().await;
    let chain = Chain::found(&hq).await;
    let before = count::commits();
    cost(&hq, &chain, 0..2).await;
    assert_eq!(count::commits() - before, 1);
    // Of these eleven at the most are in memory at once.
    let blank = format!("\"data\":{{{}", " ".repeat(1_900_000));
    let long: Vec<String> = sales(&chain, 2..16).iter().map(|sale| sale.replacen("\"data\":{", &blank, 1)).collect();
    let before = count::commits();
    statements(&hq, &chain, &long).await;
    assert_eq!(count::commits() - before, 2);
    let level = hq.stock(chain.first.store_id, chain.tea).await.expect("a level");
    assert_eq!(level.quantity, Qty::pieces(-8));
}

/// `SQLite` plans without figures, so that its plan is that of any size. Those of all sales of a store are `(store_id=?)` alone.
#[tokio::test]
async fn what_a_push_looks_for_is_found_by_an_index_and_never_along_all_that_its_store_has() {
    const GROWS: [&str; 9] = ["sales", "s", "d", "e", "chain_entries", "sale_items", "sale_payments", "l", "k"];
    let hq = Hq::sqlite().await;
    let chain = Chain::found(&hq).await;
    let mut till = Till::new(&chain.first, "till");
    let sales: Vec<Json> = (0..4).map(|number| till.sell(&chain, &format!("sale {number}"), 1)).collect();
    count::heard();
    push(&hq, &chain.first, &sales).await;
    let heard = count::heard();
    let mut looked_for = 0;
    for statement in heard.into_iter().filter(|statement| statement.sql.starts_with("SELECT")) {
        let values = statement.values.map(|values| values.0).unwrap_or_default();
        let plan = raw::query(hq.db.reader(), &format!("EXPLAIN QUERY PLAN {}", statement.sql), values).await;
        for line in plan.expect("a plan").iter().map(|row| row.try_get::<String>("", "detail").expect("a line")) {
            let table = line.split_whitespace().nth(1).unwrap_or_default();
            let goes_along = line.starts_with("SCAN ") || line.ends_with("(store_id=?)");
            let is_fault = line.contains("AUTOMATIC") || goes_along && GROWS.contains(&table);
            assert!(!is_fault, "{line}\n{}", statement.sql);
            looked_for += usize::from(GROWS.contains(&table));
        }
    }
    assert!(looked_for >= 4, "of sales and of their chains: {looked_for}");
}
