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
    let sum = |amount: fn(&LineFigures) -> Money| sale.lines.iter().map(amount).sum::<Money>();
    let paid: Money = sale.payments.iter().copied().sum();
    [
        (sale.lines.is_empty(), "no_lines"),
        (sale.net + sale.tax != sale.total, "net_and_tax_are_not_total"),
        (sum(|line| line.net) != sale.net, "lines_net_mismatch"),
        (sum(|line| line.tax) != sale.tax, "lines_tax_mismatch"),
        (sum(|line| line.total) != sale.total, "lines_total_mismatch"),
        (paid != sale.total + sale.cash_rounding, "payments_mismatch"),
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
}
