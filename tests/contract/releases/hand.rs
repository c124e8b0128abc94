//! What no route makes yet, written into the databases as a route would.

use serde_json::{Value as Json, json};
use tillkeep_hq::Hq;
use tillkeep_hq::testing::Databases as _;
use tillkeep_storage::registry;
use tillkeep_storage::rows::{Row, SyncTable};
use tillkeep_storage::{Tx, raw};
use uuid::Uuid;

use super::day::{id, product, store_id};

/// Rows that headquarters has no route for yet, made or changed.
pub async fn change(hq: &Hq, what: &str) {
    let now = hq.clock.now();
    let rows = [
        (
            "suppliers",
            json!({"id": id("supplier"), "code": "SUP", "name": format!("Supplier {what}"), "currencyCode": "USD", "isActive": true}),
        ),
        (
            "product_suppliers",
            json!({"id": id("offer"), "productId": product(), "supplierId": id("supplier"), "cost": 200, "supplierSku": what}),
        ),
        (
            "purchase_orders",
            json!({"id": id(&format!("hq order {what}")), "poNumber": format!("HQ-PO-{what}"), "storeId": store_id(), "supplierId": id("supplier"), "origin": "hq", "status": "ordered", "currencyCode": "USD"}),
        ),
        (
            "purchase_order_items",
            json!({"id": id(&format!("hq item {what}")), "purchaseOrderId": id(&format!("hq order {what}")), "storeId": store_id(), "lineNo": 1, "productId": product(), "description": "Tea", "orderedQuantity": 6}),
        ),
        (
            "transfers",
            json!({"id": id(&format!("hq transfer {what}")), "transferNumber": format!("HQ-TR-{what}"), "storeId": id("other store"), "fromStoreId": id("other store"), "toStoreId": store_id(), "status": "draft"}),
        ),
    ];
    let mut tx = hq.db().begin().await.expect("a transaction");
    for (name, mut row) in rows {
        (row["createdAt"], row["updatedAt"]) = (json!(now), json!(now));
        insert(&tx, name, &row).await;
        tx.touch(registry::find(name).expect("a type"));
    }
    // As with a new release, which alone brings permissions.
    tx.touch(registry::find("permissions").expect("a type"));
    hq.commit(tx).await.expect("a commit");
}

/// A user changes a row of `name` and nothing in it.
pub async fn touch(tx: &mut Tx, name: &str) {
    let sql = format!("UPDATE {name} SET sync_version = 0 WHERE id = $1");
    raw::execute(&*tx, &sql, [id("card").into()]).await.expect("a change");
    tx.touch(registry::find(name).expect("a type"));
}

/// Writes a row of `name` with the lines inside.
pub async fn insert(tx: &Tx, name: &str, data: &Json) {
    let entity = registry::find(name).expect("a type");
    let write = async |table: &dyn SyncTable, rows: Vec<Box<dyn Row>>, key: &[&str]| {
        table.upsert(tx, rows, key, &table.columns(), None).await.expect("rows");
    };
    write(entity.table, vec![entity.table.decode(&data.to_string()).expect("a row")], entity.key).await;
    for child in entity.children {
        let lines = data[child.key].as_array().into_iter().flatten().map(|line| {
            let mut row = child.table.decode(&line.to_string()).expect("a line");
            row.set(child.parent, data["id"].as_str().and_then(|id| id.parse::<Uuid>().ok()).into());
            row
        });
        write(child.table, lines.collect(), &["id"]).await;
    }
}
