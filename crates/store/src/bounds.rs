//! How large what a client sends may be: far above any shop, far below what the arithmetic holds.

use tillkeep_http::error::{Error, Result};
use tillkeep_model::fields::LARGEST;
use tillkeep_model::{Money, Qty};
use uuid::Uuid;

/// Minor units of any amount, in either direction.
pub(crate) const LARGEST_AMOUNT: i64 = LARGEST;
/// Thousandths of any quantity, in either direction: a thousand million units.
pub(crate) const LARGEST_QUANTITY: i64 = LARGEST;

pub(crate) const AMOUNT_TEXT: &str = "must be within 1000000000000 minor units of zero";
pub(crate) const PRICE_TEXT: &str = "must be 0 to 1000000000000 minor units";
pub(crate) const QUANTITY_TEXT: &str = "must be within 1000000000 units of zero";

/// An amount of either sign.
pub(crate) fn is_amount(amount: Money) -> bool {
    (-LARGEST_AMOUNT..=LARGEST_AMOUNT).contains(&amount.0)
}

/// An amount that is not below zero.
pub(crate) fn is_price(amount: Money) -> bool {
    (0..=LARGEST_AMOUNT).contains(&amount.0)
}

/// A quantity of either sign.
pub(crate) fn is_quantity(quantity: Qty) -> bool {
    (-LARGEST_QUANTITY..=LARGEST_QUANTITY).contains(&quantity.0)
}

/// The id of a document that moves money or stock. A till that hears no answer sends its request again; without an id it
/// would be done again.
pub(crate) fn document_id(id: Option<Uuid>) -> Result<Uuid> {
    id.filter(|id| !id.is_nil()).ok_or_else(|| {
        let text = "is required: send a UUID that the client makes for this document, and the same one when it sends the \
                    request again";
        Error::field("id", text)
    })
}
