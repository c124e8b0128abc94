//! I5: what the report of a drawer says since its second version, by what the rows of its documents say. Not the code that makes the
//! report: one mistake must not be made twice. Rows of earlier releases have none of it, and are judged without.

use std::collections::{BTreeMap, HashMap};

use sea_orm::{DbErr, Value};
use serde::Deserialize;
use serde_json::Value as Json;
use tillkeep_model::Qty;
use tillkeep_model::receipt::ReceiptNumber;
use tillkeep_model::state::{PaymentStatus, SaleStatus};
use tillkeep_model::words::{CashMovementKind, SaleType};
use uuid::Uuid;

use super::runs::Runs;
use super::source::Source;
use crate::db::Row;
use crate::document::session::is_late;
use crate::entity::register_session::Model;
use crate::many::find_in;
use crate::reports::sums::{amount, summed};

/// The version of a report of which this knows what it says.
const VERSION: i64 = 2;

/// What the rows of one drawer add up to, beyond what every report says.
#[derive(Default)]
pub(super) struct Second {
    void_amount: i64,
    amounts: BTreeMap<&'static str, i64>,
    /// Quantity and net amount by department.
    departments: BTreeMap<Option<Uuid>, (i64, i64)>,
    /// What was paid back, by tender.
    refunds: BTreeMap<(String, String), i64>,
    /// Numbers of receipts by series.
    receipts: BTreeMap<String, Runs>,
}

/// Columns of a sale and what the report calls their sums, of what was sold.
const SOLD: [(&str, &str); 5] = [
    ("listSales", "list_amount"),
    ("specialDiscount", "special_discount"),
    ("lineDiscount", "line_discount"),
    ("cartDiscount", "cart_discount"),
    ("netSales", "net_amount"),
];

/// What a store says is any number: what does not fit is the largest one.
pub(super) const fn add(sum: &mut i64, amount: i64) {
    *sum = sum.saturating_add(amount);
}

impl Second {
    pub(super) fn add_sale(&mut self, row: &Row) -> Result<(), DbErr> {
        if let Some(receipt) = ReceiptNumber::parse(&row.try_get::<String>("", "receipt_number")?) {
            self.receipts.entry(receipt.register_code).or_default().insert(receipt.number);
        }
        if row.try_get::<String>("", "status")? == SaleStatus::Voided {
            add(&mut self.void_amount, row.try_get("", "total_amount")?);
        } else if row.try_get::<String>("", "sale_type")? == SaleType::Refund {
            add(self.amounts.entry("netRefunds").or_default(), row.try_get("", "net_amount")?);
        } else {
            for (name, column) in SOLD {
                add(self.amounts.entry(name).or_default(), row.try_get("", column)?);
            }
        }
        Ok(())
    }
}

/// Adds what lines and payments say.
pub(super) async fn add_lines<T: Default + AsMut<Second>>(
    source: &Source,
    drawers: &[Uuid],
    out: &mut HashMap<Uuid, T>,
) -> Result<(), DbErr> {
    let sql = format!(
        "SELECT session, department, {}, {} FROM (SELECT s.register_session_id AS session, \
         i.department_id AS department, i.quantity, i.net_amount FROM sale_items i JOIN sales s ON s.id = i.sale_id \
         WHERE s.status <> $1 AND s.register_session_id IN ($list)) lines GROUP BY session, department",
        summed("quantity", "TRUE"),
        summed("net_amount", "TRUE")
    );
    let voided = [SaleStatus::Voided.word().into()];
    for row in find_in(&source.conn, &sql, &voided, drawers.iter().copied()).await? {
        let of: &mut Second = out.entry(row.try_get("", "session")?).or_default().as_mut();
        let sums = (amount(&row, "quantity")?.0, amount(&row, "net_amount")?.0);
        of.departments.insert(row.try_get("", "department")?, sums);
    }
    let sql = format!(
        "SELECT session, tender_code, tender_kind, {} FROM (SELECT s.register_session_id AS session, p.tender_code, \
         p.tender_kind, p.amount FROM sale_payments p JOIN sales s ON s.id = p.sale_id \
         WHERE s.status <> $1 AND p.status <> $2 AND s.sale_type = $3 AND s.register_session_id IN ($list)) paid \
         GROUP BY session, tender_code, tender_kind",
        summed("amount", "TRUE")
    );
    let words = [SaleStatus::Voided.word(), PaymentStatus::Voided.word(), SaleType::Refund.word()];
    for row in find_in(&source.conn, &sql, &words.map(Value::from), drawers.iter().copied()).await? {
        let of: &mut Second = out.entry(row.try_get("", "session")?).or_default().as_mut();
        let tender = (row.try_get("", "tender_code")?, row.try_get("", "tender_kind")?);
        of.refunds.insert(tender, amount(&row, "amount")?.0);
    }
    Ok(())
}

/// The report of a drawer.
pub(super) fn report(session: &Model) -> &Json {
    session.totals.as_ref().map_or(&Json::Null, |totals| &totals.0)
}

/// Whether the report says all of this. One of a release to come says more, and nobody here knows what.
pub(super) fn is_of_it(session: &Model) -> bool {
    report(session)["version"].as_i64() == Some(VERSION)
}

/// Whether the cash that the report expects knows of movements: before this version there were none.
pub(super) fn knows_movements(session: &Model) -> bool {
    report(session)["version"].as_i64().is_some_and(|version| version >= VERSION)
}

/// What the movements of a drawer come to that were known when it was closed: by their kinds, each above zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Moved {
    pub paid_in: i64,
    pub float_add: i64,
    pub paid_out: i64,
    pub drop: i64,
    /// How often it was opened without a sale, which only came back later.
    late_openings: i64,
}

impl Moved {
    pub(super) fn of(session: &Model) -> Self {
        let mut moved = Self::default();
        for movement in session.cash_movements.0.as_array().into_iter().flatten() {
            let kind = movement["type"].as_str().unwrap_or_default();
            if is_late(movement) {
                moved.late_openings += i64::from(kind == CashMovementKind::NoSale.word());
                continue;
            }
            let amount = movement["amount"].as_i64().unwrap_or_default();
            let sums = [
                (CashMovementKind::PaidIn, &mut moved.paid_in),
                (CashMovementKind::FloatAdd, &mut moved.float_add),
                (CashMovementKind::PaidOut, &mut moved.paid_out),
                (CashMovementKind::Drop, &mut moved.drop),
            ];
            for (_, sum) in sums.into_iter().filter(|(of, _)| of.word() == kind) {
                add(sum, amount);
            }
        }
        moved
    }

    /// How much more there should be in the drawer for them.
    pub(super) const fn net(self) -> i64 {
        self.paid_in.saturating_add(self.float_add).saturating_sub(self.paid_out).saturating_sub(self.drop)
    }
}

/// The names of the figures in which a report of this version differs from its rows; `cash` is what was paid in cash.
pub(super) fn differences(session: &Model, rows: &Second, cash: i64) -> Vec<String> {
    let report = report(session);
    let at = |pointer: &str| report.pointer(pointer).and_then(Json::as_i64);
    let moved = Moved::of(session);
    let mut figures = vec![
        ("/voidAmount", Some(rows.void_amount)),
        ("/cash/openingFloat", Some(session.opening_float.0)),
        ("/cash/payments", Some(cash)),
        ("/cash/paidIn", Some(moved.paid_in)),
        ("/cash/floatAdd", Some(moved.float_add)),
        ("/cash/paidOut", Some(moved.paid_out)),
        ("/cash/drop", Some(moved.drop)),
        ("/cash/expected", session.expected_cash.map(|amount| amount.0)),
        ("/cash/counted", session.counted_cash.map(|amount| amount.0)),
        ("/cash/variance", session.cash_variance.map(|amount| amount.0)),
        ("/controls/noSaleCount", Some(i64::from(session.no_sale_count) - moved.late_openings)),
        ("/runningTotal/after", session.running_total.map(|amount| amount.0)),
    ];
    let before = session.running_total.map(|after| after.0.saturating_sub(at("/totalAmount").unwrap_or_default()));
    figures.push(("/runningTotal/before", before));
    let mut wrong: Vec<String> = figures
        .into_iter()
        .filter(|(pointer, wanted)| at(pointer) != *wanted)
        .map(|(pointer, _)| format!("totals{}", pointer.replace('/', ".")))
        .collect();
    for name in SOLD.map(|(name, _)| name).into_iter().chain(["netRefunds"]) {
        if report["amounts"][name].as_i64() != Some(rows.amounts.get(name).copied().unwrap_or_default()) {
            wrong.push(format!("totals.amounts.{name}"));
        }
    }
    let items = rows.departments.values().fold(0, |sum: i64, (quantity, _)| sum.saturating_add(*quantity));
    let further = [
        (quantity(&report["itemCount"]) != Some(items), "totals.itemCount"),
        (departments(report) != not_nothing(&rows.departments), "totals.departments"),
        (!are_receipts(report, &rows.receipts), "totals.receipts"),
        (!are_refunds(report, &rows.refunds), "totals.tenders.refundsAmount"),
    ];
    wrong.extend(further.into_iter().filter(|(wrong, _)| *wrong).map(|(_, name)| name.to_owned()));
    wrong
}

/// Thousandths of a unit, as a database has them; the JSON of a report has units with decimals.
pub(super) fn quantity(said: &Json) -> Option<i64> {
    Qty::deserialize(said).ok().map(|Qty(thousandths)| thousandths)
}

type Departments = BTreeMap<Option<Uuid>, (i64, i64)>;

fn departments(report: &Json) -> Departments {
    let mut out = Departments::new();
    for department in report["departments"].as_array().into_iter().flatten() {
        let id = department["departmentId"].as_str().and_then(|id| id.parse().ok());
        let of = out.entry(id).or_default();
        of.0 = of.0.saturating_add(quantity(&department["quantity"]).unwrap_or_default());
        of.1 = of.1.saturating_add(department["netAmount"].as_i64().unwrap_or_default());
    }
    not_nothing(&out)
}

/// Whether one that comes to nothing is named is all the same.
fn not_nothing(departments: &Departments) -> Departments {
    departments.iter().filter(|(_, sums)| **sums != (0, 0)).map(|(id, sums)| (*id, *sums)).collect()
}

/// Whether each receipt of the drawer is in one of the ranges, which have no other gaps than those that are named as lost.
fn are_receipts(report: &Json, receipts: &BTreeMap<String, Runs>) -> bool {
    // What a store says is any number.
    let number = |of: &Json, key: &str| of[key].as_i64().unwrap_or_default();
    let from_to = |from: i64, to: i64| i128::from(to) - i128::from(from) + 1;
    let mut in_ranges = 0;
    for range in report["receipts"].as_array().into_iter().flatten() {
        let (first, last, count) = (number(range, "first"), number(range, "last"), number(range, "count"));
        let gaps = range["lost"].as_array().into_iter().flatten();
        let gone: i128 = gaps.map(|gap| from_to(number(gap, "from"), number(gap, "to"))).sum();
        let of_series = receipts.get(range["series"].as_str().unwrap_or_default());
        let here = of_series.map_or(0, |numbers| numbers.within(&(first..=last)));
        if here != i128::from(count) || from_to(first, last) - gone != i128::from(count) {
            return false;
        }
        in_ranges += here;
    }
    in_ranges == receipts.values().map(Runs::count).sum::<i128>()
}

fn are_refunds(report: &Json, refunds: &BTreeMap<(String, String), i64>) -> bool {
    let mut said: BTreeMap<(String, String), i64> = BTreeMap::new();
    for tender in report["tenders"].as_array().into_iter().flatten() {
        let text = |key: &str| tender[key].as_str().unwrap_or_default().to_owned();
        let amount = |key: &str| tender[key].as_i64().unwrap_or_default();
        if amount("salesAmount").checked_add(amount("refundsAmount")) != Some(amount("amount")) {
            return false;
        }
        let sum = said.entry((text("tenderCode"), text("tenderKind"))).or_default();
        *sum = sum.saturating_add(amount("refundsAmount"));
    }
    said.retain(|_, amount| *amount != 0);
    said.iter().eq(refunds.iter().filter(|(_, amount)| **amount != 0))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_report_that_says_numbers_beyond_all_measure_is_judged_as_any_other_one() {
        let (least, most) = (i64::MIN, i64::MAX);
        let report = json!({
            "departments": [{"quantity": 1, "netAmount": most}, {"quantity": 1, "netAmount": 1}],
            "receipts": [
                {"series": "01", "first": least, "last": most, "count": 1, "lost": [{"from": least, "to": most}]},
            ],
            "tenders": [{"salesAmount": most, "refundsAmount": 1, "amount": least}],
        });
        assert_eq!(departments(&report), Departments::from([(None, (2000, most))]));
        assert!(!are_receipts(&report, &BTreeMap::from([("01".to_owned(), Runs::from_iter([1]))])));
        assert!(!are_refunds(&report, &BTreeMap::new()));
    }
}
