//! `POST /inventory/adjustments`: a stock change by hand. It travels as a difference, never as a count (rule U10 of
//! `docs/sync.md`).

use std::sync::Arc;

use axum::extract::State;
use serde_json::json;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::{Body, Caller, Created};
use tillkeep_model::adjustment::Reason;
use tillkeep_model::permission::code::InventoryAdjust;
use tillkeep_model::{Cost, ErrorCode, Qty};
use tillkeep_storage::Tx;
use tillkeep_storage::document::adjustment::movement;
use tillkeep_storage::entity::inventory_adjustment::{self, Model};
use tillkeep_storage::entity::{product, store_product};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use uuid::Uuid;

use super::adjustment::{Adjustment, misfit};
use crate::act::{Acting, Log, Stopped, record_of_row};
use crate::memory::Shop;
use crate::{Store, bounds, day};

record_of_row!(inventory_adjustment, "an adjustment");

pub(crate) async fn create(
    caller: Caller<InventoryAdjust>,
    State(store): State<Arc<Store>>,
    Body(body): Body<Adjustment>,
) -> Result<Created<Model>> {
    let id = bounds::document_id(body.id)?;
    let reason = body.check(caller.now())?;
    let act = store.act(&caller, "inventory.adjust").creates(id, |stored| body.is_same(stored));
    if let Some(stored) = act.stored(caller.reader()).await? {
        return Ok(Created { data: stored, new: false });
    }
    let shop = store.shop().await?;
    let own = shop.own()?;
    let row = Model {
        id,
        store_id: store.id,
        product_id: body.product_id,
        reason: body.reason.clone(),
        unit_cost: body.unit_cost.map(Cost),
        user_id: Some(caller.user_id),
        user_name: Some(caller.name().to_owned()),
        note: body.note.clone(),
        ..Model::default()
    };
    let below_zero = own.allow_negative_stock;
    let request = Request { row, asked: body.clone(), reason, below_zero, shop };
    act.run(move |tx| Box::pin(request.adjust(tx))).await
}

/// What the transaction needs.
struct Request {
    /// Without its moment and what depends on the level.
    row: Model,
    asked: Adjustment,
    reason: &'static Reason,
    shop: Arc<Shop>,
    /// Whether a level may go below zero.
    below_zero: bool,
}

impl Request {
    async fn adjust(self, tx: &mut Acting<'_>) -> std::result::Result<(Model, Log), Stopped> {
        let Self { mut row, asked, reason, shop, below_zero } = self;
        let now = tx.now();
        (row.created_at, row.updated_at, row.occurred_at) = (now, now, now);
        row.business_date = day::today(shop.own()?, now);
        row.quantity_change = change(tx, &asked, reason, row.store_id).await?;
        let effects = tx.apply_stock(row.store_id, vec![movement(&row, None)], row.created_at).await?;
        let level = effects.levels.get(&row.product_id).copied().unwrap_or_default();
        (row.quantity_before, row.quantity_after) = (level.before, level.after);
        row.average_cost_after = level.average.map(Cost);
        if !below_zero && row.quantity_change < Qty::ZERO && level.after < Qty::ZERO {
            let text = format!("only {} are on hand; take off at most that many", level.before.max(Qty::ZERO));
            return Err(Error::new(ErrorCode::NegativeStock, text).at("quantityChange").into());
        }
        tx.insert(&row).await?;
        let details = json!({"productId": row.product_id, "quantityChange": row.quantity_change, "reason": row.reason});
        Ok((row, Log::Line(details)))
    }
}

/// The difference that is asked for; a new quantity is compared with the level inside the transaction.
async fn change(tx: &Tx, body: &Adjustment, reason: &Reason, store_id: Uuid) -> Result<Qty> {
    let product = product::Entity::find_by_id(body.product_id).one(tx).await?;
    let product = product.filter(|product| product.deleted_at.is_none());
    let product = product
        .ok_or_else(|| Error::new(ErrorCode::ProductNotFound, "there is no product with this id").at("productId"))?;
    if !product.track_stock {
        let text = format!("no stock is kept of {}; there is nothing to adjust", product.sku);
        return Err(Error::field("productId", text));
    }
    let field = if body.new_quantity.is_some() { "newQuantity" } else { "quantityChange" };
    let asked = body.new_quantity.or(body.quantity_change).unwrap_or_default();
    if !asked.fits_decimals(product.quantity_decimals) {
        let text = format!("{} is counted with at most {} decimals", product.sku, product.quantity_decimals);
        return Err(Error::field(field, text));
    }
    let Some(wanted) = body.new_quantity else { return Ok(asked) };
    let level: Option<Qty> = store_product::Entity::find()
        .select_only()
        .column(store_product::Column::Quantity)
        .filter(store_product::Column::StoreId.eq(store_id))
        .filter(store_product::Column::ProductId.eq(body.product_id))
        .into_tuple()
        .one(tx)
        .await?;
    let level = level.unwrap_or_default();
    if wanted == level {
        return Err(Error::field(field, format!("{level} are on hand already; there is nothing to adjust")));
    }
    if !reason.fits(wanted - level) {
        return Err(Error::field(field, format!("{level} are on hand, and this {}", misfit(reason))));
    }
    Ok(wanted - level)
}
