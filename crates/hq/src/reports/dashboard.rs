//! Today by store, each by its own calendar, beside the same weekday a week before up to the same hour of its clock.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use axum::extract::State;
use chrono::{Days, NaiveDate};
use serde::{Deserialize, Serialize};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::{Answer, Caller, Params};
use tillkeep_model::Instant;
use tillkeep_model::calendar::Calendar;
use tillkeep_storage::Connection;
use tillkeep_storage::entity::{store, store_node};
use tillkeep_storage::reports::figures::{self, Day, Sold};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::Hq;
use crate::replica::Figures;
use crate::scope::{Views, in_scope};
use crate::sync::freshness::Freshness;

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ReportDashboardQuery)]
pub(super) struct Query {
    /// That day in place of each store's own today.
    #[schema(value_type = Option<String>, format = Date)]
    business_date: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReportDashboard)]
pub(super) struct Dashboard {
    generated_at: Instant,
    /// By code: the active stores, and those that sold on one of the two days.
    stores: Vec<StoreToday>,
    /// A line for each currency.
    totals: Vec<CurrencyToday>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct StoreToday {
    store_id: Uuid,
    store_code: String,
    store_name: String,
    currency_code: String,
    currency_exponent: i16,
    /// By its own calendar.
    business_date: String,
    today: Sold,
    /// The same weekday a week before; of a day that goes on, up to the same hour of its clock.
    week_before: Sold,
    /// Drawers that are open now.
    open_drawers: i64,
    /// Up to when everything that it sold is in these figures, but for what is dead; null when it was never heard of.
    figures_up_to: Option<Instant>,
    connected: bool,
    last_heard_at: Option<Instant>,
    last_success_at: Option<Instant>,
    /// What waits in its outbox, by its last word.
    pending_count: i64,
    dead_lettered: i64,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CurrencyToday {
    currency_code: String,
    currency_exponent: i16,
    today: Sold,
    week_before: Sold,
}

/// What the database has, of every store.
struct Read {
    sold: BTreeMap<(Uuid, String), Sold>,
    open_drawers: HashMap<Uuid, i64>,
    last_successes: HashMap<Uuid, Option<Instant>>,
}

impl Read {
    async fn load(conn: &Connection, days: &[Day]) -> Result<Self> {
        Ok(Self {
            sold: figures::sold(conn, days).await?,
            open_drawers: figures::open_drawers(conn).await?,
            last_successes: figures::last_successes(conn).await?,
        })
    }

    fn sold(&self, store_id: Uuid, date: NaiveDate) -> Sold {
        self.sold.get(&(store_id, date.to_string())).copied().unwrap_or_default()
    }
}

/// `GET /reports/dashboard`
pub(super) async fn dashboard(
    caller: Caller<Views>,
    State(hq): State<Arc<Hq>>,
    Params(query): Params<Query>,
) -> Result<Figures<Answer<Dashboard>>> {
    let now = caller.now();
    let wanted = query.business_date.as_deref().map(|text| {
        let date = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().filter(|date| date.to_string() == text);
        date.ok_or_else(|| Error::field("businessDate", "must be a date like 2026-11-20"))
    });
    let wanted = wanted.transpose()?;
    let conn = caller.snapshot().await?;
    let stores = in_scope(&caller, store::Entity::find(), store::Column::Id)
        .filter(store::Column::DeletedAt.is_null())
        .order_by_asc(store::Column::Code)
        .all(&conn)
        .await?;
    let nodes = store_node::Entity::find().all(&conn).await?;
    drop(conn);
    let nodes: HashMap<Uuid, store_node::Model> = nodes.into_iter().map(|node| (node.store_id, node)).collect();
    let days = days(&stores, wanted, now);
    let read = hq
        .figures(|conn| {
            let days = &days;
            async move { Read::load(&conn, days).await }
        })
        .await?;
    Ok(read.map(|read, up_to| {
        let shown = |store: store::Model| {
            let node = nodes.get(&store.id).cloned().unwrap_or_default();
            let freshness = Freshness::new(&hq, store.id, &node);
            of_store(store, &read, &freshness, wanted, (now, up_to))
        };
        let stores: Vec<StoreToday> = stores.into_iter().filter_map(shown).collect();
        Answer(Dashboard { generated_at: now, totals: totals(&stores), stores })
    }))
}

fn calendar(store: &store::Model) -> Calendar {
    Calendar::new(&store.timezone, &store.business_day_start)
}

fn week_before(date: NaiveDate) -> NaiveDate {
    date.checked_sub_days(Days::new(7)).unwrap_or(date)
}

/// The two days of each calendar that one of `stores` keeps.
fn days(stores: &[store::Model], wanted: Option<NaiveDate>, now: Instant) -> Vec<Day> {
    let calendars: BTreeMap<(&str, &str), Calendar> = stores
        .iter()
        .map(|store| ((store.timezone.as_str(), store.business_day_start.as_str()), calendar(store)))
        .collect();
    let both = calendars.into_iter().flat_map(|((timezone, start), calendar)| {
        let today = calendar.date(now);
        let date = wanted.unwrap_or(today);
        // A day that is over is compared whole.
        let until = (date == today).then(|| calendar.week_before(now));
        [(date, None), (week_before(date), until)].map(|(date, until)| Day {
            timezone: timezone.to_owned(),
            business_day_start: start.to_owned(),
            date: date.to_string(),
            until,
        })
    });
    both.collect()
}

/// A store in the figures, if it belongs there; `up_to` is when the replica stands that gave them, unless that is now.
fn of_store(
    store: store::Model,
    read: &Read,
    freshness: &Freshness,
    wanted: Option<NaiveDate>,
    (now, up_to): (Instant, Option<Instant>),
) -> Option<StoreToday> {
    let date = wanted.unwrap_or_else(|| calendar(&store).date(now));
    let (today, before) = (read.sold(store.id, date), read.sold(store.id, week_before(date)));
    if !store.is_active && today == Sold::default() && before == Sold::default() {
        return None;
    }
    Some(StoreToday {
        store_id: store.id,
        store_code: store.code,
        store_name: store.name,
        currency_code: store.currency_code,
        currency_exponent: store.currency_exponent,
        business_date: date.to_string(),
        today,
        week_before: before,
        open_drawers: read.open_drawers.get(&store.id).copied().unwrap_or_default(),
        figures_up_to: freshness.figures_up_to.map(|at| up_to.map_or(at, |up_to| up_to.min(at))),
        connected: freshness.connected,
        last_heard_at: freshness.last_heard_at,
        last_success_at: read.last_successes.get(&store.id).copied().flatten(),
        pending_count: freshness.pending,
        dead_lettered: freshness.dead_lettered,
    })
}

fn totals(stores: &[StoreToday]) -> Vec<CurrencyToday> {
    let mut totals: BTreeMap<&str, CurrencyToday> = BTreeMap::new();
    for store in stores {
        let total = totals.entry(&store.currency_code).or_insert_with(|| CurrencyToday {
            currency_code: store.currency_code.clone(),
            currency_exponent: store.currency_exponent,
            today: Sold::default(),
            week_before: Sold::default(),
        });
        total.today = total.today.and(store.today);
        total.week_before = total.week_before.and(store.week_before);
    }
    totals.into_values().collect()
}
