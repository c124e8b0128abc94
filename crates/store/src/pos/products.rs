//! `GET /pos/products`: what a till shows to choose from.

use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use tillkeep_http::describe::{Listing, Lists};
use tillkeep_http::error::Result;
use tillkeep_http::resource::{self, ListSpec};
use tillkeep_http::shelf::shown::{ActiveSpecial, active};
use tillkeep_http::shelf::special;
use tillkeep_http::{Caller, List};
use tillkeep_model::permission::code::{PosSell, ProductsView};
use tillkeep_model::{Money, Qty};
use tillkeep_storage::entity::{product, store_product};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect, QueryTrait};
use utoipa::ToSchema;
use uuid::Uuid;

use super::catalog::{self, shelf_price};
use crate::Store;

const LIST: ListSpec = ListSpec {
    // `barcodes` is a list kept as text, in which a code is found like any other part of a text.
    search: &["name", "shortName", "sku", "barcode", "barcodes", "packs", "plu"],
    filters: &["departmentId"],
    sort: &["name", "sku", "price"],
};

/// The list of what can be sold.
pub(crate) struct Choice;

impl Listing for Choice {
    type Row = product::Entity;
    const SPEC: ListSpec = LIST;
}

/// A product with its price and level here.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PricedProduct {
    #[serde(flatten)]
    product: product::Model,
    /// Of one unit, specials apart.
    effective_price: Money,
    price_source: &'static str,
    quantity: Qty,
    /// What may make it cheaper now.
    active_specials: Vec<ActiveSpecial>,
}

pub(crate) async fn list(
    caller: Caller<(PosSell, ProductsView)>,
    State(store): State<Arc<Store>>,
    Lists { query, .. }: Lists<Choice>,
) -> Result<List<PricedProduct>> {
    let (shop, specials) = (store.shop().await?, store.specials().await?);
    let own = shop.own()?;
    let snapshot = caller.snapshot().await?;
    // What this store does not keep is sold when it is scanned, and offered to nobody.
    let not_kept = store_product::Entity::find()
        .select_only()
        .column(store_product::Column::ProductId)
        .filter(store_product::Column::StoreId.eq(store.id))
        .filter(store_product::Column::DeletedAt.is_null())
        .filter(store_product::Column::IsStocked.eq(false));
    let sold = product::Entity::find()
        .filter(product::Column::IsActive.eq(true))
        .filter(product::Column::Id.not_in_subquery(not_kept.into_query()));
    let page = resource::list(&snapshot, &LIST, &query, sold).await?;
    let ids: Vec<Uuid> = page.rows.iter().map(|product: &product::Model| product.id).collect();
    let rows = catalog::rows(&snapshot, store.id, &ids).await?;
    let moment = special::moment(own, caller.now(), true);
    let priced = |product: product::Model| {
        let row = rows.get(&product.id);
        let (effective_price, source) = shelf_price(&product, row);
        let quantity = row.map(|row| row.quantity).unwrap_or_default();
        let concerning = specials.concerning(product.id, product.department_id);
        let active_specials = active(concerning, &moment, &product, effective_price, own.currency_exponent);
        PricedProduct { product, effective_price, price_source: source.as_str(), quantity, active_specials }
    };
    Ok(page.map(priced))
}
