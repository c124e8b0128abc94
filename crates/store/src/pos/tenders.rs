//! How the payments of a cart settle it.

use tillkeep_http::error::{Error, Result};
use tillkeep_model::ErrorCode;
use tillkeep_model::pricing::{PaymentError, Settlement, TenderKind, TenderTerms, Tendered, settle};
use tillkeep_storage::entity::tender;

use super::cart::{Cart, payment_field};
use super::pricing::Priced;

/// Whether a till may offer it.
pub(crate) fn is_usable(tender: &tender::Model) -> bool {
    tender.is_active && !TenderKind::parse(&tender.kind).is_some_and(TenderKind::needs_value_ledger)
}

fn terms(tender: &tender::Model) -> TenderTerms {
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
    }
}

/// Settles `priced` with the payments of `cart`.
pub(crate) fn pay(cart: &Cart, priced: &Priced, tenders: &[tender::Model]) -> Result<Settlement> {
    let mut tendered = Vec::with_capacity(cart.payments().len());
    for (index, payment) in cart.payments().iter().enumerate() {
        let Some(tender) = tenders.iter().find(|tender| tender.id == payment.tender_id) else {
            return Err(Error::field(payment_field(index, "tenderId"), "is no tender; see GET /tenders"));
        };
        let tender = terms(tender);
        if tender.kind == TenderKind::Exchange {
            let text =
                format!("payment {} ({}): it settles an exchange only; choose another tender", index + 1, tender.code);
            return Err(Error::new(ErrorCode::TenderRule, text).at(payment_field(index, "tenderId")));
        }
        tendered.push(Tendered { tender, tendered: payment.tendered_amount, reference: payment.reference.clone() });
    }
    let cash = tenders.iter().map(terms).find(|tender| tender.kind == TenderKind::Cash && tender.is_active);
    settle(priced.cart.total, &tendered, priced.cash_rounding, cart.customer_id.is_some(), cash.as_ref())
        .map_err(|error| refused(&error))
}

fn refused(error: &PaymentError) -> Error {
    let field = error.index().map_or_else(|| "payments".to_owned(), |index| format!("payments[{index}]"));
    let answer = Error::new(error.code(), error.to_string()).at(field);
    match error {
        PaymentError::Underpaid { due, tendered } => answer.with("due", due).with("tendered", tendered),
        PaymentError::TenderRule { .. } => answer,
    }
}
