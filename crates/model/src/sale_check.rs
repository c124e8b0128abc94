//! Whether a sale adds up. HQ never refuses money and never recomputes it: what does not add up is stored and flagged
//! with these words. See `docs/sync.md`, rule U9.

use crate::Money;

/// The figures of a sale as its store sent them.
pub struct SaleFigures<'a> {
    pub net: Money,
    pub tax: Money,
    pub total: Money,
    pub cash_rounding: Money,
    pub lines: &'a [LineFigures],
    pub payments: &'a [Money],
}

#[derive(Clone, Copy)]
pub struct LineFigures {
    pub net: Money,
    pub tax: Money,
    pub total: Money,
}

/// One word for each thing that does not add up; empty for a sound sale.
#[must_use]
pub fn flags(sale: &SaleFigures) -> Vec<&'static str> {
    // Whatever amounts were sent, their sum is one: a sale is not to stop HQ.
    let wide = |amount: Money| i128::from(amount.0);
    let sum = |amount: fn(&LineFigures) -> Money| sale.lines.iter().map(amount).map(wide).sum::<i128>();
    let paid: i128 = sale.payments.iter().copied().map(wide).sum();
    [
        (sale.lines.is_empty(), "no_lines"),
        (wide(sale.net) + wide(sale.tax) != wide(sale.total), "net_and_tax_are_not_total"),
        (sum(|line| line.net) != wide(sale.net), "lines_net_mismatch"),
        (sum(|line| line.tax) != wide(sale.tax), "lines_tax_mismatch"),
        (sum(|line| line.total) != wide(sale.total), "lines_total_mismatch"),
        (paid != wide(sale.total) + wide(sale.cash_rounding), "payments_mismatch"),
    ]
    .into_iter()
    .filter_map(|(wrong, word)| wrong.then_some(word))
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sale_that_does_not_add_up_is_flagged_not_refused() {
        let lines = [LineFigures { net: Money(1999), tax: Money(177), total: Money(2176) }];
        let mut sale = SaleFigures {
            net: Money(1999),
            tax: Money(177),
            total: Money(2176),
            cash_rounding: Money(-1),
            lines: &lines,
            payments: &[Money(2175)],
        };
        assert!(flags(&sale).is_empty());
        sale.payments = &[Money(2000)];
        sale.tax = Money(100);
        assert_eq!(flags(&sale), ["net_and_tax_are_not_total", "lines_tax_mismatch", "payments_mismatch"]);
    }

    #[test]
    fn amounts_with_a_sum_that_no_amount_holds_are_flagged_like_others() {
        let line = LineFigures { net: Money(i64::MAX), tax: Money(1), total: Money(i64::MIN) };
        let sale = SaleFigures {
            net: Money(i64::MAX),
            tax: Money(1),
            total: Money(i64::MIN),
            cash_rounding: Money(-1),
            lines: &[line, line],
            payments: &[Money(i64::MAX), Money(i64::MAX)],
        };
        assert_eq!(
            flags(&sale),
            [
                "net_and_tax_are_not_total",
                "lines_net_mismatch",
                "lines_tax_mismatch",
                "lines_total_mismatch",
                "payments_mismatch"
            ]
        );
    }
}
