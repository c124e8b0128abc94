//! `GET /sync/history`: how many entries of a store were taken and failed over time, ready to be drawn.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::{Answer, Caller, Params};
use tillkeep_model::Instant;
use tillkeep_model::permission::code::StoresView;
use tillkeep_storage::entity::store;
use tillkeep_storage::reports::history::{self, By};
use tillkeep_storage::sea_orm::EntityTrait;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::Hq;
use crate::replica::Figures;

/// How much is answered when the request does not say from when.
const HOURS: i64 = 48;
const DAYS: i64 = 30;

/// Days of one answer at the most: hours of two weeks, or the days of a quarter.
const DAYS_OF_HOURS: i64 = 14;
const DAYS_OF_DAYS: i64 = 92;

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = HistoryQuery)]
pub(super) struct Query {
    #[schema(required, value_type = Uuid)]
    store_id: Option<String>,
    /// A point each hour, which it is when not said, or each UTC day.
    #[schema(value_type = Option<Every>)]
    by: Option<String>,
    /// Begins with the hour or day of this instant; 48 hours or 30 days before `to` when not said.
    #[schema(value_type = Option<String>, format = DateTime)]
    from: Option<String>,
    /// Ends before this instant, which is now when not said; at most 14 days (by hour) or 92 days after `from`.
    #[schema(value_type = Option<String>, format = DateTime)]
    to: Option<String>,
}

#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = HistoryBy)]
pub(super) enum Every {
    Hour,
    Day,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct History {
    store_id: Uuid,
    by: Every,
    /// When the first point begins.
    from: Instant,
    /// When the last point ends; it may be cut short.
    to: Instant,
    /// By rising time and without a gap.
    points: Vec<Point>,
}

/// Entries that headquarters first saw in one hour or day; each counts as `taken`, `settled` or `failed`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = HistoryPoint)]
pub(super) struct Point {
    /// When the hour or day begins.
    at: Instant,
    taken: i64,
    /// Of those taken: with something that an operator should look at.
    warnings: i64,
    /// Of those taken: sales.
    sales: i64,
    /// Refused at first; taken at another try or settled by hand since then.
    settled: i64,
    /// Refused until now.
    failed: i64,
}

pub(super) async fn history(
    caller: Caller<StoresView>,
    State(hq): State<Arc<Hq>>,
    Params(query): Params<Query>,
) -> Result<Figures<Answer<History>>> {
    let store_id = query.store_id.as_deref().and_then(|id| Uuid::parse_str(id).ok());
    let store_id = store_id.ok_or_else(|| Error::field("storeId", "must be the id of a store"))?;
    let (every, by) = match query.by.as_deref() {
        None | Some("hour") => (Every::Hour, By::Hour),
        Some("day") => (Every::Day, By::Day),
        Some(_) => return Err(Error::field("by", "must be hour or day")),
    };
    let (from, to) = span(&query, by, hq.clock.now())?;
    caller.at_store(store_id)?;
    store::Entity::find_by_id(store_id).one(caller.reader()).await?.ok_or_else(|| Error::not_found("store"))?;
    hq.figures(|conn| async move {
        let counts = history::counts(&conn, store_id, by, from, to).await?;
        Ok(Answer(History { store_id, by: every, from, to, points: points(&counts, by, from, to) }))
    })
    .await
}

/// The counts in their order, with zeros where there is nothing.
fn points(counts: &HashMap<String, history::Counts>, by: By, from: Instant, to: Instant) -> Vec<Point> {
    let starts = std::iter::successors(Some(from), |at| Some(at.plus_millis(by.millis())));
    let point = |at: Instant| {
        let counted = counts.get(&by.name(at)).copied().unwrap_or_default();
        let history::Counts { taken, warnings, sales, settled, failed } = counted;
        Point { at, taken, warnings, sales, settled, failed }
    };
    starts.take_while(|at| *at < to).map(point).collect()
}

/// From when until when: whole hours or days, but for the last one.
fn span(query: &Query, by: By, now: Instant) -> Result<(Instant, Instant)> {
    let read = |field: &'static str, text: &Option<String>| {
        let read = |text: &String| {
            Instant::parse(text).ok_or_else(|| Error::field(field, "must be an instant like 2026-11-20T12:34:56.789Z"))
        };
        text.as_ref().map(read).transpose()
    };
    let (usual, days) = match by {
        By::Hour => (HOURS, DAYS_OF_HOURS),
        By::Day => (DAYS, DAYS_OF_DAYS),
    };
    let to = read("to", &query.to)?.unwrap_or(now);
    let Some(from) = read("from", &query.from)? else {
        // The point that `to` ends in counts as one of them.
        return Ok((by.floor(to.plus_millis(-1)).plus_millis((1 - usual) * by.millis()), to));
    };
    // Of what was asked for, which may be one point more where it begins and ends within one.
    let millis = to.millis_since(from);
    if millis > 0 && millis <= days * By::Day.millis() {
        return Ok((by.floor(from), to));
    }
    // Who did not say `to` cannot have said it wrongly.
    Err(match query.to {
        Some(_) => Error::field("to", format!("must be after from, and at most {days} days later")),
        None => Error::field("from", format!("must be in the past, and at most {days} days ago")),
    })
}
