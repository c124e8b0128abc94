//! What stores sold on their business days, added up over all stores in one statement. Voided sales count in nothing; a refund
//! counts on its own day, and what it refunds stays a sale.

use std::collections::{BTreeMap, HashMap};

use sea_orm::{ConnectionTrait, DbErr, Value};
use serde::Serialize;
use tillkeep_model::state::{SaleStatus, SessionStatus};
use tillkeep_model::words::SaleType;
use tillkeep_model::{Instant, Money};
use utoipa::ToSchema;
use uuid::Uuid;

use super::sums::{amount, counted, summed};
use crate::db::query;

/// What was sold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = SoldFigures)]
pub struct Sold {
    /// Sales, voided ones apart. What a customer pays of what is owed is none.
    pub tickets: i64,
    /// Documents that give money back.
    pub refunds: i64,
    /// Without tax, after every discount, less what was given back. In minor units, as are the others.
    pub net: Money,
    pub tax: Money,
    pub total: Money,
}

impl Sold {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let both = |one: Money, other: Money| Money::from_wide(i128::from(one.0) + i128::from(other.0));
        Self {
            tickets: self.tickets.saturating_add(other.tickets),
            refunds: self.refunds.saturating_add(other.refunds),
            net: both(self.net, other.net),
            tax: both(self.tax, other.tax),
            total: both(self.total, other.total),
        }
    }
}

/// A business day of the stores that keep one calendar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Day {
    /// The settings of those stores, as they have them.
    pub timezone: String,
    pub business_day_start: String,
    pub date: String,
    /// Only what was sold before then.
    pub until: Option<Instant>,
}

/// What each store sold on the day of its calendar, by store and date. No two of `days` have the same calendar and date.
pub async fn sold(conn: &impl ConnectionTrait, days: &[Day]) -> Result<BTreeMap<(Uuid, String), Sold>, DbErr> {
    if days.is_empty() {
        return Ok(BTreeMap::new());
    }
    let (mut tuples, mut values) = (Vec::new(), Vec::<Value>::new());
    for day in days {
        let first = values.len() + 1;
        tuples.push(format!("(${first}, ${}, ${}, ${})", first + 1, first + 2, first + 3));
        values.extend([
            day.timezone.as_str().into(),
            day.business_day_start.as_str().into(),
            day.date.as_str().into(),
            Value::from(day.until),
        ]);
    }
    let (voided, refund, settlement) = (values.len() + 1, values.len() + 2, values.len() + 3);
    values.extend([
        SaleStatus::Voided.word().into(),
        SaleType::Refund.word().into(),
        SaleType::Settlement.word().into(),
    ]);
    let sql = format!(
        "WITH days (timezone, day_start, day, until) AS (VALUES {}) \
         SELECT s.store_id, s.business_date, {} AS tickets, {} AS refunds, {}, {}, {} \
         FROM days d JOIN stores st ON st.timezone = d.timezone AND st.business_day_start = d.day_start \
         JOIN sales s ON s.business_date = d.day AND s.store_id = st.id \
         WHERE s.status <> ${voided} AND (d.until IS NULL OR s.completed_at < d.until) \
         GROUP BY s.store_id, s.business_date",
        tuples.join(", "),
        counted(&format!("s.sale_type NOT IN (${refund}, ${settlement})")),
        counted(&format!("s.sale_type = ${refund}")),
        summed("net_amount", "TRUE"),
        summed("tax_amount", "TRUE"),
        summed("total_amount", "TRUE"),
    );
    let rows = query(conn, &sql, values).await?;
    rows.iter()
        .map(|row| {
            let sold = Sold {
                tickets: row.try_get("", "tickets")?,
                refunds: row.try_get("", "refunds")?,
                net: amount(row, "net_amount")?,
                tax: amount(row, "tax_amount")?,
                total: amount(row, "total_amount")?,
            };
            Ok(((row.try_get("", "store_id")?, row.try_get("", "business_date")?), sold))
        })
        .collect()
}

/// How many drawers of each store are open.
pub async fn open_drawers(conn: &impl ConnectionTrait) -> Result<HashMap<Uuid, i64>, DbErr> {
    let sql = "SELECT store_id, COUNT(*) AS open FROM register_sessions WHERE status <> $1 GROUP BY store_id";
    let rows = query(conn, sql, [SessionStatus::Closed.word().into()]).await?;
    rows.iter().map(|row| Ok((row.try_get("", "store_id")?, row.try_get("", "open")?))).collect()
}

/// When something of each store last succeeded.
pub async fn last_successes(conn: &impl ConnectionTrait) -> Result<HashMap<Uuid, Option<Instant>>, DbErr> {
    let sql = "SELECT store_id, MAX(last_success_at) AS at FROM sync_status GROUP BY store_id";
    let rows = query(conn, sql, []).await?;
    rows.iter().map(|row| Ok((row.try_get("", "store_id")?, row.try_get("", "at")?))).collect()
}
