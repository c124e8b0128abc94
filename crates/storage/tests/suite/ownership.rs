//! Who may write which row and column. `docs/sync.md`, rule U11.

use serde_json::{Value as Json, json};
use tillkeep_model::wire::Applied;
use tillkeep_model::{Cost, Money, Qty};
use tillkeep_storage::entity::{
    customer, purchase_order, purchase_order_item, sale, sale_item, supplier, transfer, transfer_item,
};

use crate::kit::chain::{self, Chain, id};
use crate::kit::envelopes::{create_sale, customer as new_customer, envelope, push, refuse, take, void_sale};
use crate::kit::{self, at};

#[tokio::test]
async fn a_store_cannot_change_the_sale_of_another_one() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let lines = [(chain.tea, 1)];
        take(&hq, &chain.second, &create_sale(&chain.second, id("sale"), &lines)).await;
        let before = hq.row::<sale::Entity>(id("sale")).await;
        // It is a sale of its own, under an id of its own.
        let void = void_sale(&chain.first, id("sale"), &lines);
        assert_eq!(take(&hq, &chain.first, &void).await, Applied::Inserted);
        assert_eq!(hq.row::<sale::Entity>(id("sale")).await, before);
        assert_eq!(hq.stock(chain.first.store_id, chain.tea).await.expect("the stock").quantity, Qty::ZERO);
        let theirs = hq.stock(chain.second.store_id, chain.tea).await.expect("the stock");
        assert_eq!(theirs.quantity, Qty::pieces(-1));
        hq.verify().await;
    }
}

#[tokio::test]
async fn the_store_in_the_data_counts_nothing() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let mut sale = create_sale(&chain.first, id("sale"), &[(chain.tea, 1)]);
        sale["data"]["storeId"] = json!(chain.second.store_id);
        take(&hq, &chain.first, &sale).await;
        assert_eq!(hq.row::<sale::Entity>(id("sale")).await.expect("the sale").store_id, chain.first.store_id);
        assert_eq!(hq.stock(chain.second.store_id, chain.tea).await, None);
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_store_cannot_change_the_lines_of_another_store_s_sale_from_its_own() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let theirs = create_sale(&chain.second, id("theirs"), &[(chain.tea, 1)]);
        take(&hq, &chain.second, &theirs).await;
        let line: uuid::Uuid = theirs["data"]["saleItems"][0]["id"].as_str().expect("an id").parse().expect("an id");
        let before = hq.row::<sale_item::Entity>(line).await.expect("their line");
        let mut mine = create_sale(&chain.first, id("mine"), &[(chain.tea, 5)]);
        mine["data"]["saleItems"][0]["id"] = json!(line);
        for action in ["create", "update"] {
            mine["action"] = json!(action);
            push(&hq, &chain.first, std::slice::from_ref(&mine)).await;
            assert_eq!(hq.row::<sale_item::Entity>(line).await, Some(before.clone()), "{action}");
        }
        let stock = hq.stock(chain.second.store_id, chain.tea).await.expect("the stock");
        assert_eq!(stock.quantity, Qty::pieces(-1));
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_store_grants_neither_exemption_nor_credit() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let generous = |mut envelope: Json| {
            for (key, value) in [
                ("taxExempt", json!(true)),
                ("taxExemptNumber", json!("X")),
                ("creditLimit", json!(100_000)),
                ("accountBalance", json!(5)),
                ("isActive", json!(false)),
                ("mergedIntoId", json!(id("x"))),
                ("deletedAt", json!(at(0))),
                ("syncVersion", json!(999)),
                ("originStoreId", json!(chain.second.store_id)),
            ] {
                envelope["data"][key] = value;
            }
            envelope
        };
        let create = generous(new_customer(&chain.first, id("new"), "S01-1"));
        assert_eq!(take(&hq, &chain.first, &create).await, Applied::Inserted);
        let new = hq.row::<customer::Entity>(id("new")).await.expect("the customer");
        assert_eq!((new.tax_exempt, new.tax_exempt_number, new.merged_into_id), (false, None, None));
        assert_eq!((new.credit_limit, new.account_balance, new.deleted_at), (Money(0), Money(0), None));
        assert_eq!((new.is_active, new.origin_store_id), (true, Some(chain.first.store_id)));

        hq.edit::<customer::Entity>(id("new"), |row| {
            row.tax_exempt = true;
            row.tax_exempt_number = Some("HQ".into());
            row.credit_limit = Money(700);
        })
        .await;
        let mut update = generous(new_customer(&chain.second, id("new"), "STOLEN"));
        update["action"] = json!("update");
        update["timestamp"] = json!(at(5));
        update["data"]["firstName"] = json!("Eve");
        update["data"]["taxExempt"] = json!(false);
        assert_eq!(take(&hq, &chain.second, &update).await, Applied::Updated);
        let row = hq.row::<customer::Entity>(id("new")).await.expect("the customer");
        assert_eq!(row.first_name.as_deref(), Some("Eve"), "any store may change any customer");
        assert_eq!((row.tax_exempt, row.tax_exempt_number.as_deref()), (true, Some("HQ")));
        assert_eq!((row.credit_limit, row.customer_number.as_str()), (Money(700), "S01-1"));
        assert_eq!((row.origin_store_id, row.is_active), (Some(chain.first.store_id), true));
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_customer_without_a_number_gets_one_and_its_phone_is_searchable() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let data = json!({"phone": "+41 79 555 01 01"});
        take(&hq, &chain.first, &envelope(&chain.first, "customers", id("new"), "create", &data, at(3))).await;
        let row = hq.row::<customer::Entity>(id("new")).await.expect("the customer");
        assert!(row.customer_number.starts_with("S01-"), "{}", row.customer_number);
        assert_eq!((row.phone_digits.as_deref(), row.created_at), (Some("41795550101"), at(3)));
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_sale_is_written_once_and_afterwards_only_voided_and_its_store_says_nothing_of_refunds() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        take(&hq, &chain.first, &create_sale(&chain.first, id("sale"), &[(chain.tea, 1)])).await;
        let mut update = create_sale(&chain.first, id("sale"), &[(chain.tea, 9)]);
        update["action"] = json!("update");
        update["timestamp"] = json!(at(5));
        update["data"]["status"] = json!("partially_refunded");
        update["data"]["refundedAmount"] = json!(300);
        update["data"]["receiptNumber"] = json!("FORGED");
        update["data"]["saleItems"][0]["refundedQuantity"] = json!(1);
        assert_eq!(take(&hq, &chain.first, &update).await, Applied::Skipped);
        let row = hq.row::<sale::Entity>(id("sale")).await.expect("the sale");
        assert_eq!((row.status.as_str(), row.refunded_amount), ("completed", Money(0)));
        assert_eq!((row.total_amount, row.receipt_number == "FORGED"), (Money(1999), false));
        let line = update["data"]["saleItems"][0]["id"].as_str().expect("an id").parse().expect("an id");
        let line = hq.row::<sale_item::Entity>(line).await.expect("the line");
        assert_eq!((line.quantity, line.refunded_quantity), (Qty::pieces(1), Qty(0)));
        let stock = hq.stock(chain.first.store_id, chain.tea).await.expect("the stock");
        assert_eq!(stock.quantity, Qty::pieces(-1));
        hq.verify().await;
    }
}

#[tokio::test]
async fn of_a_submitted_order_a_store_writes_only_what_it_received() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let store = chain.first.store_id;
        hq.insert::<supplier::Entity>([chain::supplier()]).await;
        hq.insert::<purchase_order::Entity>([chain::order("PO1", store, "ordered")]).await;
        let line = purchase_order_item::Model {
            id: id("line"),
            purchase_order_id: id("PO1"),
            store_id: store,
            ordered_quantity: Qty::pieces(12),
            unit_cost: Cost(Money(500)),
            synced: true,
            created_at: at(0),
            ..purchase_order_item::Model::default()
        };
        hq.insert::<purchase_order_item::Entity>([line]).await;
        let header = json!({"id": id("PO1"), "status": "received", "poNumber": "FORGED", "totalAmount": 1,
                            "supplierId": id("other"), "receipts": [{"receiptId": "r"}], "lastSupplierDocument": "D"});
        let item = json!({"id": id("line"), "purchaseOrderId": id("PO1"), "orderedQuantity": 99, "unitCost": 1,
                          "receivedQuantity": 12, "receivedCost": 510});
        let envelopes = [
            envelope(&chain.first, "purchase_orders", id("PO1"), "update", &header, at(9)),
            envelope(&chain.first, "purchase_order_items", id("line"), "update", &item, at(9)),
        ];
        assert_eq!(push(&hq, &chain.first, &envelopes).await.refused, 0);
        let order = hq.row::<purchase_order::Entity>(id("PO1")).await.expect("the order");
        assert_eq!((order.status.as_str(), order.po_number.as_str()), ("received", "PO1"));
        assert_eq!((order.total_amount, order.supplier_id), (Money(0), id("supplier")));
        assert_eq!(order.receipts.0, json!([{"receiptId": "r"}]));
        let line = hq.row::<purchase_order_item::Entity>(id("line")).await.expect("the line");
        assert_eq!((line.ordered_quantity, line.unit_cost), (Qty::pieces(12), Cost(Money(500))));
        assert_eq!((line.received_quantity, line.received_cost), (Qty::pieces(12), Some(Cost(Money(510)))));

        let mut foreign = envelopes[1].clone();
        foreign["store_id"] = json!(chain.second.store_id);
        assert_eq!(refuse(&hq, &chain.second, &foreign).await, "store_mismatch");
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_store_cannot_hang_a_line_on_another_store_s_order() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        hq.insert::<purchase_order::Entity>([chain::order("PO2", chain.second.store_id, "draft")]).await;
        let item = json!({"id": id("line"), "purchaseOrderId": id("PO2"), "orderedQuantity": 1});
        let item = envelope(&chain.first, "purchase_order_items", id("line"), "create", &item, at(0));
        assert_eq!(refuse(&hq, &chain.first, &item).await, "missing_parent");
        hq.verify().await;
    }
}

fn shipment(chain: &Chain, status: &str, sent: i64, received: i64) -> Json {
    json!({
        "id": id("transfer"), "transferNumber": "T1", "fromStoreId": chain.first.store_id,
        "toStoreId": chain.second.store_id, "status": status, "note": status, "createdAt": at(0),
        "receipts": [{"by": status}],
        "transferItems": [{
            "id": id("item"), "lineNo": 1, "productId": chain.tea, "requestedQuantity": 5, "sentQuantity": sent,
            "receivedQuantity": received,
        }],
    })
}

#[tokio::test]
async fn each_side_of_a_transfer_writes_its_own_columns() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let third = chain::sender("S03");
        let by = |sender, status: &str, sent, received, seconds| {
            let data = shipment(&chain, status, sent, received);
            envelope(sender, "transfers", id("transfer"), "update", &data, at(seconds))
        };
        assert_eq!(refuse(&hq, &chain.second, &by(&chain.second, "in_transit", 5, 0, 1)).await, "store_mismatch");
        assert_eq!(take(&hq, &chain.first, &by(&chain.first, "in_transit", 5, 0, 2)).await, Applied::Inserted);
        assert_eq!(refuse(&hq, &third, &by(&third, "received", 5, 5, 3)).await, "store_mismatch");
        assert_eq!(take(&hq, &chain.second, &by(&chain.second, "received", 1, 4, 4)).await, Applied::Updated);
        let row = hq.row::<transfer::Entity>(id("transfer")).await.expect("the transfer");
        assert_eq!((row.store_id, row.status.as_str()), (chain.first.store_id, "received"));
        assert_eq!((row.note.as_deref(), row.receipts.0), (Some("in_transit"), json!([{"by": "received"}])));
        let item = hq.row::<transfer_item::Entity>(id("item")).await.expect("the item");
        assert_eq!((item.sent_quantity, item.received_quantity), (Some(Qty::pieces(5)), Qty::pieces(4)));
        hq.verify().await;
    }
}

#[tokio::test]
async fn the_source_of_a_transfer_cannot_say_what_was_received() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let data = shipment(&chain, "in_transit", 5, 3);
        take(&hq, &chain.first, &envelope(&chain.first, "transfers", id("transfer"), "create", &data, at(1))).await;
        let row = hq.row::<transfer::Entity>(id("transfer")).await.expect("the transfer");
        assert_eq!(row.receipts.0, json!([]));
        let item = hq.row::<transfer_item::Entity>(id("item")).await.expect("the item");
        assert_eq!((item.sent_quantity, item.received_quantity), (Some(Qty::pieces(5)), Qty::ZERO));
        hq.verify().await;
    }
}
