//! What somebody at the till takes off: of a line, or of the whole cart.

use super::share::{Weighed, by_largest_remainder};
use crate::{Bps, Money, rdiv};

/// A discount as it was entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Discount {
    /// Of the price.
    Percent(Bps),
    /// Off the price, at most all of it.
    Amount(Money),
}

impl Discount {
    /// The word in `sale_items.line_discount_type` and `sales.cart_discount_type`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Percent(_) => "percent",
            Self::Amount(_) => "amount",
        }
    }

    /// Basis points or minor units, as it was entered.
    #[must_use]
    pub const fn value(self) -> i64 {
        match self {
            Self::Percent(bps) => bps.0 as i64,
            Self::Amount(amount) => amount.0,
        }
    }

    /// What it takes off `base`: never more than all of it.
    #[must_use]
    pub fn of(self, base: Money) -> Money {
        let base = i128::from(base.0.max(0));
        let off = match self {
            Self::Percent(bps) => rdiv(base * i128::from(bps.0), 10_000),
            Self::Amount(amount) => i128::from(amount.0),
        };
        Money::from_wide(off.clamp(0, base))
    }
}

/// What a discount on the sum of `bases` takes off each of them.
pub(super) fn shared(discount: Discount, bases: &[Money]) -> Vec<Money> {
    let wide = bases.iter().map(|base| i128::from(base.0.max(0)));
    let off = discount.of(Money::from_wide(wide.clone().sum()));
    let parts: Vec<Weighed> = wide.map(|weight| Weighed { weight, count: 1 }).collect();
    by_largest_remainder(i128::from(off.0), &parts).into_iter().map(Money::from_wide).collect()
}
