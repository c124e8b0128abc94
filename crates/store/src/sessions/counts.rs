//! What was counted in a drawer, against what should be in it.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::Check;
use tillkeep_http::sent;
use tillkeep_model::fields::session::COUNT;
use tillkeep_model::pricing::TenderKind;
use tillkeep_model::z::ZReport;
use tillkeep_model::{ErrorCode, JsonText, Money};
use tillkeep_storage::document::session::forget_counts;
use tillkeep_storage::entity::{register_session, store, tender};
use tillkeep_storage::sea_orm::{ConnectionTrait, DbErr, EntityTrait, QueryOrder};
use uuid::Uuid;

use super::denominations;
use super::totals::paid_with;
use crate::approvals::Variance;

sent! {
    #[derive(Clone, Debug)]
    pub(crate) struct Count as "TenderCount" by COUNT {
        tender_id: Uuid,
        amount: Money,
        /// Its coins and notes, `[{value, count}]` or counts by value: together the amount.
        denominations: Option<Json>,
    }
}

/// One row of `register_sessions.counts`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the names on the wire")]
pub(crate) struct Counted {
    pub tender_id: Uuid,
    pub tender_code: String,
    pub counted: Money,
    pub expected: Money,
    pub variance: Money,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub denominations: Option<Json>,
}

/// The counts of one drawer, compared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Comparison {
    pub rows: Vec<Counted>,
    /// Cash that was counted; `None` when it was not counted.
    pub cash: Option<Money>,
    pub cash_variance: Option<Money>,
}

/// Differences of more than the store lets pass.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beyond {
    pub cash: Option<Money>,
    pub others: BTreeMap<Uuid, Money>,
}

impl Beyond {
    pub(super) fn is_none(&self) -> bool {
        self.cash.is_none() && self.others.is_empty()
    }

    /// Those of other tenders than cash, as an approval is asked for them.
    pub(super) fn variances(&self) -> Vec<Variance> {
        self.others
            .iter()
            .map(|(tender_id, variance)| Variance { tender_id: *tender_id, variance: *variance })
            .collect()
    }
}

/// Adds what is wrong with `counts` as a whole.
pub(crate) fn check(counts: &[Count], check: &mut Check) {
    let mut seen = HashSet::new();
    for (index, count) in counts.iter().enumerate() {
        let text = "is counted twice; send one amount for each tender";
        check.that(seen.insert(count.tender_id), &format!("counts[{index}].tenderId"), text);
        if let Some(Err(problem)) = count.denominations.as_ref().map(|said| denominations::read(said, count.amount)) {
            check.that(false, &format!("counts[{index}].denominations"), &problem);
        }
    }
}

/// Every tender that this store knows. One that headquarters deleted is counted still where the drawer took it.
pub(super) async fn tenders(conn: &impl ConnectionTrait) -> Result<Vec<tender::Model>, DbErr> {
    use tender::Column;
    tender::Entity::find().order_by_asc(Column::SortOrder).order_by_asc(Column::Code).all(conn).await
}

/// Whether any payment of the drawer was made with it.
fn is_taken(tender: &tender::Model, totals: &ZReport) -> bool {
    totals.tenders.iter().any(|row| row.tender_id == Some(tender.id))
}

fn is_cash(tender: &tender::Model) -> bool {
    tender.kind == TenderKind::Cash
}

/// Compares `counts` with what `totals` say of each tender.
pub(crate) fn compare(counts: &[Count], tenders: &[tender::Model], totals: &ZReport) -> Result<Comparison> {
    compared(counts, tenders, totals, |tender| tender.deleted_at.is_none() || is_taken(tender, totals))
}

/// The same of what was counted before: a tender that headquarters deleted since was one then.
pub(super) fn compare_kept(counts: &[Count], tenders: &[tender::Model], totals: &ZReport) -> Result<Comparison> {
    compared(counts, tenders, totals, |_| true)
}

fn compared(
    counts: &[Count],
    tenders: &[tender::Model],
    totals: &ZReport,
    is_one: impl Fn(&tender::Model) -> bool,
) -> Result<Comparison> {
    let mut comparison = Comparison::default();
    for (index, count) in counts.iter().enumerate() {
        let at = |text: &str| Error::field(format!("counts[{index}].tenderId"), text);
        let tender = tenders.iter().find(|tender| tender.id == count.tender_id);
        let tender = tender.filter(|tender| is_one(tender));
        let tender = tender.ok_or_else(|| at("is no tender; see GET /tenders"))?;
        let is_cash = is_cash(tender);
        if is_cash && comparison.cash.is_some() {
            return Err(at("is cash, which is counted already: it lies in one drawer"));
        }
        let expected = if is_cash { totals.expected_cash } else { paid_with(totals, tender.id) };
        let variance = count.amount - expected;
        if is_cash {
            comparison.cash = Some(count.amount);
            comparison.cash_variance = Some(variance);
        }
        let denominations = count.denominations.as_ref();
        comparison.rows.push(Counted {
            tender_id: tender.id,
            tender_code: tender.code.clone(),
            counted: count.amount,
            expected,
            variance,
            denominations: denominations.and_then(|said| denominations::read(said, count.amount).ok()),
        });
    }
    Ok(comparison)
}

/// 422 unless all was counted that must be: cash, and every tender with `countsInClose` that is in use or was taken.
pub(super) fn require_all(comparison: &Comparison, tenders: &[tender::Model], totals: &ZReport) -> Result<()> {
    let is_in_use = |tender: &tender::Model| tender.is_active && tender.deleted_at.is_none();
    let is_due = |tender: &&tender::Model| {
        if is_cash(tender) {
            return comparison.cash.is_none() && is_in_use(tender);
        }
        tender.counts_in_close && (is_in_use(tender) || is_taken(tender, totals))
    };
    let is_counted = |tender: &tender::Model| comparison.rows.iter().any(|row| row.tender_id == tender.id);
    let missing = tenders.iter().filter(is_due).filter(|tender| !is_counted(tender));
    let missing: Vec<&str> = missing.map(|tender| tender.code.as_str()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let text = format!("{} must be counted as well; send an amount for each, 0 for nothing", missing.join(", "));
    Err(Error::new(ErrorCode::TenderMissing, text).at("counts").with("tenderCodes", missing))
}

/// What was counted and differs by more than the store lets pass.
fn differing<'a>(comparison: &'a Comparison, store: &store::Model) -> impl Iterator<Item = &'a Counted> {
    let limit = i128::from(store.cash_variance_limit.0);
    comparison.rows.iter().filter(move |row| i128::from(row.variance.0).abs() > limit)
}

/// The differences beyond the limit of the store, of every tender that was counted.
pub(crate) fn beyond_limit(comparison: &Comparison, tenders: &[tender::Model], store: &store::Model) -> Beyond {
    let mut beyond = Beyond::default();
    for row in differing(comparison, store) {
        if tenders.iter().any(|tender| tender.id == row.tender_id && is_cash(tender)) {
            beyond.cash = Some(row.variance);
        } else {
            beyond.others.insert(row.tender_id, row.variance);
        }
    }
    beyond
}

/// 409 for a difference that a user has to answer for.
pub(crate) fn refuse_variance(
    comparison: &Comparison,
    beyond: &Beyond,
    expected_cash: Money,
    store: &store::Model,
    accepted: bool,
) -> Result<()> {
    if accepted || beyond.is_none() {
        return Ok(());
    }
    let limit = store.cash_variance_limit.0;
    let differs = differing(comparison, store);
    let differs: Vec<String> =
        differs.map(|row| format!("{} differs by {} minor units", row.tender_code, row.variance.0)).collect();
    let text = format!("{}, {limit} are allowed; count again or send acceptVariance: true", differs.join(", "));
    let refusal = Error::new(ErrorCode::VarianceNotAccepted, text).at("acceptVariance");
    let refusal = refusal.with("expectedCash", expected_cash).with("cashVariance", beyond.cash);
    Err(refusal.with("variances", beyond.variances()))
}

/// The counts that a drawer keeps, as they were sent.
pub(super) fn kept(session: &register_session::Model) -> Option<Vec<Count>> {
    let rows = Vec::<Counted>::deserialize(&session.counts.as_ref()?.0).ok()?;
    let sent = |row: Counted| Count { tender_id: row.tender_id, amount: row.counted, denominations: row.denominations };
    Some(rows.into_iter().map(sent).collect())
}

/// Puts what was counted so far with the earlier counts.
pub(super) fn put_aside(session: &mut register_session::Model) {
    let Some(counts) = session.counts.take() else { return };
    let mut earlier = session.earlier_counts.0.as_array().cloned().unwrap_or_default();
    earlier.push(json!({"countedBy": session.counted_by, "countedAt": session.counted_at, "counts": counts.0}));
    forget_counts(&mut earlier);
    session.earlier_counts = JsonText::new(&earlier);
    (session.counted_by, session.counted_at) = (None, None);
}

/// Whether `user` counted the drawer before.
pub(super) fn has_counted(session: &register_session::Model, user: Uuid) -> bool {
    session.counted_by == Some(user) || earlier_counters(session).any(|id| id == user)
}

/// Who counted it before the last time, oldest first.
pub(super) fn earlier_counters(session: &register_session::Model) -> impl Iterator<Item = Uuid> {
    let earlier = session.earlier_counts.0.as_array().into_iter().flatten();
    earlier.filter_map(|row| Uuid::deserialize(&row["countedBy"]).ok())
}
