//! Envelopes as stores send them.

use serde_json::{Value as Json, json};
use tillkeep_model::Instant;
use tillkeep_model::wire::{Applied, PushResult, PushStatus};
use tillkeep_storage::entity::{sale, sale_item, sale_payment};
use tillkeep_storage::envelope::Sender;
use tillkeep_storage::fiscal::Rows;
use tillkeep_storage::push::{self, Pushed};
use tillkeep_storage::registry::SyncType;
use uuid::Uuid;

use super::chain::{Chain, id};
use super::{Hq, at};

pub fn envelope(sender: &Sender, entity_type: &str, id: Uuid, action: &str, data: &Json, time: Instant) -> Json {
    json!({
        "store_id": sender.store_id,
        "entity_type": entity_type,
        "entity_id": id,
        "action": action,
        "data": data,
        "timestamp": time,
    })
}

/// A completed sale of `pieces` of each product at 19.99 and no tax, paid in cash.
pub fn sale(sender: &Sender, id: Uuid, products: &[(Uuid, i64)]) -> Json {
    let line = |(place, (product, pieces)): (usize, &(Uuid, i64))| {
        let amount = 1999 * pieces;
        json!({
            "id": Uuid::new_v5(&id, format!("item {place}").as_bytes()),
            "lineNo": place + 1,
            "productId": product,
            "quantity": pieces,
            "unitPrice": 1999,
            "listAmount": amount,
            "netAmount": amount,
            "totalAmount": amount,
        })
    };
    let items: Vec<Json> = products.iter().enumerate().map(line).collect();
    let total: i64 = products.iter().map(|(_, pieces)| 1999 * pieces).sum();
    json!({
        "id": id,
        "storeId": sender.store_id,
        "receiptNumber": format!("{}-01-{:06}", sender.store_code, id.as_u128() % 1_000_000),
        "registerCode": "01",
        "saleType": "sale",
        "status": "completed",
        "businessDate": "2026-11-20",
        "startedAt": at(0),
        "completedAt": at(0),
        "createdAt": at(0),
        "updatedAt": at(0),
        "netAmount": total,
        "taxAmount": 0,
        "totalAmount": total,
        "saleItems": items,
        "salePayments": [{
            "id": Uuid::new_v5(&id, b"payment"),
            "lineNo": 1,
            "tenderCode": "CASH",
            "tenderKind": "cash",
            "amount": total,
            "status": "captured",
        }],
    })
}

/// A sale as rows.
pub struct Document {
    sale: sale::Model,
    items: Vec<sale_item::Model>,
    payments: Vec<sale_payment::Model>,
}

impl Document {
    pub fn read(data: &Json) -> Self {
        Self {
            sale: serde_json::from_value(data.clone()).expect("a sale"),
            items: serde_json::from_value(data["saleItems"].clone()).expect("lines"),
            payments: serde_json::from_value(data["salePayments"].clone()).expect("payments"),
        }
    }

    pub fn rows(&self) -> Rows<'_> {
        Rows { sale: &self.sale, items: self.items.iter().collect(), payments: self.payments.iter().collect() }
    }
}

pub fn create_sale(sender: &Sender, id: Uuid, products: &[(Uuid, i64)]) -> Json {
    envelope(sender, "sales", id, "create", &sale(sender, id, products), at(0))
}

/// A refund, a minute later, of so many pieces of lines of the sale that `create` made, by their places.
pub fn refunds(sender: &Sender, id: Uuid, create: &Json, lines: &[(usize, i64)]) -> Json {
    let original = &create["data"];
    let line = |place: usize| &original["saleItems"][place];
    let product = |place: usize| line(place)["productId"].as_str().expect("an id").parse().expect("an id");
    let back: Vec<(Uuid, i64)> = lines.iter().map(|(place, pieces)| (product(*place), -pieces)).collect();
    let mut data = sale(sender, id, &back);
    data["saleType"] = "refund".into();
    data["originalSaleId"] = original["id"].clone();
    data["originalReceiptNumber"] = original["receiptNumber"].clone();
    for (item, (place, _)) in lines.iter().enumerate() {
        data["saleItems"][item]["originalSaleItemId"] = line(*place)["id"].clone();
        data["saleItems"][item]["restock"] = true.into();
    }
    envelope(sender, "sales", id, "create", &data, at(60))
}

/// The same sale, voided a minute later.
pub fn void_sale(sender: &Sender, id: Uuid, products: &[(Uuid, i64)]) -> Json {
    let mut data = sale(sender, id, products);
    data["status"] = "voided".into();
    data["voidReason"] = "mistake".into();
    data["voidedAt"] = json!(at(60));
    data["salePayments"][0]["status"] = "voided".into();
    envelope(sender, "sales", id, "void", &data, at(60))
}

pub fn adjustment(sender: &Sender, id: Uuid, product: Uuid, reason: &str, pieces: i64, cost: Option<i64>) -> Json {
    let data = json!({
        "id": id,
        "storeId": sender.store_id,
        "productId": product,
        "reason": reason,
        "quantityChange": pieces,
        "unitCost": cost,
        "businessDate": "2026-11-20",
        "occurredAt": at(0),
        "createdAt": at(0),
    });
    envelope(sender, "inventory_adjustments", id, "create", &data, at(0))
}

pub fn customer(sender: &Sender, id: Uuid, number: &str) -> Json {
    let data = json!({"id": id, "customerNumber": number, "firstName": "Ada", "createdAt": at(0)});
    envelope(sender, "customers", id, "create", &data, at(0))
}

/// The data of a new row of each type that stores push.
pub fn fresh(chain: &Chain, entity: &SyncType, row: Uuid) -> Json {
    match entity.name {
        "sales" => {
            let mut sale = sale(&chain.first, row, &[(chain.tea, 1)]);
            // Of a form that is not known here: it is kept as it came.
            sale["chainEntries"] = json!([{
                "id": Uuid::new_v5(&row, b"entry"), "storeId": chain.first.store_id, "lineNo": 1,
                "chainId": Uuid::new_v5(&row, b"chain"), "registerCode": "01", "number": 1, "kind": "sale",
                "version": 99, "at": at(0), "previousHash": "", "hash": "none", "runningTotal": 0,
            }]);
            sale
        }
        "inventory_adjustments" => adjustment(&chain.first, row, chain.tea, "found", 1, None)["data"].clone(),
        "customers" => customer(&chain.first, row, &row.to_string())["data"].clone(),
        "register_sessions" => json!({"id": row, "registerCode": "01", "status": "open", "createdAt": at(0)}),
        "purchase_orders" => json!({"id": row, "poNumber": row, "supplierId": id("supplier"), "status": "submitted",
                                    "createdAt": at(0)}),
        "purchase_order_items" => json!({"id": row, "purchaseOrderId": id("base purchase_orders"), "lineNo": 1,
                                         "productId": chain.tea, "createdAt": at(0)}),
        "transfers" => json!({
            "id": row, "transferNumber": row, "fromStoreId": chain.first.store_id, "toStoreId": chain.second.store_id,
            "status": "in_transit", "createdAt": at(0),
            "transferItems": [{"id": Uuid::new_v5(&row, b"line"), "lineNo": 1, "productId": chain.tea}],
        }),
        other => panic!("{other} is pushed: say here how a new row of it looks"),
    }
}

pub async fn push(hq: &Hq, sender: &Sender, envelopes: &[Json]) -> Pushed {
    let raw: Vec<String> = envelopes.iter().map(Json::to_string).collect();
    let raw: Vec<&str> = raw.iter().map(String::as_str).collect();
    push::push(&hq.db, sender, &raw, at(100)).await.expect("an answer to the push")
}

/// Pushes one envelope, which HQ has to take.
pub async fn take(hq: &Hq, sender: &Sender, envelope: &Json) -> Applied {
    let result = one(hq, sender, envelope).await;
    assert_eq!(result.status, PushStatus::Ok, "{result:?}");
    result.applied.expect("what became of it")
}

/// Pushes one envelope, which HQ has to refuse; the code.
pub async fn refuse(hq: &Hq, sender: &Sender, envelope: &Json) -> String {
    let result = one(hq, sender, envelope).await;
    assert_eq!(result.status, PushStatus::Error, "{result:?}");
    assert!(result.error.is_some_and(|text| !text.is_empty()), "a refusal says why");
    result.code.expect("a code")
}

async fn one(hq: &Hq, sender: &Sender, envelope: &Json) -> PushResult {
    let mut results = push(hq, sender, std::slice::from_ref(envelope)).await.results;
    assert_eq!(results.len(), 1);
    results.remove(0)
}
