//! What was counted in a drawer, against what should be in it.

use std::collections::HashSet;

use serde::Serialize;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::Check;
use tillkeep_http::sent;
use tillkeep_model::fields::session::COUNT;
use tillkeep_model::pricing::TenderKind;
use tillkeep_model::{ErrorCode, Money};
use tillkeep_storage::entity::{store, tender};
use uuid::Uuid;

use super::totals::Totals;

sent! {
    #[derive(Clone, Debug)]
    pub(crate) struct Count as "TenderCount" by COUNT {
        tender_id: Uuid,
        amount: Money,
    }
}

/// One row of `register_sessions.counts`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the names on the wire")]
pub(crate) struct Counted {
    pub tender_id: Uuid,
    pub tender_code: String,
    pub counted: Money,
    pub expected: Money,
    pub variance: Money,
}

/// The counts of one drawer, compared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Comparison {
    pub rows: Vec<Counted>,
    /// Cash that was counted; `None` when it was not counted.
    pub cash: Option<Money>,
    pub cash_variance: Option<Money>,
}

/// Adds what is wrong with `counts` as a whole.
pub(crate) fn check(counts: &[Count], check: &mut Check) {
    let mut seen = HashSet::new();
    for (index, count) in counts.iter().enumerate() {
        let text = "is counted twice; send one amount for each tender";
        check.that(seen.insert(count.tender_id), &format!("counts[{index}].tenderId"), text);
    }
}

/// Compares `counts` with what `totals` say of each tender.
pub(crate) fn compare(counts: &[Count], tenders: &[tender::Model], totals: &Totals) -> Result<Comparison> {
    let mut comparison = Comparison::default();
    for (index, count) in counts.iter().enumerate() {
        let tender = tenders.iter().find(|tender| tender.id == count.tender_id);
        let tender = tender
            .ok_or_else(|| Error::field(format!("counts[{index}].tenderId"), "is no tender; see GET /tenders"))?;
        let is_cash = tender.kind == TenderKind::Cash;
        let expected = if is_cash { totals.expected_cash } else { totals.paid_with(tender.id) };
        let variance = count.amount - expected;
        if is_cash {
            comparison.cash = Some(count.amount);
            comparison.cash_variance = Some(variance);
        }
        comparison.rows.push(Counted {
            tender_id: tender.id,
            tender_code: tender.code.clone(),
            counted: count.amount,
            expected,
            variance,
        });
    }
    Ok(comparison)
}

/// The difference of the cash, when it is more than the store lets pass.
pub(crate) fn beyond_limit(comparison: &Comparison, store: &store::Model) -> Option<Money> {
    let limit = i128::from(store.cash_variance_limit.0);
    comparison.cash_variance.filter(|variance| i128::from(variance.0).abs() > limit)
}

/// 409 for a difference that a user has to answer for.
pub(crate) fn refuse_variance(
    comparison: &Comparison,
    totals: &Totals,
    store: &store::Model,
    accepted: bool,
) -> Result<()> {
    match beyond_limit(comparison, store) {
        Some(variance) if !accepted => {
            let text = format!(
                "the cash differs by {} minor units, {} are allowed; count again or send acceptVariance: true",
                variance.0, store.cash_variance_limit.0
            );
            let refusal = Error::new(ErrorCode::VarianceNotAccepted, text).at("acceptVariance");
            Err(refusal.with("expectedCash", totals.expected_cash).with("cashVariance", variance))
        }
        _ => Ok(()),
    }
}
