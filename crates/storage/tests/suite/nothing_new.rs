//! What is answered to an envelope of which nothing was taken. `docs/sync.md`, rules D7, U3 and U7.

use serde_json::{Value as Json, json};
use tillkeep_model::Money;
use tillkeep_model::wire::Applied;
use tillkeep_storage::entity::{customer, purchase_order, supplier};
use tillkeep_storage::envelope;
use tillkeep_storage::envelope::Sender;
use tillkeep_storage::sync_log as log;

use crate::kit::chain::{self, Chain, id};
use crate::kit::envelopes::{create_sale, customer as new_customer, envelope, take, void_sale};
use crate::kit::{self, Hq, at};

async fn ada(hq: &Hq) -> customer::Model {
    hq.row::<customer::Entity>(id("ada")).await.expect("the customer")
}

/// The customer once more, with other columns, so many seconds later.
fn again(sender: &Sender, seconds: i64, more: &[(&str, Json)]) -> Json {
    let mut envelope = new_customer(sender, id("ada"), "S01-1");
    (envelope["action"], envelope["timestamp"]) = (json!("update"), json!(at(seconds)));
    for (key, value) in more {
        envelope["data"][*key] = value.clone();
    }
    envelope
}

#[tokio::test]
async fn an_envelope_of_which_nothing_is_taken_is_no_update_and_its_row_travels_back() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let sender: &envelope::Sender = &chain.first;
        take(&hq, sender, &new_customer(sender, id("ada"), "S01-1")).await;
        let credit = [("creditLimit", json!(999)), ("taxExempt", json!(true)), ("accountBalance", json!(-5))];
        let mut version = ada(&hq).await.sync_version;
        for (seconds, more, applied) in [
            (10, credit.as_slice(), Applied::Skipped),
            (20, &[], Applied::Duplicate),
            (30, &[("shoeSize", json!(43))], Applied::Skipped),
        ] {
            assert_eq!(take(&hq, sender, &again(sender, seconds, more)).await, applied, "{more:?}");
            let row = ada(&hq).await;
            assert!(row.sync_version > version, "rule D7");
            version = row.sync_version;
            assert_eq!((row.first_name.as_deref(), row.credit_limit, row.tax_exempt), (Some("Ada"), Money(0), false));
        }
        // What it said holds all the same: an older envelope does not undo it.
        let older = again(sender, 15, &[("firstName", json!("Bea"))]);
        assert_eq!(take(&hq, sender, &older).await, Applied::Skipped);
        assert_eq!(ada(&hq).await.first_name.as_deref(), Some("Ada"));
        assert_eq!(take(&hq, sender, &again(sender, 40, &[("firstName", json!("Bea"))])).await, Applied::Updated);
        let statuses: Vec<String> = hq.log().await.into_iter().map(|row| row.status).collect();
        assert_eq!(statuses, [log::SUCCESS, log::SKIPPED, log::SKIPPED, log::SKIPPED, log::SKIPPED, log::SUCCESS]);
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_void_that_comes_twice_and_a_header_that_is_headquarters_say_so() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        hq.insert::<supplier::Entity>([chain::supplier()]).await;
        let lines = [(chain.tea, 1)];
        take(&hq, &chain.first, &create_sale(&chain.first, id("sale"), &lines)).await;
        assert_eq!(take(&hq, &chain.first, &void_sale(&chain.first, id("sale"), &lines)).await, Applied::Updated);
        let mut twice = void_sale(&chain.first, id("sale"), &lines);
        twice["timestamp"] = json!(at(90));
        assert_eq!(take(&hq, &chain.first, &twice).await, Applied::Duplicate);

        hq.insert::<purchase_order::Entity>([chain::order("PO", chain.first.store_id, "ordered")]).await;
        let order = |status: &str, seconds: i64| {
            let data = json!({"id": id("PO"), "status": status, "notes": "mine", "totalAmount": 77});
            envelope(&chain.first, "purchase_orders", id("PO"), "update", &data, at(seconds))
        };
        let before = hq.row::<purchase_order::Entity>(id("PO")).await.expect("the order");
        assert_eq!(take(&hq, &chain.first, &order("ordered", 1)).await, Applied::Skipped);
        let after = hq.row::<purchase_order::Entity>(id("PO")).await.expect("the order");
        assert!(after.sync_version > before.sync_version, "rule D7");
        assert_eq!((after.notes, after.total_amount), (before.notes, before.total_amount));
        assert_eq!(take(&hq, &chain.first, &order("received", 2)).await, Applied::Updated);
        hq.verify().await;
    }
}
