//! What of a priced cart needs more than the permission to sell, and why. `docs/domain.md`, "Limits and overrides".

use super::cart::{PricedCart, PricedLine};
use super::line::CartLine;
use super::price::PriceSource;
use crate::{Bps, Money, rdiv};

/// How much may be taken off without asking further, where neither product nor department says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreLimits {
    pub line: Bps,
    pub cart: Bps,
}

/// What somebody at the till did to a price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Another price for this line alone.
    ChangedPrice,
    LineDiscount,
    CartDiscount,
    /// Line and cart discount together are above the limit.
    BeyondLimit,
    /// The price of a unit is below the floor of its product.
    BelowFloor,
}

impl Deed {
    /// As it is said on the wire.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::ChangedPrice => "changed_price",
            Self::LineDiscount => "line_discount",
            Self::CartDiscount => "cart_discount",
            Self::BeyondLimit => "beyond_limit",
            Self::BelowFloor => "below_floor",
        }
    }
}

/// A deed with its line; `None` for the whole cart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    pub line: Option<usize>,
    pub deed: Deed,
}

/// What is taken off a line beside what may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    pub limit: Bps,
    /// Line and cart discount together, of what specials leave.
    pub requested: Bps,
    pub is_within: bool,
}

impl StoreLimits {
    /// The limit of line `line` and what is asked of it.
    #[must_use]
    pub fn of(&self, line: &CartLine, priced: &PricedLine) -> Asked {
        let of_store = if priced.line_discount > Money::ZERO { self.line } else { self.cart };
        asked(line.limit.unwrap_or(of_store), taken(priced), base(priced))
    }

    /// The same of the cart discount alone, over the lines that have a share of it.
    #[must_use]
    pub fn of_cart(&self, cart: &PricedCart) -> Asked {
        let shared = cart.lines.iter().filter(|line| line.takes_discount);
        let base = shared.map(|line| base(line) - i128::from(line.line_discount.0)).sum();
        asked(self.cart, i128::from(cart.cart_discount.0), base)
    }

    /// Everything that needs a permission, by line, then of the cart.
    #[must_use]
    pub fn needs(&self, lines: &[CartLine], cart: &PricedCart) -> Vec<Need> {
        let of_line = |(place, (line, priced)): (usize, (&CartLine, &PricedLine))| {
            let deeds = [
                (line.price_source == PriceSource::Override, Deed::ChangedPrice),
                (priced.line_discount > Money::ZERO, Deed::LineDiscount),
                (taken(priced) > 0 && !self.of(line, priced).is_within, Deed::BeyondLimit),
                (is_below_floor(line, priced), Deed::BelowFloor),
            ];
            deeds.into_iter().filter(|(is, _)| *is).map(move |(_, deed)| Need { line: Some(place), deed })
        };
        let of_cart = [
            (cart.cart_discount > Money::ZERO, Deed::CartDiscount),
            (cart.cart_discount > Money::ZERO && !self.of_cart(cart).is_within, Deed::BeyondLimit),
        ];
        let of_cart = of_cart.into_iter().filter(|(is, _)| *is).map(|(_, deed)| Need { line: None, deed });
        lines.iter().zip(&cart.lines).enumerate().flat_map(of_line).chain(of_cart).collect()
    }
}

/// What people take off a line.
fn taken(priced: &PricedLine) -> i128 {
    i128::from(priced.line_discount.0) + i128::from(priced.cart_discount.0)
}

/// What they take it off.
fn base(priced: &PricedLine) -> i128 {
    i128::from(priced.list.0) - i128::from(priced.special_discount.0)
}

/// A minor unit more than the limit passes: rounding is nobody's discount.
fn asked(limit: Bps, taken: i128, base: i128) -> Asked {
    let requested = if base > 0 { rdiv(taken * 10_000, base) } else { 0 };
    Asked {
        limit,
        requested: Bps(i32::try_from(requested).unwrap_or(i32::MAX)),
        is_within: taken * 10_000 <= i128::from(limit.0) * base.max(0) + 10_000,
    }
}

/// A price that the catalogue, a special or a label made passes, however low; what somebody typed or took off does not.
fn is_below_floor(line: &CartLine, priced: &PricedLine) -> bool {
    let typed = matches!(line.price_source, PriceSource::Override | PriceSource::Open);
    let Some(floor) = line.floor.filter(|_| typed || taken(priced) > 0) else { return false };
    priced.ext < floor.times(line.quantity)
}
