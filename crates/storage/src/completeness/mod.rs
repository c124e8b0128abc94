//! What HQ has of a store's business day, and what is missing: a lost sale is silent unless somebody counts.
//! `docs/sync.md`, rule U13. Figures are compared as they came; nothing is computed anew.

mod assess;
mod outbox;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use sea_orm::sea_query::{Nullable, ValueType};
use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QueryOrder, TryGetable, Value};
use serde::{Deserialize, Serialize};
use tillkeep_model::Money;
use tillkeep_model::receipt::ReceiptNumber;
use utoipa::ToSchema;
use uuid::Uuid;

pub use outbox::{Outbox, Reported, outbox};

use crate::db::{placeholders, query};
use crate::entity::register_session;
use crate::numbers::Given;
use crate::numbers::lost::{self, Lost};
use crate::push::{FOREIGN_NUMBER, is_flagged};
use crate::sums::{amount, counted, summed};

/// Missing numbers of one day that are looked for elsewhere before they are called missing.
const LOOKED_FOR: usize = 1000;
/// Registers that are asked about in one statement: `SQLite` takes 500 terms of a `UNION ALL`.
const TERMS: usize = 400;

/// Whether everything is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = CompletenessVerdict)]
pub enum Verdict {
    Complete,
    Incomplete,
    /// The day goes on, or the store still has something to send.
    Open,
    /// The store was first heard of on a later day, or never.
    BeforeFirstStart,
}

/// Numbers that follow one another, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = NumberRange)]
pub struct Range {
    pub from: i64,
    pub to: i64,
}

/// What was sold in a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
#[schema(as = SessionFigures)]
pub struct Figures {
    pub sale_count: i64,
    pub refund_count: i64,
    pub void_count: i64,
    pub net_amount: Money,
    pub tax_amount: Money,
    pub total_amount: Money,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SessionCompleteness)]
pub struct SessionState {
    pub id: Uuid,
    /// Null for a session that HQ knows only from its sales.
    pub session_number: Option<i32>,
    pub status: Option<String>,
    /// Sums of the sales that HQ has.
    pub received: Figures,
    /// As the close printed them; null before it.
    pub z_report: Option<Figures>,
    /// `received` less `zReport`.
    pub difference: Option<Figures>,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MissingReceipts)]
pub struct ReceiptRange {
    pub from: String,
    pub to: String,
    pub count: i64,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RegisterCompleteness)]
pub struct Register {
    /// A series with a letter (`02A`) is a line of its own.
    pub register_code: String,
    pub sessions: Vec<SessionState>,
    /// Session numbers since the last session before this day.
    pub missing_sessions: Vec<Range>,
    pub first_receipt_number: Option<String>,
    pub last_receipt_number: Option<String>,
    pub receipt_count: usize,
    /// Since the last receipt before this day, up to the last one that HQ has or a Z report names.
    pub missing_receipts: Vec<ReceiptRange>,
    /// Of the missing ones those whose sales went with the store's database: it was put back, and the file of its last
    /// numbers knew of them.
    pub lost_receipts: Vec<ReceiptRange>,
    pub lost_sessions: Vec<Range>,
    /// Numbers that more than one sale has.
    pub receipts_twice: Vec<String>,
}

/// One business day of a store.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DayCompleteness)]
pub struct Day {
    pub business_date: String,
    pub verdict: Verdict,
    /// `receipts_missing`, `receipts_lost`, `sessions_lost`, `receipts_twice`, `sessions_missing`, `session_unknown`, `totals_differ`, `session_open`,
    /// `store_has_pending`, `nothing_received`; for a single day those of the outbox too.
    pub reasons: Vec<&'static str>,
    pub receipt_count: usize,
    pub missing_receipt_count: i64,
    pub session_count: usize,
    /// Only when one day was asked for.
    pub registers: Option<Vec<Register>>,
}

/// Sums of one session on one day.
struct Sums {
    date: String,
    register: String,
    session: Uuid,
    figures: Figures,
}

/// What was read.
struct Facts {
    sessions: Vec<register_session::Model>,
    sums: Vec<Sums>,
    /// (business date, series, receipt number)
    receipts: Vec<(String, String, String)>,
    lost: Lost,
    /// Of each series: the last receipt before the first one that was read.
    receipt_before: HashMap<String, String>,
    session_before: HashMap<String, i64>,
}

/// What is known of the store whose days are judged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known<'a> {
    /// It still has something to send.
    pub pending: bool,
    /// The dates on which it was first and last heard of.
    pub first_seen: Option<&'a str>,
    pub last_seen: Option<&'a str>,
}

/// The days `dates` (rising) of `store`, in seven queries whatever their number.
pub async fn days(
    conn: &impl ConnectionTrait,
    store: Uuid,
    dates: &[String],
    known: Known<'_>,
) -> Result<Vec<Day>, DbErr> {
    let sessions = register_session::Entity::find()
        .filter(register_session::Column::StoreId.eq(store))
        .filter(register_session::Column::BusinessDate.is_in(dates))
        .order_by_asc(register_session::Column::RegisterCode)
        .order_by_asc(register_session::Column::SessionNumber)
        .all(conn)
        .await?;
    let sums = sums(conn, store, dates).await?;
    let receipts = receipts(conn, store, dates).await?;
    let receipt_before = receipt_before(conn, store, &receipts).await?;
    let session_before = session_before(conn, store, &sessions).await?;
    let lost = Lost::of(lost::all(conn, Some(store)).await?);
    let facts = Facts { sessions, sums, receipts, lost, receipt_before, session_before };
    let mut assessed = assess::days(&facts, dates);
    let named: Vec<String> = assessed.iter().flat_map(assess::Assessed::candidates).take(LOOKED_FOR).collect();
    let elsewhere = existing(conn, store, &named).await?;
    for day in &mut assessed {
        day.found(&elsewhere);
    }
    Ok(assessed.into_iter().map(|day| day.judged(known)).collect())
}

fn on_days(store: Uuid, dates: &[String]) -> (String, Vec<Value>) {
    let values = std::iter::once(store.into()).chain(dates.iter().map(|date| date.as_str().into()));
    // Day by day: the index has the date first, for the reports of the chain.
    (format!("store_id = $1 AND business_date IN ({})", placeholders(2, dates.len())), values.collect())
}

async fn sums(conn: &impl ConnectionTrait, store: Uuid, dates: &[String]) -> Result<Vec<Sums>, DbErr> {
    let (filter, values) = on_days(store, dates);
    let summed = |column: &str| summed(column, "status <> 'voided'");
    let sql = format!(
        "SELECT business_date, register_code, register_session_id, \
         {} AS sales, {} AS refunds, {} AS voids, {}, {}, {} FROM sales WHERE {filter} \
         GROUP BY business_date, register_code, register_session_id",
        counted("status <> 'voided' AND sale_type <> 'refund'"),
        counted("status <> 'voided' AND sale_type = 'refund'"),
        counted("status = 'voided'"),
        summed("net_amount"),
        summed("tax_amount"),
        summed("total_amount"),
    );
    let rows = query(conn, &sql, values).await?;
    rows.iter()
        .map(|row| {
            Ok(Sums {
                date: row.try_get("", "business_date")?,
                register: row.try_get("", "register_code")?,
                session: row.try_get("", "register_session_id")?,
                figures: Figures {
                    sale_count: row.try_get("", "sales")?,
                    refund_count: row.try_get("", "refunds")?,
                    void_count: row.try_get("", "voids")?,
                    net_amount: amount(row, "net_amount")?,
                    tax_amount: amount(row, "tax_amount")?,
                    total_amount: amount(row, "total_amount")?,
                },
            })
        })
        .collect()
}

async fn receipts(
    conn: &impl ConnectionTrait,
    store: Uuid,
    dates: &[String],
) -> Result<Vec<(String, String, String)>, DbErr> {
    let (filter, values) = on_days(store, dates);
    let sql = format!("SELECT business_date, register_code, receipt_number, flags FROM sales WHERE {filter}");
    let mut out = Vec::new();
    for row in query(conn, &sql, values).await? {
        // What another store's number says of this one is nothing; the sale itself counts in its sums.
        if !is_flagged(&row.try_get("", "flags")?) {
            let (register, receipt): (String, String) =
                (row.try_get("", "register_code")?, row.try_get("", "receipt_number")?);
            let series = ReceiptNumber::parse(&receipt).map(|receipt| receipt.register_code);
            let series = series.filter(|series| ReceiptNumber::register_of(series) == register).unwrap_or(register);
            out.push((row.try_get("", "business_date")?, series, receipt));
        }
    }
    Ok(out)
}

/// Of each series the last receipt before its first one here: one look into the index each.
async fn receipt_before(
    conn: &impl ConnectionTrait,
    store: Uuid,
    receipts: &[(String, String, String)],
) -> Result<HashMap<String, String>, DbErr> {
    let mut firsts: BTreeMap<&str, &str> = BTreeMap::new();
    for (_, register, receipt) in receipts {
        // Text sorts like its number only among texts of one length.
        let order = |text: &str| (text.len(), text.to_owned());
        let first = firsts.entry(register).or_insert(receipt);
        if order(receipt) < order(first) {
            *first = receipt;
        }
    }
    let firsts: Vec<_> = firsts.into_iter().take(1000).collect();
    let mut out = HashMap::new();
    for chunk in firsts.chunks(TERMS) {
        let (mut values, mut tuples): (Vec<Value>, _) = (vec![store.into()], Vec::new());
        for (register, first) in chunk {
            let at = values.len();
            tuples.push(format!(
                "SELECT CAST(${} AS TEXT) AS code, CAST(${} AS TEXT) AS receipt, CAST(${} AS TEXT) AS lowest, \
                 CAST(${} AS TEXT) AS register",
                at + 1,
                at + 2,
                at + 3,
                at + 4
            ));
            // Only what begins as it does comes before it: not a number of another store.
            let own = ReceiptNumber::parse(first);
            let lowest = own.map_or_else(String::new, |own| format!("{}-{}-", own.store_code, own.register_code));
            let till = ReceiptNumber::register_of(register);
            values.extend([(*register).into(), (*first).into(), lowest.into(), till.into()]);
        }
        let sql = format!(
            "SELECT r.code, (SELECT s.receipt_number FROM sales s WHERE s.store_id = $1 AND s.register_code = r.register \
             AND s.receipt_number < r.receipt AND s.receipt_number >= r.lowest AND LENGTH(s.receipt_number) = LENGTH(r.receipt) \
             ORDER BY s.receipt_number DESC LIMIT 1) AS before FROM ({}) r",
            tuples.join(" UNION ALL ")
        );
        let before: HashMap<String, String> = pairs(conn, &sql, values, "before").await?;
        out.extend(before);
    }
    Ok(out)
}

/// Of each series the number of the last session before its first one here.
async fn session_before(
    conn: &impl ConnectionTrait,
    store: Uuid,
    sessions: &[register_session::Model],
) -> Result<HashMap<String, i64>, DbErr> {
    let mut firsts: BTreeMap<(&str, String), i64> = BTreeMap::new();
    for session in sessions.iter().filter(|session| !is_flagged(&session.flags)) {
        let Given { letter, number } = Given::session(session.session_number.into());
        let first = firsts.entry((&session.register_code, letter)).or_insert(number);
        *first = (*first).min(number);
    }
    let firsts: Vec<_> = firsts.into_iter().take(1000).collect();
    let mut out = HashMap::new();
    for chunk in firsts.chunks(TERMS) {
        let (mut values, mut tuples): (Vec<Value>, _) = (vec![store.into()], Vec::new());
        for ((register, letter), first) in chunk {
            let at = values.len();
            tuples.push(format!(
                "SELECT CAST(${} AS TEXT) AS code, CAST(${} AS TEXT) AS register, CAST(${} AS BIGINT) AS floor, \
                 CAST(${} AS BIGINT) AS number",
                at + 1,
                at + 2,
                at + 3,
                at + 4
            ));
            let number = |number| Given { letter: letter.clone(), number }.of_session();
            let series = format!("{register}{letter}");
            values.extend([series.into(), (*register).into(), number(0).into(), number(*first).into()]);
        }
        let sql = format!(
            "SELECT r.code, (SELECT CAST(MAX(s.session_number) - r.floor AS BIGINT) FROM register_sessions s \
             WHERE s.store_id = $1 AND s.register_code = r.register AND s.session_number < r.number \
             AND s.session_number > r.floor AND s.flags NOT LIKE '%\"{FOREIGN_NUMBER}\"%') AS before FROM ({}) r",
            tuples.join(" UNION ALL ")
        );
        let before: HashMap<String, i64> = pairs(conn, &sql, values, "before").await?;
        out.extend(before);
    }
    Ok(out)
}

async fn pairs<T: TryGetable + ValueType + Nullable>(
    conn: &impl ConnectionTrait,
    sql: &str,
    values: Vec<Value>,
    column: &str,
) -> Result<HashMap<String, T>, DbErr> {
    let mut out = HashMap::new();
    for row in query(conn, sql, values).await? {
        if let Some(value) = row.try_get::<Option<T>>("", column)? {
            out.insert(row.try_get("", "code")?, value);
        }
    }
    Ok(out)
}

/// Those of `numbers` that a sale of the store has, on whatever day.
async fn existing(conn: &impl ConnectionTrait, store: Uuid, numbers: &[String]) -> Result<HashSet<String>, DbErr> {
    if numbers.is_empty() {
        return Ok(HashSet::new());
    }
    let sql = format!(
        "SELECT receipt_number FROM sales WHERE store_id = $1 AND receipt_number IN ({})",
        placeholders(2, numbers.len())
    );
    let values = std::iter::once(Value::from(store)).chain(numbers.iter().map(|number| number.as_str().into()));
    query(conn, &sql, values).await?.iter().map(|row| row.try_get("", "receipt_number")).collect()
}

/// Numbers of `0..` that `have` lacks between `after` and `last`.
fn missing(after: i64, have: &BTreeSet<i64>, last: i64) -> Vec<Range> {
    let mut out = Vec::new();
    let mut next = after.saturating_add(1);
    for number in have.range(next..).copied().take_while(|number| *number <= last).chain([last.saturating_add(1)]) {
        if number > next {
            out.push(Range { from: next, to: number - 1 });
        }
        next = number.saturating_add(1);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told_in_ranges_with_both_ends() {
        let have = BTreeSet::from([4, 5, 8, 20]);
        let ranges: Vec<_> = missing(2, &have, 10).iter().map(|range| (range.from, range.to)).collect();
        assert_eq!(ranges, [(3, 3), (6, 7), (9, 10)]);
        assert!(missing(3, &have, 5).is_empty());
        assert!(missing(9, &have, 9).is_empty());
    }
}
