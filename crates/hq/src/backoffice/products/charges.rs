//! What is sold with a product, as a deposit is: its charge. One level, always of a fixed price.

use serde_json::{Value as Json, json};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::Check;
use tillkeep_model::ErrorCode;
use tillkeep_storage::Tx;
use tillkeep_storage::entity::product::{Column, Entity, Model};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use uuid::Uuid;

/// What may be a charge.
const TYPES: [&str; 2] = ["deposit", "service"];
/// How many products are named.
const NAMED: u64 = 10;

/// Whether a product may be the charge of another.
fn may_be_charge(row: &Model) -> bool {
    row.is_active && why_not(row).is_none()
}

fn why_not(row: &Model) -> Option<&'static str> {
    let rules = [
        (TYPES.contains(&row.product_type.as_str()), "must be of the type deposit or service"),
        (!row.is_open_price, "must have a price of its own"),
        (!row.is_weighed, "must not be weighed"),
        (row.charge_product_id.is_none(), "must have no charge of its own"),
    ];
    rules.into_iter().find(|(holds, _)| !holds).map(|(_, text)| text)
}

/// Says what is wrong with the charge that a product newly has, or with a product that has one.
pub(super) async fn check(tx: &Tx, check: &mut Check, old: Option<&Model>, row: &Model) -> Result<()> {
    let Some(id) = row.charge_product_id else { return Ok(()) };
    let is_new = old.is_none_or(|old| old.charge_product_id != Some(id));
    let kind = |row: &Model| (row.is_weighed, row.quantity_decimals);
    if is_new || old.is_some_and(|old| kind(old) != kind(row)) {
        let text = "is for what is sold in whole units: with decimals of a quantity, leave it out or send null";
        check.that(kind(row) == (false, 0), "chargeProductId", text);
    }
    if !is_new {
        return Ok(());
    }
    if id == row.id {
        check.that(false, "chargeProductId", "must be another product");
        return Ok(());
    }
    // Locked: nobody makes it another kind of product before this is written.
    let found = Entity::find_by_id(id).filter(Column::DeletedAt.is_null()).lock_shared().one(tx).await?;
    let wrong = match &found {
        None => Some("is no product"),
        Some(charge) if !charge.is_active => Some("is a product that is not sold any more"),
        Some(charge) => why_not(charge),
    };
    check.that(wrong.is_none(), "chargeProductId", wrong.unwrap_or_default());
    let text = "must be left out: this product is the charge of another, and a charge has none of its own";
    check.that(charged(tx, row.id).await?.is_empty(), "chargeProductId", text);
    Ok(())
}

/// Refuses what would leave other products with a charge that cannot be sold.
pub(super) async fn keep(tx: &Tx, old: Option<&Model>, row: &Model) -> Result<()> {
    match old {
        Some(old) if may_be_charge(old) && !may_be_charge(row) => refuse_charged(tx, row.id).await,
        _ => Ok(()),
    }
}

/// Refuses to take away the charge of other products.
pub(super) async fn refuse_charged(tx: &Tx, id: Uuid) -> Result<()> {
    let charged = charged(tx, id).await?;
    if charged.is_empty() {
        return Ok(());
    }
    let skus = charged.iter().map(|product| product.sku.as_str()).collect::<Vec<_>>().join(", ");
    let text = format!("this is the charge of {skus}: it is sold with them, so give them another charge or none first");
    let named: Vec<Json> =
        charged.iter().map(|product| json!({"id": product.id, "sku": product.sku, "name": product.name})).collect();
    Err(Error::new(ErrorCode::InUse, text).with("products", named))
}

/// The first products with this charge.
async fn charged(tx: &Tx, id: Uuid) -> Result<Vec<Model>> {
    let of = Entity::find().filter(Column::ChargeProductId.eq(id)).filter(Column::DeletedAt.is_null());
    Ok(of.order_by_asc(Column::Sku).limit(NAMED).all(tx).await?)
}
