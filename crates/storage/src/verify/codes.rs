//! I14: a code that somebody scans or types means one product.

use std::collections::BTreeMap;

use sea_orm::{DbErr, EntityName};
use tillkeep_model::JsonText;
use uuid::Uuid;

use super::finding::Found;
use super::source::Source;
use crate::db::query;
use crate::entity::product;
use crate::{barcodes, registry};

/// Read off the products themselves: the index of codes has each only once. Headquarters refuses such rows; what is from
/// before, or was pulled, is found here.
pub(super) async fn once(source: &Source, found: &mut Found) -> Result<(), DbErr> {
    let mut skus: BTreeMap<String, Vec<Uuid>> = BTreeMap::new();
    let mut codes: BTreeMap<String, Vec<Uuid>> = BTreeMap::new();
    let sql = "SELECT id, sku, barcode, barcodes FROM products WHERE deleted_at IS NULL ORDER BY id";
    for row in query(&source.conn, sql, []).await? {
        let id: Uuid = row.try_get("", "id")?;
        skus.entry(registry::fold(&row.try_get::<String>("", "sku")?)).or_default().push(id);
        let (barcode, further): (Option<String>, JsonText) =
            (row.try_get("", "barcode")?, row.try_get("", "barcodes")?);
        for code in barcodes::codes(barcode.as_deref(), &further.0) {
            codes.entry(barcodes::normal(&code)).or_default().push(id);
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
    Ok(())
}
