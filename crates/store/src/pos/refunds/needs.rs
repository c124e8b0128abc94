//! What a refund needs besides the permission to sell, and who approved it.

use tillkeep_http::Caller;
use tillkeep_http::error::{Error, Result};
use tillkeep_model::approvable::{Approvable, BEYOND_LIMIT, REFUND};
use tillkeep_model::calendar;
use tillkeep_model::permission::Requirement;
use tillkeep_model::pricing::Settlement;
use tillkeep_model::{ErrorCode, Money};
use tillkeep_storage::entity::store;
use uuid::Uuid;

use super::original::Original;
use super::payments::{PaidBy, elsewhere};
use super::typed::item_field;
use crate::approvals::{Approval, Scope, ValidApprovals};
use crate::memory::Sold;
use crate::pos::cart::payment_field;

/// Something that not everybody may do, with the refusal of those who may not.
#[derive(Clone, Debug)]
pub(crate) struct Need {
    pub approvable: &'static Approvable,
    code: ErrorCode,
    field: Option<String>,
    text: String,
}

impl Need {
    fn beyond(code: ErrorCode, field: Option<String>, text: String) -> Self {
        Self { approvable: &BEYOND_LIMIT, code, field, text }
    }

    /// That money is given back at all.
    pub(crate) fn refund() -> Self {
        let text = format!("money is given back with {}; ask a user who holds it", REFUND.code);
        Self { approvable: &REFUND, code: ErrorCode::ApprovalRequired, field: None, text }
    }
}

/// The last business date on which money comes back of a sale; nothing where there is no end.
pub(crate) fn window_ends(own: &store::Model, original: &Original) -> Option<String> {
    let days = own.refund_window_days?;
    calendar::days_after(&original.document.sale.business_date, days.unsigned_abs())
}

/// Of a refund on the business date `today` after the end of the window.
pub(crate) fn of_window(own: &store::Model, original: &Original, today: &str) -> Option<Need> {
    let ends = window_ends(own, original)?;
    (today > ends.as_str()).then(|| {
        let text = format!("{} could come back until {ends}", original.document.sale.receipt_number);
        Need::beyond(ErrorCode::RefundWindowPassed, None, text)
    })
}

/// Of item `index`, when its product does not come back.
pub(crate) fn of_product(index: usize, field: &str, sold: Option<&Sold>) -> Option<Need> {
    let product = &sold.filter(|sold| !sold.row.is_returnable)?.row;
    let text = format!("{} ({}) does not come back", product.name, product.sku);
    Some(Need::beyond(ErrorCode::NotReturnable, Some(item_field(index, field)), text))
}

/// Of money that goes elsewhere than to what paid, in a store that gives it back where it came from.
pub(crate) fn of_tenders(own: &store::Model, settlement: &Settlement, paid: &[PaidBy]) -> Option<Need> {
    let (place, code) = elsewhere(settlement, paid).filter(|_| own.refund_to_original_tender)?;
    let text = format!(
        "money comes back by what it was paid with, and {code} paid less; see GET /pos/sales/{{id}}/refundable"
    );
    Some(Need::beyond(ErrorCode::ApprovalRequired, Some(payment_field(place, "amount")), text))
}

/// Of more than the store gives back without a receipt; `total` is below zero.
pub(crate) fn of_limit(own: &store::Model, total: Money) -> Option<Need> {
    (-total > own.unlinked_refund_limit).then(|| {
        let text = format!(
            "{} minor units come back without a receipt, and {} may; give less back, or have it approved",
            -total.0, own.unlinked_refund_limit.0
        );
        Need::beyond(ErrorCode::ApprovalRequired, None, text)
    })
}

/// What the caller may do by right, and what somebody approved of the refund with one hash.
pub(crate) struct Allowed {
    held: Vec<&'static Approvable>,
    pub approvals: Vec<Approval>,
    hash: String,
}

impl Allowed {
    /// Of the refund with `hash`, which needs `needs`: those that the caller holds, and the approvals of the others.
    pub(crate) fn new<P: Requirement>(
        caller: &Caller<P>,
        store_id: Uuid,
        needs: &[Need],
        valid: &ValidApprovals,
        hash: &str,
    ) -> Result<Self> {
        let held: Vec<&'static Approvable> = [&REFUND, &BEYOND_LIMIT]
            .into_iter()
            .filter(|known| caller.access.may(known.holders, Some(store_id)))
            .collect();
        let scope = Scope::Refund(hash.to_owned());
        let mut allowed = Self { held, approvals: Vec::new(), hash: hash.to_owned() };
        for known in [&REFUND, &BEYOND_LIMIT] {
            if !allowed.is_held(known) && needs.iter().any(|need| *need.approvable == *known) {
                allowed.approvals.extend(valid.require(known, &scope).ok().cloned());
            }
        }
        allowed.check(needs, hash)?;
        Ok(allowed)
    }

    fn is_held(&self, known: &Approvable) -> bool {
        self.held.iter().any(|held| **held == *known)
    }

    /// Refuses what is neither held nor approved: a refund with another hash is another refund.
    pub(crate) fn check(&self, needs: &[Need], hash: &str) -> Result<()> {
        let is_approved = |known: &Approvable| {
            self.hash == hash && self.approvals.iter().any(|approval| *approval.approvable() == *known)
        };
        let lacking: Vec<&Need> =
            needs.iter().filter(|need| !self.is_held(need.approvable) && !is_approved(need.approvable)).collect();
        let Some(first) = lacking.first() else { return Ok(()) };
        let mut required: Vec<&str> = lacking.iter().map(|need| need.approvable.code).collect();
        required.sort_unstable();
        required.dedup();
        let text = format!(
            "{}; this needs {}, or an approval for exactly this refund: POST /pos/approvals with its refundHash",
            first.text,
            required.join(" and ")
        );
        let error = Error::new(first.code, text);
        let error = if let Some(field) = &first.field { error.at(field) } else { error };
        Err(error.with("required", required).with("approvable", true).with("refundHash", hash))
    }
}
