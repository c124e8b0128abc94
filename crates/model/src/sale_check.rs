//! Whether a sale adds up. HQ never refuses money and never recomputes it: what does not add up is stored and flagged
//! with these words. See `docs/sync.md`, rule U9.

use crate::Money;

/// The figures of a sale as its store sent them.
pub struct SaleFigures<'a> {
    /// Each part of a refunded line is rounded by itself, so that the parts of a refund need not add up as those of a sale do.
    pub is_refund: bool,
    /// A customer pays what is owed: it has no lines.
    pub is_settlement: bool,
    /// The customer paid no tax.
    pub is_exempt: bool,
    pub price: Price,
    pub net: Money,
    pub tax: Money,
    pub total: Money,
    pub cash_rounding: Money,
    pub lines: &'a [LineFigures],
    pub payments: &'a [Money],
}

#[derive(Clone, Copy)]
pub struct LineFigures {
    pub price: Price,
    /// Whether list amount and discounts contain the taxes.
    pub inclusive: bool,
    pub net: Money,
    pub tax: Money,
    pub total: Money,
}

/// How an amount came about: the price of the shelf, and what was taken off it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Price {
    pub list: Money,
    pub special: Money,
    pub line: Money,
    pub cart: Money,
}

impl Price {
    /// Whoever says nothing of it sends no figures, or only zeros.
    fn is_said(self) -> bool {
        self != Self::default()
    }

    fn off(self) -> i128 {
        wide(self.special) + wide(self.line) + wide(self.cart)
    }
}

/// Whatever amounts were sent, their sum is one: a sale is not to stop HQ.
fn wide(amount: Money) -> i128 {
    i128::from(amount.0)
}

/// One word for each thing that does not add up; empty for a sound sale.
#[must_use]
pub fn flags(sale: &SaleFigures) -> Vec<&'static str> {
    let sum = |amount: fn(&LineFigures) -> Money| sale.lines.iter().map(amount).map(wide).sum::<i128>();
    let paid: i128 = sale.payments.iter().copied().map(wide).sum();
    let said = sale.price.is_said();
    let discounts = [
        (wide(sale.price.special), sum(|line| line.price.special)),
        (wide(sale.price.line), sum(|line| line.price.line)),
        (wide(sale.price.cart), sum(|line| line.price.cart)),
    ];
    [
        (sale.lines.is_empty() && !sale.is_settlement, "no_lines"),
        (sale.is_settlement && sale.total != Money::ZERO, "settlement_total"),
        (wide(sale.net) + wide(sale.tax) != wide(sale.total), "net_and_tax_are_not_total"),
        (sum(|line| line.net) != wide(sale.net), "lines_net_mismatch"),
        (sum(|line| line.tax) != wide(sale.tax), "lines_tax_mismatch"),
        (sum(|line| line.total) != wide(sale.total), "lines_total_mismatch"),
        (!sale.is_refund && sale.lines.iter().any(|line| !line.adds_up(sale.is_exempt)), "line_price_mismatch"),
        (said && sum(|line| line.price.list) != wide(sale.price.list), "lines_list_mismatch"),
        (said && discounts.iter().any(|(head, lines)| head != lines), "lines_discount_mismatch"),
        (paid != wide(sale.total) + wide(sale.cash_rounding), "payments_mismatch"),
    ]
    .into_iter()
    .filter_map(|(wrong, word)| wrong.then_some(word))
    .collect()
}

impl LineFigures {
    /// Whether the list amount less what was taken off is what was charged.
    fn adds_up(&self, is_exempt: bool) -> bool {
        let ext = wide(self.price.list) - self.price.off();
        !self.price.is_said()
            || match (self.inclusive, is_exempt) {
                (false, _) => wide(self.net) == ext,
                (true, false) => wide(self.total) == ext,
                // The taxes that the price contains are not paid, and no figure says how much they are.
                (true, true) => ext.min(0) <= wide(self.net) && wide(self.net) <= ext.max(0),
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICE: Price = Price { list: Money(2499), special: Money(300), line: Money(100), cart: Money(100) };
    const LINE: LineFigures =
        LineFigures { price: PRICE, inclusive: false, net: Money(1999), tax: Money(177), total: Money(2176) };
    const SALE: SaleFigures = SaleFigures {
        is_refund: false,
        is_settlement: false,
        is_exempt: false,
        price: PRICE,
        net: Money(1999),
        tax: Money(177),
        total: Money(2176),
        cash_rounding: Money(-1),
        lines: &[LINE],
        payments: &[Money(2175)],
    };

    #[test]
    fn a_sale_that_does_not_add_up_is_flagged_not_refused() {
        assert!(flags(&SALE).is_empty());
        let sale = SaleFigures { payments: &[Money(2000)], tax: Money(100), ..SALE };
        assert_eq!(flags(&sale), ["net_and_tax_are_not_total", "lines_tax_mismatch", "payments_mismatch"]);
    }

    #[test]
    fn a_payment_of_what_is_owed_has_no_lines_and_no_total() {
        let settlement = SaleFigures {
            is_settlement: true,
            price: Price::default(),
            net: Money::ZERO,
            tax: Money::ZERO,
            total: Money::ZERO,
            lines: &[],
            payments: &[Money(2175), Money(-2176)],
            ..SALE
        };
        assert!(flags(&settlement).is_empty());
        let kept = SaleFigures { payments: &[Money(2175)], ..settlement };
        assert_eq!(flags(&kept), ["payments_mismatch"]);
        let sale = SaleFigures { is_settlement: false, ..kept };
        assert_eq!(flags(&sale), ["no_lines", "payments_mismatch"]);
        let with_goods = SaleFigures { is_settlement: true, ..SALE };
        assert_eq!(flags(&with_goods), ["settlement_total"]);
    }

    #[test]
    fn what_a_line_was_charged_is_its_list_amount_less_what_was_taken_off() {
        type Case = (LineFigures, fn(&mut SaleFigures), &'static [&'static str]);
        let inclusive = LineFigures { inclusive: true, net: Money(1836), tax: Money(163), total: Money(1999), ..LINE };
        let exempt = LineFigures { tax: Money(0), total: Money(1836), ..inclusive };
        let head = |line: LineFigures| SaleFigures {
            net: line.net,
            tax: line.tax,
            total: line.total,
            cash_rounding: Money(0),
            ..SALE
        };
        let wrong = |line: LineFigures, change: fn(&mut SaleFigures)| {
            let (lines, payments) = ([line], [line.total]);
            let mut sale = SaleFigures { lines: &lines, payments: &payments, ..head(line) };
            change(&mut sale);
            flags(&sale)
        };
        let cases: [Case; 12] = [
            (LINE, |_| (), &[]),
            (LineFigures { net: Money(2000), tax: Money(176), ..LINE }, |_| (), &["line_price_mismatch"]),
            // The customer's price does not move with the rounding of its taxes.
            (inclusive, |_| (), &[]),
            (LineFigures { inclusive: true, ..LINE }, |_| (), &["line_price_mismatch"]),
            (exempt, |sale| sale.is_exempt = true, &[]),
            (exempt, |_| (), &["line_price_mismatch"]),
            (
                LineFigures { net: Money(2000), total: Money(2000), ..exempt },
                |sale| sale.is_exempt = true,
                &["line_price_mismatch"],
            ),
            // A refund shares out each figure by itself.
            (LineFigures { net: Money(2000), tax: Money(176), ..LINE }, |sale| sale.is_refund = true, &[]),
            // Who says nothing of lists and discounts is asked for none.
            (LineFigures { price: Price::default(), ..LINE }, |sale| sale.price = Price::default(), &[]),
            (LINE, |sale| sale.price = Price::default(), &[]),
            (LINE, |sale| sale.price.list = Money(2500), &["lines_list_mismatch"]),
            (LINE, |sale| (sale.price.line, sale.price.cart) = (Money(50), Money(150)), &["lines_discount_mismatch"]),
        ];
        for (line, change, expected) in cases {
            assert_eq!(wrong(line, change), expected, "{:?} {}", line.price, line.net.0);
        }
    }

    #[test]
    fn amounts_with_a_sum_that_no_amount_holds_are_flagged_like_others() {
        let price = Price { list: Money(i64::MIN), special: Money(i64::MAX), line: Money(i64::MAX), cart: Money(1) };
        let line = LineFigures { price, inclusive: true, net: Money(i64::MAX), tax: Money(1), total: Money(i64::MIN) };
        let sale = SaleFigures {
            net: Money(i64::MAX),
            tax: Money(1),
            total: Money(i64::MIN),
            price,
            lines: &[line, line],
            payments: &[Money(i64::MAX), Money(i64::MAX)],
            ..SALE
        };
        assert_eq!(
            flags(&sale),
            [
                "net_and_tax_are_not_total",
                "lines_net_mismatch",
                "lines_tax_mismatch",
                "lines_total_mismatch",
                "line_price_mismatch",
                "lines_list_mismatch",
                "lines_discount_mismatch",
                "payments_mismatch"
            ]
        );
    }
}
