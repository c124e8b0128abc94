//! `GET /pos/lookup/{code}`: what was scanned or typed.

use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::extract::Segment;
use tillkeep_http::shelf::shown::{ActiveSpecial, active};
use tillkeep_http::shelf::special;
use tillkeep_http::{Answer, Caller};
use tillkeep_model::permission::code::{InventoryView, PosSell, ProductsView};
use tillkeep_model::{ErrorCode, Money, Qty, rdiv};
use tillkeep_storage::barcodes;
use tillkeep_storage::entity::{product, store};
use tillkeep_storage::registry::fold;
use tillkeep_storage::sea_orm::sea_query::IntoCondition;
use tillkeep_storage::sea_orm::{
    ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QueryOrder, QuerySelect,
};
use utoipa::ToSchema;
use uuid::Uuid;

use super::catalog::{self, shelf_price};
use super::label::{self, Printed};
use super::pricing::inactive;
use super::scanned;
use crate::Store;
use crate::memory::{Found, VersionCache};

/// Characters of a code at the most; no key of a product is longer.
const LONGEST_CODE: usize = 100;

/// A product as a till takes it from its scanner.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Scanned {
    product: product::Model,
    /// On hand here.
    quantity: Qty,
    effective_price: Money,
    price_source: &'static str,
    /// By which of its keys it was found.
    matched_by: &'static str,
    /// Whether this store keeps it.
    is_stocked: bool,
    /// What may make it cheaper now.
    active_specials: Vec<ActiveSpecial>,
    /// How much is in the pack that has this code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pack_quantity: Option<Qty>,
    /// What the label of a scale, or the code of a pack, says of the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    line_quantity: Option<Qty>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line_amount: Option<Money>,
}

pub(crate) async fn lookup(
    caller: Caller<(PosSell, ProductsView, InventoryView)>,
    State(store): State<Arc<Store>>,
    Segment(code): Segment,
) -> Result<Answer<Scanned>> {
    let cache = store.cache();
    let shop = cache.shop().await?;
    let own = shop.own()?;
    let code = code.trim();
    let found = if code.is_empty() || code.chars().count() > LONGEST_CODE || code.contains('\0') {
        None
    } else {
        find(caller.reader(), &cache, own, code).await?
    };
    let product = match found {
        Some((found, _)) => cache.product(found.product).await?,
        None => None,
    };
    let (Some((found, printed)), Some(sold)) = (found, product) else {
        let shown: String = code.chars().take(LONGEST_CODE).collect();
        let text = format!("no product answers to {shown:?}; search by name instead");
        return Err(Error::new(ErrorCode::ProductNotFound, text));
    };
    if !sold.row.is_active {
        return Err(inactive(&sold.row));
    }
    let rows = catalog::rows(caller.reader(), store.id, &[found.product]).await?;
    let row = rows.get(&found.product);
    let (price, source) = shelf_price(&sold.row, row);
    let pack = found.pack;
    let of_pack = pack.map(|(quantity, own)| (quantity, own.unwrap_or_else(|| price.times(quantity))));
    let (line_quantity, line_amount) = printed.and_then(|printed| line(printed, price)).or(of_pack).unzip();
    let moment = special::moment(own, caller.now(), true);
    let specials = store.specials().await?;
    let specials = specials.concerning(sold.row.id, sold.row.department_id);
    Ok(Answer(Scanned {
        quantity: row.map(|row| row.quantity).unwrap_or_default(),
        product: sold.row.clone(),
        effective_price: price,
        price_source: source.as_str(),
        matched_by: found.matched_by,
        is_stocked: row.is_none_or(|row| row.is_stocked),
        active_specials: active(specials, &moment, &sold.row, price, own.currency_exponent),
        pack_quantity: pack.map(|(quantity, _)| quantity),
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

/// What `code` means, and what a label says besides. A code that was found is kept; each label is another one.
async fn find(
    conn: &impl ConnectionTrait,
    cache: &VersionCache,
    store: &store::Model,
    code: &str,
) -> Result<Option<(Found, Option<Printed>)>> {
    if let Some(found) = cache.code(code) {
        return Ok(Some((found, None)));
    }
    let keep = |product: Uuid, matched_by: &'static str| {
        let found = Found { product, matched_by, pack: None };
        cache.keep_code(code, found);
        Ok(Some((found, None)))
    };
    if let Some(found) = by_barcode(conn, cache, code).await? {
        cache.keep_code(code, found);
        return Ok(Some((found, None)));
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
        // A short number is filled up with zeros on the label.
        let short = label.plu.trim_start_matches('0');
        let product = by_plu(conn, &[label.plu.as_str(), short]).await?;
        let found = |product| Found { product, matched_by, pack: None };
        return Ok(product.map(|product| (found(product), Some(label.printed))));
    }
    if let Some(product) = by_plu(conn, &[code]).await? {
        return keep(product, "plu");
    }
    match by_sku(conn, code).await? {
        Some(product) => keep(product, "sku"),
        None => Ok(None),
    }
}

/// With this barcode, in either form of it: the main one, a further one or that of a pack.
async fn by_barcode(conn: &impl ConnectionTrait, cache: &VersionCache, code: &str) -> Result<Option<Found>, DbErr> {
    let Some(id) = barcodes::find(conn, code).await? else { return Ok(None) };
    let sold = cache.product(id).await?.filter(|sold| sold.row.deleted_at.is_none());
    let same = |other: &str| barcodes::normal(other) == barcodes::normal(code);
    Ok(sold.map(|sold| {
        let pack = scanned::packs(&sold.row).find(|pack| same(&pack.code));
        let matched_by = match (&pack, sold.row.barcode.as_deref()) {
            (Some(_), _) => "pack",
            (None, Some(main)) if same(main) => "barcode",
            _ => "alt_barcode",
        };
        Found { product: id, matched_by, pack: pack.map(|pack| (pack.quantity, pack.price)) }
    }))
}

async fn by_plu(conn: &impl ConnectionTrait, numbers: &[&str]) -> Result<Option<Uuid>, DbErr> {
    alive(conn, product::Column::Plu.is_in(numbers.iter().copied())).await
}

async fn by_sku(conn: &impl ConnectionTrait, code: &str) -> Result<Option<Uuid>, DbErr> {
    alive(conn, product::Column::SkuFolded.eq(fold(code))).await
}

/// The product with this key that is not deleted; of several, which only a store has for a moment, an active one.
async fn alive(conn: &impl ConnectionTrait, key: impl IntoCondition) -> Result<Option<Uuid>, DbErr> {
    product::Entity::find()
        .select_only()
        .column(product::Column::Id)
        .filter(key)
        .filter(product::Column::DeletedAt.is_null())
        .order_by_desc(product::Column::IsActive)
        .limit(1)
        .into_tuple()
        .one(conn)
        .await
}
