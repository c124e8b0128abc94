//! Levels and adjustments as they are.

use std::sync::Arc;

use axum::extract::State;
use tillkeep_http::describe::{Listing, Lists, More};
use tillkeep_http::documents::newest_first;
use tillkeep_http::documents::stock::{self, Level};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::{self, ListSpec};
use tillkeep_http::{Answer, Caller, Id, List};
use tillkeep_model::ErrorCode;
use tillkeep_model::permission::code::InventoryView;
use tillkeep_storage::entity::{inventory_adjustment, store_product};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};

use crate::Store;

const LEVELS: ListSpec = ListSpec {
    search: &[],
    filters: &["productId", "isStocked", "binLocation"],
    sort: &["id", "quantity", "lastSoldAt", "lastReceivedAt", "updatedAt"],
};
const ADJUSTMENTS: ListSpec = ListSpec {
    search: &[],
    filters: &["reason", "productId", "userId", "businessDate"],
    sort: &["createdAt", "businessDate", "quantityChange"],
};

/// The list of levels.
pub(crate) struct Levels;

impl Listing for Levels {
    type Row = store_product::Entity;
    const SPEC: ListSpec = LEVELS;
    const MORE: &'static [(&'static str, More)] = stock::LEVELS;
}

/// The list of adjustments.
pub(crate) struct Adjustments;

impl Listing for Adjustments {
    type Row = inventory_adjustment::Entity;
    const SPEC: ListSpec = ADJUSTMENTS;
    const LONG: bool = true;
    const MORE: &'static [(&'static str, More)] = stock::ADJUSTMENTS;
}

pub(crate) async fn list(
    caller: Caller<InventoryView>,
    State(store): State<Arc<Store>>,
    Lists { mut query, .. }: Lists<Levels>,
) -> Result<List<Level>> {
    let own = store_product::Entity::find().filter(store_product::Column::StoreId.eq(store.id));
    let snapshot = caller.snapshot().await?;
    let select = stock::levels(&snapshot, &mut query, own).await?;
    let (rows, page) = resource::list(&snapshot, &LEVELS, &query, select).await?.split();
    Ok(page.with(stock::with_products(&snapshot, rows).await?))
}

pub(crate) async fn get(
    caller: Caller<InventoryView>,
    State(store): State<Arc<Store>>,
    Id(product_id): Id,
) -> Result<Answer<Level>> {
    use store_product::Column;
    let snapshot = caller.snapshot().await?;
    let row = store_product::Entity::find()
        .filter(Column::StoreId.eq(store.id))
        .filter(Column::ProductId.eq(product_id))
        .one(&snapshot)
        .await?;
    let row = stock::with_products(&snapshot, row.into_iter().collect()).await?.pop();
    row.map(Answer).ok_or_else(|| Error::new(ErrorCode::ProductNotFound, "this store has no stock row of this product"))
}

pub(crate) async fn adjustments(
    caller: Caller<InventoryView>,
    State(store): State<Arc<Store>>,
    Lists { mut query, .. }: Lists<Adjustments>,
) -> Result<List<inventory_adjustment::Model>> {
    newest_first(&mut query);
    let own = inventory_adjustment::Entity::find().filter(inventory_adjustment::Column::StoreId.eq(store.id));
    let own = stock::adjustments(&mut query, own)?;
    resource::long_list(caller.reader(), &ADJUSTMENTS, &query, own).await
}
