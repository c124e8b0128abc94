//! What sells best, by amount or by quantity. What it costs is in none of it: that is another report.

use std::sync::Arc;

use axum::extract::State;
use chrono::Days;
use serde::{Deserialize, Serialize};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::{Answer, Caller, Params};
use tillkeep_model::permission::code::ReportsProductPerformance;
use tillkeep_model::{Money, Qty};
use tillkeep_storage::reports::best_sellers::{self as best, BestSeller, Range};
use utoipa::ToSchema;
use uuid::Uuid;

use super::currencies::Currencies;
use super::variance::date;
use crate::Hq;
use crate::replica::Figures;
use crate::scope::OfReports;

/// Days of one answer at the most: it goes through every line that was sold on them.
const LONGEST: u64 = 92;
/// Products of each currency when not said, and at the most.
const USUAL: u8 = 10;
const MOST: u8 = 100;

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = BestSellersQuery)]
pub(super) struct Query {
    /// The first business date.
    #[schema(format = Date)]
    from: String,
    /// The last one; at most 92 days later.
    #[schema(format = Date)]
    to: String,
    /// Of this store alone.
    store_id: Option<Uuid>,
    /// Products of each currency; 10 when not said.
    #[schema(minimum = 1, maximum = 100)]
    limit: Option<u8>,
    /// `amount` when not said: net amounts.
    by: Option<By>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = BestSellersMeasure)]
enum By {
    #[default]
    Amount,
    Quantity,
}

impl From<By> for best::By {
    fn from(by: By) -> Self {
        match by {
            By::Amount => Self::Amount,
            By::Quantity => Self::Quantity,
        }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BestSellers)]
pub(super) struct Best {
    from: String,
    to: String,
    by: By,
    /// By currency, the best first.
    rows: Vec<Row>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BestSeller)]
struct Row {
    currency_code: String,
    currency_exponent: i16,
    product_id: Uuid,
    /// As the product is called now, or was when it was sold, where headquarters does not have it.
    sku: String,
    name: String,
    unit_of_measure: String,
    /// Lines of sales with it.
    line_count: i64,
    /// Sold, less what came back.
    quantity: Qty,
    /// Without tax, after every discount, less what was given back.
    net_amount: Money,
    total_amount: Money,
}

impl Row {
    fn new(found: BestSeller, currencies: &Currencies) -> Self {
        Self {
            currency_exponent: currencies.exponent(&found.currency_code),
            currency_code: found.currency_code,
            product_id: found.product,
            sku: found.sku,
            name: found.name,
            unit_of_measure: found.unit_of_measure,
            line_count: found.lines,
            quantity: found.quantity,
            net_amount: found.net,
            total_amount: found.total,
        }
    }
}

/// How many are asked for.
fn check(query: &Query) -> Result<u8> {
    let (from, to) = (date("from", &query.from)?, date("to", &query.to)?);
    if to < from {
        return Err(Error::field("to", "must not be before from"));
    }
    if from.checked_add_days(Days::new(LONGEST - 1)).is_some_and(|last| to > last) {
        return Err(Error::field("to", format!("must be within {LONGEST} days of from")));
    }
    let limit = query.limit.unwrap_or(USUAL);
    if !(1..=MOST).contains(&limit) {
        return Err(Error::field("limit", format!("must be between 1 and {MOST}")));
    }
    Ok(limit)
}

/// `GET /reports/best-sellers`
pub(super) async fn best_sellers(
    caller: Caller<ReportsProductPerformance>,
    State(hq): State<Arc<Hq>>,
    Params(query): Params<Query>,
) -> Result<Figures<Answer<Best>>> {
    let limit = check(&query)?;
    let scope = OfReports::of(&caller).narrowed(query.store_id)?;
    let by = query.by.unwrap_or_default();
    let range = Range { from: &query.from, to: &query.to, stores: scope.stores() };
    hq.figures(|conn| async move {
        let found = best::best(&conn, by.into(), range, limit).await?;
        let currencies = Currencies::load(&conn).await?;
        let rows = found.into_iter().map(|found| Row::new(found, &currencies)).collect();
        Ok(Answer(Best { from: range.from.to_owned(), to: range.to.to_owned(), by, rows }))
    })
    .await
}
