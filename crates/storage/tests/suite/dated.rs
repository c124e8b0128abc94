//! Times that cannot be, as a clock says that was set to the wrong year. `docs/sync.md`, rule U7.

use serde_json::{Value as Json, json};
use tillkeep_model::wire::Applied;
use tillkeep_model::{Instant, Qty};
use tillkeep_storage::entity::{customer, sale};
use tillkeep_storage::envelope::Sender;
use tillkeep_storage::sync_log::kept;
use tillkeep_storage::{high_water, own_documents, push, series};
use uuid::Uuid;

use crate::kit::chain::{Chain, id};
use crate::kit::envelopes::{create_sale, customer as new_customer, envelope, push, take, void_sale};
use crate::kit::{self, Hq, at, entity};

/// So many seconds into the last day of all that can be written.
fn never(seconds: i64) -> Instant {
    Instant::parse("9999-12-31T00:00:00Z").expect("an instant").plus_millis(seconds * 1000)
}

async fn ada(hq: &Hq) -> customer::Model {
    hq.row::<customer::Entity>(id("ada")).await.expect("the customer")
}

fn called(sender: &Sender, name: &str, time: Instant) -> Json {
    let data = json!({"id": id("ada"), "customerNumber": "S01-1", "firstName": name, "updatedAt": time});
    envelope(sender, "customers", id("ada"), "update", &data, time)
}

#[tokio::test]
async fn a_customer_that_is_dated_in_the_year_9999_is_frozen_for_no_store() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let mut made = new_customer(&chain.first, id("ada"), "S01-1");
        for key in ["createdAt", "updatedAt"] {
            made["data"][key] = json!(never(0));
        }
        made["timestamp"] = json!(never(0));
        assert_eq!(take(&hq, &chain.first, &made).await, Applied::Inserted);
        let row = ada(&hq).await;
        assert_eq!((row.created_at, row.updated_at), (at(100), at(100)), "the clock of headquarters");
        assert_eq!(row.flags.0, json!(["future_date"]));
        assert_eq!(hq.log().await[0].warning.as_deref(), Some("future_date"));
        for (sender, name, seconds) in [(&chain.second, "Bea", 110), (&chain.first, "Cora", 120)] {
            assert_eq!(take(&hq, sender, &called(sender, name, at(seconds))).await, Applied::Updated, "{name}");
            let row = ada(&hq).await;
            assert_eq!((row.first_name.as_deref(), row.flags.0), (Some(name), json!([])));
        }
        // Nor does it drag the clock of its store there, should that be restored.
        let numbers = high_water::of_store(hq.db.reader(), chain.first.store_id, "S01", "").await.expect("numbers");
        assert_eq!(numbers.get(series::OUTBOX_TIME), Some(&at(120).millis()));
        hq.verify().await;
    }
}

#[tokio::test]
async fn two_that_one_store_dates_in_the_future_are_distinguished_by_what_they_say() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        take(&hq, &chain.first, &new_customer(&chain.first, id("ada"), "S01-1")).await;
        let newer = called(&chain.first, "Bea", never(60));
        assert_eq!(take(&hq, &chain.first, &newer).await, Applied::Updated);
        assert_eq!(take(&hq, &chain.first, &called(&chain.first, "Old", never(30))).await, Applied::Skipped);
        assert_eq!(ada(&hq).await.first_name.as_deref(), Some("Bea"));
        assert_eq!(take(&hq, &chain.first, &newer).await, Applied::Duplicate);
        assert_eq!(take(&hq, &chain.first, &called(&chain.first, "Cora", never(90))).await, Applied::Updated);
        assert_eq!(take(&hq, &chain.first, &called(&chain.first, "Dora", at(101))).await, Applied::Updated);
        // What it says of two others is nothing to a third one.
        assert_eq!(take(&hq, &chain.second, &called(&chain.second, "Eve", never(1))).await, Applied::Updated);
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_sale_that_is_dated_in_the_future_is_voided_moves_goods_once_and_is_no_newer_than_the_next() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let lines = [(chain.tea, 1)];
        let mut made = create_sale(&chain.first, id("sale"), &lines);
        made["timestamp"] = json!(never(0));
        for key in ["createdAt", "startedAt", "completedAt", "updatedAt"] {
            made["data"][key] = json!(never(0));
        }
        assert_eq!(take(&hq, &chain.first, &made).await, Applied::Inserted);
        let row = hq.row::<sale::Entity>(id("sale")).await.expect("the sale");
        assert_eq!(
            (row.completed_at, row.flags.0),
            (never(0), json!(["future_date"])),
            "the document is as it was made"
        );
        let stock = hq.stock(chain.first.store_id, chain.tea).await.expect("the stock");
        assert_eq!(stock.last_sold_at, Some(at(100)));
        assert_eq!(take(&hq, &chain.first, &void_sale(&chain.first, id("sale"), &lines)).await, Applied::Skipped);
        let mut void = void_sale(&chain.first, id("sale"), &lines);
        void["timestamp"] = json!(at(101));
        assert_eq!(take(&hq, &chain.first, &void).await, Applied::Updated);
        assert_eq!(take(&hq, &chain.first, &made).await, Applied::Duplicate);
        let stock = hq.stock(chain.first.store_id, chain.tea).await.expect("the stock");
        assert_eq!(stock.quantity, Qty::ZERO);
        hq.verify().await;
    }
}

#[tokio::test]
async fn what_is_dated_in_the_future_is_the_same_when_it_comes_again_also_after_pruning() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let mut made = create_sale(&chain.first, id("sale"), &[(chain.tea, 1)]);
        (made["timestamp"], made["seq"], made["node_epoch"]) = (json!(never(0)), json!(1), json!("here"));
        let text = made.to_string();
        let sent = [text.as_str()];
        let at_hour = |hour: i64| push::push(&hq.db, &chain.first, &sent, at(3600 * hour));
        for (hour, applied) in [(1, Applied::Inserted), (2, Applied::Duplicate)] {
            let pushed = at_hour(hour).await.expect("an answer");
            assert_eq!((pushed.results[0].applied, pushed.handshake), (Some(applied), false), "no number came twice");
        }
        let pruned = kept::prune(&hq.db, chain.first.store_id, Instant::default(), at(10_000)).await.expect("a batch");
        assert_eq!(pruned.rows, 2);
        let pushed = at_hour(3).await.expect("an answer");
        assert_eq!((pushed.results[0].applied, pushed.handshake), (Some(Applied::Duplicate), false));
        // The future has come.
        let late = push::push(&hq.db, &chain.first, &[text.as_str()], never(86_000)).await.expect("an answer");
        assert_eq!((late.results[0].applied, late.handshake), (Some(Applied::Duplicate), false));
        let stock = hq.stock(chain.first.store_id, chain.tea).await.expect("the stock");
        assert_eq!(stock.quantity, Qty::pieces(-1));
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_refusal_that_is_tried_again_later_is_as_old_as_when_it_came_first() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        take(&hq, &chain.first, &new_customer(&chain.first, id("ada"), "S01-1")).await;
        take(&hq, &chain.second, &new_customer(&chain.second, id("bob"), "S02-1")).await;
        let mut refused = called(&chain.first, "Refused", never(0));
        refused["data"]["email"] = json!("no address");
        let pushed = push(&hq, &chain.first, std::slice::from_ref(&refused)).await;
        assert_eq!(pushed.refused, 1);
        let later = called(&chain.first, "Later", at(500)).to_string();
        push::push(&hq.db, &chain.first, &[later.as_str()], at(500)).await.expect("an answer");
        // As if the rule that it broke were gone.
        let tx = hq.db.begin().await.expect("a transaction");
        let text = {
            refused["data"]["email"] = json!("ada@example.com");
            refused.to_string()
        };
        let hash = push::hash_of(&text, &chain.first).expect("a hash");
        let sql = "UPDATE sync_log SET hash = $1 WHERE error IS NOT NULL";
        tillkeep_storage::raw::execute(&tx, sql, [hash.into()]).await.expect("a statement");
        tx.commit().await.expect("a commit");
        let again = push::push(&hq.db, &chain.first, &[text.as_str()], at(900)).await.expect("an answer");
        assert_eq!(again.results[0].applied, Some(Applied::Skipped));
        assert_eq!(ada(&hq).await.first_name.as_deref(), Some("Later"));
    }
}

#[tokio::test]
async fn a_document_that_is_dated_years_back_is_flagged_and_comes_back_to_its_store_as_what_is_recent() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let years_ago = Instant::parse("2016-01-01T00:00:00Z").expect("an instant");
        let mut old = create_sale(&chain.first, id("old"), &[(chain.tea, 1)]);
        old["timestamp"] = json!(years_ago);
        for key in ["createdAt", "startedAt", "completedAt", "updatedAt"] {
            old["data"][key] = json!(years_ago);
        }
        take(&hq, &chain.first, &old).await;
        let mut day = create_sale(&chain.first, id("day"), &[(chain.tea, 1)]);
        day["data"]["businessDate"] = json!("2016-01-01");
        take(&hq, &chain.first, &day).await;
        // A store may be without a line for months.
        let mut months = create_sale(&chain.first, id("months"), &[(chain.tea, 1)]);
        months["data"]["businessDate"] = json!("2026-01-02");
        take(&hq, &chain.first, &months).await;
        for (name, flags) in [("old", json!(["past_date"])), ("day", json!(["past_date"])), ("months", json!([]))] {
            assert_eq!(hq.row::<sale::Entity>(id(name)).await.expect("the sale").flags.0, flags, "{name}");
        }
        let snapshot = hq.db.snapshot().await.expect("a snapshot");
        let since = at(-90 * 86_400);
        let page = own_documents::page(&snapshot, entity("sales"), chain.first.store_id, Uuid::nil(), since, 100);
        assert_eq!(page.await.expect("a page").rows.len(), 3);
        let since = at(86_400);
        let page = own_documents::page(&snapshot, entity("sales"), chain.first.store_id, Uuid::nil(), since, 100);
        assert_eq!(page.await.expect("a page").rows.len(), 0, "what is older than that stays");
    }
}
