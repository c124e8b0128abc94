//! What a pushed document does: rows, stock, log and counters. Specification, sections 2.7 and 4.3.

use serde_json::json;
use tillkeep_model::wire::Applied;
use tillkeep_model::{Cost, Money, Qty};
use tillkeep_storage::entity::{inventory_adjustment, sale, sale_item, sale_payment, stock_movement, sync_log};
use tillkeep_storage::sea_orm::EntityTrait;
use tillkeep_storage::sync_log as log;
use uuid::Uuid;

use crate::kit::chain::{Chain, id};
use crate::kit::envelopes::{adjustment, create_sale, envelope, push, sale as sale_data, take, void_sale};
use crate::kit::{self, Hq, at};

async fn quantity(hq: &Hq, store: Uuid, product: Uuid) -> Option<Qty> {
    hq.stock(store, product).await.map(|row| row.quantity)
}

#[tokio::test]
async fn what_names_no_product_moves_no_stock_and_is_flagged() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let store = chain.first.store_id;
        let mut sold = create_sale(&chain.first, id("sale"), &[(chain.tea, 1), (chain.tea, 2)]);
        sold["data"]["saleItems"][1].as_object_mut().expect("a line").remove("productId");
        take(&hq, &chain.first, &sold).await;
        let mut found = adjustment(&chain.first, id("found"), chain.tea, "found", 1, None);
        found["data"].as_object_mut().expect("the data").remove("productId");
        take(&hq, &chain.first, &found).await;
        assert_eq!(quantity(&hq, store, chain.tea).await, Some(Qty::pieces(-1)));
        assert_eq!(quantity(&hq, store, Uuid::nil()).await, None);
        let sale = hq.row::<sale::Entity>(id("sale")).await.expect("the sale");
        let found = hq.row::<inventory_adjustment::Entity>(id("found")).await.expect("the adjustment");
        assert_eq!((sale.flags.0, found.flags.0), (json!(["unknown_product"]), json!(["unknown_product"])));
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_sale_is_stored_whole_and_takes_its_goods_from_stock() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let store = chain.first.store_id;
        let envelope = create_sale(&chain.first, id("sale"), &[(chain.tea, 2), (chain.rice, 1)]);
        let pushed = push(&hq, &chain.first, &[envelope]).await;
        assert_eq!((pushed.results.len(), pushed.refused), (1, 0));
        assert_eq!(pushed.results[0].applied, Some(Applied::Inserted));
        assert_eq!(
            kit::notifications(&pushed.changes),
            [("store_product_dynamic", Some(store), 2)],
            "sales cannot be pulled, so only the stock is news"
        );
        let row = hq.row::<sale::Entity>(id("sale")).await.expect("the sale");
        assert_eq!((row.store_id, row.total_amount, row.status.as_str()), (store, Money(5997), "completed"));
        assert_eq!((row.received_at, row.last_envelope_at, row.created_at), (Some(at(100)), Some(at(0)), at(0)));
        assert_eq!(row.flags.0, json!([]));
        let items = sale_item::Entity::find().all(hq.db.reader()).await.expect("the items");
        assert_eq!(items.iter().map(|item| item.quantity).sum::<Qty>(), Qty::pieces(3));
        assert!(items.iter().all(|item| item.sale_id == row.id));
        let payments = sale_payment::Entity::find().all(hq.db.reader()).await.expect("the payments");
        assert_eq!((payments.len(), payments[0].amount), (1, Money(5997)));

        let tea = hq.stock(store, chain.tea).await.expect("the stock");
        assert_eq!((tea.quantity, tea.last_sold_at, tea.last_synced_at), (Qty::pieces(-2), Some(at(0)), Some(at(100))));
        assert_eq!((tea.price, tea.has_price_override), (Money(1999), false), "a row that HQ did not have yet");
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_second_sale_raises_the_version_of_the_stock_and_keeps_the_later_time() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let store = chain.first.store_id;
        take(&hq, &chain.first, &create_sale(&chain.first, id("one"), &[(chain.tea, 1)])).await;
        let before = hq.stock(store, chain.tea).await.expect("the stock").sync_version;
        let mut early = create_sale(&chain.first, id("two"), &[(chain.tea, 1)]);
        early["data"]["completedAt"] = json!(at(-50));
        take(&hq, &chain.first, &early).await;
        let tea = hq.stock(store, chain.tea).await.expect("the stock");
        assert_eq!((tea.quantity, tea.last_sold_at), (Qty::pieces(-2), Some(at(0))));
        assert!(tea.sync_version > before);
        assert_eq!(quantity(&hq, chain.second.store_id, chain.tea).await, None, "the other store has sold nothing");
        hq.verify().await;
    }
}

#[tokio::test]
async fn every_operation_is_in_the_log_and_in_the_counters() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let store = chain.first.store_id;
        let mut sale = create_sale(&chain.first, id("sale"), &[(chain.tea, 1)]);
        sale["seq"] = json!(17);
        sale["node_epoch"] = json!("node");
        take(&hq, &chain.first, &sale).await;
        take(&hq, &chain.first, &adjustment(&chain.first, id("adjustment"), chain.tea, "found", 1, None)).await;
        let rows = hq.log().await;
        assert_eq!(rows.len(), 2);
        let row: &sync_log::Model = &rows[0];
        assert_eq!(
            (row.status.as_str(), row.direction.as_str(), row.action.as_str()),
            (log::SUCCESS, log::PUSH, "create")
        );
        assert_eq!(
            (row.store_id, row.entity_id.clone(), row.envelope_at),
            (store, id("sale").to_string(), Some(at(0)))
        );
        assert_eq!((row.seq, row.node_epoch.as_deref()), (Some(17), Some("node")));
        assert_eq!((&row.envelope, &row.error, &row.warning), (&None, &None, &None), "a success keeps no copy");
        let status = hq.status(store, "sales").await.expect("a status");
        assert_eq!((status.total_pushed, status.pending_count, status.last_success_at), (1, 0, Some(at(100))));
        assert_eq!((status.last_error_at, status.last_error), (None, None));
        take(&hq, &chain.first, &create_sale(&chain.first, id("sale 2"), &[(chain.tea, 1)])).await;
        assert_eq!(hq.status(store, "sales").await.expect("a status").total_pushed, 2, "updated in place");
    }
}

#[tokio::test]
async fn a_void_returns_the_goods_once() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let (store, lines) = (chain.first.store_id, [(chain.tea, 3)]);
        take(&hq, &chain.first, &create_sale(&chain.first, id("sale"), &lines)).await;
        let void = void_sale(&chain.first, id("sale"), &lines);
        assert_eq!(take(&hq, &chain.first, &void).await, Applied::Updated);
        assert_eq!(take(&hq, &chain.first, &void).await, Applied::Duplicate);
        // The same void in other words.
        let mut again = void.clone();
        again["timestamp"] = json!(at(90));
        take(&hq, &chain.first, &again).await;
        assert_eq!(quantity(&hq, store, chain.tea).await, Some(Qty::ZERO));
        let row = hq.row::<sale::Entity>(id("sale")).await.expect("the sale");
        assert_eq!((row.status.as_str(), row.void_reason.as_deref()), ("voided", Some("mistake")));
        assert_eq!(row.flags.0, json!([]), "a voided sale still adds up");
        let payments = sale_payment::Entity::find().all(hq.db.reader()).await.expect("the payments");
        assert_eq!(payments[0].status, "voided");
        assert_eq!(stock_movement::Entity::find().all(hq.db.reader()).await.expect("the movements").len(), 2);
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_void_that_comes_alone_stores_the_sale_and_moves_nothing_in_sum() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let lines = [(chain.tea, 3)];
        assert_eq!(take(&hq, &chain.first, &void_sale(&chain.first, id("sale"), &lines)).await, Applied::Inserted);
        assert_eq!(quantity(&hq, chain.first.store_id, chain.tea).await, Some(Qty::ZERO));
        assert_eq!(take(&hq, &chain.first, &create_sale(&chain.first, id("sale"), &lines)).await, Applied::Skipped);
        assert_eq!(quantity(&hq, chain.first.store_id, chain.tea).await, Some(Qty::ZERO));
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_void_that_names_only_the_sale_returns_its_goods_too() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        take(&hq, &chain.first, &create_sale(&chain.first, id("sale"), &[(chain.tea, 3)])).await;
        let void = envelope(&chain.first, "sales", id("sale"), "void", &json!({"id": id("sale")}), at(60));
        assert_eq!(take(&hq, &chain.first, &void).await, Applied::Updated);
        assert_eq!(quantity(&hq, chain.first.store_id, chain.tea).await, Some(Qty::ZERO));
        let row = hq.row::<sale::Entity>(id("sale")).await.expect("the sale");
        assert_eq!((row.status.as_str(), row.total_amount), ("voided", Money(5997)));
        assert_eq!(row.flags.0, json!([]));
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_refund_puts_back_what_is_to_be_sold_again() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let mut data = sale_data(&chain.first, id("refund"), &[(chain.tea, -2), (chain.rice, -1)]);
        data["saleType"] = "refund".into();
        data["saleItems"][1]["restock"] = false.into();
        take(&hq, &chain.first, &envelope(&chain.first, "sales", id("refund"), "create", &data, at(0))).await;
        let tea = hq.stock(chain.first.store_id, chain.tea).await.expect("the stock");
        assert_eq!((tea.quantity, tea.last_sold_at), (Qty::pieces(2), None), "a refund is no sale");
        assert_eq!(quantity(&hq, chain.first.store_id, chain.rice).await, None);
        hq.verify().await;
    }
}

#[tokio::test]
async fn received_goods_set_the_time_of_receipt_and_the_average_cost() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let store = chain.first.store_id;
        take(&hq, &chain.first, &adjustment(&chain.first, id("opening"), chain.tea, "opening", 10, Some(500))).await;
        assert_eq!(hq.stock(store, chain.tea).await.expect("the stock").last_received_at, None);
        let receipt = adjustment(&chain.first, id("receipt"), chain.tea, "received", 5, Some(560));
        take(&hq, &chain.first, &receipt).await;
        assert_eq!(take(&hq, &chain.first, &receipt).await, Applied::Duplicate);
        let tea = hq.stock(store, chain.tea).await.expect("the stock");
        assert_eq!((tea.quantity, tea.average_cost), (Qty::pieces(15), Some(Cost(Money(520)))));
        assert_eq!((tea.last_received_at, tea.last_sold_at), (Some(at(0)), None));
        // What leaves, or comes without being bought, does not change the average.
        take(&hq, &chain.first, &adjustment(&chain.first, id("broken"), chain.tea, "damaged", -1, Some(1))).await;
        take(&hq, &chain.first, &adjustment(&chain.first, id("found"), chain.tea, "found", 1, Some(9))).await;
        let tea = hq.stock(store, chain.tea).await.expect("the stock");
        assert_eq!((tea.quantity, tea.average_cost), (Qty::pieces(15), Some(Cost(Money(520)))));
        hq.verify().await;
    }
}

#[tokio::test]
async fn the_receipts_of_one_request_are_averaged_in_their_order() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let receipts = [
            adjustment(&chain.first, id("a"), chain.tea, "received", 10, Some(500)),
            adjustment(&chain.first, id("b"), chain.tea, "received", 5, Some(560)),
        ];
        assert_eq!(push(&hq, &chain.first, &receipts).await.refused, 0);
        let tea = hq.stock(chain.first.store_id, chain.tea).await.expect("the stock");
        assert_eq!((tea.quantity, tea.average_cost), (Qty::pieces(15), Some(Cost(Money(520)))));
        hq.verify().await;
    }
}

#[tokio::test]
async fn an_adjustment_is_never_changed_after_its_creation() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        take(&hq, &chain.first, &adjustment(&chain.first, id("a"), chain.tea, "found", 1, None)).await;
        let mut other = adjustment(&chain.first, id("a"), chain.tea, "found", 50, None);
        other["timestamp"] = json!(at(9));
        take(&hq, &chain.first, &other).await;
        assert_eq!(quantity(&hq, chain.first.store_id, chain.tea).await, Some(Qty::pieces(1)));
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_sale_of_an_unknown_product_is_taken_and_flagged_for_a_user() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let sales = [
            create_sale(&chain.first, id("known"), &[(chain.tea, 1)]),
            create_sale(&chain.first, id("unknown"), &[(chain.tea, 1), (id("no product"), 2)]),
        ];
        assert_eq!(push(&hq, &chain.first, &sales).await.refused, 0);
        assert_eq!(quantity(&hq, chain.first.store_id, id("no product")).await, Some(Qty::pieces(-2)));
        let warnings: Vec<_> = hq.log().await.into_iter().map(|row| (row.status, row.warning)).collect();
        let success = log::SUCCESS.to_owned();
        assert_eq!(warnings, [(success.clone(), None), (success, Some("unknown_product".to_owned()))]);
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_sale_that_does_not_add_up_is_stored_and_flagged() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let mut sale = create_sale(&chain.first, id("sale"), &[(chain.tea, 1)]);
        sale["data"]["taxAmount"] = json!(100);
        assert_eq!(take(&hq, &chain.first, &sale).await, Applied::Inserted);
        let row = hq.row::<sale::Entity>(id("sale")).await.expect("the sale");
        assert_eq!(row.tax_amount, Money(100), "never recomputed");
        assert_eq!(row.flags.0, json!(["net_and_tax_are_not_total", "lines_tax_mismatch"]));
        let warning = hq.log().await.remove(0).warning.expect("a warning");
        assert!(warning.contains("lines_tax_mismatch"), "{warning}");
    }
}

#[tokio::test]
async fn a_sale_of_which_only_the_id_is_known_is_taken() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let data =
            json!({"id": id("sale"), "sale_items": [{"product_id": chain.tea, "quantity": 1}, {"quantity": "0.5"}]});
        let data_camel = json!({"saleItems": data["sale_items"], "id": id("sale")});
        let sent = envelope(&chain.first, "sales", id("sale"), "create", &data_camel, at(7));
        assert_eq!(take(&hq, &chain.first, &sent).await, Applied::Inserted);
        let row = hq.row::<sale::Entity>(id("sale")).await.expect("the sale");
        assert_eq!((row.created_at, row.store_id), (at(7), chain.first.store_id));
        let items = sale_item::Entity::find().all(hq.db.reader()).await.expect("the items");
        let mut ids: Vec<_> = items.iter().map(|item| (item.line_no, item.id)).collect();
        ids.sort_unstable();
        let expected = |line| (line, tillkeep_model::ids::line(id("sale"), "sale_item", line));
        assert_eq!(ids, [expected(1), expected(2)]);
        // The same in the other spelling is the same sale and the same lines.
        let mut other = envelope(&chain.first, "sales", id("other"), "create", &json!({}), at(7));
        other["data"] = json!({"sale_items": data["sale_items"]});
        take(&hq, &chain.first, &other).await;
        assert_eq!(quantity(&hq, chain.first.store_id, chain.tea).await, Some(Qty::pieces(-2)));
        hq.verify().await;
    }
}

#[tokio::test]
async fn lines_that_name_themselves_alike_are_lines_of_their_own() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let mut sale = create_sale(&chain.first, id("sale"), &[(chain.tea, 1), (chain.tea, 2)]);
        sale["data"]["saleItems"][1]["id"] = sale["data"]["saleItems"][0]["id"].clone();
        assert_eq!(take(&hq, &chain.first, &sale).await, Applied::Inserted);
        assert_eq!(quantity(&hq, chain.first.store_id, chain.tea).await, Some(Qty::pieces(-3)));
        let mut numbered = create_sale(&chain.first, id("numbered"), &[(chain.rice, 1), (chain.rice, 2)]);
        for line in 0..2 {
            numbered["data"]["saleItems"][line]["id"] = json!(null);
            numbered["data"]["saleItems"][line]["lineNo"] = json!(1);
        }
        numbered["data"]["saleItems"].as_array_mut().expect("lines").iter_mut().for_each(|line| {
            line.as_object_mut().expect("a line").remove("id");
        });
        assert_eq!(take(&hq, &chain.first, &numbered).await, Applied::Inserted);
        assert_eq!(quantity(&hq, chain.first.store_id, chain.rice).await, Some(Qty::pieces(-3)));
        hq.verify().await;
    }
}

#[tokio::test]
async fn sales_with_lines_of_the_same_ids_keep_all_their_lines() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        // A till that numbers its lines, and gives every sale the same ones.
        let numbered = |name: &str| {
            let mut envelope = create_sale(&chain.first, id(name), &[(chain.tea, 2)]);
            envelope["data"]["saleItems"][0]["id"] = json!(id("line 1"));
            envelope["data"]["salePayments"][0]["id"] = json!(id("payment 1"));
            envelope
        };
        let pushed = push(&hq, &chain.first, &[numbered("first"), numbered("second")]).await;
        assert_eq!(pushed.refused, 0);
        take(&hq, &chain.first, &numbered("third")).await;
        let items = sale_item::Entity::find().all(hq.db.reader()).await.expect("the items");
        let payments = sale_payment::Entity::find().all(hq.db.reader()).await.expect("the payments");
        for name in ["first", "second", "third"] {
            assert_eq!(items.iter().filter(|item| item.sale_id == id(name)).count(), 1, "{name}");
            assert_eq!(payments.iter().filter(|payment| payment.sale_id == id(name)).count(), 1, "{name}");
        }
        assert_eq!(quantity(&hq, chain.first.store_id, chain.tea).await, Some(Qty::pieces(-6)));
        hq.verify().await;
    }
}
