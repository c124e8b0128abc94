//! The tax of one line.

use uuid::Uuid;

use super::fraction::Fraction;
use crate::{Money, Ppm};

/// One rate of a product's tax group, as the store applies it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaxRate {
    pub id: Uuid,
    pub code: String,
    pub name: String,
    /// From 0 to 1 000 000; what is outside counts as the nearer end.
    pub rate: Ppm,
    /// Taken on the net amount plus the taxes of the rates before it.
    pub compound: bool,
}

/// Where taxes are rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TaxRounding {
    /// Every rate of every line.
    #[default]
    Line,
    /// Every rate once, over all lines of the sale.
    Invoice,
}

impl TaxRounding {
    /// The word in `stores.tax_rounding`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::Invoice => "invoice",
        }
    }

    /// The rounding with this word; `None` for an unknown one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Line, Self::Invoice].into_iter().find(|rounding| rounding.as_str() == text)
    }
}

/// What one rate takes on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaxAmount {
    pub rate: TaxRate,
    /// The amount without tax that the rate was taken on; for a compound rate with the taxes before it.
    pub base: Money,
    pub tax: Money,
}

/// A line after tax: `net + tax == total`, and `tax` is the sum of `taxes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaxedLine {
    pub net: Money,
    pub tax: Money,
    pub total: Money,
    /// In the order of the rates; a rate that takes nothing is still in the list.
    pub taxes: Vec<TaxAmount>,
}

/// Taxes the amount `ext` of one line, each rate rounded on its own; `inclusive` when `ext` contains the taxes.
///
/// Exact for what a tax group may hold: at most five rates, at most two of them compound.
#[must_use]
pub fn tax_line(ext: Money, inclusive: bool, rates: &[TaxRate], exempt: bool) -> TaxedLine {
    let taxes: Vec<Money> =
        exact_taxes(ext, inclusive, rates).into_iter().map(|tax| Money::from_wide(tax.round())).collect();
    assemble(ext, inclusive, rates, &taxes, exempt)
}

/// The tax of each rate before rounding, in the order of the rates.
pub(super) fn exact_taxes(ext: Money, inclusive: bool, rates: &[TaxRate]) -> Vec<Fraction> {
    let shares = Shares::new(rates);
    // Of a price that contains them the taxes are a part, not a surcharge: r / (1 + r), not r.
    let den = if inclusive { shares.whole() } else { shares.one };
    shares.taxes.iter().map(|share| Fraction::new(i128::from(ext.0) * share, den)).collect()
}

/// Builds the line from rounded taxes. The price of an inclusive line never moves, so its net takes what rounding
/// leaves; a tax-exempt customer pays the net, and the rates stay in the list with nothing taken.
pub(super) fn assemble(ext: Money, inclusive: bool, rates: &[TaxRate], taxes: &[Money], exempt: bool) -> TaxedLine {
    let ext = i128::from(ext.0);
    let contained: i128 = taxes.iter().map(|tax| i128::from(tax.0)).sum();
    let net = if inclusive { ext - contained } else { ext };
    let mut charged = 0_i128;
    let mut amounts = Vec::with_capacity(rates.len());
    for (rate, tax) in rates.iter().zip(taxes) {
        let base = Money::from_wide(if rate.compound { net + charged } else { net });
        let tax = if exempt { Money::ZERO } else { *tax };
        charged += i128::from(tax.0);
        amounts.push(TaxAmount { rate: rate.clone(), base, tax });
    }
    TaxedLine {
        net: Money::from_wide(net),
        tax: Money::from_wide(charged),
        total: Money::from_wide(net + charged),
        taxes: amounts,
    }
}

/// The effective rates of a group over one denominator: `taxes[i] / one` of the amount without tax.
///
/// With five rates of which two are compound the denominator is at most 10^18 and `whole` at most 16 x 10^18, below
/// 2^64; a tax is at most half of `whole`, so its product with an amount fits `i128`. A longer group than may be
/// saved is cut to the same size by losing its last binary digits, never by overflowing.
struct Shares {
    one: i128,
    taxes: Vec<i128>,
}

impl Shares {
    fn new(rates: &[TaxRate]) -> Self {
        let mut shares = Self { one: PPM, taxes: Vec::with_capacity(rates.len()) };
        for rate in rates {
            let ppm = i128::from(rate.rate.0).clamp(0, PPM);
            if rate.compound {
                let before = shares.whole();
                shares.one *= PPM;
                shares.taxes.iter_mut().for_each(|tax| *tax *= PPM);
                shares.taxes.push(ppm * before);
            } else {
                shares.taxes.push(shares.one * ppm / PPM);
            }
            while shares.whole() > Fraction::MAX_DEN {
                shares.one = (shares.one / 2).max(1);
                shares.taxes.iter_mut().for_each(|tax| *tax /= 2);
            }
        }
        shares
    }

    /// The price with all taxes of something that costs `one` without.
    fn whole(&self) -> i128 {
        self.one + self.taxes.iter().sum::<i128>()
    }
}

const PPM: i128 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(ppm: i32, compound: bool) -> TaxRate {
        let code = format!("R{ppm}");
        TaxRate { id: crate::ids::named(&code), name: code.clone(), code, rate: Ppm(ppm), compound }
    }

    fn figures(line: &TaxedLine) -> (i64, i64, i64) {
        (line.net.0, line.tax.0, line.total.0)
    }

    #[test]
    fn each_rate_is_rounded_on_its_own() {
        let line = tax_line(Money(10), false, &[rate(30_000, false), rate(40_000, false)], false);
        assert_eq!(figures(&line), (10, 0, 10));
        assert_eq!(line.taxes.len(), 2);
    }

    #[test]
    fn a_compound_rate_is_taken_on_the_taxes_before_it() {
        let line = tax_line(Money(3999), false, &[rate(50_000, false), rate(95_000, true)], false);
        assert_eq!(figures(&line), (3999, 599, 4598));
        assert_eq!(
            line.taxes.iter().map(|tax| (tax.base.0, tax.tax.0)).collect::<Vec<_>>(),
            [(3999, 200), (4199, 399)]
        );
    }

    #[test]
    fn an_exempt_customer_pays_the_net_and_the_rates_stay_on_the_receipt() {
        let line = tax_line(Money(1200), true, &[rate(200_000, false)], true);
        assert_eq!(figures(&line), (1000, 0, 1000));
        assert_eq!((line.taxes[0].base, line.taxes[0].tax), (Money(1000), Money::ZERO));
        assert_eq!(figures(&tax_line(Money(1200), false, &[rate(200_000, false)], true)), (1200, 0, 1200));
    }

    #[test]
    fn a_rate_of_nothing_prints_a_line_and_an_empty_group_does_not() {
        assert_eq!(tax_line(Money(500), true, &[rate(0, false)], false).taxes.len(), 1);
        assert!(tax_line(Money(500), true, &[], false).taxes.is_empty());
    }

    #[test]
    fn the_largest_group_that_may_be_saved_is_exact() {
        let full = |compound| rate(1_000_000, compound);
        let group = [full(false), full(false), full(false), full(true), full(true)];
        // 1 + 3 simple makes 4, doubled twice is 16.
        let line = tax_line(Money(i64::MAX), true, &group, false);
        assert_eq!(line.total, Money(i64::MAX));
        assert_eq!(line.taxes[4].tax.0, 1 << 62);
        assert_eq!(figures(&tax_line(Money(16), true, &group, false)), (1, 15, 16));
    }
}
