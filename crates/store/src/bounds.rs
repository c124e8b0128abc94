//! How large what a client sends may be: far above any shop, far below what the arithmetic holds.

use tillkeep_model::{Money, Qty};

/// Minor units of any amount, in either direction.
pub const LARGEST_AMOUNT: i64 = 1_000_000_000_000;
/// Thousandths of any quantity, in either direction: a thousand million units.
pub const LARGEST_QUANTITY: i64 = 1_000_000_000_000;

pub const AMOUNT_TEXT: &str = "must be within 1000000000000 minor units of zero";
pub const PRICE_TEXT: &str = "must be 0 to 1000000000000 minor units";
pub const QUANTITY_TEXT: &str = "must be within 1000000000 units of zero";

/// An amount of either sign.
pub fn is_amount(amount: Money) -> bool {
    (-LARGEST_AMOUNT..=LARGEST_AMOUNT).contains(&amount.0)
}

/// An amount that is not below zero.
pub fn is_price(amount: Money) -> bool {
    (0..=LARGEST_AMOUNT).contains(&amount.0)
}

/// A quantity of either sign.
pub fn is_quantity(quantity: Qty) -> bool {
    (-LARGEST_QUANTITY..=LARGEST_QUANTITY).contains(&quantity.0)
}
