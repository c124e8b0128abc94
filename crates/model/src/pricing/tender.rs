//! Means of payment and what each of them asks for.

use thiserror::Error;
use uuid::Uuid;

use crate::Money;
use crate::words::{Word, words};

words! {
    /// What a tender is, whatever the chain calls it.
    TenderKind {
        Cash = "cash",
        Card = "card",
        Check = "check",
        GiftCard = "gift_card",
        StoreCredit = "store_credit",
        Voucher = "voucher",
        OnAccount = "on_account",
        /// Settles a refund against a new sale without touching the drawer.
        Exchange = "exchange",
        Other = "other",
    }
}

impl TenderKind {
    /// The kind with this word; `None` for an unknown one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.word() == text)
    }

    /// Whether it pays with a value of which a record must be kept. There is none yet: whoever took such a tender
    /// would give money away.
    #[must_use]
    pub const fn needs_value_ledger(self) -> bool {
        matches!(self, Self::GiftCard | Self::StoreCredit)
    }
}

/// One means of payment with the terms on which it is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "six independent terms that the back office sets one by one")]
pub struct TenderTerms {
    pub id: Uuid,
    pub code: String,
    pub kind: TenderKind,
    /// May be given for more than is left to pay; the difference is paid out in cash.
    pub allows_change: bool,
    /// Asks for an authorisation or check number.
    pub requires_reference: bool,
    pub requires_customer: bool,
    /// Least amount of one payment; not asked of a refund, whose part of a sale may be small.
    pub min_amount: Option<Money>,
    /// Largest amount of one payment, in either direction.
    pub max_amount: Option<Money>,
    pub is_active: bool,
    /// May be given back to.
    pub is_refundable: bool,
    /// A sale that it paid may be voided.
    pub is_voidable: bool,
}

/// One payment as it was entered at the till.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tendered {
    pub tender: TenderTerms,
    /// What was handed over, with the sign of the total; `None` for exactly what is left to pay.
    pub tendered: Option<Money>,
    pub reference: Option<String>,
    /// The most that a refund may give back to this tender, above zero: what it paid less earlier refunds. All payments with the
    /// tender count together.
    pub at_most: Option<Money>,
}

/// Why a payment is not taken, worded so that the cashier knows what to do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TenderRule {
    #[error("nothing keeps what is left on gift cards and store credits yet, so none is taken; choose another tender")]
    NoValueLedger,
    #[error("this tender is not active; choose another one")]
    Inactive,
    #[error("this tender needs a reference; enter the authorisation or check number")]
    ReferenceMissing,
    #[error("this tender needs a customer; choose the customer or another tender")]
    CustomerMissing,
    #[error("nothing is tendered; enter an amount or leave it out to pay what is left")]
    NothingTendered,
    #[error("one payment may leave its amount out, and another one does; enter an amount")]
    TwoWithoutAmount,
    #[error("a sale is paid with amounts above zero and a refund with amounts below zero; change the sign")]
    WrongSign,
    #[error("this tender is not refundable; give the money back by another one")]
    NotRefundable,
    #[error("this tender paid no more than {} minor units that are not given back yet; give the rest back otherwise", .most.0)]
    MoreThanPaid { most: Money },
    #[error("what is owed is not paid by owing it again; choose another tender")]
    OwedAgain,
    #[error("nothing is left to pay; remove this payment")]
    NothingLeft,
    #[error("this tender gives no change; tender {} minor units at most", .rest.0)]
    TooMuch { rest: Money },
    #[error("the change would be paid in cash and no active cash tender exists; tender {} minor units", .rest.0)]
    NoCashForChange { rest: Money },
    #[error("{} minor units are less than this tender's minimum of {}; choose another tender", .amount.0, .min.0)]
    BelowMinimum { amount: Money, min: Money },
    #[error("{} minor units are more than this tender's maximum of {}; pay the rest otherwise", .amount.0, .max.0)]
    AboveMaximum { amount: Money, max: Money },
}

impl Tendered {
    pub(super) fn is_cash(&self) -> bool {
        self.tender.kind == TenderKind::Cash
    }

    /// The terms that do not depend on the amount.
    pub(super) fn check_terms(&self, is_refund: bool, has_customer: bool) -> Result<(), TenderRule> {
        let has_reference = self.reference.as_deref().is_some_and(|reference| !reference.trim().is_empty());
        if self.tender.kind.needs_value_ledger() {
            Err(TenderRule::NoValueLedger)
        } else if !self.tender.is_active {
            Err(TenderRule::Inactive)
        } else if is_refund && !self.tender.is_refundable {
            Err(TenderRule::NotRefundable)
        } else if self.tender.requires_reference && !has_reference {
            Err(TenderRule::ReferenceMissing)
        } else if (self.tender.requires_customer || self.tender.kind == TenderKind::OnAccount) && !has_customer {
            Err(TenderRule::CustomerMissing)
        } else {
            Ok(())
        }
    }

    /// The limits of one payment; `amount` has the sign of the total.
    pub(super) fn check_limits(&self, amount: Money) -> Result<(), TenderRule> {
        match (self.tender.min_amount, self.tender.max_amount) {
            (Some(min), _) if amount > Money::ZERO && amount < min => Err(TenderRule::BelowMinimum { amount, min }),
            (_, Some(max)) if i128::from(amount.0).abs() > i128::from(max.0) => {
                Err(TenderRule::AboveMaximum { amount, max })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_read_as_it_was_written() {
        for kind in TenderKind::ALL {
            assert_eq!(TenderKind::parse(kind.word()), Some(*kind));
        }
        assert_eq!(TenderKind::parse("CASH"), None);
        assert_eq!(TenderKind::ALL.len(), 9);
    }
}
