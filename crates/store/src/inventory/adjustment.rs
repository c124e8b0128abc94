//! A stock change by hand, as it is asked for.

use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::Check;
use tillkeep_http::sent;
use tillkeep_http::sent::Sent;
use tillkeep_model::adjustment::{Reason, WORDS_BY_HAND};
use tillkeep_model::fields::adjustment::REQUEST;
use tillkeep_model::{ErrorCode, Instant, Money, Qty};
use tillkeep_storage::entity::inventory_adjustment::Model;
use uuid::Uuid;

sent! {
    #[derive(Clone)]
    pub(crate) struct Adjustment as "Adjustment" by REQUEST {
        /// Made by the client, so that a repeated request is one adjustment.
        pub(super) id: Option<Uuid>,
        pub(super) product_id: Uuid,
        pub(super) quantity_change: Option<Qty>,
        pub(super) new_quantity: Option<Qty>,
        pub(super) reason: String,
        pub(super) unit_cost: Option<Money>,
        pub(super) note: Option<String>,
    }
}

impl Adjustment {
    /// The reason, when all that can be said without looking anything up is well.
    pub(super) fn check(&self, now: Instant) -> Result<&'static Reason> {
        let words = || WORDS_BY_HAND.join(", ");
        let Some(reason) = Reason::find(&self.reason) else {
            return Err(Error::field("reason", format!("must be one of {}", words())));
        };
        if reason.of_documents {
            let text = format!("{} is written by documents only; use one of {}", self.reason, words());
            return Err(Error::new(ErrorCode::ReasonReserved, text).at("reason"));
        }
        let one = self.quantity_change.is_some() != self.new_quantity.is_some();
        let mut check = Check::default();
        check.that(one, "quantityChange", "or newQuantity is required, not both");
        self.check_at("", now, &mut check);
        check
            .that(self.quantity_change != Some(Qty::ZERO), "quantityChange", "must not be 0")
            .that(
                self.quantity_change.is_none_or(|change| change == Qty::ZERO || reason.fits(change)),
                "quantityChange",
                &misfit(reason),
            )
            .finish()?;
        Ok(reason)
    }

    /// Whether `stored` is what this asks for, so that a repeated request is answered with it.
    pub(super) fn is_same(&self, stored: &Model) -> bool {
        self.is_kept_in(stored) && self.new_quantity.is_none_or(|quantity| quantity == stored.quantity_after)
    }
}

/// What is wrong with a change that does not fit its reason, and what would be right.
pub(super) fn misfit(reason: &Reason) -> String {
    format!("does not fit: {} {}", reason.word, reason.rule())
}
