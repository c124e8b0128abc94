//! `POST /inventory/adjustments`: a stock change by hand. It travels as a difference, never as a count (rule U10 of
//! `docs/sync.md`).

use std::sync::Arc;

use axum::extract::State;
use serde::Deserialize;
use serde_json::json;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::Check;
use tillkeep_http::{Body, Caller, Created};
use tillkeep_model::adjustment::Reason;
use tillkeep_model::fields::adjustment::BOOK;
use tillkeep_model::permission::code::InventoryAdjust;
use tillkeep_model::{ErrorCode, Instant, Money, Qty};
use tillkeep_storage::entity::inventory_adjustment::{self, Model};
use tillkeep_storage::entity::{product, store_product};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter, QuerySelect};
use tillkeep_storage::stock::{self, Kind, Movement};
use tillkeep_storage::{Tx, audit, outbox};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::bounds::{self, QUANTITY_TEXT};
use crate::{Store, day};

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Adjustment {
    /// Made by the client, so that a repeated request is one adjustment.
    #[schema(required = true, value_type = Uuid)]
    id: Option<Uuid>,
    product_id: Uuid,
    #[schema(schema_with = described::quantity)]
    quantity_change: Option<Qty>,
    #[schema(schema_with = described::quantity)]
    new_quantity: Option<Qty>,
    #[schema(schema_with = described::reason)]
    reason: String,
    #[schema(schema_with = described::unit_cost)]
    unit_cost: Option<Money>,
    #[schema(schema_with = described::note)]
    note: Option<String>,
}

/// The fields of the book as they are sent.
mod described {
    use tillkeep_http::describe::{of_book, or_null};
    use utoipa::openapi::schema::{ObjectBuilder, Type};
    use utoipa::openapi::{RefOr, Schema};

    use super::{BOOK, Reason};

    /// A change, or what is there after it: either is left out when the other one is sent.
    pub fn quantity() -> RefOr<Schema> {
        or_null(of_book(&BOOK, "quantityChange"))
    }

    /// Some of the book's words: documents write the others.
    pub fn reason() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::String).enum_values(Some(Reason::words_by_hand())).into()
    }

    pub fn unit_cost() -> RefOr<Schema> {
        or_null(of_book(&BOOK, "unitCost"))
    }

    pub fn note() -> RefOr<Schema> {
        or_null(of_book(&BOOK, "note"))
    }
}

impl Adjustment {
    /// The reason, when all that can be said without looking anything up is well.
    fn check(&self, now: Instant) -> Result<&'static Reason> {
        let words = Reason::words_by_hand();
        let Some(reason) = Reason::find(&self.reason) else {
            return Err(Error::field("reason", format!("must be one of {}", words.join(", "))));
        };
        if reason.of_documents {
            let text = format!("{} is written by documents only; use one of {}", self.reason, words.join(", "));
            return Err(Error::new(ErrorCode::ReasonReserved, text).at("reason"));
        }
        let one = self.quantity_change.is_some() != self.new_quantity.is_some();
        Check::default()
            .that(one, "quantityChange", "or newQuantity is required, not both")
            .by_book(&BOOK, ("", "quantityChange"), self.quantity_change, now)
            .that(self.quantity_change != Some(Qty::ZERO), "quantityChange", "must not be 0")
            .that(
                self.quantity_change.is_none_or(|change| change == Qty::ZERO || reason.fits(change)),
                "quantityChange",
                &misfit(reason),
            )
            .that(self.new_quantity.is_none_or(bounds::is_quantity), "newQuantity", QUANTITY_TEXT)
            .by_book(&BOOK, ("", "unitCost"), self.unit_cost, now)
            .by_book(&BOOK, ("", "note"), self.note.as_deref(), now)
            .finish()?;
        Ok(reason)
    }

    /// Whether `stored` is what this asks for, so that a repeated request is answered with it.
    fn is_same(&self, stored: &Model) -> bool {
        stored.product_id == self.product_id
            && stored.reason == self.reason
            && stored.unit_cost == self.unit_cost
            && stored.note == self.note
            && self.quantity_change.is_none_or(|change| change == stored.quantity_change)
            && self.new_quantity.is_none_or(|quantity| quantity == stored.quantity_after)
    }
}

/// What is wrong with a change that does not fit its reason, and what would be right.
fn misfit(reason: &Reason) -> String {
    format!("does not fit: {} {}", reason.word, reason.rule())
}

pub async fn create(
    caller: Caller<InventoryAdjust>,
    State(store): State<Arc<Store>>,
    Body(body): Body<Adjustment>,
) -> Result<Created<Model>> {
    let id = bounds::document_id(body.id)?;
    let now = caller.now();
    let reason = body.check(now)?;
    let shop = store.shop().await?;
    let own = shop.own()?;
    let mut tx = caller.db().begin().await?;
    if let Some(stored) = inventory_adjustment::Entity::find_by_id(id).one(&tx).await? {
        if body.is_same(&stored) {
            return Ok(Created { data: stored, new: false });
        }
        return Err(Error::new(ErrorCode::IdReused, "this id belongs to an adjustment with other content").at("id"));
    }
    let mut row = Model {
        id,
        store_id: store.id,
        created_at: now,
        updated_at: now,
        product_id: body.product_id,
        quantity_change: change(&tx, &body, reason, store.id).await?,
        reason: body.reason,
        unit_cost: body.unit_cost,
        user_id: Some(caller.user_id),
        user_name: Some(caller.name().to_owned()),
        note: body.note,
        business_date: day::today(own, now),
        occurred_at: now,
        ..Model::default()
    };
    let effects = stock::apply(&mut tx, store.id, vec![movement(&row, reason)], now).await?;
    let level = effects.levels.get(&row.product_id).copied().unwrap_or_default();
    (row.quantity_before, row.quantity_after) = (level.before, level.after);
    row.average_cost_after = level.average;
    if !own.allow_negative_stock && row.quantity_change < Qty::ZERO && level.after < Qty::ZERO {
        let text = format!("only {} are on hand; take off at most that many", level.before.max(Qty::ZERO));
        return Err(Error::new(ErrorCode::NegativeStock, text).at("quantityChange"));
    }
    inventory_adjustment::Entity::insert(row.clone().into_active_model()).exec_without_returning(&tx).await?;
    let entry = audit::Entry {
        entity_type: Some("inventory_adjustments"),
        entity_id: Some(id.to_string()),
        details: json!({"productId": row.product_id, "quantityChange": row.quantity_change, "reason": row.reason}),
        ..caller.audit("inventory.adjust")
    };
    audit::record(&tx, entry, now).await?;
    let entry = outbox::Entry {
        entity_type: "inventory_adjustments",
        entity_id: id,
        action: "create",
        data: &row,
        created_at: now,
        depends_on: None,
    };
    outbox::enqueue(&tx, &entry, now).await?;
    store.commit(tx).await?;
    Ok(Created::new(row))
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

fn movement(row: &Model, reason: &Reason) -> Movement {
    Movement {
        kind: Kind::Adjustment,
        product_id: row.product_id,
        change: row.quantity_change,
        source_id: row.id,
        line_id: row.id,
        business_date: row.business_date.clone(),
        at: row.occurred_at,
        received: row.reason == "received",
        unit_cost: row.unit_cost.filter(|_| reason.priced),
        tracked: None,
        average_after: None,
    }
}
