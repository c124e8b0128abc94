//! What the rows of drawers add up to, in the figures that every report has.

use std::collections::{BTreeMap, HashMap};

use sea_orm::{DbErr, Value};
use serde_json::Value as Json;
use tillkeep_model::JsonText;
use tillkeep_model::pricing::TenderKind;
use tillkeep_model::state::{PaymentStatus, SaleStatus};
use tillkeep_model::words::{Reported, SaleType};
use uuid::Uuid;

use super::second::add;
use super::source::Source;
use crate::db::Row;
use crate::many::find_in;
use crate::reports::sums::{amount, summed};

/// What the rows of one drawer add up to. Not the code that makes the report: one mistake must not be made twice.
#[derive(Default)]
pub(super) struct Sums {
    pub documents: i64,
    pub counts: BTreeMap<&'static str, i64>,
    pub amounts: BTreeMap<&'static str, i64>,
    pub tenders: BTreeMap<(String, String), (i64, i64)>,
    pub taxes: BTreeMap<(String, String), i64>,
    pub cash: i64,
    /// How often something was paid on an account, and how much.
    pub settlements: (i64, i64),
}

impl Sums {
    pub(super) fn add_sale(&mut self, row: &Row) -> Result<(), DbErr> {
        let (kind, status): (String, String) = (row.try_get("", "sale_type")?, row.try_get("", "status")?);
        self.documents += 1;
        if status == SaleStatus::Voided {
            *self.counts.entry("voidCount").or_default() += 1;
            return Ok(());
        }
        match Reported::<SaleType>::read(&kind) {
            Reported::Known(SaleType::Refund) => *self.counts.entry("refundCount").or_default() += 1,
            Reported::Known(SaleType::Settlement) => self.settlements.0 += 1,
            _ => *self.counts.entry("saleCount").or_default() += 1,
        }
        for (key, column) in [
            ("netAmount", "net_amount"),
            ("taxAmount", "tax_amount"),
            ("totalAmount", "total_amount"),
            ("cashRounding", "cash_rounding"),
        ] {
            add(self.amounts.entry(key).or_default(), row.try_get("", column)?);
        }
        let lines: JsonText = row.try_get("", "tax_lines")?;
        for line in lines.0.as_array().into_iter().flatten() {
            add(self.taxes.entry(tax_of(line)).or_default(), line["taxAmount"].as_i64().unwrap_or_default());
        }
        Ok(())
    }
}

/// Adds what was paid.
pub(super) async fn add_payments<T: Default + AsMut<Sums>>(
    source: &Source,
    drawers: &[Uuid],
    out: &mut HashMap<Uuid, T>,
) -> Result<(), DbErr> {
    let sql = format!(
        "SELECT session, tender_code, tender_kind, CAST(COUNT(*) AS BIGINT) AS count, {} \
         FROM (SELECT s.register_session_id AS session, p.tender_code, p.tender_kind, p.amount \
         FROM sale_payments p JOIN sales s ON s.id = p.sale_id WHERE s.status <> $1 AND p.status <> $2 \
         AND s.register_session_id IN ($list)) paid GROUP BY session, tender_code, tender_kind",
        summed("amount", "TRUE")
    );
    let voided = [SaleStatus::Voided.word(), PaymentStatus::Voided.word()].map(Value::from);
    for row in find_in(&source.conn, &sql, &voided, drawers.iter().copied()).await? {
        let sums: &mut Sums = out.entry(row.try_get("", "session")?).or_default().as_mut();
        let (code, kind): (String, String) = (row.try_get("", "tender_code")?, row.try_get("", "tender_kind")?);
        let (count, amount) = (row.try_get("", "count")?, amount(&row, "amount")?.0);
        if kind == TenderKind::Cash {
            add(&mut sums.cash, amount);
        }
        sums.tenders.insert((code, kind), (count, amount));
    }
    // What customers have paid of what they owe.
    let sql = format!(
        "SELECT session, {} FROM (SELECT s.register_session_id AS session, p.amount \
         FROM sale_payments p JOIN sales s ON s.id = p.sale_id WHERE s.status <> $1 AND p.status <> $2 \
         AND p.tender_kind = $3 AND s.sale_type = $4 AND s.register_session_id IN ($list)) paid GROUP BY session",
        summed("amount", "TRUE")
    );
    let words = [
        SaleStatus::Voided.word(),
        PaymentStatus::Voided.word(),
        TenderKind::OnAccount.word(),
        SaleType::Settlement.word(),
    ];
    for row in find_in(&source.conn, &sql, &words.map(Value::from), drawers.iter().copied()).await? {
        let settled = amount(&row, "amount")?.0.saturating_neg();
        out.entry(row.try_get("", "session")?).or_default().as_mut().settlements.1 = settled;
    }
    Ok(())
}

pub(super) fn tax_of(line: &Json) -> (String, String) {
    let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
    (text("code"), text("taxRateId"))
}
