//! What the books of a business day are made of: documents, their lines and payments, and drawers, each added up by store, date and
//! currency in one statement. Voided documents are in none of it.

use std::collections::BTreeSet;

use sea_orm::{ConnectionTrait, DbErr, Value};
use serde_json::Value as Json;
use tillkeep_model::state::{PaymentStatus, SaleStatus, SessionStatus};
use tillkeep_model::{JsonText, Money};
use uuid::Uuid;

use super::closed_drawers::one_of;
use super::sums::{amount, summed};
use crate::db::{Row, query};
use crate::document::session::is_late;

/// Which days.
#[derive(Clone, Copy, Debug)]
pub struct Range<'a> {
    /// Business dates, both of them in it.
    pub from: &'a str,
    pub to: &'a str,
    /// `None` is all of them.
    pub stores: Option<&'a BTreeSet<Uuid>>,
}

/// The day of a store in one currency: each has an entry of its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day {
    pub business_date: String,
    pub store: Uuid,
    pub currency_code: String,
}

impl Day {
    fn read(row: &Row) -> Result<Self, DbErr> {
        Ok(Self {
            business_date: row.try_get("", "business_date")?,
            store: row.try_get("", "store_id")?,
            currency_code: row.try_get("", "currency_code")?,
        })
    }
}

/// The documents of one kind.
#[derive(Clone, Debug)]
pub struct Documents {
    pub day: Day,
    pub sale_type: String,
    pub net: Money,
    pub tax: Money,
    pub cash_rounding: Money,
}

/// What documents came to, by what they are.
pub async fn documents(conn: &impl ConnectionTrait, range: Range<'_>) -> Result<Vec<Documents>, DbErr> {
    let mut values: Vec<Value> = vec![SaleStatus::Voided.word().into(), range.from.into(), range.to.into()];
    let here = one_of("s.store_id", range.stores, &mut values);
    let sql = format!(
        "SELECT s.store_id, s.currency_code, s.business_date, s.sale_type, {}, {}, {} FROM sales s \
         WHERE s.business_date >= $2 AND s.business_date <= $3 AND s.status <> $1 AND {here} \
         GROUP BY s.store_id, s.currency_code, s.business_date, s.sale_type",
        summed("net_amount", "TRUE"),
        summed("tax_amount", "TRUE"),
        summed("cash_rounding", "TRUE"),
    );
    let rows = query(conn, &sql, values).await?;
    rows.iter()
        .map(|row| {
            Ok(Documents {
                day: Day::read(row)?,
                sale_type: row.try_get("", "sale_type")?,
                net: amount(row, "net_amount")?,
                tax: amount(row, "tax_amount")?,
                cash_rounding: amount(row, "cash_rounding")?,
            })
        })
        .collect()
}

/// Lines that have the same taxes, to the last unit.
#[derive(Clone, Debug)]
pub struct Lines {
    pub day: Day,
    pub sale_type: String,
    /// Of documents without tax: what they have of rates is what would have been paid.
    pub is_exempt: bool,
    /// Of each of them.
    pub tax_details: JsonText,
    pub count: i64,
    pub net: Money,
}

/// What was sold and given back, by the taxes on it: what is sold often at one price is one of these. At most `most`; whoever asks
/// for one more than they want learns that there are too many.
pub async fn lines(conn: &impl ConnectionTrait, range: Range<'_>, most: u64) -> Result<Vec<Lines>, DbErr> {
    let mut values: Vec<Value> = vec![SaleStatus::Voided.word().into(), range.from.into(), range.to.into()];
    let here = one_of("s.store_id", range.stores, &mut values);
    let sql = format!(
        "WITH sold AS (SELECT s.store_id, s.currency_code, s.business_date, s.sale_type, s.tax_exempt, i.tax_details, i.net_amount \
         FROM sales s JOIN sale_items i ON i.sale_id = s.id \
         WHERE s.business_date >= $2 AND s.business_date <= $3 AND s.status <> $1 AND {here}) \
         SELECT l.store_id, l.currency_code, l.business_date, l.sale_type, l.tax_exempt, l.tax_details, \
         CAST(COUNT(*) AS BIGINT) AS sold_lines, {} FROM sold l \
         GROUP BY l.store_id, l.currency_code, l.business_date, l.sale_type, l.tax_exempt, l.tax_details LIMIT {most}",
        summed("net_amount", "TRUE"),
    );
    let rows = query(conn, &sql, values).await?;
    rows.iter()
        .map(|row| {
            Ok(Lines {
                day: Day::read(row)?,
                sale_type: row.try_get("", "sale_type")?,
                is_exempt: row.try_get("", "tax_exempt")?,
                tax_details: row.try_get("", "tax_details")?,
                count: row.try_get("", "sold_lines")?,
                net: amount(row, "net_amount")?,
            })
        })
        .collect()
}

/// What was paid with one tender, less what was paid back and change.
#[derive(Clone, Debug)]
pub struct Payments {
    pub day: Day,
    pub tender_code: String,
    pub tender_kind: String,
    pub amount: Money,
}

/// The payments of documents, by tender.
pub async fn payments(conn: &impl ConnectionTrait, range: Range<'_>) -> Result<Vec<Payments>, DbErr> {
    let (voided, unpaid) = (SaleStatus::Voided.word(), PaymentStatus::Voided.word());
    let mut values: Vec<Value> = vec![voided.into(), unpaid.into(), range.from.into(), range.to.into()];
    let here = one_of("s.store_id", range.stores, &mut values);
    let sql = format!(
        "SELECT s.store_id, s.currency_code, s.business_date, p.tender_code, p.tender_kind, {} \
         FROM sales s JOIN sale_payments p ON p.sale_id = s.id \
         WHERE s.business_date >= $3 AND s.business_date <= $4 AND s.status <> $1 AND p.status <> $2 AND {here} \
         GROUP BY s.store_id, s.currency_code, s.business_date, p.tender_code, p.tender_kind",
        summed("amount", "TRUE"),
    );
    let rows = query(conn, &sql, values).await?;
    rows.iter()
        .map(|row| {
            Ok(Payments {
                day: Day::read(row)?,
                tender_code: row.try_get("", "tender_code")?,
                tender_kind: row.try_get("", "tender_kind")?,
                amount: amount(row, "amount")?,
            })
        })
        .collect()
}

/// Money that moved without a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Movement {
    pub kind: String,
    pub reason_code: Option<String>,
    pub amount: Money,
    /// Of the safe; those of a drawer are of its day.
    pub business_date: Option<String>,
}

impl Movement {
    /// Those of `list` that were known when a drawer was closed: what came later is in its variance.
    fn all(list: &JsonText) -> Vec<Self> {
        let text = |movement: &Json, key: &str| movement[key].as_str().map(str::to_owned);
        let one = |movement: &Json| Self {
            kind: text(movement, "type").unwrap_or_default(),
            reason_code: text(movement, "reasonCode"),
            amount: Money(movement["amount"].as_i64().unwrap_or_default()),
            business_date: text(movement, "businessDate"),
        };
        list.0.as_array().into_iter().flatten().filter(|movement| !is_late(movement)).map(one).collect()
    }
}

/// What a drawer says beside its sales.
#[derive(Clone, Debug)]
pub struct Drawer {
    /// In the currency of its store.
    pub day: Day,
    pub is_open: bool,
    pub opening_float: Money,
    /// Of one that was closed with a count.
    pub counted_cash: Option<Money>,
    pub cash_variance: Option<Money>,
    pub movements: Vec<Movement>,
    /// Of the safe, which this drawer has carried to headquarters.
    pub safe_movements: Vec<Movement>,
}

/// The drawers of these days, and those from `carried_from` on that have carried movements of the safe. At most `most`, as [`lines`].
pub async fn drawers(
    conn: &impl ConnectionTrait,
    range: Range<'_>,
    carried_from: &str,
    most: u64,
) -> Result<Vec<Drawer>, DbErr> {
    let mut values: Vec<Value> = vec![range.from.into(), range.to.into(), carried_from.into()];
    let here = one_of("d.store_id", range.stores, &mut values);
    let sql = format!(
        "SELECT d.store_id, st.currency_code, d.business_date, d.status, d.opening_float, d.counted_cash, d.cash_variance, \
         d.cash_movements, d.safe_movements FROM register_sessions d JOIN stores st ON st.id = d.store_id \
         WHERE d.business_date >= $3 AND d.business_date <= $2 AND (d.business_date >= $1 OR d.safe_movements <> '[]') \
         AND {here} LIMIT {most}"
    );
    let rows = query(conn, &sql, values).await?;
    rows.iter()
        .map(|row| {
            let (status, cash): (String, JsonText) = (row.try_get("", "status")?, row.try_get("", "cash_movements")?);
            let is_open = status != SessionStatus::Closed.word();
            let counted: Option<Money> = row.try_get("", "counted_cash")?;
            let variance: Option<Money> = row.try_get("", "cash_variance")?;
            Ok(Drawer {
                day: Day::read(row)?,
                is_open,
                opening_float: row.try_get("", "opening_float")?,
                // While it is being counted, that may change.
                counted_cash: counted.filter(|_| !is_open),
                cash_variance: variance.filter(|_| !is_open),
                movements: Movement::all(&cash),
                safe_movements: Movement::all(&row.try_get("", "safe_movements")?),
            })
        })
        .collect()
}
