//! I14: a code that a user scans or types means one product, and the index of codes says which.

use std::collections::{BTreeMap, HashMap};

use sea_orm::{DbErr, EntityName};
use tillkeep_model::JsonText;
use uuid::Uuid;

use super::finding::Found;
use super::source::Source;
use crate::db::query;
use crate::entity::{product, product_barcode};
use crate::{barcodes, registry};

/// Read off the products themselves: the index of codes has each only once. Headquarters refuses such rows; what is from
/// before, or was pulled, is found here.
pub(super) async fn once(source: &Source, found: &mut Found) -> Result<(), DbErr> {
    let mut skus: BTreeMap<String, Vec<Uuid>> = BTreeMap::new();
    let mut codes: BTreeMap<String, Vec<Uuid>> = BTreeMap::new();
    let mut claimed: HashMap<String, Vec<Uuid>> = HashMap::new();
    let sql = "SELECT id, sku, barcode, barcodes, packs FROM products WHERE deleted_at IS NULL ORDER BY id";
    for row in query(&source.conn, sql, []).await? {
        let id: Uuid = row.try_get("", "id")?;
        skus.entry(registry::fold(&row.try_get::<String>("", "sku")?)).or_default().push(id);
        let (barcode, further): (Option<String>, JsonText) =
            (row.try_get("", "barcode")?, row.try_get("", "barcodes")?);
        let packs: JsonText = row.try_get("", "packs")?;
        for code in barcodes::codes(barcode.as_deref(), &further.0, &packs.0) {
            codes.entry(barcodes::normal(&code)).or_default().push(id);
            claimed.entry(code).or_default().push(id);
        }
    }
    for (what, owners) in [("SKU", skus), ("barcode", codes)] {
        for ids in owners.into_values().filter(|ids| ids.len() > 1) {
            let others = ids[1..].iter().map(Uuid::to_string).collect::<Vec<_>>().join(", ");
            let text = if ids[1..].iter().all(|id| *id == ids[0]) {
                format!("has one {what} in two forms")
            } else {
                format!("its {what} is that of {others} too, as they are compared")
            };
            found.add(source.store, product::Entity.table_name(), ids[0], text);
        }
    }
    index(source, claimed, found).await
}

/// The index has each code that a product claims, once and for one of those that do, and no other.
async fn index(source: &Source, mut claimed: HashMap<String, Vec<Uuid>>, found: &mut Found) -> Result<(), DbErr> {
    let table = product_barcode::Entity.table_name();
    for row in query(&source.conn, "SELECT code, normal, product_id FROM product_barcodes", []).await? {
        let (code, normal): (String, String) = (row.try_get("", "code")?, row.try_get("", "normal")?);
        let product: Uuid = row.try_get("", "product_id")?;
        if !claimed.remove(&code).is_some_and(|claimants| claimants.contains(&product)) {
            found.add(source.store, table, product, "the index has a code of it that it does not have");
        } else if normal != barcodes::normal(&code) {
            found.add(
                source.store,
                table,
                product,
                "the index has a code of it in a form that is not the one that is compared",
            );
        }
    }
    for claimant in claimed.values().filter_map(|claimants| claimants.first()) {
        found.add(source.store, table, claimant, "the index lacks a code of it");
    }
    Ok(())
}
