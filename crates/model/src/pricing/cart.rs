//! The price of a cart: list amounts, taxes and sums.

use std::sync::Arc;

use uuid::Uuid;

use super::invoice::{ExactLine, round_by_invoice};
use super::price::PriceSource;
use super::tax::{TaxAmount, TaxRate, TaxRounding, TaxedLine, assemble, exact_taxes, tax_line};
use crate::{Money, Qty};

/// One line of a cart before it is priced.
#[derive(Clone, Debug, PartialEq, Eq)]
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
}

/// One line of a cart with its price; it stands at the same place as its [`CartLine`].
///
/// `list` to `ext` are with tax where prices contain it, `net` is without, `total` with tax.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PricedLine {
    pub list: Money,
    pub special_discount: Money,
    pub line_discount: Money,
    pub cart_discount: Money,
    /// The list amount without the discounts: what is taxed.
    pub ext: Money,
    pub net: Money,
    pub tax: Money,
    pub total: Money,
    pub taxes: Vec<TaxAmount>,
    pub cost: Money,
}

/// What one rate takes over all lines of a sale.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaxTotal {
    pub rate: TaxRate,
    pub base: Money,
    pub tax: Money,
}

/// A cart with its price: the sums are those of the lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PricedCart {
    pub lines: Vec<PricedLine>,
    pub list: Money,
    pub special_discount: Money,
    pub line_discount: Money,
    pub cart_discount: Money,
    pub net: Money,
    pub tax: Money,
    pub total: Money,
    pub cost: Money,
    /// One for each rate, in the order in which the lines first name them.
    pub tax_lines: Vec<TaxTotal>,
}

/// Prices all lines together; `exempt` when the customer pays no tax.
///
/// Lines with prices that contain tax and lines with prices that do not may meet in one cart.
#[must_use]
pub fn price_cart(lines: &[CartLine], rounding: TaxRounding, exempt: bool) -> PricedCart {
    let listed: Vec<Money> = lines.iter().map(|line| line.unit_price.times(line.quantity)).collect();
    let taxed = match rounding {
        TaxRounding::Line => tax_by_line(lines, &listed, exempt),
        TaxRounding::Invoice => tax_by_invoice(lines, &listed, exempt),
    };
    sum_up(lines.iter().zip(listed).zip(taxed).map(|((line, list), taxed)| undiscounted(line, list, taxed)).collect())
}

fn tax_by_line(lines: &[CartLine], exts: &[Money], exempt: bool) -> Vec<TaxedLine> {
    lines.iter().zip(exts).map(|(line, ext)| tax_line(*ext, line.inclusive, &line.rates, exempt)).collect()
}

fn tax_by_invoice(lines: &[CartLine], exts: &[Money], exempt: bool) -> Vec<TaxedLine> {
    let exact: Vec<ExactLine> = lines
        .iter()
        .zip(exts)
        .map(|(line, ext)| ExactLine { rates: &line.rates, taxes: exact_taxes(*ext, line.inclusive, &line.rates) })
        .collect();
    let rounded = round_by_invoice(&exact);
    lines
        .iter()
        .zip(exts)
        .zip(rounded)
        .map(|((line, ext), taxes)| assemble(*ext, line.inclusive, &line.rates, &taxes, exempt))
        .collect()
}

/// The one place that says that nothing reduces a line: the amount that is taxed is the list amount.
fn undiscounted(line: &CartLine, list: Money, taxed: TaxedLine) -> PricedLine {
    PricedLine {
        list,
        special_discount: Money::ZERO,
        line_discount: Money::ZERO,
        cart_discount: Money::ZERO,
        ext: list,
        net: taxed.net,
        tax: taxed.tax,
        total: taxed.total,
        taxes: taxed.taxes,
        cost: line.unit_cost.unwrap_or(Money::ZERO).times(line.quantity),
    }
}

fn sum_up(lines: Vec<PricedLine>) -> PricedCart {
    let sum = |amount: fn(&PricedLine) -> Money| wide_sum(lines.iter().map(amount));
    PricedCart {
        list: sum(|line| line.list),
        special_discount: sum(|line| line.special_discount),
        line_discount: sum(|line| line.line_discount),
        cart_discount: sum(|line| line.cart_discount),
        net: sum(|line| line.net),
        tax: sum(|line| line.tax),
        total: sum(|line| line.total),
        cost: sum(|line| line.cost),
        tax_lines: sum_taxes(&lines),
        lines,
    }
}

fn sum_taxes(lines: &[PricedLine]) -> Vec<TaxTotal> {
    let mut totals = Vec::<TaxTotal>::new();
    for amount in lines.iter().flat_map(|line| &line.taxes) {
        // A sale knows a handful of rates: looking through them is faster than hashing.
        match totals.iter_mut().find(|total| total.rate.id == amount.rate.id) {
            Some(total) => {
                total.base = wide_sum([total.base, amount.base]);
                total.tax = wide_sum([total.tax, amount.tax]);
            }
            None => totals.push(TaxTotal { rate: amount.rate.clone(), base: amount.base, tax: amount.tax }),
        }
    }
    totals
}

fn wide_sum(amounts: impl IntoIterator<Item = Money>) -> Money {
    Money::from_wide(amounts.into_iter().map(|amount| i128::from(amount.0)).sum())
}
