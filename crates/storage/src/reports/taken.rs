//! What drawers have taken, as far as their sales have come: of those that are open nobody else knows it.

use std::collections::{BTreeSet, HashMap};

use sea_orm::{ConnectionTrait, DbErr, Value};
use tillkeep_model::Money;
use tillkeep_model::state::{PaymentStatus, SaleStatus};
use tillkeep_model::words::SaleType;
use uuid::Uuid;

use super::sums::{amount, counted, summed};
use crate::many::find_in;

/// What came in one drawer. Documents that were voided count in nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    pub sales: i64,
    pub refunds: i64,
    pub total: Money,
    pub cash_rounding: Money,
    /// By code: together the total and the rounding.
    pub tenders: Vec<Tender>,
}

/// What was paid with one tender, less what was paid back and change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tender {
    pub code: String,
    pub kind: String,
    pub count: i64,
    pub amount: Money,
}

/// By drawer; one without a document is not there.
pub async fn of_drawers(conn: &impl ConnectionTrait, drawers: &BTreeSet<Uuid>) -> Result<HashMap<Uuid, Taken>, DbErr> {
    let mut taken: HashMap<Uuid, Taken> = HashMap::new();
    let sql = format!(
        "SELECT s.register_session_id AS drawer, {} AS sales, {} AS refunds, {}, {} FROM sales s \
         WHERE s.status <> $1 AND s.register_session_id IN ($list) GROUP BY s.register_session_id",
        counted("s.sale_type NOT IN ($2, $3)"),
        counted("s.sale_type = $2"),
        summed("total_amount", "TRUE"),
        summed("cash_rounding", "TRUE"),
    );
    let words: [Value; 3] =
        [SaleStatus::Voided.word().into(), SaleType::Refund.word().into(), SaleType::Settlement.word().into()];
    for row in find_in(conn, &sql, &words, drawers.iter().copied()).await? {
        let of = Taken {
            sales: row.try_get("", "sales")?,
            refunds: row.try_get("", "refunds")?,
            total: amount(&row, "total_amount")?,
            cash_rounding: amount(&row, "cash_rounding")?,
            tenders: Vec::new(),
        };
        taken.insert(row.try_get("", "drawer")?, of);
    }
    let sql = format!(
        "SELECT s.register_session_id AS drawer, p.tender_code, p.tender_kind, CAST(COUNT(*) AS BIGINT) AS payments, {} \
         FROM sales s JOIN sale_payments p ON p.sale_id = s.id \
         WHERE s.status <> $1 AND p.status <> $2 AND s.register_session_id IN ($list) \
         GROUP BY s.register_session_id, p.tender_code, p.tender_kind ORDER BY p.tender_code, p.tender_kind",
        summed("amount", "TRUE"),
    );
    let words: [Value; 2] = [SaleStatus::Voided.word().into(), PaymentStatus::Voided.word().into()];
    for row in find_in(conn, &sql, &words, drawers.iter().copied()).await? {
        let tender = Tender {
            code: row.try_get("", "tender_code")?,
            kind: row.try_get("", "tender_kind")?,
            count: row.try_get("", "payments")?,
            amount: amount(&row, "amount")?,
        };
        taken.entry(row.try_get("", "drawer")?).or_default().tenders.push(tender);
    }
    Ok(taken)
}
