//! Levels and adjustments as they are.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use tillkeep_http::describe::{Listing, Lists, More};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::{self, ListSpec};
use tillkeep_http::{Answer, Caller, Id, List};
use tillkeep_model::permission::code::InventoryView;
use tillkeep_model::{ErrorCode, Qty};
use tillkeep_storage::entity::{inventory_adjustment, product, store_product};
use tillkeep_storage::sea_orm::sea_query::{Expr, ExprTrait};
use tillkeep_storage::sea_orm::{
    ColumnTrait, ConnectionTrait, DbErr, EntityTrait, JoinType, QueryFilter, QueryOrder, QuerySelect, RelationDef,
    Select,
};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::{Store, lists};

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
pub struct Levels;

impl Listing for Levels {
    type Row = store_product::Entity;
    const SPEC: ListSpec = LEVELS;
    const MORE: &'static [(&'static str, More)] =
        &[("lowStock", More::Flag), ("negative", More::Flag), ("departmentId", More::Id), ("search", More::Text)];
}

/// The list of adjustments.
pub struct Adjustments;

impl Listing for Adjustments {
    type Row = inventory_adjustment::Entity;
    const SPEC: ListSpec = ADJUSTMENTS;
    const MORE: &'static [(&'static str, More)] =
        &[("from", More::Date), ("to", More::Date), ("businessDateFrom", More::Date), ("businessDateTo", More::Date)];
}

/// What this store has of a product.
#[derive(Serialize, ToSchema)]
#[schema(as = StockLevel)]
pub struct Level {
    #[serde(flatten)]
    row: store_product::Model,
    product: Option<Counted>,
}

/// As much of a product as names it in a list of levels.
#[derive(Serialize, ToSchema)]
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

pub async fn list(
    caller: Caller<InventoryView>,
    State(store): State<Arc<Store>>,
    Lists { mut query, .. }: Lists<Levels>,
) -> Result<List<Level>> {
    use store_product::Column;
    let mut select = with_product(store_product::Entity::find())
        .filter(Column::StoreId.eq(store.id))
        .filter(product::Column::DeletedAt.is_null());
    if resource::take_flag(&mut query, "lowStock")? {
        let level = Expr::col((store_product::Entity, Column::Quantity));
        let low = level.lte(Expr::col((store_product::Entity, Column::ReorderPoint)));
        select = select.filter(low).filter(Column::ReorderPoint.gt(Qty::ZERO));
    }
    if resource::take_flag(&mut query, "negative")? {
        select = select.filter(Column::Quantity.lt(Qty::ZERO));
    }
    if let Some(department) = resource::take_id(&mut query, "departmentId")? {
        select = select.filter(product::Column::DepartmentId.eq(department));
    }
    if let Some(text) = query.remove("search") {
        let columns = ["name", "sku", "barcode", "barcodes"];
        select = select.filter(resource::search::<product::Entity>(&columns, &text)?);
    }
    if !query.contains_key("sort") {
        select = select.order_by_asc(product::Column::Name);
    }
    let snapshot = caller.db().snapshot().await?;
    let page = resource::list(&snapshot, &LEVELS, &query, select).await?;
    let rows = levels(&snapshot, page.rows).await?;
    Ok(List { rows, total: page.total, paging: page.paging })
}

pub async fn get(
    caller: Caller<InventoryView>,
    State(store): State<Arc<Store>>,
    Id(product_id): Id,
) -> Result<Answer<Level>> {
    use store_product::Column;
    let snapshot = caller.db().snapshot().await?;
    let row = store_product::Entity::find()
        .filter(Column::StoreId.eq(store.id))
        .filter(Column::ProductId.eq(product_id))
        .one(&snapshot)
        .await?;
    let row = levels(&snapshot, row.into_iter().collect()).await?.pop();
    row.map(Answer).ok_or_else(|| Error::new(ErrorCode::ProductNotFound, "this store has no stock row of this product"))
}

fn with_product(select: Select<store_product::Entity>) -> Select<store_product::Entity> {
    let relation: RelationDef = store_product::Entity::belongs_to(product::Entity)
        .from(store_product::Column::ProductId)
        .to(product::Column::Id)
        .into();
    select.join(JoinType::InnerJoin, relation)
}

/// Stock rows with what names their product.
async fn levels(conn: &impl ConnectionTrait, rows: Vec<store_product::Model>) -> Result<Vec<Level>, DbErr> {
    let ids = rows.iter().map(|row| row.product_id);
    let products = product::Entity::find().filter(product::Column::Id.is_in(ids)).all(conn).await?;
    let products: HashMap<Uuid, product::Model> = products.into_iter().map(|row| (row.id, row)).collect();
    let with_product = |row: store_product::Model| {
        let product = products.get(&row.product_id).map(|product| Counted {
            id: product.id,
            sku: product.sku.clone(),
            barcode: product.barcode.clone(),
            name: product.name.clone(),
            department_id: product.department_id,
            unit_of_measure: product.unit_of_measure.clone(),
            track_stock: product.track_stock,
            is_active: product.is_active,
        });
        Level { row, product }
    };
    Ok(rows.into_iter().map(with_product).collect())
}

pub async fn adjustments(
    caller: Caller<InventoryView>,
    State(store): State<Arc<Store>>,
    Lists { mut query, .. }: Lists<Adjustments>,
) -> Result<List<inventory_adjustment::Model>> {
    use inventory_adjustment::Column;
    lists::newest_first(&mut query);
    lists::rename(&mut query, "from", "businessDateFrom");
    lists::rename(&mut query, "to", "businessDateTo");
    let own = inventory_adjustment::Entity::find().filter(Column::StoreId.eq(store.id));
    let own = lists::business_dates::<inventory_adjustment::Entity>(&mut query, Column::BusinessDate, own)?;
    resource::list(caller.db().reader(), &ADJUSTMENTS, &query, own).await
}
