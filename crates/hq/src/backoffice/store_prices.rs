//! Prices and levels of one product in one store. The table is sparse: without a row the product's defaults hold.

use std::borrow::Cow;

use serde_json::{Map, Value as Json, json};
use tillkeep_http::describe::{Change, Write};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::extract::TwoIds;
use tillkeep_http::resource::{self, Expected, Fields};
use tillkeep_http::shelf::store_prices::{PriceView, view};
use tillkeep_http::{Answer, Body, Caller, Params};
use tillkeep_model::permission::code::StorePricesManage;
use tillkeep_model::{ErrorCode, Instant, fields, ids};
use tillkeep_storage::Tx;
use tillkeep_storage::entity::store_product::{Column, Entity, Model};
use tillkeep_storage::entity::{product, store};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use uuid::Uuid;

use super::conflict::{self, Named};
use super::plain::Rules;
use super::references::lives;
use super::rows;
use crate::state::Routes;

pub(super) static NAME: &str = fields::store_price::BOOK.table;
/// What the audit log calls a change.
pub(super) const SET: &str = "store_price.set";

const FIELDS: Fields = Fields::hq(&fields::store_price::BOOK);

/// The prices as they are written.
pub(crate) struct Prices;

impl Write for Prices {
    type Row = Entity;
    const FIELDS: Fields = FIELDS;
    type More = ();
    const RESET: &'static [&'static str] = &["price"];

    fn name() -> Cow<'static, str> {
        "StorePrice".into()
    }
}

/// `PUT /store-prices/{storeId}/{productId}`: only what is sent changes; a price of `null` is the default price again.
pub(crate) async fn put(
    caller: Caller<StorePricesManage>,
    TwoIds(store_id, product_id): TwoIds,
    Body(body): Body<Change<Prices>>,
) -> Result<Answer<PriceView>> {
    let mut body = body.keys;
    let expected = resource::take_expected_version(&mut body)?;
    set(&caller, (store_id, product_id), body, expected, false).await.map(Answer)
}

/// `DELETE /store-prices/{storeId}/{productId}`: the default price again; the row stays, it holds the stock.
pub(crate) async fn delete(
    caller: Caller<StorePricesManage>,
    TwoIds(store_id, product_id): TwoIds,
    Params(Expected { expected_version }): Params<Expected>,
) -> Result<Answer<PriceView>> {
    let body = Map::from_iter([("price".to_owned(), Json::Null)]);
    set(&caller, (store_id, product_id), body, expected_version, true).await.map(Answer)
}

async fn set(
    caller: &Caller<StorePricesManage>,
    (store_id, product_id): (Uuid, Uuid),
    body: Map<String, Json>,
    expected: Option<i64>,
    must_exist: bool,
) -> Result<PriceView> {
    caller.at_store(store_id)?;
    let sent = body.clone();
    let mut act = caller.begin().await?;
    if !lives::<store::Entity>(&act, store_id).await? {
        return Err(Error::not_found("store"));
    }
    // The product is locked, so that its price does not change between here and the commit.
    let product = rows::find_to_change::<product::Entity>(&act, &product::Entity::KIND, product_id).await?;
    let stored = Entity::find()
        .filter(Column::StoreId.eq(store_id))
        .filter(Column::ProductId.eq(product_id))
        .lock_exclusive()
        .one(&**act)
        .await?;
    if must_exist && stored.is_none() {
        return Err(Error::not_found("store price"));
    }
    // Without a row there is version 0, so that of two who make the row the second one learns of the first.
    let old = stored.clone().unwrap_or_else(|| fresh(store_id, &product, caller.now()));
    let current = || Ok(serde_json::to_value(view(old.clone(), &product))?);
    let named = Named { entity_type: NAME, id: Some(old.id), changed_at: Some(old.updated_at) };
    conflict::refuse_outdated(&act, &named, (expected, old.sync_version), current).await?;
    let mut row = changed(&old, &product, body, caller.now())?;
    if stored.as_ref() == Some(&row) {
        return Ok(view(row, &product));
    }
    row.updated_at = caller.now();
    let details = details(&old, &row, &product, &sent);
    upsert(&mut act, vec![row]).await?;
    act.done(rows::entry(caller, SET, NAME, old.id, details)).await?;
    let row = Entity::find_by_id(old.id).one(caller.reader()).await?;
    Ok(view(row.ok_or_else(|| Error::not_found("store price"))?, &product))
}

/// What the audit log keeps of a change that sent this.
pub(super) fn details(old: &Model, new: &Model, product: &product::Model, sent: &Map<String, Json>) -> Json {
    let is_price = sent.contains_key("price");
    let mut details = json!({"storeId": old.store_id, "productId": product.id, "set": sent});
    if is_price {
        details["from"] = charged(old, product);
        details["to"] = charged(new, product);
    }
    details
}

/// What the audit log keeps of a price: without one of its own the store charges that of the product.
fn charged(row: &Model, product: &product::Model) -> Json {
    let price = if row.has_price_override { row.price } else { product.price };
    json!({"price": price, "hasPriceOverride": row.has_price_override})
}

/// The row as the store makes it on its own when it pulls the product.
pub(crate) fn fresh(store_id: Uuid, product: &product::Model, now: Instant) -> Model {
    Model {
        id: ids::store_product(store_id, product.id),
        created_at: now,
        updated_at: now,
        store_id,
        product_id: product.id,
        price: product.price,
        cost: product.cost,
        reorder_point: product.reorder_point,
        reorder_quantity: product.reorder_quantity,
        is_stocked: true,
        ..Model::default()
    }
}

pub(super) fn changed(
    old: &Model,
    product: &product::Model,
    mut body: Map<String, Json>,
    now: Instant,
) -> Result<Model> {
    let back_to_default = body.get("price").is_some_and(Json::is_null);
    if back_to_default {
        body.remove("price");
    }
    let priced = body.contains_key("price");
    let mut row = resource::changed(FIELDS, old, &body, now)?;
    if back_to_default {
        (row.price, row.has_price_override) = (product.price, false);
    } else if priced {
        row.has_price_override = true;
    }
    row.deleted_at = None;
    if priced && product.min_price.is_some_and(|floor| row.price < floor.0) {
        let text = "this is below the lowest price of the product";
        return Err(Error::new(ErrorCode::BelowMinPrice, text).at("price"));
    }
    Ok(row)
}

/// Writes what HQ owns of the rows; a stock level that a push brought in the meantime stays.
pub(super) async fn upsert(tx: &mut Tx, rows: Vec<Model>) -> Result<()> {
    let owned = [
        Column::Price,
        Column::HasPriceOverride,
        Column::ReorderPoint,
        Column::ReorderQuantity,
        Column::BinLocation,
        Column::IsStocked,
        Column::DeletedAt,
        Column::UpdatedAt,
    ];
    tx.upsert_all::<Entity>(rows, [Column::StoreId, Column::ProductId], owned).await?;
    Ok(())
}

/// The routes that set prices in stores; those that read them are in `tillkeep_http::shelf`.
pub(crate) fn routes(routes: Routes) -> Routes {
    use ErrorCode::{BelowMinPrice, Validation, VersionConflict};
    routes
        .put("/store-prices/{storeId}/{productId}", put)
        .about("Set what a product costs in one store, or its levels there.")
        .fails(&[VersionConflict, BelowMinPrice])
        .delete("/store-prices/{storeId}/{productId}", delete)
        .about("Charge the price of the chain again.")
        .fails(&[VersionConflict, Validation])
}
