//! How much cash drawers were over and short, over time. What is over never makes up for what is short, and amounts of two
//! currencies are never added.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::extract::State;
use chrono::{Days, NaiveDate};
use serde::{Deserialize, Serialize};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::{Answer, Caller, Params};
use tillkeep_model::Money;
use tillkeep_model::permission::code::ReportsZReport;
use tillkeep_storage::reports::closed_drawers::{self, By, OverAndShort, Range, Variance};
use utoipa::ToSchema;
use uuid::Uuid;

use super::closed::Named;
use crate::Hq;
use crate::replica::Figures;
use crate::scope::OfReports;

/// Days of one answer at the most.
const LONGEST: u64 = 400;

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = CashVarianceQuery)]
pub(super) struct Query {
    /// The first business date.
    #[schema(format = Date)]
    from: String,
    /// The last one; at most 400 days later.
    #[schema(format = Date)]
    to: String,
    /// Of this store alone.
    store_id: Option<Uuid>,
    /// Of drawers that this person had when they were closed.
    user_id: Option<Uuid>,
    /// `day` when not said. A person is who had the drawer when it was closed.
    group_by: Option<GroupBy>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = CashVarianceGroup)]
enum GroupBy {
    #[default]
    Day,
    Person,
    Store,
}

impl From<GroupBy> for By {
    fn from(group: GroupBy) -> Self {
        match group {
            GroupBy::Day => Self::Day,
            GroupBy::Person => Self::Person,
            GroupBy::Store => Self::Store,
        }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CashVariance)]
pub(super) struct OverTime {
    from: String,
    to: String,
    group_by: GroupBy,
    /// One of each day, person or store and currency: the oldest day first, people by name, stores by code.
    rows: Vec<Row>,
    /// One of each currency.
    totals: Vec<Total>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CashVarianceRow)]
struct Row {
    /// By day.
    business_date: Option<String>,
    /// By person.
    user_id: Option<Uuid>,
    /// Null of a person whom headquarters does not know.
    user_name: Option<String>,
    /// By store.
    store_id: Option<Uuid>,
    store_code: Option<String>,
    #[serde(flatten)]
    of: Total,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CashVarianceSums)]
struct Total {
    currency_code: String,
    currency_exponent: i16,
    /// Drawers that were closed.
    closes: i64,
    /// Those of them that were closed by force: they are in none of the amounts.
    forced: i64,
    /// Those of which the cash was counted.
    counted: i64,
    /// Counted less expected, all together, in minor units.
    variance: Money,
    /// The same without signs: how much drawers were off.
    absolute: Money,
    /// Of the drawers with more than was expected.
    over: Money,
    /// Of those with less; never above zero.
    short: Money,
}

impl Total {
    fn new(currency_code: String, currency_exponent: i16, sums: OverAndShort) -> Self {
        Self {
            currency_code,
            currency_exponent,
            closes: sums.closes,
            forced: sums.forced,
            counted: sums.counted,
            variance: sums.variance(),
            absolute: sums.absolute(),
            over: sums.over,
            short: sums.short,
        }
    }
}

pub(super) fn date(field: &str, text: &str) -> Result<NaiveDate> {
    let date = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().filter(|date| date.to_string() == text);
    date.ok_or_else(|| Error::field(field, "must be a date like 2026-11-20"))
}

fn check(query: &Query) -> Result<()> {
    let (from, to) = (date("from", &query.from)?, date("to", &query.to)?);
    if to < from {
        return Err(Error::field("to", "must not be before from"));
    }
    match from.checked_add_days(Days::new(LONGEST - 1)) {
        Some(last) if to > last => Err(Error::field("to", format!("must be within {LONGEST} days of from"))),
        _ => Ok(()),
    }
}

/// `GET /reports/variance`
pub(super) async fn variance(
    caller: Caller<ReportsZReport>,
    State(hq): State<Arc<Hq>>,
    Params(query): Params<Query>,
) -> Result<Figures<Answer<OverTime>>> {
    check(&query)?;
    let scope = OfReports::of(&caller).narrowed(query.store_id)?;
    let group_by = query.group_by.unwrap_or_default();
    let range = Range { from: &query.from, to: &query.to, stores: scope.stores(), person: query.user_id };
    hq.figures(|conn| async move {
        let found = closed_drawers::variances(&conn, group_by.into(), range).await?;
        let of = |ids: fn(&Variance) -> Option<Uuid>| found.iter().filter_map(ids).collect::<BTreeSet<_>>();
        let names = Named::load(&conn, of(|row| row.store), of(|row| row.person)).await?;
        let totals = totals(&found);
        let mut rows: Vec<Row> = found.into_iter().map(|found| row(found, &names)).collect();
        rows.sort_by(|one, other| named(one).cmp(&named(other)));
        let (from, to) = (range.from.to_owned(), range.to.to_owned());
        Ok(Answer(OverTime { from, to, group_by, rows, totals }))
    })
    .await
}

/// What a row is sorted by.
fn named(row: &Row) -> (Option<&str>, Option<&str>, Option<&str>, Option<Uuid>, &str) {
    let (store, user) = (row.store_code.as_deref(), row.user_name.as_deref());
    (row.business_date.as_deref(), store, user, row.user_id, &row.of.currency_code)
}

fn row(found: Variance, names: &Named) -> Row {
    Row {
        business_date: found.business_date,
        user_id: found.person,
        user_name: found.person.and_then(|id| names.person(id)),
        store_id: found.store,
        store_code: found.store.map(|id| names.store_code(id)),
        of: Total::new(found.currency_code, found.currency_exponent, found.sums),
    }
}

fn totals(rows: &[Variance]) -> Vec<Total> {
    let mut totals: BTreeMap<(&str, i16), OverAndShort> = BTreeMap::new();
    for row in rows {
        let sums = totals.entry((&row.currency_code, row.currency_exponent)).or_default();
        *sums = sums.and(row.sums);
    }
    totals.into_iter().map(|((code, exponent), sums)| Total::new(code.to_owned(), exponent, sums)).collect()
}
