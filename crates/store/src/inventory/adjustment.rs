//! A stock change by hand, as it is asked for.

use serde::Deserialize;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::Check;
use tillkeep_model::adjustment::Reason;
use tillkeep_model::fields::adjustment::BOOK;
use tillkeep_model::{Cost, ErrorCode, Instant, Money, Qty};
use tillkeep_storage::entity::inventory_adjustment::Model;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::bounds::{self, QUANTITY_TEXT};

#[derive(Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Adjustment {
    /// Made by the client, so that a repeated request is one adjustment.
    #[schema(required = true, value_type = Uuid)]
    pub(super) id: Option<Uuid>,
    pub(super) product_id: Uuid,
    #[schema(schema_with = described::quantity)]
    pub(super) quantity_change: Option<Qty>,
    #[schema(schema_with = described::quantity)]
    pub(super) new_quantity: Option<Qty>,
    #[schema(schema_with = described::reason)]
    pub(super) reason: String,
    #[schema(schema_with = described::unit_cost)]
    pub(super) unit_cost: Option<Money>,
    #[schema(schema_with = described::note)]
    pub(super) note: Option<String>,
}

/// The fields of the book as they are sent.
mod described {
    use tillkeep_http::describe::{of_book, or_null};
    use tillkeep_model::adjustment::Reason;
    use tillkeep_model::fields::adjustment::BOOK;
    use utoipa::openapi::schema::{ObjectBuilder, Type};
    use utoipa::openapi::{RefOr, Schema};

    /// A change, or what is there after it: either is left out when the other one is sent.
    pub(super) fn quantity() -> RefOr<Schema> {
        or_null(of_book(&BOOK, "quantityChange"))
    }

    /// Some of the book's words: documents write the others.
    pub(super) fn reason() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::String).enum_values(Some(Reason::words_by_hand())).into()
    }

    pub(super) fn unit_cost() -> RefOr<Schema> {
        or_null(of_book(&BOOK, "unitCost"))
    }

    pub(super) fn note() -> RefOr<Schema> {
        or_null(of_book(&BOOK, "note"))
    }
}

impl Adjustment {
    /// The reason, when all that can be said without looking anything up is well.
    pub(super) fn check(&self, now: Instant) -> Result<&'static Reason> {
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
    pub(super) fn is_same(&self, stored: &Model) -> bool {
        stored.product_id == self.product_id
            && stored.reason == self.reason
            && stored.unit_cost == self.unit_cost.map(Cost)
            && stored.note == self.note
            && self.quantity_change.is_none_or(|change| change == stored.quantity_change)
            && self.new_quantity.is_none_or(|quantity| quantity == stored.quantity_after)
    }
}

/// What is wrong with a change that does not fit its reason, and what would be right.
pub(super) fn misfit(reason: &Reason) -> String {
    format!("does not fit: {} {}", reason.word, reason.rule())
}
