//! Which envelopes apply, and in which order. `docs/sync.md`, rules U3, U5, U6 and U7.

use serde_json::{Value as Json, json};
use tillkeep_model::wire::{Applied, PushStatus};
use tillkeep_model::{Money, Qty};
use tillkeep_storage::entity::{
    customer, purchase_order, purchase_order_item, register_session, sale, stock_movement, supplier,
};
use tillkeep_storage::sea_orm::EntityTrait;
use tillkeep_storage::sync_log as log;

use crate::kit::chain::{self, Chain, id};
use crate::kit::envelopes::{create_sale, customer as new_customer, envelope, push, refuse, take, void_sale};
use crate::kit::{self, Hq, at};

async fn statuses(hq: &Hq) -> Vec<String> {
    hq.log().await.into_iter().map(|row| row.status).collect()
}

#[tokio::test]
async fn the_same_envelope_again_is_a_duplicate_and_does_nothing() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let sale = create_sale(&chain.first, id("sale"), &[(chain.tea, 2)]);
        assert_eq!(take(&hq, &chain.first, &sale).await, Applied::Inserted);
        let before = hq.stock(chain.first.store_id, chain.tea).await;
        assert_eq!(take(&hq, &chain.first, &sale).await, Applied::Duplicate);
        assert_eq!(hq.stock(chain.first.store_id, chain.tea).await, before);
        assert_eq!(statuses(&hq).await, [log::SUCCESS, log::SKIPPED]);
        assert_eq!(stock_movement::Entity::find().all(hq.db.reader()).await.expect("the movements").len(), 1);
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_late_create_after_the_void_is_skipped() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let lines = [(chain.tea, 1)];
        take(&hq, &chain.first, &create_sale(&chain.first, id("sale"), &lines)).await;
        take(&hq, &chain.first, &void_sale(&chain.first, id("sale"), &lines)).await;
        // By the clock of a store that was set back, and by one that runs ahead.
        for (note, time) in [("before", at(30)), ("after", at(90))] {
            let mut late = create_sale(&chain.first, id("sale"), &lines);
            late["timestamp"] = json!(time);
            late["data"]["note"] = json!(note);
            assert_eq!(take(&hq, &chain.first, &late).await, Applied::Skipped);
        }
        assert_eq!(hq.row::<sale::Entity>(id("sale")).await.expect("the sale").status, "voided");
        assert_eq!(hq.stock(chain.first.store_id, chain.tea).await.expect("the stock").quantity, Qty::ZERO);
        assert_eq!(statuses(&hq).await, [log::SUCCESS, log::SUCCESS, log::SKIPPED, log::SKIPPED]);
        hq.verify().await;
    }
}

/// A customer of headquarters, created at `at(0)`.
async fn customer_of_hq(hq: &Hq) {
    hq.insert::<customer::Entity>([customer::Model {
        id: id("ada"),
        customer_number: "HQ-1".into(),
        first_name: Some("Ada".into()),
        is_active: true,
        synced: true,
        created_at: at(0),
        updated_at: at(0),
        ..customer::Model::default()
    }])
    .await;
}

fn rename(chain: &Chain, name: &str, seconds: i64) -> Json {
    let data = json!({"id": id("ada"), "customerNumber": "HQ-1", "firstName": name, "createdAt": at(0)});
    envelope(&chain.first, "customers", id("ada"), "update", &data, at(seconds))
}

async fn name(hq: &Hq) -> String {
    hq.row::<customer::Entity>(id("ada")).await.expect("Ada").first_name.expect("a name")
}

#[tokio::test]
async fn an_envelope_older_than_the_row_s_creation_is_skipped_and_one_of_its_moment_applies() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        customer_of_hq(&hq).await;
        assert_eq!(take(&hq, &chain.first, &rename(&chain, "Early", -1)).await, Applied::Skipped);
        assert_eq!(name(&hq).await, "Ada");
        assert_eq!(take(&hq, &chain.first, &rename(&chain, "Equal", 0)).await, Applied::Updated);
        assert_eq!(name(&hq).await, "Equal");
        hq.verify().await;
    }
}

#[tokio::test]
async fn an_envelope_older_than_the_last_one_of_its_store_is_skipped() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        customer_of_hq(&hq).await;
        assert_eq!(take(&hq, &chain.first, &rename(&chain, "New", 20)).await, Applied::Updated);
        assert_eq!(take(&hq, &chain.first, &rename(&chain, "Old", 10)).await, Applied::Skipped);
        assert_eq!(name(&hq).await, "New");
        // Between two stores the specification's rule alone decides.
        let mut other = rename(&chain, "Other", 10);
        other["store_id"] = json!(chain.second.store_id);
        assert_eq!(take(&hq, &chain.second, &other).await, Applied::Updated);
        assert_eq!(name(&hq).await, "Other");
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_row_of_an_envelope_that_was_left_aside_travels_back_to_its_store() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        customer_of_hq(&hq).await;
        let update = rename(&chain, "New", 20);
        take(&hq, &chain.first, &update).await;
        for (envelope, expected) in [(&update, Applied::Duplicate), (&rename(&chain, "Old", 10), Applied::Skipped)] {
            let before = hq.row::<customer::Entity>(id("ada")).await.expect("Ada").sync_version;
            let pushed = push(&hq, &chain.first, std::slice::from_ref(envelope)).await;
            assert_eq!(pushed.results[0].applied, Some(expected));
            let after = hq.row::<customer::Entity>(id("ada")).await.expect("Ada").sync_version;
            assert_eq!(after, before + 1);
            assert_eq!(pushed.changes.len(), 1, "and it is announced");
        }
        hq.verify().await;
    }
}

#[tokio::test]
async fn an_entity_twice_in_one_request_is_applied_twice_in_order() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let lines = [(chain.tea, 1)];
        let create = create_sale(&chain.first, id("sale"), &lines);
        let envelopes = [create.clone(), void_sale(&chain.first, id("sale"), &lines), create];
        let pushed = push(&hq, &chain.first, &envelopes).await;
        let applied: Vec<_> = pushed.results.iter().map(|result| result.applied).collect();
        assert_eq!(applied, [Some(Applied::Inserted), Some(Applied::Updated), Some(Applied::Duplicate)]);
        assert_eq!(hq.row::<sale::Entity>(id("sale")).await.expect("the sale").status, "voided");
        assert_eq!(hq.stock(chain.first.store_id, chain.tea).await.expect("the stock").quantity, Qty::ZERO);
        hq.verify().await;
    }
}

fn item(chain: &Chain, name: &str, order: &str) -> Json {
    let data = json!({
        "id": id(name), "purchaseOrderId": id(order), "storeId": chain.first.store_id, "lineNo": 1,
        "productId": chain.tea, "orderedQuantity": 12, "unitCost": 500, "createdAt": at(0),
    });
    envelope(&chain.first, "purchase_order_items", id(name), "create", &data, at(0))
}

fn order(chain: &Chain, name: &str) -> Json {
    let data = json!({
        "id": id(name), "poNumber": name, "supplierId": id("supplier"), "status": "submitted", "origin": "store",
        "createdAt": at(0),
    });
    envelope(&chain.first, "purchase_orders", id(name), "create", &data, at(0))
}

#[tokio::test]
async fn parents_go_first_whatever_their_place_in_the_request() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        hq.insert::<supplier::Entity>([chain::supplier()]).await;
        let envelopes = [item(&chain, "line", "PO1"), order(&chain, "PO1")];
        let pushed = push(&hq, &chain.first, &envelopes).await;
        assert_eq!(pushed.refused, 0, "{:?}", pushed.results);
        assert_eq!(pushed.results[0].entity_type, "purchase_order_items", "answers keep the order of the request");
        let row = hq.row::<purchase_order_item::Entity>(id("line")).await.expect("the line");
        assert_eq!((row.store_id, row.ordered_quantity), (chain.first.store_id, Qty::pieces(12)));
        let types: Vec<_> = pushed.changes.iter().map(|change| change.entity_type).collect();
        assert_eq!(types, ["purchase_orders", "purchase_order_items"]);
        hq.verify().await;
    }
}

#[tokio::test]
async fn the_line_of_an_order_that_is_not_there_yet_waits_with_missing_parent() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let line = item(&chain, "line", "PO1");
        assert_eq!(refuse(&hq, &chain.first, &line).await, "missing_parent");
        assert_eq!(take(&hq, &chain.first, &order(&chain, "PO1")).await, Applied::Inserted);
        assert_eq!(take(&hq, &chain.first, &line).await, Applied::Inserted);
        assert_eq!(statuses(&hq).await, [log::RESOLVED, log::SUCCESS, log::SUCCESS]);
        assert_eq!(hq.status(chain.first.store_id, "purchase_order_items").await.expect("a status").pending_count, 0);
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_sale_without_its_session_or_customer_is_taken() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let mut sale = create_sale(&chain.first, id("sale"), &[(chain.tea, 1)]);
        sale["data"]["registerSessionId"] = json!(id("nowhere"));
        sale["data"]["customerId"] = json!(id("stranger"));
        assert_eq!(take(&hq, &chain.first, &sale).await, Applied::Inserted);
    }
}

#[tokio::test]
async fn a_status_goes_forward_and_back_only_where_there_is_a_way_back() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let session = |status: &str, seconds| {
            let data = json!({"id": id("session"), "status": status, "openingFloat": seconds, "createdAt": at(0)});
            envelope(&chain.first, "register_sessions", id("session"), "update", &data, at(seconds))
        };
        for (status, seconds, expected) in [
            ("open", 0, Applied::Inserted),
            ("counting", 1, Applied::Updated),
            ("open", 2, Applied::Updated),
            ("closed", 3, Applied::Updated),
            ("counting", 4, Applied::Skipped),
            ("archived", 5, Applied::Updated),
        ] {
            assert_eq!(take(&hq, &chain.first, &session(status, seconds)).await, expected, "{status}");
        }
        let row = hq.row::<register_session::Entity>(id("session")).await.expect("the session");
        assert_eq!((row.status.as_str(), row.opening_float), ("archived", Money(5)), "a newer program's status");
    }
}

#[tokio::test]
async fn an_update_without_a_status_does_not_take_the_status_away() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        take(&hq, &chain.first, &create_sale(&chain.first, id("sale"), &[(chain.tea, 1)])).await;
        let data = json!({"id": id("sale"), "voidReason": "a mistake"});
        let update = envelope(&chain.first, "sales", id("sale"), "update", &data, at(60));
        assert_eq!(take(&hq, &chain.first, &update).await, Applied::Updated);
        let row = hq.row::<sale::Entity>(id("sale")).await.expect("the sale");
        assert_eq!((row.status.as_str(), row.void_reason.as_deref()), ("completed", Some("a mistake")));
        assert_eq!(row.flags.0, json!([]));
        hq.verify().await;
    }
}

#[tokio::test]
async fn the_buyer_of_an_invoice_comes_after_its_sale_and_changes_nothing_else_of_it() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        take(&hq, &chain.first, &create_sale(&chain.first, id("sale"), &[(chain.tea, 1)])).await;
        let sold = hq.row::<sale::Entity>(id("sale")).await.expect("the sale");
        let buyer = json!({"name": "Bo Builders Ltd", "address": "Dock 4", "taxNumber": null});
        let data = json!({"id": id("sale"), "buyer": buyer, "totalAmount": 1, "customerName": "Bo"});
        let update = envelope(&chain.first, "sales", id("sale"), "update", &data, at(60));
        assert_eq!(take(&hq, &chain.first, &update).await, Applied::Updated);
        let later = json!({"id": id("sale"), "status": "completed"});
        take(&hq, &chain.first, &envelope(&chain.first, "sales", id("sale"), "update", &later, at(120))).await;
        let row = hq.row::<sale::Entity>(id("sale")).await.expect("the sale");
        assert_eq!(row.buyer.map(|buyer| buyer.0), Some(buyer), "who says nothing of it takes nothing away");
        assert_eq!((row.total_amount, row.customer_name), (sold.total_amount, sold.customer_name));
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_column_that_an_older_store_does_not_send_keeps_its_value() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let mut full = new_customer(&chain.first, id("eve"), "S01-1");
        full["data"]["notes"] = json!("allergic to nuts");
        full["data"]["marketingOptIn"] = json!(true);
        take(&hq, &chain.first, &full).await;
        let data = json!({"id": id("eve"), "first_name": "Eve", "city": null});
        take(&hq, &chain.first, &envelope(&chain.first, "customers", id("eve"), "update", &data, at(5))).await;
        let row = hq.row::<customer::Entity>(id("eve")).await.expect("Eve");
        assert_eq!((row.first_name.as_deref(), row.notes.as_deref()), (Some("Eve"), Some("allergic to nuts")));
        assert!(row.marketing_opt_in);
        // What is sent as null is taken away.
        let data = json!({"id": id("eve"), "notes": null});
        take(&hq, &chain.first, &envelope(&chain.first, "customers", id("eve"), "update", &data, at(6))).await;
        assert_eq!(hq.row::<customer::Entity>(id("eve")).await.expect("Eve").notes, None);
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_delete_leaves_a_tombstone_and_of_what_is_not_there_nothing() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let delete = |name: &str, seconds| {
            envelope(&chain.first, "purchase_orders", id(name), "delete", &json!({"id": id(name)}), at(seconds))
        };
        assert_eq!(take(&hq, &chain.first, &delete("PO1", 1)).await, Applied::Skipped);
        let draft = |name| {
            let mut draft = order(&chain, name);
            draft["data"]["status"] = json!("draft");
            draft
        };
        assert_eq!(take(&hq, &chain.first, &draft("PO2")).await, Applied::Inserted);
        assert_eq!(take(&hq, &chain.first, &delete("PO2", 9)).await, Applied::Updated);
        let row = hq.row::<purchase_order::Entity>(id("PO2")).await.expect("the order");
        assert_eq!((row.deleted_at, row.po_number.as_str()), (Some(at(9)), "PO2"));
        let sale = envelope(&chain.first, "sales", id("sale"), "delete", &json!({"id": id("sale")}), at(1));
        assert_eq!(refuse(&hq, &chain.first, &sale).await, "not_deletable");
        // What was ordered, and whom others know, is not one store's to take away.
        assert_eq!(take(&hq, &chain.first, &order(&chain, "PO3")).await, Applied::Inserted);
        assert_eq!(refuse(&hq, &chain.first, &delete("PO3", 9)).await, "not_deletable");
        let eve = json!({"id": id("eve"), "customerNumber": "S01-000009", "lastName": "Eve"});
        take(&hq, &chain.first, &envelope(&chain.first, "customers", id("eve"), "create", &eve, at(1))).await;
        let gone = envelope(&chain.first, "customers", id("eve"), "delete", &json!({"id": id("eve")}), at(2));
        assert_eq!(refuse(&hq, &chain.first, &gone).await, "not_deletable");
        hq.verify().await;
    }
}

#[tokio::test]
async fn the_line_of_an_order_is_deleted_by_its_id_alone() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        push(&hq, &chain.first, &[order(&chain, "PO1"), item(&chain, "line", "PO1")]).await;
        let data = json!({"id": id("line")});
        let delete = envelope(&chain.first, "purchase_order_items", id("line"), "delete", &data, at(9));
        assert_eq!(take(&hq, &chain.first, &delete).await, Applied::Updated);
        let row = hq.row::<purchase_order_item::Entity>(id("line")).await.expect("the line");
        assert_eq!((row.deleted_at, row.purchase_order_id), (Some(at(9)), id("PO1")));
        hq.verify().await;
    }
}

#[tokio::test]
async fn any_other_action_is_an_update() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let mut sale = create_sale(&chain.first, id("sale"), &[(chain.tea, 1)]);
        sale["action"] = json!("re-index");
        assert_eq!(take(&hq, &chain.first, &sale).await, Applied::Inserted);
        assert_eq!(push(&hq, &chain.first, &[]).await.results.len(), 0);
        let pushed = push(&hq, &chain.first, &[sale]).await;
        assert_eq!(pushed.results[0].status, PushStatus::Ok);
    }
}
