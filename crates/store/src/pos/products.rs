//! `GET /pos/products`: what a till shows to choose from.

use std::sync::Arc;

use axum::extract::State;
use serde_json::{Value as Json, json};
use tillkeep_http::error::Result;
use tillkeep_http::resource::{self, ListSpec, Query};
use tillkeep_http::{Caller, List, Params};
use tillkeep_model::permission::code::{PosSell, ProductsView};
use tillkeep_storage::entity::product;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use uuid::Uuid;

use super::catalog::{self, shelf_price};
use crate::Store;

const LIST: ListSpec = ListSpec {
    // `barcodes` is a list kept as text, in which a code is found like any other part of a text.
    search: &["name", "short_name", "sku", "barcode", "barcodes", "plu"],
    filters: &["departmentId"],
    sort: &["name", "sku", "price"],
};

pub async fn list(
    caller: Caller<(PosSell, ProductsView)>,
    State(store): State<Arc<Store>>,
    Params(query): Params<Query>,
) -> Result<List<Json>> {
    let snapshot = caller.db().snapshot().await?;
    let sold = product::Entity::find().filter(product::Column::IsActive.eq(true));
    let page = resource::list(&snapshot, &LIST, &query, sold).await?;
    let ids: Vec<Uuid> = page.rows.iter().map(|product: &product::Model| product.id).collect();
    let rows = catalog::rows(&snapshot, store.id, &ids).await?;
    let priced = |product: product::Model| {
        let row = rows.get(&product.id);
        let (price, source) = shelf_price(&product, row);
        let mut json = json!(product);
        json["effectivePrice"] = json!(price);
        json["priceSource"] = json!(source.as_str());
        json["quantity"] = json!(row.map(|row| row.quantity).unwrap_or_default());
        json
    };
    Ok(page.map(priced))
}
