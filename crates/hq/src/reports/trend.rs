//! The last days, of each store and of all of them: what lines in a picture are drawn from.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use axum::extract::State;
use chrono::{Days, NaiveDate};
use serde::{Deserialize, Serialize};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::{Answer, Caller, Params};
use tillkeep_model::calendar::Calendar;
use tillkeep_model::permission::code::{ReportsViewGlobal, ReportsViewLocal};
use tillkeep_model::{Instant, Money};
use tillkeep_storage::entity::store;
use tillkeep_storage::reports::figures::Sold;
use tillkeep_storage::reports::trend::{self, StoreDay};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use utoipa::ToSchema;
use uuid::Uuid;

use super::currencies::Currencies;
use crate::Hq;
use crate::replica::Figures;
use crate::scope::OfReports;

/// Days when not said, and at the most.
const USUAL: u64 = 30;
const LONGEST: u64 = 92;

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ReportTrendQuery)]
pub(super) struct Query {
    /// How many; 30 when not said.
    #[schema(minimum = 1, maximum = 92)]
    days: Option<u64>,
    /// Of this store alone.
    store_id: Option<Uuid>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReportTrend)]
pub(super) struct Trend {
    generated_at: Instant,
    /// Business dates, the oldest first. The last one is today where it is furthest, and goes on.
    dates: Vec<String>,
    /// By code: the active stores, and those that sold on one of these days.
    stores: Vec<StoreTrend>,
    /// One of each currency.
    currencies: Vec<CurrencyTrend>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReportStoreTrend)]
struct StoreTrend {
    store_id: Uuid,
    store_code: String,
    store_name: String,
    currency_code: String,
    currency_exponent: i16,
    /// With tax, less what was given back, one for each date.
    totals: Vec<Money>,
    /// Sales, one for each date.
    tickets: Vec<i64>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReportCurrencyTrend)]
struct CurrencyTrend {
    currency_code: String,
    currency_exponent: i16,
    /// One for each date.
    days: Vec<Sold>,
}

/// `GET /reports/trend`
pub(super) async fn trend(
    caller: Caller<(ReportsViewLocal, ReportsViewGlobal)>,
    State(hq): State<Arc<Hq>>,
    Params(query): Params<Query>,
) -> Result<Figures<Answer<Trend>>> {
    let now = caller.now();
    let days = query.days.unwrap_or(USUAL);
    if !(1..=LONGEST).contains(&days) {
        return Err(Error::field("days", format!("must be between 1 and {LONGEST}")));
    }
    let scope = OfReports::of(&caller).narrowed(query.store_id)?;
    let stores = scope
        .cut(store::Entity::find(), store::Column::Id)
        .filter(store::Column::DeletedAt.is_null())
        .order_by_asc(store::Column::Code)
        .all(caller.reader())
        .await?;
    let dates = dates(&stores, days, now);
    let (Some(from), Some(to)) = (dates.first(), dates.last()) else {
        return Err(Error::internal("a trend without a day"));
    };
    let found = hq
        .figures(|conn| {
            let (range, scope) = ((from.as_str(), to.as_str()), &scope);
            async move { trend::days(&conn, range, scope.stores()).await.map_err(Error::from) }
        })
        .await?;
    Ok(found.map(|found, _| Answer(put_together(now, dates, stores, &found))))
}

/// The last business dates, up to that of the store where the day is furthest.
fn dates(stores: &[store::Model], days: u64, now: Instant) -> Vec<String> {
    let today = |store: &store::Model| Calendar::new(&store.timezone, &store.business_day_start).date(now);
    let last: NaiveDate = stores.iter().map(today).max().unwrap_or_else(|| now.utc().date_naive());
    (0..days).rev().filter_map(|ago| last.checked_sub_days(Days::new(ago))).map(|date| date.to_string()).collect()
}

fn put_together(now: Instant, dates: Vec<String>, stores: Vec<store::Model>, found: &[StoreDay]) -> Trend {
    let currencies = Currencies::of(&stores);
    let active = stores.iter().filter(|store| store.is_active).map(|store| store.currency_code.clone());
    let mut all: BTreeMap<String, Vec<Sold>> = active.map(|code| (code, vec![Sold::default(); dates.len()])).collect();
    let mut by_store: HashMap<Uuid, Vec<(usize, &StoreDay)>> = HashMap::new();
    for day in found {
        let Ok(place) = dates.binary_search(&day.business_date) else { continue };
        let days = all.entry(day.currency_code.clone()).or_insert_with(|| vec![Sold::default(); dates.len()]);
        days[place] = days[place].and(day.sold);
        by_store.entry(day.store).or_default().push((place, day));
    }
    let of_store = |store: store::Model| {
        let days = by_store.remove(&store.id).unwrap_or_default();
        of_store(store, &days, dates.len())
    };
    let stores = stores.into_iter().filter_map(of_store).collect();
    let of_currency = |(currency_code, days): (String, Vec<Sold>)| CurrencyTrend {
        currency_exponent: currencies.exponent(&currency_code),
        currency_code,
        days,
    };
    let currencies = all.into_iter().map(of_currency).collect();
    Trend { generated_at: now, stores, currencies, dates }
}

/// One that is closed and sold nothing is not shown. What a store sold in another currency is in the sums of that.
fn of_store(store: store::Model, days: &[(usize, &StoreDay)], length: usize) -> Option<StoreTrend> {
    if !store.is_active && days.is_empty() {
        return None;
    }
    let (mut totals, mut tickets) = (vec![Money::ZERO; length], vec![0; length]);
    for (place, day) in days.iter().filter(|(_, day)| day.currency_code == store.currency_code) {
        totals[*place] = day.sold.total;
        tickets[*place] = day.sold.tickets;
    }
    Some(StoreTrend {
        store_id: store.id,
        store_code: store.code,
        store_name: store.name,
        currency_code: store.currency_code,
        currency_exponent: store.currency_exponent,
        totals,
        tickets,
    })
}
