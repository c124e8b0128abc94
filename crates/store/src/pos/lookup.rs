//! `GET /pos/lookup/{code}`: what was scanned or typed.

use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::extract::Segment;
use tillkeep_http::{Answer, Caller};
use tillkeep_model::permission::code::{InventoryView, PosSell, ProductsView};
use tillkeep_model::{ErrorCode, Money, Qty, rdiv};
use tillkeep_storage::barcodes;
use tillkeep_storage::entity::{product, store};
use tillkeep_storage::registry::fold;
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QueryOrder};
use utoipa::ToSchema;

use super::catalog::{self, shelf_price};
use super::label::{self, Printed};
use super::pricing::inactive;
use crate::Store;

/// Characters of a code at the most; no key of a product is longer.
const LONGEST_CODE: usize = 100;

/// A product and how it was found.
struct Found {
    product: product::Model,
    matched_by: &'static str,
    printed: Option<Printed>,
}

/// A product as a till takes it from its scanner.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Scanned {
    product: product::Model,
    /// On hand here.
    quantity: Qty,
    effective_price: Money,
    price_source: &'static str,
    /// By which of its keys it was found.
    matched_by: &'static str,
    /// What the label of a scale says of the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    line_quantity: Option<Qty>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line_amount: Option<Money>,
}

impl Found {
    fn plain(matched_by: &'static str) -> impl FnOnce(product::Model) -> Self {
        move |product| Self { product, matched_by, printed: None }
    }
}

pub async fn lookup(
    caller: Caller<(PosSell, ProductsView, InventoryView)>,
    State(store): State<Arc<Store>>,
    Segment(code): Segment,
) -> Result<Answer<Scanned>> {
    let snapshot = caller.db().snapshot().await?;
    let own = store.own_row(&snapshot).await?;
    let code = code.trim();
    let found = if code.is_empty() || code.chars().count() > LONGEST_CODE || code.contains('\0') {
        None
    } else {
        find(&snapshot, &own, code).await?
    };
    let found = found.ok_or_else(|| {
        let shown: String = code.chars().take(LONGEST_CODE).collect();
        Error::new(ErrorCode::ProductNotFound, format!("no product answers to {shown:?}; search by name instead"))
    })?;
    if !found.product.is_active {
        return Err(inactive(&found.product));
    }
    let rows = catalog::rows(&snapshot, store.id, &[found.product.id]).await?;
    let row = rows.get(&found.product.id);
    let (price, source) = shelf_price(&found.product, row);
    let (line_quantity, line_amount) = found.printed.and_then(|printed| line(printed, price)).unzip();
    Ok(Answer(Scanned {
        quantity: row.map(|row| row.quantity).unwrap_or_default(),
        product: found.product,
        effective_price: price,
        price_source: source.as_str(),
        matched_by: found.matched_by,
        line_quantity,
        line_amount,
    }))
}

/// Quantity and amount of the line that a label makes. A price is exactly what the label says, whatever the quantity
/// comes to; without a price of the product no quantity can be derived.
fn line(printed: Printed, price: Money) -> Option<(Qty, Money)> {
    match printed {
        Printed::Weight(quantity) => Some((quantity, price.times(quantity))),
        Printed::Price(amount) if price > Money::ZERO => {
            let thousandths = rdiv(i128::from(amount.0) * 1000, i128::from(price.0));
            Some((Qty(i64::try_from(thousandths).ok()?), amount))
        }
        Printed::Price(amount) => Some((Qty::ONE, amount)),
    }
}

async fn find(conn: &impl ConnectionTrait, store: &store::Model, code: &str) -> Result<Option<Found>> {
    if let Some(product) = by_barcode(conn, code).await? {
        let is_main = product.barcode.as_deref().map(barcodes::normal) == Some(barcodes::normal(code));
        return Ok(Some(Found::plain(if is_main { "barcode" } else { "alt_barcode" })(product)));
    }
    let rules = label::rules(&store.scale_barcode_rules);
    let label = label::read(code, &rules, store.currency_exponent).map_err(|_| {
        Error::new(ErrorCode::BadCheckDigit, "the check digit of this scale label does not fit; scan it again")
    })?;
    if let Some(label) = label {
        let matched_by = match label.printed {
            Printed::Weight(_) => "weight_label",
            Printed::Price(_) => "price_label",
        };
        let printed = Some(label.printed);
        // A short number is filled up with zeros on the label.
        let short = label.plu.trim_start_matches('0');
        let product = by_plu(conn, &[label.plu.as_str(), short]).await?;
        return Ok(product.map(|product| Found { product, matched_by, printed }));
    }
    if let Some(product) = by_plu(conn, &[code]).await? {
        return Ok(Some(Found::plain("plu")(product)));
    }
    Ok(by_sku(conn, code).await?.map(Found::plain("sku")))
}

async fn by_barcode(conn: &impl ConnectionTrait, code: &str) -> Result<Option<product::Model>, DbErr> {
    let Some(id) = barcodes::find(conn, code).await? else { return Ok(None) };
    product::Entity::find_by_id(id).filter(product::Column::DeletedAt.is_null()).one(conn).await
}

async fn by_plu(conn: &impl ConnectionTrait, numbers: &[&str]) -> Result<Option<product::Model>, DbErr> {
    product::Entity::find()
        .filter(product::Column::Plu.is_in(numbers.iter().copied()))
        .filter(product::Column::DeletedAt.is_null())
        .order_by_desc(product::Column::IsActive)
        .one(conn)
        .await
}

async fn by_sku(conn: &impl ConnectionTrait, code: &str) -> Result<Option<product::Model>, DbErr> {
    use product::Column;
    product::Entity::find()
        .filter(Column::SkuFolded.eq(fold(code)))
        .filter(Column::DeletedAt.is_null())
        .order_by_desc(Column::IsActive)
        .one(conn)
        .await
}
