//! How a refund is paid out: to which tenders, and at most how much to each. `docs/domain.md`, "Refunds".

use std::collections::HashMap;

use serde::Serialize;
use tillkeep_http::error::{Error, Result};
use tillkeep_model::pricing::{
    Paid, PaidSale, PaymentError, PaymentTerms, Settlement, TenderKind, TenderRule, TenderTerms, Tendered,
    refund_rounding, settle, to_original_tenders,
};
use tillkeep_model::state::PaymentStatus;
use tillkeep_model::wire::PaidBack;
use tillkeep_model::{ErrorCode, Money, ids};
use tillkeep_storage::entity::{sale_payment, store, tender};
use utoipa::ToSchema;
use uuid::Uuid;

use super::original::Original;
use super::typed::RefundPayment;
use crate::memory::Shop;
use crate::pos::cart::payment_field;
use crate::pos::pricing::cash_rounding;
use crate::pos::sale_document::SaleDocument;
use crate::pos::tenders;

/// A tender of a sale: what it paid, and what of that may still be given back to it.
#[derive(Clone, Debug)]
pub(crate) struct PaidBy {
    pub tender: TenderTerms,
    /// Less the change, and without what rounding to coins added.
    pub paid: Money,
    pub given_back: Money,
    pub reference: Option<String>,
    /// It paid nothing to the shop: the goods that came back in an exchange did.
    is_exchange: bool,
}

/// A tender of a sale, as it is shown.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RefundableTender {
    /// Nothing of a sale that another program made.
    tender_id: Option<Uuid>,
    tender_code: String,
    paid_amount: Money,
    refunded_amount: Money,
    refundable_amount: Money,
    is_refundable: bool,
}

impl PaidBy {
    pub(crate) fn left(&self) -> Money {
        (self.paid - self.given_back).max(Money::ZERO)
    }

    pub(crate) fn shown(self) -> RefundableTender {
        let is_refundable = self.tender.is_active && self.tender.is_refundable && !self.is_exchange;
        RefundableTender {
            paid_amount: self.paid,
            refunded_amount: self.given_back,
            refundable_amount: if is_refundable { self.left() } else { Money::ZERO },
            is_refundable,
            tender_id: Some(self.tender.id).filter(|id| !id.is_nil()),
            tender_code: self.tender.code,
        }
    }
}

/// By what a payment is known: a program that pushed a sale may have named no id.
fn key(payment: &sale_payment::Model) -> Uuid {
    payment.tender_id.unwrap_or_else(|| ids::named(&payment.tender_code))
}

/// The same of what another store gave back.
fn key_of(paid: &PaidBack) -> Uuid {
    paid.tender_id.unwrap_or_else(|| ids::named(&paid.tender_code))
}

fn is_cash(payment: &sale_payment::Model) -> bool {
    payment.tender_kind == TenderKind::Cash
}

/// What each tender got or gave in a document: change counts to the tender that was too much, and rounding to the cash that was
/// rounded, so that all of it together is the total.
fn by_tender(document: &SaleDocument) -> HashMap<Uuid, Money> {
    let counted: Vec<&sale_payment::Model> =
        document.payments.iter().filter(|payment| payment.status != PaymentStatus::Voided).collect();
    let mut sums: HashMap<Uuid, Money> = HashMap::new();
    for payment in counted.iter().filter(|payment| !payment.is_change) {
        *sums.entry(key(payment)).or_default() += payment.amount;
    }
    let change: Money = counted.iter().filter(|payment| payment.is_change).map(|payment| payment.amount).sum();
    let others = counted.iter().rev().filter(|payment| !payment.is_change && !is_cash(payment));
    let overpaid = others.max_by_key(|payment| payment.amount).map(|payment| key(payment));
    let cash = counted.iter().find(|payment| !payment.is_change && is_cash(payment)).map(|payment| key(payment));
    if let Some(tender) = overpaid {
        *sums.entry(tender).or_default() += change;
    }
    if let Some(tender) = cash.or(overpaid) {
        *sums.entry(tender).or_default() += -document.sale.cash_rounding;
    }
    sums
}

/// The tenders of a sale in the order in which they paid it.
pub(crate) fn paid_by(shop: &Shop, original: &Original) -> Vec<PaidBy> {
    let paid = by_tender(&original.document);
    let refunds: Vec<HashMap<Uuid, Money>> = original.refunds.iter().map(by_tender).collect();
    let (mut all, mut seen) = (Vec::new(), Vec::new());
    for payment in original.document.payments.iter().filter(|payment| !payment.is_change) {
        let key = key(payment);
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        let back: Money = refunds.iter().filter_map(|sums| sums.get(&key)).copied().sum();
        let elsewhere: Money =
            original.paid_elsewhere().filter(|paid| key_of(paid) == key).map(|paid| paid.amount).sum();
        all.push(PaidBy {
            tender: terms_of(shop, payment),
            paid: paid.get(&key).copied().unwrap_or_default(),
            given_back: elsewhere - back,
            reference: payment.reference.clone(),
            is_exchange: payment.tender_kind == TenderKind::Exchange,
        });
    }
    all
}

/// The tender of a payment as it is now; one that is gone takes nothing back.
fn terms_of(shop: &Shop, payment: &sale_payment::Model) -> TenderTerms {
    let row = shop.tenders.iter().find(|row| payment.tender_id == Some(row.id));
    let gone = || TenderTerms {
        id: payment.tender_id.unwrap_or_default(),
        code: payment.tender_code.clone(),
        kind: TenderKind::parse(&payment.tender_kind).unwrap_or(TenderKind::Other),
        allows_change: false,
        requires_reference: false,
        requires_customer: false,
        min_amount: None,
        max_amount: None,
        is_active: false,
        is_refundable: false,
        is_voidable: false,
    };
    row.map_or_else(gone, tenders::terms)
}

/// What a refund is settled by.
pub(crate) struct Payout<'a> {
    pub store: &'a store::Model,
    pub tenders: &'a [tender::Model],
    /// Below zero.
    pub total: Money,
    pub has_customer: bool,
    /// Of the sale that it is of.
    pub original: Option<&'a Original>,
    pub paid: &'a [PaidBy],
    pub asked: Option<&'a [RefundPayment]>,
}

impl Payout<'_> {
    pub(crate) fn settle(&self) -> Result<Settlement> {
        let tendered = self.tendered()?;
        let cash = tenders::active(self.tenders, TenderKind::Cash);
        let terms = PaymentTerms {
            rounding: cash_rounding(self.store),
            mirrored: self.mirrored(&tendered),
            has_customer: self.has_customer,
            cash: cash.as_ref(),
        };
        settle(self.total, &tendered, &terms).map_err(|error| refused(&error, self.total))
    }

    fn mirrored(&self, tendered: &[Tendered]) -> Option<Money> {
        let original = &self.original?.document;
        let kind = |payment: &sale_payment::Model| TenderKind::parse(&payment.tender_kind).unwrap_or(TenderKind::Other);
        let kinds: Vec<TenderKind> = original.payments.iter().map(kind).collect();
        let (total, cash_rounding) = (original.sale.total_amount, original.sale.cash_rounding);
        refund_rounding(&PaidSale { total, cash_rounding, kinds: &kinds }, self.total, tendered)
    }

    pub(super) fn tendered(&self) -> Result<Vec<Tendered>> {
        let Some(asked) = self.asked else {
            let back = self.paid.iter().filter(|paid| !paid.is_exchange);
            let back = back.map(|paid| Paid {
                tender: paid.tender.clone(),
                left: paid.left(),
                reference: paid.reference.clone(),
            });
            return Ok(self.as_it_was_paid(&back.collect::<Vec<_>>()));
        };
        asked.iter().enumerate().map(|(index, payment)| self.entered(index, payment)).collect()
    }

    /// The way it came. Parts that came back in an order that nobody knew of may come to a minor unit a line more than was paid:
    /// cash takes that.
    fn as_it_was_paid(&self, paid: &[Paid]) -> Vec<Tendered> {
        let left: Money = paid.iter().map(|paid| paid.left).sum();
        let lines = self.original.map_or(0, |original| original.document.items.len());
        let more = -(self.total + left).0;
        if more <= 0 || usize::try_from(more).is_ok_and(|more| more > lines) {
            return to_original_tenders(self.total, paid);
        }
        let mut all = to_original_tenders(-left, paid);
        if let Some(cash) = all.iter_mut().find(|tendered| tendered.tender.kind == TenderKind::Cash) {
            cash.tendered = None;
        }
        all
    }

    fn entered(&self, index: usize, payment: &RefundPayment) -> Result<Tendered> {
        let Some(row) = self.tenders.iter().find(|row| row.id == payment.tender_id) else {
            let text = "is no tender, or one that is gone; give back by another one of GET /tenders";
            return Err(Error::field(payment_field(index, "tenderId"), text));
        };
        let tender = tenders::terms(row);
        if tender.kind == TenderKind::Exchange {
            let text =
                format!("payment {} ({}): it settles an exchange only; choose another tender", index + 1, tender.code);
            return Err(Error::new(ErrorCode::TenderRule, text).at(payment_field(index, "tenderId")));
        }
        let paid = self.paid.iter().find(|paid| paid.tender.id == tender.id);
        // A card gets back what it paid, and no more.
        let at_most = self.original.filter(|_| tender.kind == TenderKind::Card);
        let at_most = at_most.map(|_| paid.map_or(Money::ZERO, PaidBy::left));
        Ok(Tendered {
            tender,
            tendered: payment.amount.map(|amount| -amount),
            reference: payment.reference.clone(),
            at_most,
        })
    }
}

/// What goes to other tenders than those that paid, or more than they paid: the place of the first such payment and its code.
pub(crate) fn elsewhere(settlement: &Settlement, paid: &[PaidBy]) -> Option<(usize, String)> {
    let mut left: HashMap<Uuid, Money> =
        paid.iter().filter(|paid| !paid.is_exchange).map(|paid| (paid.tender.id, paid.left())).collect();
    let mut rounding = settlement.cash_rounding;
    for (place, row) in settlement.payments.iter().enumerate() {
        // Of cash that is rounded what it was before counts.
        let off = if row.kind == TenderKind::Cash { std::mem::take(&mut rounding) } else { Money::ZERO };
        let given = off - row.amount;
        let left = left.entry(row.tender_id).or_default();
        *left += -given;
        if *left < Money::ZERO {
            return Some((row.index.unwrap_or(place), row.code.clone()));
        }
    }
    None
}

/// Why it cannot be paid out so. Amounts are said as people typed them.
pub(super) fn refused(error: &PaymentError, total: Money) -> Error {
    let field = error.index().map_or_else(|| "payments".to_owned(), |index| format!("payments[{index}]"));
    let mismatch = |text: String| {
        let refusal = Error::new(ErrorCode::RefundAmountMismatch, text).at(&field);
        refusal.with("totalAmount", -total)
    };
    match error {
        PaymentError::Underpaid { due, tendered } => {
            let text = format!(
                "{} minor units are to be given back, and the payments give {}; add a tender, or leave one amount out",
                -due.0, -tendered.0
            );
            mismatch(text).with("due", -*due)
        }
        PaymentError::TenderRule { rule: TenderRule::TooMuch { .. } | TenderRule::NothingLeft, .. } => {
            let text = format!("{error}; {} minor units are to be given back in all", -total.0);
            mismatch(text)
        }
        PaymentError::TenderRule { .. } => Error::new(error.code(), error.to_string()).at(field),
    }
}
