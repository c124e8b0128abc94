//! Levels and adjustments as they are.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;
use serde_json::{Value as Json, json};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::{self, ListSpec, Query};
use tillkeep_http::{Answer, Caller, Id, List, Params};
use tillkeep_model::permission::code::InventoryView;
use tillkeep_model::{ErrorCode, Qty};
use tillkeep_storage::entity::{inventory_adjustment, product, store_product};
use tillkeep_storage::sea_orm::sea_query::{Expr, ExprTrait};
use tillkeep_storage::sea_orm::{
    ColumnTrait, ConnectionTrait, DbErr, EntityTrait, JoinType, QueryFilter, QueryOrder, QuerySelect, RelationDef,
    Select,
};
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

pub async fn list(
    caller: Caller<InventoryView>,
    State(store): State<Arc<Store>>,
    Params(mut query): Params<Query>,
) -> Result<List<Json>> {
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
) -> Result<Answer<Json>> {
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
async fn levels(conn: &impl ConnectionTrait, rows: Vec<store_product::Model>) -> Result<Vec<Json>, DbErr> {
    let ids = rows.iter().map(|row| row.product_id);
    let products = product::Entity::find().filter(product::Column::Id.is_in(ids)).all(conn).await?;
    let products: HashMap<Uuid, product::Model> = products.into_iter().map(|row| (row.id, row)).collect();
    let with_product = |row: store_product::Model| {
        let product = products.get(&row.product_id).map(|product| {
            json!({
                "id": product.id,
                "sku": product.sku,
                "barcode": product.barcode,
                "name": product.name,
                "departmentId": product.department_id,
                "unitOfMeasure": product.unit_of_measure,
                "trackStock": product.track_stock,
                "isActive": product.is_active,
            })
        });
        let mut json = json!(row);
        json["product"] = json!(product);
        json
    };
    Ok(rows.into_iter().map(with_product).collect())
}

pub async fn adjustments(
    caller: Caller<InventoryView>,
    State(store): State<Arc<Store>>,
    Params(mut query): Params<Query>,
) -> Result<List<inventory_adjustment::Model>> {
    use inventory_adjustment::Column;
    lists::newest_first(&mut query);
    lists::rename(&mut query, "from", "businessDateFrom");
    lists::rename(&mut query, "to", "businessDateTo");
    let own = inventory_adjustment::Entity::find().filter(Column::StoreId.eq(store.id));
    let own = lists::business_dates::<inventory_adjustment::Entity>(&mut query, Column::BusinessDate, own)?;
    resource::list(caller.db().reader(), &ADJUSTMENTS, &query, own).await
}
