//! A cart before it is priced.

use std::sync::Arc;

use uuid::Uuid;

use super::discount::Discount;
use super::price::PriceSource;
use super::special::Special;
use super::tax::{TaxRate, TaxRounding};
use crate::{Bps, Money, Qty};

/// One line of a cart before it is priced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CartLine {
    pub product_id: Uuid,
    /// Negative on a refund.
    pub quantity: Qty,
    pub unit_price: Money,
    pub price_source: PriceSource,
    /// What the unit price would have been without an override.
    pub regular_price: Money,
    /// Whether the prices contain the taxes.
    pub inclusive: bool,
    /// The rates of the product's tax group for this store, by sequence; shared by the lines of the group.
    pub rates: Arc<[TaxRate]>,
    /// `None` when it is not known, which then counts as no cost.
    pub unit_cost: Option<Money>,
    /// What a label or a pack says that the line costs, whatever its quantity comes to.
    pub printed: Option<Money>,
    /// Whether it is sold by the piece: what is weighed is in no deal over several units.
    pub is_counted: bool,
    /// The specials in force that name its product or department; shared by the lines of a department.
    pub specials: Arc<[Arc<Special>]>,
    /// Whether somebody at the till may take something off it.
    pub allows_discount: bool,
    pub discount: Option<Discount>,
    /// What may be taken off it at the most, when product or department say so.
    pub limit: Option<Bps>,
    /// The price of a unit below which nobody at the till gets it on their own.
    pub floor: Option<Money>,
}

/// What holds for all lines of a cart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CartTerms {
    pub rounding: TaxRounding,
    /// The customer pays no tax.
    pub exempt: bool,
    pub discount: Option<Discount>,
}

impl CartLine {
    /// Whether a special may make it cheaper: a price that somebody typed or a label says stays.
    pub(super) fn takes_specials(&self) -> bool {
        let of_the_shelf = matches!(self.price_source, PriceSource::Default | PriceSource::Store);
        of_the_shelf && self.printed.is_none() && self.quantity > Qty::ZERO
    }
}
