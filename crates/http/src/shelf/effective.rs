//! `GET /store-prices/effective`: what a product costs in a store at a moment, and how that comes about.

use serde::{Deserialize, Serialize};
use tillkeep_model::permission::code::{PosSell, StorePricesView};
use tillkeep_model::pricing::price_cart;
use tillkeep_model::{Instant, Money, Qty};
use tillkeep_storage::entity::store;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use utoipa::ToSchema;
use uuid::Uuid;

use super::concerning::Read;
use super::goods::{Goods, Typed, terms};
use super::shown::{self, ActiveSpecial, active};
use super::special;
use super::store_prices::meant;
use crate::Answer;
use crate::auth::Caller;
use crate::error::{Error, Result};
use crate::extract::Params;

/// Which product, where and when.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = EffectivePriceAsked)]
pub(super) struct Asked {
    product_id: Uuid,
    /// Headquarters needs it; a store server always means itself.
    store_id: Option<Uuid>,
    /// Now, when not said.
    at: Option<Instant>,
}

/// What a product costs, from the price of the chain down to what one unit costs.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the names on the wire")]
pub(super) struct EffectivePrice {
    store_id: Uuid,
    at: Instant,
    currency_code: String,
    /// The price of the chain.
    default_price: Money,
    /// The store's own price, if it has one.
    store_price: Option<Money>,
    /// Which of both counts: `default` or `store`.
    price_source: &'static str,
    /// Of one unit, specials apart.
    effective_price: Money,
    /// It is typed in at the till: no price here counts, and no special.
    is_open_price: bool,
    /// All that are in force, also those for known customers and over several units.
    active_specials: Vec<ActiveSpecial>,
    /// One unit in a cart of its own, sold to nobody who is known.
    unit: shown::Line,
}

/// `GET /store-prices/effective?productId&storeId&at`
pub(super) async fn effective(
    caller: Caller<(StorePricesView, PosSell)>,
    Params(Asked { product_id, store_id, at }): Params<Asked>,
) -> Result<Answer<EffectivePrice>> {
    let store_id = meant(&caller, store_id)?;
    let conn = caller.snapshot().await?;
    let store = store::Entity::find_by_id(store_id).filter(store::Column::DeletedAt.is_null()).one(&conn).await?;
    let store = store.ok_or_else(|| Error::not_found("store"))?;
    let read = Read::of(&conn, store_id, &[product_id]).await?;
    let product = read.products.get(&product_id).filter(|product| product.deleted_at.is_none());
    let product = product.ok_or_else(|| Error::not_found("product"))?;
    let goods = Goods { store: &store, tax_groups: &read.tax_groups, department_limits: &read.department_limits };
    let group = goods.tax_group(product).ok_or_else(|| Error::not_found("tax group of the product"))?;
    let at = at.unwrap_or_else(|| caller.now());
    let moment = special::moment(&store, at, false);
    let in_force = read.in_force(&moment);
    let counting = || read.specials_of(product).filter(|_| !product.is_open_price);
    let specials: Vec<_> = counting().filter_map(|row| in_force.get(&row.id).cloned()).collect();
    let own = read.own_price(product_id);
    let line = goods.line(product, group, own, specials, Typed { quantity: Qty::ONE, ..Typed::default() });
    let lines = [line];
    let cart = price_cart(&lines, &terms(&store, false, None));
    let [line] = lines;
    Ok(Answer(EffectivePrice {
        store_id,
        at,
        currency_code: store.currency_code.clone(),
        default_price: product.price,
        store_price: own.and_then(|(price, is_own)| is_own.then_some(price)),
        price_source: line.price_source.as_str(),
        effective_price: line.unit_price,
        is_open_price: product.is_open_price,
        active_specials: active(counting(), &moment, product, line.unit_price, store.currency_exponent),
        unit: shown::line(0, product, None, &line, &cart.lines[0], store.currency_exponent),
    }))
}
