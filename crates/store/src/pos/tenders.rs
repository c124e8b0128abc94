//! How the payments of a request settle what it is about.

use tillkeep_http::error::{Error, Result};
use tillkeep_model::ErrorCode;
use tillkeep_model::pricing::{
    CashRounding, PaymentError, PaymentTerms, Settlement, TenderKind, TenderTerms, Tendered, settle,
};
use tillkeep_storage::entity::tender;

use super::cart::{Cart, Payment, payment_field};
use super::pricing::Priced;

/// Whether a till may offer it. That of exchanges is the store's own: whoever pays with it is refused.
pub(crate) fn is_usable(tender: &tender::Model) -> bool {
    let is_refused = |kind: TenderKind| kind == TenderKind::Exchange || kind.needs_value_ledger();
    tender.is_active && !TenderKind::parse(&tender.kind).is_some_and(is_refused)
}

pub(crate) fn terms(tender: &tender::Model) -> TenderTerms {
    TenderTerms {
        id: tender.id,
        code: tender.code.clone(),
        kind: TenderKind::parse(&tender.kind).unwrap_or(TenderKind::Other),
        allows_change: tender.allows_change,
        requires_reference: tender.requires_reference,
        requires_customer: tender.requires_customer,
        min_amount: tender.min_amount,
        max_amount: tender.max_amount,
        is_active: tender.is_active,
        is_refundable: tender.is_refundable,
        is_voidable: tender.is_voidable,
    }
}

/// What payments are settled by, beside what they settle.
pub(super) struct Settling<'a> {
    pub tenders: &'a [tender::Model],
    pub rounding: CashRounding,
    pub has_customer: bool,
}

impl Settling<'_> {
    /// What `payments` come to by `settle`.
    pub(super) fn settled<T>(
        &self,
        payments: &[Payment],
        settle: impl FnOnce(&[Tendered], &PaymentTerms<'_>) -> std::result::Result<T, PaymentError>,
    ) -> Result<T> {
        let tendered = tendered(payments, self.tenders)?;
        let cash = active(self.tenders, TenderKind::Cash);
        let terms = PaymentTerms {
            rounding: self.rounding,
            mirrored: None,
            has_customer: self.has_customer,
            cash: cash.as_ref(),
        };
        settle(&tendered, &terms).map_err(|error| refused(&error))
    }
}

/// The active tender of a kind, by which a document settles something without a payment of the customer.
pub(super) fn active(tenders: &[tender::Model], kind: TenderKind) -> Option<TenderTerms> {
    tenders.iter().map(terms).find(|tender| tender.kind == kind && tender.is_active)
}

/// Settles `priced` with the payments of `cart`.
pub(crate) fn pay(cart: &Cart, priced: &Priced, tenders: &[tender::Model]) -> Result<Settlement> {
    let settling = Settling { tenders, rounding: priced.cash_rounding, has_customer: cart.customer_id.is_some() };
    settling.settled(cart.payments(), |tendered, terms| settle(priced.cart.total, tendered, terms))
}

/// The payments with the tenders that they name.
pub(super) fn tendered(payments: &[Payment], tenders: &[tender::Model]) -> Result<Vec<Tendered>> {
    let mut tendered = Vec::with_capacity(payments.len());
    for (index, payment) in payments.iter().enumerate() {
        let Some(tender) = tenders.iter().find(|tender| tender.id == payment.tender_id) else {
            return Err(Error::field(payment_field(index, "tenderId"), "is no tender; see GET /tenders"));
        };
        let tender = terms(tender);
        if tender.kind == TenderKind::Exchange {
            let text =
                format!("payment {} ({}): it settles an exchange only; choose another tender", index + 1, tender.code);
            return Err(Error::new(ErrorCode::TenderRule, text).at(payment_field(index, "tenderId")));
        }
        let reference = payment.reference.clone();
        tendered.push(Tendered { tender, tendered: payment.tendered_amount, reference, at_most: None });
    }
    Ok(tendered)
}

pub(super) fn refused(error: &PaymentError) -> Error {
    let field = error.index().map_or_else(|| "payments".to_owned(), |index| format!("payments[{index}]"));
    let answer = Error::new(error.code(), error.to_string()).at(field);
    match error {
        PaymentError::Underpaid { due, tendered } => answer.with("due", due).with("tendered", tendered),
        PaymentError::TenderRule { .. } => answer,
    }
}
