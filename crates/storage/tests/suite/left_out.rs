//! What a store may not write is left out and named. `docs/sync.md`, rule U11.

use serde_json::{Value as Json, json};
use tillkeep_model::wire::Applied;
use tillkeep_storage::entity::{customer, purchase_order, supplier, transfer};

use crate::kit::chain::{self, Chain, id};
use crate::kit::envelopes::{customer as new_customer, envelope, take};
use crate::kit::{self, Hq, at};

async fn ada(hq: &Hq) -> customer::Model {
    hq.row::<customer::Entity>(id("ada")).await.expect("the customer")
}

async fn warning(hq: &Hq) -> Option<String> {
    hq.log().await.into_iter().next_back().expect("an entry").warning
}

fn with(mut envelope: Json, values: &[(&str, Json)]) -> Json {
    for (key, value) in values {
        envelope["data"][*key] = value.clone();
    }
    envelope
}

#[tokio::test]
async fn what_a_new_row_says_and_its_store_may_not_is_left_out_and_named() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let granted = [
            ("taxExempt", json!(true)),
            ("taxExemptNumber", json!("X 1")),
            ("creditLimit", json!(50_000)),
            ("account_balance", json!(-1)),
            // What the columns begin with, what each server says itself, and what is not known.
            ("isActive", json!(false)),
            ("mergedIntoId", Json::Null),
            ("syncVersion", json!(7)),
            ("flags", json!(["closed_day"])),
            ("phoneDigits", json!("555")),
            ("shoeSize", json!(43)),
        ];
        take(&hq, &chain.first, &with(new_customer(&chain.first, id("ada"), "S01-1"), &granted)).await;
        let row = ada(&hq).await;
        assert!(!row.tax_exempt && row.is_active && row.credit_limit.0 == 0);
        let flags = ["accountBalance", "creditLimit", "taxExempt", "taxExemptNumber"];
        let flags = flags.map(|column| format!("left_out:{column}"));
        assert_eq!(row.flags.0, json!(flags));
        assert_eq!(warning(&hq).await, Some(flags.join(", ")));
        hq.verify().await;
    }
}

#[tokio::test]
async fn what_a_store_sends_by_habit_is_no_news() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let habit = [
            ("taxExempt", json!(false)),
            ("taxExemptNumber", Json::Null),
            ("creditLimit", json!(0)),
            ("accountBalance", json!(0)),
            ("isActive", json!(true)),
            ("originStoreId", json!(chain.first.store_id)),
            ("synced", json!(false)),
            ("deletedAt", Json::Null),
        ];
        let made = with(new_customer(&chain.first, id("ada"), "S01-1"), &habit);
        take(&hq, &chain.first, &made).await;
        assert_eq!((ada(&hq).await.flags.0, warning(&hq).await), (json!([]), None));
        hq.edit::<customer::Entity>(id("ada"), |row| row.tax_exempt = true).await;
        // It has not pulled that yet.
        let mut later = with(made, &[("firstName", json!("Bea")), ("creditLimit", json!(9))]);
        (later["action"], later["timestamp"]) = (json!("update"), json!(at(9)));
        take(&hq, &chain.first, &later).await;
        assert_eq!((ada(&hq).await.flags.0, warning(&hq).await), (json!([]), None));
    }
}

#[tokio::test]
async fn what_an_envelope_says_to_have_changed_is_named_when_it_is_left_out() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let made = new_customer(&chain.first, id("ada"), "S01-1");
        take(&hq, &chain.first, &made).await;
        hq.edit::<customer::Entity>(id("ada"), |row| row.credit_limit = tillkeep_model::Money(100)).await;
        let changes = |seconds: i64, columns: &[&str], limit: i64| {
            let said = [("creditLimit", json!(limit)), ("taxExempt", json!(true)), ("phone", json!("555 0101"))];
            let mut envelope = with(made.clone(), &said);
            (envelope["action"], envelope["timestamp"]) = (json!("update"), json!(at(seconds)));
            envelope["changed"] = json!(columns);
            envelope
        };
        assert_eq!(take(&hq, &chain.first, &changes(1, &["phone"], 9)).await, Applied::Updated);
        assert_eq!((ada(&hq).await.flags.0, warning(&hq).await), (json!([]), None), "it is about something else");
        assert_eq!(take(&hq, &chain.first, &changes(2, &["credit_limit"], 9)).await, Applied::Skipped);
        let row = ada(&hq).await;
        assert_eq!((row.credit_limit.0, row.flags.0), (100, json!(["left_out:creditLimit"])));
        assert_eq!(warning(&hq).await.as_deref(), Some("left_out:creditLimit"));
        // What headquarters has is not lost, and 0 is a value as any other.
        take(&hq, &chain.first, &changes(3, &["creditLimit"], 100)).await;
        assert_eq!(ada(&hq).await.flags.0, json!([]));
        take(&hq, &chain.first, &changes(4, &["creditLimit"], 0)).await;
        assert_eq!(ada(&hq).await.flags.0, json!(["left_out:creditLimit"]));
        // Of a row that is not here it is about no more than that either.
        let mut other = changes(5, &["taxExempt"], 9);
        (other["entity_id"], other["data"]["id"]) = (json!(id("bea")), json!(id("bea")));
        other["data"]["customerNumber"] = json!("S01-2");
        assert_eq!(take(&hq, &chain.first, &other).await, Applied::Inserted);
        let bea = hq.row::<customer::Entity>(id("bea")).await.expect("the customer");
        assert_eq!(bea.flags.0, json!(["left_out:taxExempt"]));
        hq.verify().await;
    }
}

#[tokio::test]
async fn orders_transfers_and_lines_name_what_is_headquarters_or_the_other_side_s_to_say() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        hq.insert::<supplier::Entity>([chain::supplier()]).await;
        let order = json!({"id": id("order"), "poNumber": "S01-PO-1", "supplierId": id("supplier"), "status": "draft",
                           "approvedBy": id("ann"), "conflictNote": "mine", "createdAt": at(0)});
        take(&hq, &chain.first, &envelope(&chain.first, "purchase_orders", id("order"), "create", &order, at(0))).await;
        let row = hq.row::<purchase_order::Entity>(id("order")).await.expect("the order");
        assert_eq!(row.flags.0, json!(["left_out:approvedBy", "left_out:conflictNote"]));
        let moved = json!({"id": id("transfer"), "transferNumber": "S01-TR-1", "status": "draft", "createdAt": at(0),
                           "fromStoreId": chain.first.store_id, "toStoreId": chain.second.store_id,
                           "receivedBy": id("ann"),
                           "transferItems": [{"lineNo": 1, "productId": chain.tea, "requestedQuantity": 5,
                                              "receivedQuantity": 5, "damagedQuantity": 0}]});
        take(&hq, &chain.first, &envelope(&chain.first, "transfers", id("transfer"), "create", &moved, at(0))).await;
        let row = hq.row::<transfer::Entity>(id("transfer")).await.expect("the transfer");
        assert_eq!(row.flags.0, json!(["left_out:receivedBy", "left_out:transferItems.receivedQuantity"]));
        hq.verify().await;
    }
}

#[tokio::test]
async fn where_a_type_has_no_flags_the_log_names_what_was_left_out() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        hq.insert::<supplier::Entity>([chain::supplier()]).await;
        hq.insert::<purchase_order::Entity>([chain::order("PO", chain.first.store_id, "ordered")]).await;
        let line = json!({"id": id("line"), "purchaseOrderId": id("PO"), "productId": chain.tea, "orderedQuantity": 5,
                          "unitCost": 100});
        take(&hq, &chain.first, &envelope(&chain.first, "purchase_order_items", id("line"), "create", &line, at(0)))
            .await;
        assert_eq!(warning(&hq).await, None, "its order is the store's own");
        let mut later = json!({"id": id("line"), "unitCost": 1, "receivedQuantity": 5});
        later["purchaseOrderId"] = json!(id("PO"));
        let mut later = envelope(&chain.first, "purchase_order_items", id("line"), "update", &later, at(9));
        later["changed"] = json!(["unitCost", "receivedQuantity"]);
        take(&hq, &chain.first, &later).await;
        assert_eq!(warning(&hq).await.as_deref(), Some("left_out:unitCost"));
    }
}
