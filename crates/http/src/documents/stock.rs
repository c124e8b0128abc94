//! What is on hand of products, and the changes of it by hand.

use std::collections::HashMap;

use serde::Serialize;
use tillkeep_model::Qty;
use tillkeep_storage::DbErr;
use tillkeep_storage::entity::{inventory_adjustment, product, store_product};
use tillkeep_storage::sea_orm::sea_query::{Expr, ExprTrait};
use tillkeep_storage::sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, JoinType, QueryFilter, QueryOrder, QuerySelect, RelationDef, Select,
};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{business_dates, rename};
use crate::describe::More;
use crate::error::Result;
use crate::resource::{self, Query};

/// What both servers take of a list of levels besides columns.
pub const LEVELS: &[(&str, More)] =
    &[("lowStock", More::Flag), ("negative", More::Flag), ("departmentId", More::Id), ("search", More::Text)];

/// The same of a list of adjustments.
pub const ADJUSTMENTS: &[(&str, More)] =
    &[("from", More::Date), ("to", More::Date), ("businessDateFrom", More::Date), ("businessDateTo", More::Date)];

/// What a store has of a product.
#[derive(Serialize, ToSchema)]
#[schema(as = StockLevel)]
pub struct Level {
    #[serde(flatten)]
    pub row: store_product::Model,
    pub product: Option<Counted>,
}

/// As much of a product as names it in a list.
#[derive(Clone, Serialize, ToSchema)]
#[schema(as = StockProduct)]
#[serde(rename_all = "camelCase")]
pub struct Counted {
    id: Uuid,
    sku: String,
    barcode: Option<String>,
    name: String,
    department_id: Uuid,
    unit_of_measure: String,
    track_stock: bool,
    is_active: bool,
}

impl From<product::Model> for Counted {
    fn from(product: product::Model) -> Self {
        Self {
            id: product.id,
            sku: product.sku,
            barcode: product.barcode,
            name: product.name,
            department_id: product.department_id,
            unit_of_measure: product.unit_of_measure,
            track_stock: product.track_stock,
            is_active: product.is_active,
        }
    }
}

/// Takes out of `query` what only a list of levels takes; by the names of the products, unless it says otherwise.
pub async fn levels(
    conn: &impl ConnectionTrait,
    query: &mut Query,
    select: Select<store_product::Entity>,
) -> Result<Select<store_product::Entity>> {
    use store_product::Column;
    let mut select = with_product(select).filter(product::Column::DeletedAt.is_null());
    if resource::take_flag(query, "lowStock")? {
        let level = Expr::col((store_product::Entity, Column::Quantity));
        let low = level.lte(Expr::col((store_product::Entity, Column::ReorderPoint)));
        select = select.filter(low).filter(Column::ReorderPoint.gt(Qty::ZERO));
    }
    if resource::take_flag(query, "negative")? {
        select = select.filter(Column::Quantity.lt(Qty::ZERO));
    }
    if let Some(department) = resource::take_id(query, "departmentId")? {
        select = select.filter(product::Column::DepartmentId.eq(department));
    }
    if let Some(text) = query.remove("search") {
        let found = resource::products_with(conn, &text).await?;
        select = select.filter(Column::ProductId.in_subquery(found));
    }
    if !query.contains_key("sort") {
        select = select.order_by_asc(product::Column::Name);
    }
    Ok(select)
}

fn with_product(select: Select<store_product::Entity>) -> Select<store_product::Entity> {
    let relation: RelationDef = store_product::Entity::belongs_to(product::Entity)
        .from(store_product::Column::ProductId)
        .to(product::Column::Id)
        .into();
    select.join(JoinType::InnerJoin, relation)
}

/// Takes out of `query` what only a list of adjustments takes.
pub fn adjustments(
    query: &mut Query,
    select: Select<inventory_adjustment::Entity>,
) -> Result<Select<inventory_adjustment::Entity>> {
    rename(query, "from", "businessDateFrom");
    rename(query, "to", "businessDateTo");
    business_dates::<inventory_adjustment::Entity>(query, inventory_adjustment::Column::BusinessDate, select)
}

/// What names these products, deleted ones too.
pub async fn products(
    conn: &impl ConnectionTrait,
    ids: impl IntoIterator<Item = Uuid>,
) -> Result<HashMap<Uuid, Counted>, DbErr> {
    let products = product::Entity::find().filter(product::Column::Id.is_in(ids)).all(conn).await?;
    Ok(products.into_iter().map(|row| (row.id, row.into())).collect())
}

/// Stock rows with what names their product.
pub async fn with_products(conn: &impl ConnectionTrait, rows: Vec<store_product::Model>) -> Result<Vec<Level>, DbErr> {
    let products = products(conn, rows.iter().map(|row| row.product_id)).await?;
    let level = |row: store_product::Model| Level { product: products.get(&row.product_id).cloned(), row };
    Ok(rows.into_iter().map(level).collect())
}
