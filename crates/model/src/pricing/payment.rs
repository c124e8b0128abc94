//! From what a customer hands over to payment rows, change and cash rounding.

use thiserror::Error;
use uuid::Uuid;

use super::cash_rounding::CashRounding;
use super::tender::{TenderKind, TenderRule, TenderTerms, Tendered};
use crate::{ErrorCode, Money};

/// One row of `sale_payments`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymentRow {
    /// Place of the payment in the request; `None` for a row that nobody entered, such as that of the change.
    pub index: Option<usize>,
    pub tender_id: Uuid,
    pub code: String,
    pub kind: TenderKind,
    /// What counts towards the sale and into the drawer; below zero on a refund and on the change row.
    pub amount: Money,
    /// As entered; `None` when exactly what was left was paid.
    pub tendered: Option<Money>,
    /// What the customer gets back in cash from this row.
    pub change: Money,
    /// True on the cash row that pays out the change of another tender.
    pub is_change: bool,
    pub reference: Option<String>,
}

impl PaymentRow {
    /// The row by which a document settles something without a payment of the customer.
    pub(super) fn of_document(tender: &TenderTerms, amount: Money) -> Self {
        Self {
            index: None,
            tender_id: tender.id,
            code: tender.code.clone(),
            kind: tender.kind,
            amount,
            tendered: None,
            change: Money::ZERO,
            is_change: false,
            reference: None,
        }
    }
}

/// What payments are settled by, beside the amount.
#[derive(Clone, Copy, Debug)]
pub struct PaymentTerms<'a> {
    /// How the store rounds what is left to cash.
    pub rounding: CashRounding,
    /// What rounding adds to what is left to cash, in place of the store's rule: see [`super::refund_rounding`].
    pub mirrored: Option<Money>,
    pub has_customer: bool,
    /// The store's cash tender, in which the change of other tenders is paid out.
    pub cash: Option<&'a TenderTerms>,
}

/// A paid sale: the amounts of `payments` add up to its total plus `cash_rounding`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settlement {
    pub payments: Vec<PaymentRow>,
    /// What rounding to coins adds to the total or takes from it.
    pub cash_rounding: Money,
    pub change: Money,
}

/// Why payments do not settle a sale.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PaymentError {
    /// `due` contains the cash rounding when some of it is paid in cash.
    #[error(
        "{} of {} minor units are paid; tender {} more or add another payment",
        .tendered.0, .due.0, i128::from(.due.0) - i128::from(.tendered.0)
    )]
    Underpaid { due: Money, tendered: Money },
    /// `index` is the place of the payment in the request, from 0.
    #[error("payment {} ({code}): {rule}", .index + 1)]
    TenderRule { index: usize, code: String, rule: TenderRule },
}

impl PaymentError {
    /// The code of the answer.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::Underpaid { .. } => ErrorCode::Underpaid,
            Self::TenderRule { rule: TenderRule::NotRefundable, .. } => ErrorCode::TenderNotRefundable,
            Self::TenderRule { .. } => ErrorCode::TenderRule,
        }
    }

    /// The payment that is at fault, by its place in the request.
    #[must_use]
    pub const fn index(&self) -> Option<usize> {
        match self {
            Self::Underpaid { .. } => None,
            Self::TenderRule { index, .. } => Some(*index),
        }
    }
}

/// Settles `total`, which is below zero on a refund, with `payments`: other tenders first in their order, then cash. One payment
/// may have no amount, wherever it stands: it takes what the others leave.
///
/// What is left to cash, be it to pay or to give back, is rounded to coins. A refund is paid out exactly: there is no change
/// on it.
pub fn settle(total: Money, payments: &[Tendered], terms: &PaymentTerms<'_>) -> Result<Settlement, PaymentError> {
    let sign = if total.0 < 0 { -1 } else { 1 };
    let mut book = Book { sign, left: i128::from(total.0) * sign, change: 0, rows: Vec::with_capacity(payments.len()) };
    for (index, payment) in payments.iter().enumerate() {
        payment.check_terms(sign < 0, terms.has_customer).map_err(|rule| refused(index, payment, rule))?;
    }
    if let Some((index, payment)) = payments.iter().enumerate().filter(|(_, payment)| payment.tendered.is_none()).nth(1)
    {
        return Err(refused(index, payment, TenderRule::TwoWithoutAmount));
    }
    let mut overpaid_by = None;
    for (index, payment) in payments.iter().enumerate().filter(|(_, payment)| !payment.is_cash()) {
        let rest = book.left;
        let others: i128 = payments
            .iter()
            .enumerate()
            .filter(|(place, other)| other.is_cash() || *place > index)
            .map(|(_, other)| book.entered(other).ok().flatten().unwrap_or(0))
            .sum();
        book.take_other(index, payment, others).map_err(|rule| refused(index, payment, rule))?;
        if book.left < 0 {
            overpaid_by = Some((index, payment, rest));
        }
    }

    let pays_cash = book.left > 0 && payments.iter().any(Tendered::is_cash);
    let rounded = if pays_cash || book.left < 0 { book.rounded(terms) } else { book.left };
    let cash_rounding = rounded - book.left;
    book.left = rounded;
    if let Some((index, payment, rest)) = overpaid_by {
        book.give_change(terms.cash)
            .ok_or_else(|| refused(index, payment, TenderRule::NoCashForChange { rest: book.money(rest) }))?;
    }
    let mut wants_row = pays_cash;
    for (index, payment) in payments.iter().enumerate().filter(|(_, payment)| payment.is_cash()) {
        book.take_cash(index, payment, wants_row).map_err(|rule| refused(index, payment, rule))?;
        wants_row = false;
    }

    if book.left > 0 {
        let due = i128::from(total.0) + sign * cash_rounding;
        let tendered = Money::from_wide(due - sign * book.left);
        return Err(PaymentError::Underpaid { due: Money::from_wide(due), tendered });
    }
    Ok(Settlement { cash_rounding: book.money(cash_rounding), change: book.money(book.change), payments: book.rows })
}

fn refused(index: usize, payment: &Tendered, rule: TenderRule) -> PaymentError {
    PaymentError::TenderRule { index, code: payment.tender.code.clone(), rule }
}

/// The settlement in the making. It counts what is paid as positive, so that a refund takes the same way as a sale;
/// `sign` turns the amounts back.
struct Book {
    sign: i128,
    left: i128,
    change: i128,
    rows: Vec<PaymentRow>,
}

impl Book {
    fn money(&self, amount: i128) -> Money {
        Money::from_wide(self.sign * amount)
    }

    /// What is left to cash, in coins.
    fn rounded(&self, terms: &PaymentTerms<'_>) -> i128 {
        match terms.mirrored {
            Some(rounding) => self.left + self.sign * i128::from(rounding.0),
            None => terms.rounding.due_wide(self.left),
        }
    }

    /// What was entered, when it has the sign of the total.
    fn entered(&self, payment: &Tendered) -> Result<Option<i128>, TenderRule> {
        let entered = payment.tendered.map(|tendered| i128::from(tendered.0) * self.sign);
        if entered.is_some_and(|amount| amount < 0) { Err(TenderRule::WrongSign) } else { Ok(entered) }
    }

    /// `others` is what is tendered and not taken yet, which a payment without an amount leaves alone.
    fn take_other(&mut self, index: usize, payment: &Tendered, others: i128) -> Result<(), TenderRule> {
        let entered = self.entered(payment)?;
        if self.left <= 0 || (entered.is_none() && self.left <= others) {
            return Err(TenderRule::NothingLeft);
        }
        let amount = entered.unwrap_or(self.left - others);
        if amount == 0 {
            return Err(TenderRule::NothingTendered);
        }
        if amount > self.left {
            self.check_overpaid(payment)?;
        }
        // All of it counts, also beyond what is left: a check of 50 is a check of 50, its change is a row of its own.
        self.left -= amount;
        self.add(index, payment, amount, 0)
    }

    /// `wants_row` when cash settles something and no cash row says so yet.
    fn take_cash(&mut self, index: usize, payment: &Tendered, wants_row: bool) -> Result<(), TenderRule> {
        let entered = self.entered(payment)?;
        // What was left may be nothing after rounding, and is still settled in cash.
        if self.left <= 0 && !wants_row {
            return if entered.unwrap_or(0) == 0 { Ok(()) } else { Err(TenderRule::NothingLeft) };
        }
        let tendered = entered.unwrap_or(self.left);
        if tendered > self.left {
            self.check_overpaid(payment)?;
        }
        let amount = tendered.min(self.left);
        self.left -= amount;
        self.change += tendered - amount;
        self.add(index, payment, amount, tendered - amount)
    }

    fn check_overpaid(&self, payment: &Tendered) -> Result<(), TenderRule> {
        // What goes on an account is owed, and no customer is paid for owing more.
        let gives_change = payment.tender.allows_change && payment.tender.kind != TenderKind::OnAccount;
        if gives_change && self.sign > 0 {
            return Ok(());
        }
        Err(TenderRule::TooMuch { rest: self.money(self.left) })
    }

    fn add(&mut self, index: usize, payment: &Tendered, amount: i128, change: i128) -> Result<(), TenderRule> {
        let same = self.rows.iter().filter(|row| row.tender_id == payment.tender.id);
        let given: i128 = same.map(|row| i128::from(row.amount.0).abs()).sum();
        if let Some(most) = payment.at_most.filter(|most| self.sign < 0 && given + amount > i128::from(most.0)) {
            return Err(TenderRule::MoreThanPaid { most });
        }
        let amount = self.money(amount);
        payment.check_limits(amount)?;
        self.rows.push(PaymentRow {
            index: Some(index),
            tender_id: payment.tender.id,
            code: payment.tender.code.clone(),
            kind: payment.tender.kind,
            amount,
            tendered: payment.tendered,
            change: self.money(change),
            is_change: false,
            reference: payment.reference.clone(),
        });
        Ok(())
    }

    /// Pays out what another tender gave too much; `None` when there is nothing to pay it in.
    fn give_change(&mut self, cash: Option<&TenderTerms>) -> Option<()> {
        let amount = std::mem::take(&mut self.left);
        // What no coin is small enough for is not paid out, and leaves no row.
        if amount == 0 {
            return Some(());
        }
        let cash = cash.filter(|tender| tender.kind == TenderKind::Cash && tender.is_active)?;
        self.change -= amount;
        self.rows.push(PaymentRow {
            index: None,
            tender_id: cash.id,
            code: cash.code.clone(),
            kind: cash.kind,
            amount: self.money(amount),
            tendered: None,
            change: self.money(-amount),
            is_change: true,
            reference: None,
        });
        Some(())
    }
}
