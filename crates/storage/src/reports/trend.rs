//! What was sold over time: by day of many stores, and by minute of a few days, in one statement each.

use std::collections::BTreeSet;

use sea_orm::{ConnectionTrait, DbErr, Value};
use tillkeep_model::state::SaleStatus;
use tillkeep_model::words::SaleType;
use uuid::Uuid;

use super::closed_drawers::one_of;
use super::figures::Sold;
use super::sums::{amount, counted, summed};
use crate::db::{Row, query};

/// The figures of a [`Sold`] of sales `s`, by the [`words`] that are the first three values.
fn figures() -> String {
    format!(
        "{} AS tickets, {} AS refunds, {}, {}, {}",
        counted("s.sale_type NOT IN ($2, $3)"),
        counted("s.sale_type = $2"),
        summed("net_amount", "TRUE"),
        summed("tax_amount", "TRUE"),
        summed("total_amount", "TRUE"),
    )
}

/// What is left out, and what is told apart.
fn words() -> [Value; 3] {
    [SaleStatus::Voided.word().into(), SaleType::Refund.word().into(), SaleType::Settlement.word().into()]
}

fn sold(row: &Row) -> Result<Sold, DbErr> {
    Ok(Sold {
        tickets: row.try_get("", "tickets")?,
        refunds: row.try_get("", "refunds")?,
        net: amount(row, "net_amount")?,
        tax: amount(row, "tax_amount")?,
        total: amount(row, "total_amount")?,
    })
}

/// A business day of one store in one currency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreDay {
    pub store: Uuid,
    pub currency_code: String,
    pub business_date: String,
    pub sold: Sold,
}

/// What these stores (`None`: all) sold on each business day from `from` to `to`, both of them in it. A day on which nothing
/// was sold is not there.
pub async fn days(
    conn: &impl ConnectionTrait,
    (from, to): (&str, &str),
    stores: Option<&BTreeSet<Uuid>>,
) -> Result<Vec<StoreDay>, DbErr> {
    let mut values: Vec<Value> = words().into();
    values.extend([from.into(), to.into()]);
    let here = one_of("s.store_id", stores, &mut values);
    let sql = format!(
        "SELECT s.store_id, s.currency_code, s.business_date, {} FROM sales s \
         WHERE s.business_date >= $4 AND s.business_date <= $5 AND s.status <> $1 AND {here} \
         GROUP BY s.store_id, s.currency_code, s.business_date",
        figures()
    );
    let rows = query(conn, &sql, values).await?;
    rows.iter()
        .map(|row| {
            Ok(StoreDay {
                store: row.try_get("", "store_id")?,
                currency_code: row.try_get("", "currency_code")?,
                business_date: row.try_get("", "business_date")?,
                sold: sold(row)?,
            })
        })
        .collect()
}

/// A business day of the stores that keep one calendar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Day {
    /// The settings of those stores, as they have them.
    pub timezone: String,
    pub business_day_start: String,
    pub date: String,
    /// How many weeks ago it is.
    pub weeks_ago: u8,
}

/// What was sold within one minute, in one timezone and currency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minute {
    pub timezone: String,
    pub weeks_ago: u8,
    pub currency_code: String,
    /// `2026-11-20 14:05`, in UTC.
    pub at: String,
    pub sold: Sold,
}

/// What these stores (`None`: all) sold on the days of their calendars. No two of `days` have the same calendar and date.
pub async fn minutes(
    conn: &impl ConnectionTrait,
    days: &[Day],
    stores: Option<&BTreeSet<Uuid>>,
) -> Result<Vec<Minute>, DbErr> {
    if days.is_empty() {
        return Ok(Vec::new());
    }
    let (mut values, mut tuples): (Vec<Value>, Vec<String>) = (words().into(), Vec::new());
    for day in days {
        let first = values.len() + 1;
        tuples.push(format!("(${first}, ${}, ${}, {})", first + 1, first + 2, day.weeks_ago));
        values.extend([day.timezone.as_str().into(), day.business_day_start.as_str().into(), day.date.as_str().into()]);
    }
    let here = one_of("s.store_id", stores, &mut values);
    // Both databases write an instant as UTC with the date and the minute in front; one has a T between them.
    let sql = format!(
        "WITH days (timezone, day_start, day, weeks_ago) AS (VALUES {}) \
         SELECT d.timezone, CAST(d.weeks_ago AS BIGINT) AS weeks_ago, s.currency_code, \
         REPLACE(SUBSTR(CAST(s.completed_at AS TEXT), 1, 16), 'T', ' ') AS minute, {} \
         FROM days d JOIN stores st ON st.timezone = d.timezone AND st.business_day_start = d.day_start \
         JOIN sales s ON s.business_date = d.day AND s.store_id = st.id \
         WHERE s.status <> $1 AND {here} GROUP BY 1, 2, 3, 4",
        tuples.join(", "),
        figures()
    );
    let rows = query(conn, &sql, values).await?;
    rows.iter()
        .map(|row| {
            Ok(Minute {
                timezone: row.try_get("", "timezone")?,
                weeks_ago: u8::try_from(row.try_get::<i64>("", "weeks_ago")?).unwrap_or(u8::MAX),
                currency_code: row.try_get("", "currency_code")?,
                at: row.try_get("", "minute")?,
                sold: sold(row)?,
            })
        })
        .collect()
}
