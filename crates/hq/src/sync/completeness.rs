//! `GET /sync/completeness`: what HQ has of a store's business days, and what is missing. `docs/sync.md`, rule U13.

use std::sync::Arc;

use axum::extract::State;
use chrono::NaiveDate;
use serde::{Deserialize, Serialize};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::{Answer, Caller, Params};
use tillkeep_model::calendar::Calendar;
use tillkeep_model::permission::code::StoresView;
use tillkeep_storage::completeness::{self, Day, Outbox, Reported, StoreContact, Verdict};
use tillkeep_storage::entity::store;
use tillkeep_storage::nodes;
use tillkeep_storage::sea_orm::EntityTrait;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::Hq;

/// Days of one answer at the most: a quarter.
const DAYS: i64 = 92;

/// `storeId` with `date`, or with `from` and `to`.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = CompletenessQuery)]
pub(super) struct Query {
    #[schema(required, value_type = Uuid)]
    store_id: Option<String>,
    /// One business day, with its registers.
    #[schema(value_type = Option<String>, format = Date)]
    date: Option<String>,
    /// The first of several days, a line each.
    #[schema(value_type = Option<String>, format = Date)]
    from: Option<String>,
    /// The last of them; 92 days at the most.
    #[schema(value_type = Option<String>, format = Date)]
    to: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Completeness {
    store_id: Uuid,
    store_code: String,
    /// The worst of the days and the outbox.
    verdict: Verdict,
    outbox: Outbox,
    days: Vec<Day>,
}

pub(super) async fn completeness(
    caller: Caller<StoresView>,
    State(hq): State<Arc<Hq>>,
    Params(query): Params<Query>,
) -> Result<Answer<Completeness>> {
    let store_id = query.store_id.as_deref().and_then(|id| Uuid::parse_str(id).ok());
    let store_id = store_id.ok_or_else(|| Error::field("storeId", "must be the id of a store"))?;
    let (dates, single) = dates(&query)?;
    caller.at_store(store_id)?;
    let conn = caller.snapshot().await?;
    let store = store::Entity::find_by_id(store_id).one(&conn).await?.ok_or_else(|| Error::not_found("store"))?;
    let node = nodes::find(&conn, store_id).await?.unwrap_or_default();
    let heard = hq.tracker.heard(store_id, &node, hq.nodes.id);
    let waiting = heard.said.map(|(_, said)| said.outbox).unwrap_or_default();
    let reported = Reported {
        pending: waiting.pending,
        dead_lettered: waiting.dead_lettered,
        node_epoch: node.node_epoch,
        last_seq: node.last_seq,
    };
    let outbox = completeness::outbox(&conn, store_id, &reported).await?;
    let last_seen = heard.at.map(|at| at.utc().date_naive().to_string());
    let calendar = Calendar::new(&store.timezone, &store.business_day_start);
    let first_seen = store.first_seen_at.map(|at| calendar.date(at).to_string());
    let known = StoreContact {
        pending: reported.pending > 0,
        first_seen: first_seen.as_deref(),
        last_seen: last_seen.as_deref(),
    };
    let mut days = completeness::days(&conn, store_id, &dates, known).await?;
    for day in &mut days {
        if !single {
            day.registers = None;
        }
    }
    let of_days = days.iter().map(|day| day.verdict).fold(Verdict::BeforeFirstStart, worse);
    // That of an outbox from which nothing is missing says nothing more.
    let verdict = if outbox.verdict == Verdict::Complete { of_days } else { worse(of_days, outbox.verdict) };
    Ok(Answer(Completeness { store_id, store_code: store.code, verdict, outbox, days }))
}

fn worse(one: Verdict, other: Verdict) -> Verdict {
    let rank = |verdict| match verdict {
        Verdict::BeforeFirstStart => 0,
        Verdict::Complete => 1,
        Verdict::Open => 2,
        Verdict::Incomplete => 3,
    };
    if rank(other) > rank(one) { other } else { one }
}

/// The days that are asked for, rising, and whether it is the single one of `date`.
fn dates(query: &Query) -> Result<(Vec<String>, bool)> {
    let read = |field: &'static str, text: &str| {
        let well_formed = text.len() == 10;
        let date = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().filter(|_| well_formed);
        date.ok_or_else(|| Error::field(field, "must be a date like 2026-11-20"))
    };
    match (query.date.as_deref(), query.from.as_deref(), query.to.as_deref()) {
        (Some(date), None, None) => Ok((vec![read("date", date)?.to_string()], true)),
        (None, Some(from), Some(to)) => {
            let (from, to) = (read("from", from)?, read("to", to)?);
            let count = (to - from).num_days() + 1;
            if !(1..=DAYS).contains(&count) {
                return Err(Error::field("to", format!("must be from 0 to {} days after from", DAYS - 1)));
            }
            Ok((from.iter_days().take_while(|day| *day <= to).map(|day| day.to_string()).collect(), false))
        }
        _ => Err(Error::field("date", "send date, or from and to")),
    }
}
