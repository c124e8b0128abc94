//! Prices of products in stores, beside those of the chain and what is cheaper now.

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;
use serde_json::json;
use tillkeep_model::permission::Requirement;
use tillkeep_model::permission::code::StorePricesView;
use tillkeep_model::pricing::choose_price;
use tillkeep_model::{Instant, Money, Qty};
use tillkeep_storage::entity::store_product::{Column, Entity, Model};
use tillkeep_storage::entity::{product, store};
use tillkeep_storage::sea_orm::sea_query::{Expr, ExprTrait};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect, QueryTrait, Select};
use tillkeep_storage::{Transaction, audit};
use utoipa::ToSchema;
use uuid::Uuid;

use super::concerning::concerning;
use super::shown::{ActiveSpecial, active};
use super::special;
use crate::answer::List;
use crate::auth::{Caller, Home};
use crate::describe::{Listing, Lists, More};
use crate::documents::csv::{self, Cell, Csv, Listed as AsFile};
use crate::error::{Error, Result};
use crate::resource::{self, ListSpec, Parts, Query};

const LIST: ListSpec =
    ListSpec { search: &[], filters: &["storeId", "productId"], sort: &["productId", "storeId", "price", "updatedAt"] };

/// The list of prices.
pub struct Prices;

impl Listing for Prices {
    type Row = Entity;
    const SPEC: ListSpec = LIST;
    const MORE: &'static [(&'static str, More)] =
        &[("overriddenOnly", More::Flag), ("search", More::Text), ("format", More::Format)];
}

/// What a store charges for a product, next to what the chain does.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = StorePrice)]
pub struct PriceView {
    id: Uuid,
    store_id: Uuid,
    product_id: Uuid,
    sku: String,
    name: String,
    default_price: Money,
    /// The store's own price, if it has one.
    store_price: Option<Money>,
    has_price_override: bool,
    /// What is charged, specials apart.
    effective_price: Money,
    reorder_point: Qty,
    reorder_quantity: Qty,
    is_stocked: bool,
    bin_location: Option<String>,
    updated_at: Instant,
    sync_version: i64,
}

/// The same in a list.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = StorePriceListed)]
pub struct Listed {
    #[serde(flatten)]
    price: PriceView,
    /// What may make it cheaper now, by the clock of the store.
    active_specials: Vec<ActiveSpecial>,
}

/// `row` with what names its product.
#[must_use]
pub fn view(row: Model, product: &product::Model) -> PriceView {
    let (effective_price, _) = choose_price(product.price, Some((row.price, row.has_price_override)), None, None);
    PriceView {
        id: row.id,
        store_id: row.store_id,
        product_id: row.product_id,
        sku: product.sku.clone(),
        name: product.name.clone(),
        default_price: product.price,
        store_price: row.has_price_override.then_some(row.price),
        has_price_override: row.has_price_override,
        effective_price,
        reorder_point: row.reorder_point,
        reorder_quantity: row.reorder_quantity,
        is_stocked: row.is_stocked,
        bin_location: row.bin_location,
        updated_at: row.updated_at,
        sync_version: row.sync_version,
    }
}

/// The columns of a file; `docs/integrate.md` says what stands in them.
pub const FILE: [&str; 10] = [
    "storeCode",
    "sku",
    "name",
    "currencyCode",
    "defaultPrice",
    "price",
    "reorderPoint",
    "reorderQuantity",
    "binLocation",
    "isStocked",
];

/// A row of a file. Without a price of its own the store charges that of the product, and the cell is empty.
#[must_use]
pub fn cells_of<'a>(row: &'a Model, product: &'a product::Model, store: &'a store::Model) -> [Cell<'a>; FILE.len()] {
    let exponent = store.currency_exponent;
    [
        Cell::Text(&store.code),
        Cell::Text(&product.sku),
        Cell::Text(&product.name),
        Cell::Text(&store.currency_code),
        Cell::money(product.price, exponent),
        Cell::money(row.has_price_override.then_some(row.price), exponent),
        Cell::quantity(row.reorder_point),
        Cell::quantity(row.reorder_quantity),
        Cell::text(row.bin_location.as_deref()),
        Cell::flag(row.is_stocked),
    ]
}

/// All that the list means, in its order. What is of a store or a product that is not there any more has no row.
async fn file(conn: &Transaction, query: &Query, select: Select<Entity>) -> Result<Csv> {
    let mut parts = Parts::new(&LIST, query, select, csv::CHUNK)?;
    csv::fits(parts.count(conn).await?)?;
    let stores = store::Entity::find().filter(store::Column::DeletedAt.is_null()).all(conn).await?;
    let stores: HashMap<Uuid, store::Model> = stores.into_iter().map(|store| (store.id, store)).collect();
    let mut file = Csv::new("store-prices", &FILE);
    loop {
        let rows = parts.next(conn).await?;
        if rows.is_empty() {
            return Ok(file);
        }
        let products = products(conn, &rows).await?;
        for row in &rows {
            if let (Some(product), Some(store)) = (products.get(&row.product_id), stores.get(&row.store_id)) {
                file.row(&cells_of(row, product, store));
            }
        }
    }
}

async fn products(conn: &Transaction, rows: &[Model]) -> Result<HashMap<Uuid, product::Model>> {
    let ids: BTreeSet<Uuid> = rows.iter().map(|row| row.product_id).collect();
    let found = product::Entity::find().filter(product::Column::Id.is_in(ids)).all(conn).await?;
    Ok(found.into_iter().map(|row| (row.id, row)).collect())
}

/// A store has each product once, and an index has them in that order.
fn by_product_within_stores(query: &mut Query) {
    if let Some(sort) = query.get_mut("sort") {
        match sort.as_str() {
            "storeId" => "storeId,productId".clone_into(sort),
            "-storeId" => "-storeId,-productId".clone_into(sort),
            _ => {}
        }
    }
}

/// `GET /store-prices?storeId&productId&search&overriddenOnly`: of the stores where the caller may see them; as a file all of them.
pub async fn list(
    caller: Caller<StorePricesView>,
    Lists { mut query, .. }: Lists<Prices>,
) -> Result<AsFile<List<Listed>>> {
    let as_file = csv::wanted(&mut query)?;
    let asked = query.clone();
    if let Some(store_id) = query.get("storeId").and_then(|id| id.parse().ok()) {
        caller.at_store(store_id)?;
    }
    let mut select = Entity::find();
    if let Home::Store(own) = caller.auth().home {
        select = select.filter(Column::StoreId.eq(own));
    } else if let Some(stores) = caller.stores() {
        select = select.filter(Column::StoreId.is_in(stores));
    }
    if resource::take_flag(&mut query, "overriddenOnly")? {
        select = select.filter(Column::HasPriceOverride.eq(true));
    }
    by_product_within_stores(&mut query);
    let conn = caller.snapshot().await?;
    let select = if let Some(text) = query.remove("search") {
        select.filter(Column::ProductId.in_subquery(resource::products_with(&conn, &text).await?))
    } else {
        // Looked up for each price, which the list goes through in its order: as a list of ids it would be all products.
        let own = Expr::col((product::Entity, product::Column::Id)).eq(Expr::col((Entity, Column::ProductId)));
        let alive = product::Entity::find().filter(product::Column::DeletedAt.is_null()).filter(own);
        select.filter(Expr::exists(alive.select_only().column(product::Column::Id).into_query()))
    };
    if as_file {
        let file = file(&conn, &query, select).await?;
        let details = json!({"query": asked});
        caller.begin().await?.done(audit::Entry { details, ..caller.audit("store_prices.export") }).await?;
        return Ok(AsFile::File(file));
    }
    let page = resource::list(&conn, &LIST, &query, select).await?;
    let rows: &[Model] = &page.rows;
    let products = products(&conn, rows).await?;
    let mut ids: Vec<Uuid> = rows.iter().map(|row| row.store_id).collect();
    ids.sort_unstable();
    ids.dedup();
    let stores = store::Entity::find().filter(store::Column::Id.is_in(ids.iter().copied())).all(&conn).await?;
    let concerned: Vec<_> = products.values().map(|row| (row.id, Some(row.department_id))).collect();
    let specials = concerning(&conn, &ids, &concerned).await?;
    let now = caller.now();
    let moments: HashMap<Uuid, _> =
        stores.iter().map(|store| (store.id, (special::moment(store, now, true), store.currency_exponent))).collect();
    let unknown = product::Model::default();
    Ok(AsFile::Json(page.map(|row| {
        let product = products.get(&row.product_id).unwrap_or(&unknown);
        let moment = moments.get(&row.store_id);
        let price = view(row, product);
        let concern = specials.iter().filter(|row| special::concerns(row, product.id, Some(product.department_id)));
        let active_specials = match moment {
            Some((moment, exponent)) => active(concern, moment, product, price.effective_price, *exponent),
            None => Vec::new(),
        };
        Listed { price, active_specials }
    })))
}

/// The store that is meant: a store server always means itself.
pub(super) fn meant<P: Requirement>(caller: &Caller<P>, store_id: Option<Uuid>) -> Result<Uuid> {
    let id = match caller.auth().home {
        Home::Store(own) => store_id.or(Some(own)),
        Home::Hq => store_id,
    };
    let id = id.ok_or_else(|| Error::field("storeId", "is required: each store has prices of its own"))?;
    caller.at_store(id)?;
    Ok(id)
}
