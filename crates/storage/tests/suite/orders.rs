//! Purchase orders are written by headquarters and by the store they are for. `docs/sync.md`, rules U7 and U11.

use serde_json::{Value as Json, json};
use tillkeep_model::wire::Applied;
use tillkeep_model::{Cost, Money, Qty};
use tillkeep_storage::document::order::CANCELLED_AND_RECEIVED;
use tillkeep_storage::entity::{purchase_order, purchase_order_item, supplier};

use crate::kit::chain::{self, Chain, id};
use crate::kit::envelopes::{envelope, push, refuse, take};
use crate::kit::{self, Hq, Shop, at};

async fn chain(hq: &Hq) -> Chain {
    let chain = Chain::found(hq).await;
    hq.insert::<supplier::Entity>([chain::supplier()]).await;
    chain
}

fn order(chain: &Chain, action: &str, seconds: i64, more: &[(&str, Json)]) -> Json {
    let mut data = json!({
        "id": id("order"), "poNumber": "S01-PO-1", "supplierId": id("supplier"), "createdAt": at(0), "notes": "mine",
    });
    for (key, value) in more {
        data[*key] = value.clone();
    }
    envelope(&chain.first, "purchase_orders", id("order"), action, &data, at(seconds))
}

fn line(chain: &Chain, action: &str, seconds: i64, more: &[(&str, Json)]) -> Json {
    let mut data = json!({"id": id("line"), "purchaseOrderId": id("order"), "lineNo": 1, "productId": chain.tea});
    for (key, value) in more {
        data[*key] = value.clone();
    }
    envelope(&chain.first, "purchase_order_items", id("line"), action, &data, at(seconds))
}

async fn row(hq: &Hq) -> purchase_order::Model {
    hq.row::<purchase_order::Entity>(id("order")).await.expect("the order")
}

async fn item(hq: &Hq) -> purchase_order_item::Model {
    hq.row::<purchase_order_item::Entity>(id("line")).await.expect("the line")
}

/// An order that headquarters made for the first store, with a line.
async fn made_at_hq(hq: &Hq, chain: &Chain, status: &str) {
    let mut order = chain::order("order", chain.first.store_id, status);
    "hq".clone_into(&mut order.origin);
    order.notes = Some("hq".to_owned());
    hq.insert::<purchase_order::Entity>([order]).await;
    let line = purchase_order_item::Model {
        id: id("line"),
        purchase_order_id: id("order"),
        store_id: chain.first.store_id,
        line_no: 1,
        product_id: chain.tea,
        ordered_quantity: Qty::pieces(12),
        unit_cost: Cost(Money(500)),
        synced: true,
        created_at: at(-86_400),
        updated_at: at(-86_400),
        ..purchase_order_item::Model::default()
    };
    hq.insert::<purchase_order_item::Entity>([line]).await;
}

#[tokio::test]
async fn a_store_does_not_write_the_drafts_of_headquarters() {
    for hq in kit::both().await {
        let chain = chain(&hq).await;
        made_at_hq(&hq, &chain, "draft").await;
        let before = (row(&hq).await, item(&hq).await);
        let forged = [("status", json!("submitted")), ("receipts", json!([{"receiptId": "r"}]))];
        assert_eq!(take(&hq, &chain.first, &order(&chain, "update", 1, &forged)).await, Applied::Skipped);
        assert_eq!(take(&hq, &chain.first, &order(&chain, "delete", 2, &[])).await, Applied::Skipped);
        let more = [("orderedQuantity", json!(99))];
        assert_eq!(take(&hq, &chain.first, &line(&chain, "update", 3, &more)).await, Applied::Skipped);
        assert_eq!(take(&hq, &chain.first, &line(&chain, "delete", 4, &more)).await, Applied::Skipped);
        let mut added = line(&chain, "create", 5, &more);
        added["entity_id"] = json!(id("added"));
        added["data"]["id"] = json!(id("added"));
        assert_eq!(refuse(&hq, &chain.first, &added).await, "not_owned");
        let (mut order, mut item) = (row(&hq).await, item(&hq).await);
        assert!(order.sync_version > before.0.sync_version, "HQ's own state travels back");
        (order.sync_version, item.sync_version) = (before.0.sync_version, before.1.sync_version);
        assert_eq!((order, item), before);
        hq.verify().await;
    }
}

#[tokio::test]
async fn what_a_store_orders_is_made_by_the_store_whatever_it_says() {
    for hq in kit::both().await {
        let chain = chain(&hq).await;
        let claims = [("status", json!("submitted")), ("origin", json!("hq")), ("conflictNote", json!("x"))];
        take(&hq, &chain.first, &order(&chain, "create", 0, &claims)).await;
        let made = row(&hq).await;
        assert_eq!((made.origin.as_str(), made.conflict_note), ("store", None));
        hq.verify().await;
    }
}

#[tokio::test]
async fn lines_that_come_with_the_submission_of_their_order_are_the_store_s() {
    for hq in kit::both().await {
        let chain = chain(&hq).await;
        let of = |status| [("status", json!(status))];
        let ordered = |pieces: i64| [("orderedQuantity", json!(pieces))];
        push(
            &hq,
            &chain.first,
            &[order(&chain, "create", 0, &of("submitted")), line(&chain, "create", 0, &ordered(5))],
        )
        .await;
        // Refused at headquarters, changed and submitted again: the header goes first.
        hq.edit::<purchase_order::Entity>(id("order"), |row| row.status = "draft".to_owned()).await;
        let again = [line(&chain, "update", 10, &ordered(7)), order(&chain, "update", 11, &of("submitted"))];
        assert_eq!(push(&hq, &chain.first, &again).await.refused, 0);
        assert_eq!((row(&hq).await.status.as_str(), item(&hq).await.ordered_quantity), ("submitted", Qty::pieces(7)));
        // From the approval on it is headquarters'.
        hq.edit::<purchase_order::Entity>(id("order"), |row| row.status = "ordered".to_owned()).await;
        let late = [("orderedQuantity", json!(9)), ("receivedQuantity", json!(3))];
        take(&hq, &chain.first, &line(&chain, "update", 20, &late)).await;
        let item = item(&hq).await;
        assert_eq!((item.ordered_quantity, item.received_quantity), (Qty::pieces(7), Qty::pieces(3)));
        assert_eq!(refuse(&hq, &chain.first, &line(&chain, "delete", 21, &[])).await, "not_deletable");
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_store_neither_approves_nor_cancels_what_it_submitted_and_never_moves_it_to_another_store() {
    for hq in kit::both().await {
        let chain = chain(&hq).await;
        let of = |status: &str| [("status", json!(status)), ("storeId", json!(chain.second.store_id))];
        take(&hq, &chain.first, &order(&chain, "create", 0, &of("submitted"))).await;
        for (seconds, status) in [(1, "approved"), (2, "ordered"), (3, "cancelled"), (4, "draft")] {
            take(&hq, &chain.first, &order(&chain, "update", seconds, &of(status))).await;
            let row = row(&hq).await;
            assert_eq!((row.status.as_str(), row.store_id), ("submitted", chain.first.store_id), "{status}");
        }
        take(&hq, &chain.first, &order(&chain, "update", 5, &of("partially_received"))).await;
        assert_eq!(row(&hq).await.status, "partially_received");
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_line_stays_in_its_order_also_while_its_maker_may_change_it() {
    for hq in kit::both().await {
        let chain = chain(&hq).await;
        let submitted = [("status", json!("submitted"))];
        let made = [order(&chain, "create", 0, &submitted), line(&chain, "create", 0, &[])];
        assert_eq!(push(&hq, &chain.first, &made).await.refused, 0);
        // One of the same store that is approved, with lines that are fixed.
        hq.insert::<purchase_order::Entity>([chain::order("other", chain.first.store_id, "ordered")]).await;
        let moved = [("purchaseOrderId", json!(id("other"))), ("orderedQuantity", json!(7))];
        assert_eq!(take(&hq, &chain.first, &line(&chain, "update", 9, &moved)).await, Applied::Updated);
        let item = item(&hq).await;
        assert_eq!((item.purchase_order_id, item.ordered_quantity), (id("order"), Qty::pieces(7)));
        hq.verify().await;
    }
}

#[tokio::test]
async fn an_order_that_a_store_makes_has_no_approver_yet_and_one_that_it_received_is_received() {
    for (said, has) in [("approved", "submitted"), ("ordered", "submitted"), ("received", "received")] {
        for hq in kit::both().await {
            let chain = chain(&hq).await;
            let claims = [
                ("status", json!(said)),
                ("approvedBy", json!(id("approver"))),
                ("approvedAt", json!(at(-60))),
                ("orderedAt", json!(at(-60))),
                ("receipts", json!([{"receiptId": "r1"}])),
            ];
            take(&hq, &chain.first, &order(&chain, "create", 0, &claims)).await;
            let row = row(&hq).await;
            assert_eq!(row.status, has, "sent as {said}");
            assert_eq!((row.approved_by, row.approved_at, row.ordered_at), (None, None, None));
            assert_eq!(row.receipts.0, json!([{"receiptId": "r1"}]), "headquarters may have lost the order");
            hq.verify().await;
        }
    }
}

#[tokio::test]
async fn a_draft_that_is_deleted_after_a_push_goes_with_its_lines() {
    for hq in kit::both().await {
        let chain = chain(&hq).await;
        let draft = [("status", json!("draft"))];
        push(&hq, &chain.first, &[order(&chain, "create", 0, &draft), line(&chain, "create", 0, &[])]).await;
        let deletes = [order(&chain, "delete", 9, &[]), line(&chain, "delete", 9, &[])];
        assert_eq!(push(&hq, &chain.first, &deletes).await.refused, 0);
        assert_eq!((row(&hq).await.deleted_at, item(&hq).await.deleted_at), (Some(at(9)), Some(at(9))));
        hq.verify().await;
    }
}

#[tokio::test]
async fn receipts_of_an_order_are_a_union_by_their_ids() {
    for hq in kit::both().await {
        let chain = chain(&hq).await;
        made_at_hq(&hq, &chain, "ordered").await;
        for (seconds, receipt) in [(1, "r1"), (2, "r2"), (3, "r1")] {
            let more = [("status", json!("partially_received")), ("receipts", json!([{"receiptId": receipt}]))];
            take(&hq, &chain.first, &order(&chain, "update", seconds, &more)).await;
        }
        assert_eq!(row(&hq).await.receipts.0, json!([{"receiptId": "r1"}, {"receiptId": "r2"}]));
        hq.verify().await;
    }
}

/// What a store has of the order, and HQ; but for what each keeps for itself.
async fn ends(hq: &Hq, shop: &Shop, name: &str) -> (Json, Json) {
    let mut both = [hq.rows(name, shop.id).await.remove(0), shop.rows(name).await.remove(0)];
    for row in &mut both {
        row["syncVersion"] = json!(0);
    }
    let [hq, shop] = both;
    (hq, shop)
}

#[tokio::test]
async fn an_order_cancelled_while_an_offline_store_receives_is_received_with_a_note_at_both() {
    for cancelled_first in [true, false] {
        for hq in kit::both().await {
            let chain = chain(&hq).await;
            let shop = Shop::open(chain.first.store_id).await;
            made_at_hq(&hq, &chain, "ordered").await;
            for name in ["purchase_orders", "purchase_order_items"] {
                shop.pull(&hq, name, 10).await;
            }
            let sql = "UPDATE purchase_orders SET status = 'received', receipts = '[{\"receiptId\":\"r1\"}]', \
                       synced = FALSE";
            shop.execute(sql, []).await;
            shop.execute("UPDATE purchase_order_items SET received_quantity = 12000, synced = FALSE", []).await;
            let header = shop.rows("purchase_orders").await.remove(0);
            let items = shop.rows("purchase_order_items").await.remove(0);
            let receipt = [
                envelope(&chain.first, "purchase_orders", id("order"), "update", &header, at(5)),
                envelope(&chain.first, "purchase_order_items", id("line"), "update", &items, at(5)),
            ];
            let cancel = async || {
                hq.edit::<purchase_order::Entity>(id("order"), |row| {
                    // As the route of headquarters will: nothing is cancelled of which something came.
                    if row.receipts.0 == json!([]) {
                        row.status = "cancelled".to_owned();
                        row.cancelled_reason = Some("budget".to_owned());
                    }
                })
                .await;
            };
            if cancelled_first {
                cancel().await;
                shop.pull(&hq, "purchase_orders", 10).await;
                assert_eq!(shop.rows("purchase_orders").await[0]["status"], "received", "unsent work stays");
            }
            assert_eq!(push(&hq, &chain.first, &receipt).await.refused, 0);
            cancel().await;
            for name in ["purchase_orders", "purchase_order_items"] {
                shop.execute(&format!("UPDATE {name} SET synced = TRUE"), []).await;
                shop.pull(&hq, name, 10).await;
                let (at_hq, at_shop) = ends(&hq, &shop, name).await;
                assert_eq!(at_shop, at_hq, "{name}");
            }
            let row = row(&hq).await;
            assert_eq!((row.status.as_str(), &row.receipts.0), ("received", &json!([{"receiptId": "r1"}])));
            let note = cancelled_first.then_some(CANCELLED_AND_RECEIVED);
            assert_eq!(row.conflict_note.as_deref(), note);
            assert_eq!(item(&hq).await.received_quantity, Qty::pieces(12));
            hq.verify().await;
        }
    }
}

#[tokio::test]
async fn a_store_that_was_set_up_again_or_set_back_gets_its_receipts_from_headquarters() {
    for hq in kit::both().await {
        let chain = chain(&hq).await;
        made_at_hq(&hq, &chain, "ordered").await;
        let received = [("status", json!("partially_received")), ("receipts", json!([{"receiptId": "r1"}]))];
        let counted = [("receivedQuantity", json!(4))];
        let both = [order(&chain, "update", 1, &received), line(&chain, "update", 1, &counted)];
        assert_eq!(push(&hq, &chain.first, &both).await.refused, 0);
        let received = async |shop: &Shop| {
            let order = shop.row::<purchase_order::Entity>(id("order")).await.expect("the order");
            let line = shop.row::<purchase_order_item::Entity>(id("line")).await.expect("the line");
            (order.receipts.0, line.received_quantity)
        };
        let shop = Shop::open(chain.first.store_id).await;
        let expected = (json!([{"receiptId": "r1"}]), Qty::pieces(4));
        for name in ["purchase_orders", "purchase_order_items"] {
            shop.pull(&hq, name, 10).await;
        }
        assert_eq!(received(&shop).await, expected);
        // An older copy of the store's database was restored.
        shop.execute("UPDATE purchase_orders SET receipts = '[]'", []).await;
        shop.execute("UPDATE purchase_order_items SET received_quantity = 0", []).await;
        for name in ["purchase_orders", "purchase_order_items"] {
            shop.reload(&hq, name).await;
        }
        assert_eq!(received(&shop).await, expected);
        // In a pull what the store counts stays as it is.
        shop.execute("UPDATE purchase_orders SET receipts = '[{\"receiptId\":\"r2\"}]'", []).await;
        hq.edit::<purchase_order::Entity>(id("order"), |row| row.notes = Some("news".to_owned())).await;
        shop.pull(&hq, "purchase_orders", 10).await;
        let row = shop.row::<purchase_order::Entity>(id("order")).await.expect("the order");
        assert_eq!((row.receipts.0, row.notes.as_deref()), (json!([{"receiptId": "r2"}]), Some("news")));
    }
}
