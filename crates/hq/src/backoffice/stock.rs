//! The stock of every store, as what they pushed adds up to, and their changes of it by hand; nothing here writes.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use tillkeep_http::describe::{Listing, Lists, More};
use tillkeep_http::documents::stock::{self, Counted, Level};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::{self, ListSpec};
use tillkeep_http::{Answer, Caller, Id, List};
use tillkeep_model::ErrorCode;
use tillkeep_model::permission::code::InventoryView;
use tillkeep_storage::DbErr;
use tillkeep_storage::entity::{inventory_adjustment, product, store, store_product};
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use utoipa::ToSchema;
use uuid::Uuid;

use super::store_prices;
use crate::Hq;
use crate::replica::Figures;
use crate::scope::{in_scope, named_store};
use crate::state::Routes;

const LEVELS: ListSpec = ListSpec {
    search: &[],
    filters: &["storeId", "productId", "isStocked", "binLocation"],
    sort: &["storeId", "quantity", "lastSoldAt", "lastReceivedAt", "updatedAt"],
};
const ADJUSTMENTS: ListSpec = ListSpec {
    search: &[],
    filters: &["storeId", "reason", "productId", "userId", "businessDate"],
    sort: &["businessDate", "occurredAt", "createdAt", "quantityChange"],
};

/// The list of levels.
pub(super) struct Levels;

impl Listing for Levels {
    type Row = store_product::Entity;
    const SPEC: ListSpec = LEVELS;
    const MORE: &'static [(&'static str, More)] = stock::LEVELS;
}

/// The list of adjustments.
pub(super) struct Adjustments;

impl Listing for Adjustments {
    type Row = inventory_adjustment::Entity;
    const SPEC: ListSpec = ADJUSTMENTS;
    const LONG: bool = true;
    const MORE: &'static [(&'static str, More)] = stock::ADJUSTMENTS;
}

/// What one store has of a product.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = StockOfStore)]
pub(super) struct OfStore {
    store_code: String,
    #[serde(flatten)]
    level: Level,
}

/// A change by hand, with what names its store and product.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AdjustmentOfStore)]
pub(super) struct Adjusted {
    store_code: String,
    product: Option<Counted>,
    #[serde(flatten)]
    adjustment: inventory_adjustment::Model,
}

/// `GET /inventory`: what each store has of each product that ever had a price, a level or a movement there.
pub(super) async fn list(
    caller: Caller<InventoryView>,
    State(hq): State<Arc<Hq>>,
    Lists { query, .. }: Lists<Levels>,
) -> Result<Figures<List<OfStore>>> {
    named_store(&caller, &query)?;
    let select = in_scope(&caller, store_product::Entity::find(), store_product::Column::StoreId);
    hq.figures(|conn| {
        let (mut query, select) = (query.clone(), select.clone());
        async move {
            let select = stock::levels(&conn, &mut query, select).await?;
            let (rows, page) = resource::list(&conn, &LEVELS, &query, select).await?.split();
            let codes = codes(&conn).await?;
            let levels = stock::with_products(&conn, rows).await?;
            Ok(page.with(levels.into_iter().map(|level| of_store(level, &codes)).collect()))
        }
    })
    .await
}

fn of_store(level: Level, codes: &HashMap<Uuid, String>) -> OfStore {
    OfStore { store_code: codes.get(&level.row.store_id).cloned().unwrap_or_default(), level }
}

/// `GET /inventory/{productId}`: a row for each store, also for those where nothing was ever done with the product.
pub(super) async fn get(caller: Caller<InventoryView>, Id(product_id): Id) -> Result<Answer<Vec<OfStore>>> {
    let conn = caller.snapshot().await?;
    let product = product::Entity::find_by_id(product_id).one(&conn).await?;
    let product = product.ok_or_else(|| Error::new(ErrorCode::ProductNotFound, "there is no product with this id"))?;
    let stores = in_scope(&caller, store::Entity::find(), store::Column::Id)
        .filter(store::Column::DeletedAt.is_null())
        .order_by_asc(store::Column::Code)
        .all(&conn)
        .await?;
    let rows = store_product::Entity::find().filter(store_product::Column::ProductId.eq(product_id)).all(&conn).await?;
    let mut rows: HashMap<Uuid, store_product::Model> = rows.into_iter().map(|row| (row.store_id, row)).collect();
    let counted = Counted::from(product.clone());
    let level = |store: store::Model| {
        let row = rows.remove(&store.id);
        let row = row.unwrap_or_else(|| store_prices::fresh(store.id, &product, product.created_at));
        OfStore { store_code: store.code, level: Level { row, product: Some(counted.clone()) } }
    };
    Ok(Answer(stores.into_iter().map(level).collect()))
}

/// `GET /inventory/adjustments`: the newest first.
pub(super) async fn adjustments(
    caller: Caller<InventoryView>,
    State(hq): State<Arc<Hq>>,
    Lists { mut query, .. }: Lists<Adjustments>,
) -> Result<Figures<List<Adjusted>>> {
    named_store(&caller, &query)?;
    query.entry("sort".to_owned()).or_insert_with(|| "-businessDate,-occurredAt".to_owned());
    let select = in_scope(&caller, inventory_adjustment::Entity::find(), inventory_adjustment::Column::StoreId);
    let select = stock::adjustments(&mut query, select)?;
    hq.figures(|conn| {
        let (query, select) = (&query, select.clone());
        async move {
            let page: List<inventory_adjustment::Model> =
                resource::long_list(&conn, &ADJUSTMENTS, query, select).await?;
            let codes = codes(&conn).await?;
            let products = stock::products(&conn, page.rows.iter().map(|row| row.product_id)).await?;
            Ok(page.map(|adjustment| Adjusted {
                store_code: codes.get(&adjustment.store_id).cloned().unwrap_or_default(),
                product: products.get(&adjustment.product_id).cloned(),
                adjustment,
            }))
        }
    })
    .await
}

/// The codes of all stores.
async fn codes(conn: &impl ConnectionTrait) -> Result<HashMap<Uuid, String>, DbErr> {
    let codes = store::Entity::find().select_only().columns([store::Column::Id, store::Column::Code]);
    let codes: Vec<(Uuid, String)> = codes.into_tuple().all(conn).await?;
    Ok(codes.into_iter().collect())
}

/// The routes of stock.
pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .get("/inventory", list)
        .about("List what each store has of each product.")
        .get("/inventory/adjustments", adjustments)
        .about("List the stock changes by hand of all stores.")
        .get("/inventory/{productId}", get)
        .about("What each store has of one product.")
        .fails(&[ErrorCode::ProductNotFound])
}
