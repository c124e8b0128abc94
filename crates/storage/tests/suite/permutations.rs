//! Whatever the order in which the envelopes of one document come, and however often: one end. `docs/sync.md`, U7.

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use tillkeep_storage::entity::stock_movement;
use tillkeep_storage::envelope::Sender;
use tillkeep_storage::sea_orm::{EntityTrait, QueryOrder};

use crate::kit::chain::{self, Chain, id};
use crate::kit::envelopes::{envelope, push, sale};
use crate::kit::{Hq, at, entity};

const CASES: u32 = 12;

/// The life of each kind of document, as its senders tell it; of a transfer by two stores.
fn lives(chain: &Chain) -> Vec<(&'static str, Vec<(Sender, Json)>)> {
    let sent = |sender: &Sender, kind: &str, action: &str, data: &Json, seconds| {
        (sender.clone(), envelope(sender, kind, id(kind), action, data, at(seconds)))
    };
    let first = &chain.first;
    let mut sold = sale(first, id("sales"), &[(chain.tea, 3), (chain.rice, 1)]);
    let mut sales = vec![sent(first, "sales", "create", &sold, 0)];
    sold["status"] = json!("partially_refunded");
    sold["refundedAmount"] = json!(1999);
    sold["saleItems"][0]["refundedQuantity"] = json!(1);
    sales.push(sent(first, "sales", "update", &sold, 10));
    sold["status"] = json!("voided");
    sold["voidReason"] = json!("mistake");
    sales.push(sent(first, "sales", "void", &sold, 20));

    let mut sessions = Vec::new();
    for (step, status) in ["open", "counting", "open", "counting", "closed"].into_iter().enumerate() {
        let data = json!({
            "id": id("register_sessions"), "registerCode": "01", "sessionNumber": 1, "status": status,
            "noSaleCount": step, "createdAt": at(0), "cashMovements": (0..step).collect::<Vec<_>>(),
        });
        sessions.push(sent(first, "register_sessions", "update", &data, i64::try_from(step).expect("small")));
    }

    let mut orders = Vec::new();
    for (step, status) in ["submitted", "partially_received", "received", "closed"].into_iter().enumerate() {
        let receipts: Vec<Json> = (0..step).map(|n| json!({"receiptId": n})).collect();
        let data = json!({
            "id": id("purchase_orders"), "poNumber": "S01-PO-1", "supplierId": id("supplier"), "status": status,
            "receipts": receipts, "createdAt": at(0), "lastSupplierDocument": status,
        });
        orders.push(sent(first, "purchase_orders", "update", &data, i64::try_from(step).expect("small")));
    }

    let transfer = |status: &str, note: &str, sent: i64, received: i64, receipts: Json| {
        json!({
            "id": id("transfers"), "transferNumber": "T1", "fromStoreId": chain.first.store_id,
            "toStoreId": chain.second.store_id, "status": status, "note": note, "createdAt": at(0),
            "sentAt": at(10), "receipts": receipts, "receivedAt": (status == "received").then(|| at(40)),
            "transferItems": [{"id": id("line"), "lineNo": 1, "productId": chain.tea, "sentQuantity": sent,
                               "requestedQuantity": 5, "receivedQuantity": received}],
        })
    };
    let receipt = |n: i64| json!({"receiptId": n});
    // What the source tells once the shipment is known, and what the destination tells meanwhile.
    let transfers = vec![
        sent(first, "transfers", "update", &transfer("in_transit", "sent", 5, 0, json!([])), 10),
        sent(first, "transfers", "update", &transfer("in_transit", "carrier", 5, 0, json!([])), 20),
        sent(first, "transfers", "update", &transfer("cancelled", "too late", 5, 0, json!([])), 30),
        sent(&chain.second, "transfers", "update", &transfer("partially_received", "", 0, 2, json!([receipt(1)])), 5),
        sent(
            &chain.second,
            "transfers",
            "update",
            &transfer("received", "", 0, 5, json!([receipt(1), receipt(2)])),
            40,
        ),
    ];
    vec![("sales", sales), ("register_sessions", sessions), ("purchase_orders", orders), ("transfers", transfers)]
}

/// The document with its lines and all that moved, without the order of arrival.
async fn end(hq: &Hq, kind: &str) -> Json {
    let snapshot = hq.db.snapshot().await.expect("a snapshot");
    let kind = entity(kind);
    let mut rows = Vec::new();
    for row in kind.table.all(&snapshot).await.expect("the rows") {
        let mut row = crate::kit::parse(&row.to_json().expect("JSON"));
        row["syncVersion"] = json!(0);
        rows.push(row);
    }
    for child in kind.children {
        for row in child.table.all(&snapshot).await.expect("the lines") {
            rows.push(crate::kit::parse(&row.to_json().expect("JSON")));
        }
    }
    let select = stock_movement::Entity::find().order_by_asc(stock_movement::Column::Id);
    for movement in select.all(hq.db.reader()).await.expect("the movements") {
        rows.push(json!([movement.id, movement.quantity_change]));
    }
    json!(rows)
}

/// A headquarters that got these envelopes one by one, after the first one of a transfer.
async fn after(hq: Hq, kind: usize, order: &[usize]) -> (Hq, Json) {
    let chain = Chain::found(&hq).await;
    hq.insert::<tillkeep_storage::entity::supplier::Entity>([chain::supplier()]).await;
    let (kind, life) = lives(&chain).remove(kind);
    if kind == "transfers" {
        // Only its source can make a transfer known; nothing crosses with that.
        let mut submitted = life[0].1.clone();
        submitted["data"]["status"] = json!("approved");
        submitted["data"]["sentAt"] = json!(null);
        submitted["timestamp"] = json!(at(1));
        push(&hq, &life[0].0, &[submitted]).await;
    }
    for place in order {
        let (sender, envelope) = &life[place % life.len()];
        let pushed = push(&hq, sender, std::slice::from_ref(envelope)).await;
        assert_eq!(pushed.refused, 0, "{:?}", pushed.results);
    }
    hq.verify().await;
    let end = end(&hq, kind).await;
    (hq, end)
}

/// Every envelope at least once, some twice, in any order.
fn orders() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0..60_usize, 0..4)
        .prop_map(|more| (0..60).step_by(12).map(|n| n / 12).chain(more).collect::<Vec<_>>())
        .prop_shuffle()
}

#[test]
fn any_order_and_any_repetition_of_a_document_s_envelopes_comes_to_the_same_end() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    for kind in 0..4 {
        let expected = runtime.block_on(async { after(Hq::sqlite().await, kind, &[0, 1, 2, 3, 4]).await.1 });
        let config = ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() };
        proptest!(config, |(order in orders())| {
            let end = runtime.block_on(async { after(Hq::sqlite().await, kind, &order).await.1 });
            prop_assert_eq!(&end, &expected, "{:?}", order);
        });
        let backwards = runtime.block_on(async { after(Hq::postgres().await, kind, &[4, 3, 2, 1, 0]).await.1 });
        assert_eq!(backwards, expected, "on PostgreSQL");
    }
}
