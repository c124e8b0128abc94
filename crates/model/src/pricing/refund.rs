//! What of a sold line is given back, from the line as it was stored: never from today's prices.

use super::payment::{PaymentError, PaymentRow, PaymentTerms, Settlement, settle};
use super::tender::{TenderKind, TenderRule, TenderTerms, Tendered};
use crate::{Money, Qty, rdiv};

/// The amounts of a line of a sale, as its row has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredLine {
    pub quantity: Qty,
    pub list: Money,
    pub special: Money,
    pub line: Money,
    pub cart: Money,
    /// One for each rate, in the order of `tax_details`.
    pub taxes: Vec<Money>,
    pub total: Money,
    pub cost: Money,
}

/// What is given back of a line, in amounts above zero: the document negates them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineShare {
    pub list: Money,
    pub special: Money,
    pub line: Money,
    pub cart: Money,
    /// As those of the line.
    pub taxes: Vec<Money>,
    /// The sum of `taxes`.
    pub tax: Money,
    /// What `tax` leaves of `total`.
    pub net: Money,
    pub total: Money,
    pub cost: Money,
}

/// A part of a line: `take` of its quantity, after `done` of it. Every amount of the line is shared out by the same rule: what is
/// due of it up to the end of this part, rounded, less what was due up to its start. So whatever parts a line comes back in, they
/// add up to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    quantity: i128,
    from: i128,
    to: i128,
}

impl Part {
    /// What reaches beyond the line is cut off; of a line of nothing there is no part.
    #[must_use]
    pub fn new(quantity: Qty, done: Qty, take: Qty) -> Self {
        let quantity = i128::from(quantity.0.max(0));
        let from = i128::from(done.0.max(0)).min(quantity);
        let to = (from + i128::from(take.0.max(0))).min(quantity);
        Self { quantity: quantity.max(1), from, to }
    }

    /// What of an amount of the line is in this part.
    #[must_use]
    pub fn of(self, amount: Money) -> Money {
        Money(self.wide(amount.0))
    }

    /// What of a quantity of the line is in this part, such as the units that a special took.
    #[must_use]
    pub fn of_quantity(self, quantity: Qty) -> Qty {
        Qty(self.wide(quantity.0))
    }

    fn wide(self, value: i64) -> i64 {
        let due = |up_to: i128| rdiv(i128::from(value) * up_to, self.quantity);
        Money::from_wide(due(self.to) - due(self.from)).0
    }
}

/// What is given back of `line` for `take` of it, when `done` of it was given back before.
#[must_use]
pub fn share(line: &StoredLine, done: Qty, take: Qty) -> LineShare {
    let part = Part::new(line.quantity, done, take);
    let taxes: Vec<Money> = line.taxes.iter().map(|tax| part.of(*tax)).collect();
    let tax = Money::from_wide(taxes.iter().map(|tax| i128::from(tax.0)).sum());
    let total = part.of(line.total);
    LineShare {
        list: part.of(line.list),
        special: part.of(line.special),
        line: part.of(line.line),
        cart: part.of(line.cart),
        taxes,
        tax,
        net: Money::from_wide(i128::from(total.0) - i128::from(tax.0)),
        total,
        cost: part.of(line.cost),
    }
}

/// How a sale was paid, for the rounding of its refund.
#[derive(Clone, Copy, Debug)]
pub struct PaidSale<'a> {
    pub total: Money,
    pub cash_rounding: Money,
    /// The kind of each of its payments, change included.
    pub kinds: &'a [TenderKind],
}

/// The cash rounding of a refund of `refund`, which is below zero, where it mirrors that of its sale: all of a sale that was
/// paid wholly in cash comes back wholly in cash, so that the customer gets what was paid, whatever coins there are by now. Any
/// other refund rounds its own amount: `None`.
#[must_use]
pub fn refund_rounding(sale: &PaidSale<'_>, refund: Money, payments: &[Tendered]) -> Option<Money> {
    // Once a part came back, no refund has the amount of the whole sale.
    let is_whole = sale.total > Money::ZERO && i128::from(refund.0) == -i128::from(sale.total.0);
    let was_cash = !sale.kinds.is_empty() && sale.kinds.iter().all(|kind| *kind == TenderKind::Cash);
    let is_cash = !payments.is_empty() && payments.iter().all(Tendered::is_cash);
    (is_whole && was_cash && is_cash).then(|| negated(sale.cash_rounding))
}

/// A tender of a sale, and what of it was not given back yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paid {
    pub tender: TenderTerms,
    /// The sum of its payments less what earlier refunds gave back to it, of cash both without their cash rounding: so that what is
    /// left of all tenders is what is left of the total.
    pub left: Money,
    pub reference: Option<String>,
}

/// The payments of a refund of `refund`, which is below zero, when nobody says how: back to the tenders of the sale, the last one
/// first, to each at most what it paid. Cash says no amount: it rounds what is left to it. None at all when that does not give back
/// everything, and somebody has to say how: nothing comes back to the tender of an exchange, which nobody handed over.
#[must_use]
pub fn to_original_tenders(refund: Money, paid: &[Paid]) -> Vec<Tendered> {
    let mut left = -i128::from(refund.0);
    let mut payments = Vec::with_capacity(paid.len());
    for one in paid.iter().rev().filter(|one| one.tender.kind != TenderKind::Exchange) {
        let amount = left.min(i128::from(one.left.0));
        if amount <= 0 {
            continue;
        }
        left -= amount;
        let is_cash = one.tender.kind == TenderKind::Cash;
        payments.push(Tendered {
            tender: one.tender.clone(),
            tendered: (!is_cash).then(|| Money::from_wide(-amount)),
            reference: one.reference.clone(),
            at_most: (!is_cash).then_some(one.left),
        });
    }
    if left > 0 {
        payments.clear();
    }
    payments
}

/// What the two halves of an exchange settle with each other: the smaller amount of both.
#[must_use]
pub fn exchange(refund: Money, sale: Money) -> Money {
    Money::from_wide(i128::from(refund.0).abs().min(i128::from(sale.0).max(0)))
}

/// How both halves of an exchange are settled: the payments of each add up to its total plus its `cash_rounding`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exchanged {
    pub refund: Settlement,
    pub sale: Settlement,
}

/// Settles a refund of `refund`, which is below zero, with a sale of `sale`: by `tender` as far as the smaller of them goes, and the
/// difference by `payments`, as if it alone were to be paid or given back. They belong to the half that is larger.
pub fn settle_exchange(
    (refund, sale): (Money, Money),
    tender: &TenderTerms,
    payments: &[Tendered],
    terms: &PaymentTerms<'_>,
) -> Result<Exchanged, PaymentError> {
    let settled = exchange(refund, sale);
    let difference = Money::from_wide(i128::from(refund.0) + i128::from(sale.0));
    let rest = settle(difference, payments, terms)?;
    let mut halves = Exchanged::default();
    if difference < Money::ZERO {
        halves.refund = rest;
    } else {
        halves.sale = rest;
    }
    if settled > Money::ZERO {
        halves.refund.payments.insert(0, PaymentRow::of_document(tender, negated(settled)));
        halves.sale.payments.insert(0, PaymentRow::of_document(tender, settled));
    }
    Ok(halves)
}

/// Settles `amount` that a customer owes: `payments` pay it, and `on_account` gets it off what is owed, so that the document's total
/// is 0 and its payments add up to its `cash_rounding`.
pub fn settle_account(
    amount: Money,
    on_account: &TenderTerms,
    payments: &[Tendered],
    terms: &PaymentTerms<'_>,
) -> Result<Settlement, PaymentError> {
    let owed = payments.iter().position(|payment| payment.tender.kind == TenderKind::OnAccount);
    if let Some(index) = owed {
        let code = payments[index].tender.code.clone();
        return Err(PaymentError::TenderRule { index, code, rule: TenderRule::OwedAgain });
    }
    let mut settlement = settle(amount, payments, terms)?;
    settlement.payments.push(PaymentRow::of_document(on_account, negated(amount)));
    Ok(settlement)
}

fn negated(amount: Money) -> Money {
    Money::from_wide(-i128::from(amount.0))
}
