//! The price of a cart: list amounts, specials, discounts, taxes and sums, in this order.

use super::discount::{Discount, shared};
use super::invoice::{ExactLine, round_by_invoice};
use super::line::{CartLine, CartTerms};
use super::savings::savings;
use super::special::Saving;
use super::tax::{TaxAmount, TaxRate, TaxRounding, TaxedLine, assemble, exact_taxes, tax_line};
use crate::Money;

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
    /// What each special takes off; together `special_discount`.
    pub savings: Vec<Saving>,
    /// Whether a discount may be given on it: its product allows it, and no special on it forbids it.
    pub takes_discount: bool,
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

/// Prices all lines together.
///
/// Lines whose prices contain tax and lines whose prices do not may meet in one cart. A discount on a line that takes none
/// takes nothing off: whoever sells refuses it.
#[must_use]
pub fn price_cart(lines: &[CartLine], terms: &CartTerms) -> PricedCart {
    let reduced = reduce(lines, terms.discount);
    let exts: Vec<Money> = reduced.iter().map(Reduced::ext).collect();
    let taxed = match terms.rounding {
        TaxRounding::Line => tax_by_line(lines, &exts, terms.exempt),
        TaxRounding::Invoice => tax_by_invoice(lines, &exts, terms.exempt),
    };
    sum_up(lines.iter().zip(reduced).zip(taxed).map(|((line, reduced), taxed)| priced(line, reduced, taxed)).collect())
}

/// A line with what is taken off it.
struct Reduced {
    list: Money,
    savings: Vec<Saving>,
    special: Money,
    line: Money,
    cart: Money,
    takes_discount: bool,
}

fn reduce(lines: &[CartLine], cart_discount: Option<Discount>) -> Vec<Reduced> {
    let one = |(line, savings): (&CartLine, Vec<Saving>)| {
        let list = line.printed.unwrap_or_else(|| line.unit_price.times(line.quantity));
        let special = wide_sum(savings.iter().map(|saving| saving.amount)).min(list.max(Money::ZERO));
        let takes_discount = line.allows_discount && savings.iter().all(|saving| saving.special.is_stackable);
        let discount = line.discount.filter(|_| takes_discount);
        let off = discount.map_or(Money::ZERO, |discount| discount.of(less(list, special)));
        Reduced { list, savings, special, line: off, cart: Money::ZERO, takes_discount }
    };
    let mut reduced: Vec<Reduced> = lines.iter().zip(savings(lines)).map(one).collect();
    if let Some(discount) = cart_discount {
        let bases: Vec<Money> =
            reduced.iter().map(|line| if line.takes_discount { line.ext() } else { Money::ZERO }).collect();
        for (line, off) in reduced.iter_mut().zip(shared(discount, &bases)) {
            line.cart = off;
        }
    }
    reduced
}

impl Reduced {
    fn ext(&self) -> Money {
        [self.special, self.line, self.cart].into_iter().fold(self.list, less)
    }
}

/// Without overflow: amounts of any size are priced.
fn less(amount: Money, off: Money) -> Money {
    Money::from_wide(i128::from(amount.0) - i128::from(off.0))
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

fn priced(line: &CartLine, reduced: Reduced, taxed: TaxedLine) -> PricedLine {
    PricedLine {
        ext: reduced.ext(),
        list: reduced.list,
        special_discount: reduced.special,
        line_discount: reduced.line,
        cart_discount: reduced.cart,
        savings: reduced.savings,
        takes_discount: reduced.takes_discount,
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
