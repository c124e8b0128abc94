//! Prices of products in stores, beside those of the chain and what is cheaper now.

use std::collections::HashMap;

use serde::Serialize;
use tillkeep_model::permission::Requirement;
use tillkeep_model::permission::code::StorePricesView;
use tillkeep_model::pricing::choose_price;
use tillkeep_model::{Instant, Money, Qty};
use tillkeep_storage::entity::store_product::{Column, Entity, Model};
use tillkeep_storage::entity::{product, store};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect, QueryTrait};
use utoipa::ToSchema;
use uuid::Uuid;

use super::concerning::concerning;
use super::shown::{ActiveSpecial, active};
use super::special;
use crate::answer::List;
use crate::auth::{Caller, Home};
use crate::describe::{Listing, Lists, More};
use crate::error::{Error, Result};
use crate::resource::{self, ListSpec};

const LIST: ListSpec =
    ListSpec { search: &[], filters: &["storeId", "productId"], sort: &["productId", "storeId", "price", "updatedAt"] };

/// What a part of a text is looked for in.
const SEARCH: &[&str] = &["sku", "name", "barcode", "shortName"];

/// The list of prices.
pub struct Prices;

impl Listing for Prices {
    type Row = Entity;
    const SPEC: ListSpec = LIST;
    const MORE: &'static [(&'static str, More)] = &[("overriddenOnly", More::Flag), ("search", More::Text)];
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

/// `GET /store-prices?storeId&productId&search&overriddenOnly`: of the stores where the caller may see them.
pub async fn list(caller: Caller<StorePricesView>, Lists { mut query, .. }: Lists<Prices>) -> Result<List<Listed>> {
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
    let mut products = product::Entity::find().filter(product::Column::DeletedAt.is_null());
    if let Some(text) = query.remove("search") {
        products = products.filter(resource::search::<product::Entity>(SEARCH, &text)?);
    }
    let products = products.select_only().column(product::Column::Id);
    let select = select.filter(Column::ProductId.in_subquery(products.into_query()));
    let conn = caller.snapshot().await?;
    let page = resource::list(&conn, &LIST, &query, select).await?;
    let rows: &[Model] = &page.rows;
    let products = product::Entity::find().filter(product::Column::Id.is_in(rows.iter().map(|row| row.product_id)));
    let products: HashMap<Uuid, product::Model> =
        products.all(&conn).await?.into_iter().map(|row| (row.id, row)).collect();
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
    Ok(page.map(|row| {
        let product = products.get(&row.product_id).unwrap_or(&unknown);
        let moment = moments.get(&row.store_id);
        let price = view(row, product);
        let concern = specials.iter().filter(|row| special::concerns(row, product.id, Some(product.department_id)));
        let active_specials = match moment {
            Some((moment, exponent)) => active(concern, moment, product, price.effective_price, *exponent),
            None => Vec::new(),
        };
        Listed { price, active_specials }
    }))
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
