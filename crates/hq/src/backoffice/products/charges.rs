//! What is sold with a product, as a deposit is: its charge. One level, always of a fixed price.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Value as Json, json};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::Check;
use tillkeep_model::ErrorCode;
use tillkeep_storage::Tx;
use tillkeep_storage::entity::product::{Column, Entity, Model};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use uuid::Uuid;

/// A product before a change, and after it.
pub(in crate::backoffice) type Pair<'a> = (Option<&'a Model>, &'a Model);

/// By charge those that have it, in the order of their SKUs.
pub(super) type ByCharge = HashMap<Uuid, Vec<Charged>>;

/// What may be a charge.
const TYPES: [&str; 2] = ["deposit", "service"];
/// How many products are named.
const NAMED: usize = 10;

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

/// Whether a product that may have been the charge of others may be none any more.
pub(super) fn is_no_charge_any_more((old, row): Pair<'_>) -> bool {
    old.is_some_and(|old| may_be_charge(old) && !may_be_charge(row))
}

/// Says what is wrong with the charge that a product newly has, or with a product that has one.
pub(super) fn check((charges, by_charge): (&HashMap<Uuid, Model>, &ByCharge), check: &mut Check, (old, row): Pair<'_>) {
    let Some(id) = row.charge_product_id else { return };
    let is_new = old.is_none_or(|old| old.charge_product_id != Some(id));
    let kind = |row: &Model| (row.is_weighed, row.quantity_decimals);
    if is_new || old.is_some_and(|old| kind(old) != kind(row)) {
        let text = "is for what is sold in whole units: with decimals of a quantity, leave it out or send null";
        check.that(kind(row) == (false, 0), "chargeProductId", text);
    }
    if !is_new {
        return;
    }
    if id == row.id {
        check.that(false, "chargeProductId", "must be another product");
        return;
    }
    let wrong = match charges.get(&id) {
        None => Some("is no product"),
        Some(charge) if !charge.is_active => Some("is a product that is not sold any more"),
        Some(charge) => why_not(charge),
    };
    check.that(wrong.is_none(), "chargeProductId", wrong.unwrap_or_default());
    let text = "must be left out: this product is the charge of another, and a charge has none of its own";
    check.that(!by_charge.contains_key(&row.id), "chargeProductId", text);
}

/// Refuses what would leave other products with a charge that cannot be sold.
pub(super) fn keep(by_charge: &ByCharge, pair: Pair<'_>) -> Result<()> {
    if !is_no_charge_any_more(pair) {
        return Ok(());
    }
    let charged = by_charge.get(&pair.1.id).map(Vec::as_slice).unwrap_or_default();
    refuse(charged)
}

/// Refuses to take away the charge of other products.
pub(super) async fn refuse_charged(tx: &Tx, id: Uuid) -> Result<()> {
    let charged = charged(tx, BTreeSet::from([id])).await?;
    refuse(charged.get(&id).map(Vec::as_slice).unwrap_or_default())
}

fn refuse(charged: &[Charged]) -> Result<()> {
    if charged.is_empty() {
        return Ok(());
    }
    let named = charged.get(..NAMED).unwrap_or(charged);
    let skus = named.iter().map(|product| product.sku.as_str()).collect::<Vec<_>>().join(", ");
    let text = format!("this is the charge of {skus}: it is sold with them, so give them another charge or none first");
    let named: Vec<Json> =
        named.iter().map(|product| json!({"id": product.id, "sku": product.sku, "name": product.name})).collect();
    Err(Error::new(ErrorCode::InUse, text).with("products", named))
}

/// A product with a charge.
#[derive(Debug)]
pub(super) struct Charged {
    id: Uuid,
    sku: String,
    name: String,
}

/// The products with one of these charges, by it, in the order of their SKUs.
pub(super) async fn charged(tx: &Tx, charges: BTreeSet<Uuid>) -> Result<HashMap<Uuid, Vec<Charged>>> {
    let mut found: HashMap<Uuid, Vec<Charged>> = HashMap::new();
    if charges.is_empty() {
        return Ok(found);
    }
    let rows: Vec<(Option<Uuid>, Uuid, String, String)> = Entity::find()
        .select_only()
        .columns([Column::ChargeProductId, Column::Id, Column::Sku, Column::Name])
        .filter(Column::ChargeProductId.is_in(charges))
        .filter(Column::DeletedAt.is_null())
        .order_by_asc(Column::Sku)
        .into_tuple()
        .all(tx)
        .await?;
    for (charge, id, sku, name) in rows {
        if let Some(charge) = charge {
            found.entry(charge).or_default().push(Charged { id, sku, name });
        }
    }
    Ok(found)
}
