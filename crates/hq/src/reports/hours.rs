//! A day by the hours of the clocks on the walls of its stores, beside the same weekday a week before, and the average of four.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use chrono::{Days, NaiveDate, NaiveDateTime, Timelike};
use serde::{Deserialize, Serialize};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::{Answer, Caller, Params};
use tillkeep_model::calendar::Calendar;
use tillkeep_model::permission::code::{ReportsViewGlobal, ReportsViewLocal};
use tillkeep_model::{Instant, Money};
use tillkeep_storage::entity::store;
use tillkeep_storage::reports::figures::Sold;
use tillkeep_storage::reports::trend::{self, Day, Minute};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use utoipa::ToSchema;
use uuid::Uuid;

use super::currencies::Currencies;
use super::variance::date;
use crate::Hq;
use crate::replica::Figures;
use crate::scope::OfReports;

/// Weeks before the day that the average is of.
const WEEKS: u8 = 4;
/// The day itself, and those.
const DAYS: usize = 5;
const HOURS: usize = 24;

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ReportHoursQuery)]
pub(super) struct Query {
    /// That business date in place of each store's own today.
    #[schema(value_type = Option<String>, format = Date)]
    date: Option<String>,
    /// Of this store alone.
    store_id: Option<Uuid>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReportHours)]
pub(super) struct Hours {
    generated_at: Instant,
    /// Null when it is not the same date in all of the stores.
    business_date: Option<String>,
    /// One of each currency that the stores sell in.
    currencies: Vec<CurrencyHours>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReportCurrencyHours)]
struct CurrencyHours {
    currency_code: String,
    currency_exponent: i16,
    /// Of the four weeks before: those in which anything was sold on that day. The average is of them.
    averaged_weeks: u8,
    /// All 24, from the one in which the business day of the first store begins.
    hours: Vec<OfHour>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReportHour)]
struct OfHour {
    /// Of the clock on the wall of each store, 0 to 23. One that was there twice has both.
    hour: usize,
    day: Sold,
    /// The same weekday a week before, whole.
    week_before: Sold,
    /// Of the weeks before.
    average: Sold,
}

/// What was sold in each hour, by how many weeks ago.
type ByHour = [[Sold; DAYS]; HOURS];

/// `GET /reports/hours`
pub(super) async fn hours(
    caller: Caller<(ReportsViewLocal, ReportsViewGlobal)>,
    State(hq): State<Arc<Hq>>,
    Params(query): Params<Query>,
) -> Result<Figures<Answer<Hours>>> {
    let now = caller.now();
    let wanted = query.date.as_deref().map(|text| date("date", text)).transpose()?;
    let scope = OfReports::of(&caller).narrowed(query.store_id)?;
    let stores = scope
        .cut(store::Entity::find(), store::Column::Id)
        .filter(store::Column::DeletedAt.is_null())
        .order_by_asc(store::Column::Code)
        .all(caller.reader())
        .await?;
    let days = days(&stores, wanted, now);
    let found = hq
        .figures(|conn| {
            let (days, scope) = (&days, &scope);
            async move { trend::minutes(&conn, days, scope.stores()).await.map_err(Error::from) }
        })
        .await?;
    Ok(found.map(|minutes, _| {
        Answer(Hours {
            generated_at: now,
            business_date: common_date(&days),
            currencies: by_currency(&stores, &minutes),
        })
    }))
}

/// The day and the same weekday of the weeks before, of each calendar that one of `stores` keeps.
fn days(stores: &[store::Model], wanted: Option<NaiveDate>, now: Instant) -> Vec<Day> {
    let calendars: BTreeMap<(&str, &str), Calendar> = stores
        .iter()
        .map(|store| (store.timezone.as_str(), store.business_day_start.as_str()))
        .map(|(timezone, start)| ((timezone, start), Calendar::new(timezone, start)))
        .collect();
    let of_calendar = |((timezone, start), calendar): ((&str, &str), Calendar)| {
        let date = wanted.unwrap_or_else(|| calendar.date(now));
        let (timezone, start) = (timezone.to_owned(), start.to_owned());
        (0..=WEEKS).map(move |weeks_ago| Day {
            timezone: timezone.clone(),
            business_day_start: start.clone(),
            date: date.checked_sub_days(Days::new(7 * u64::from(weeks_ago))).unwrap_or(date).to_string(),
            weeks_ago,
        })
    };
    calendars.into_iter().flat_map(of_calendar).collect()
}

fn common_date(days: &[Day]) -> Option<String> {
    let mut dates = days.iter().filter(|day| day.weeks_ago == 0).map(|day| &day.date);
    let first = dates.next()?;
    dates.all(|date| date == first).then(|| first.clone())
}

fn by_currency(stores: &[store::Model], minutes: &[Minute]) -> Vec<CurrencyHours> {
    let currencies = Currencies::of(stores);
    let active = stores.iter().filter(|store| store.is_active);
    let mut sold: BTreeMap<&str, ByHour> =
        active.map(|store| (store.currency_code.as_str(), ByHour::default())).collect();
    for minute in minutes {
        let Some(hour) = hour_of(minute) else { continue };
        let hours = sold.entry(&minute.currency_code).or_default();
        if let Some(sum) = hours.get_mut(hour).and_then(|weeks| weeks.get_mut(usize::from(minute.weeks_ago))) {
            *sum = sum.and(minute.sold);
        }
    }
    let first = first_hour(stores);
    let shown = |(code, hours): (&str, ByHour)| of_currency(code, currencies.exponent(code), &hours, first);
    sold.into_iter().map(shown).collect()
}

/// The hour that the clock on the wall showed.
fn hour_of(minute: &Minute) -> Option<usize> {
    let at = NaiveDateTime::parse_from_str(&minute.at, "%Y-%m-%d %H:%M").ok()?.and_utc();
    let local = Calendar::new(&minute.timezone, "00:00").wall_clock(at.into());
    usize::try_from(local.hour()).ok()
}

/// The hour in which the first of the business days begins.
fn first_hour(stores: &[store::Model]) -> usize {
    let starts = stores.iter().filter_map(|store| store.business_day_start.split_once(':')?.0.parse::<usize>().ok());
    starts.filter(|hour| *hour < HOURS).min().unwrap_or_default()
}

fn of_currency(code: &str, exponent: i16, hours: &ByHour, first: usize) -> CurrencyHours {
    let has_sold = |week: &usize| hours.iter().any(|weeks| weeks[*week] != Sold::default());
    let weeks: Vec<usize> = (1..DAYS).filter(has_sold).collect();
    let hour = |hour: usize| {
        let [day, week_before, ..] = hours[hour];
        let sum = weeks.iter().fold(Sold::default(), |sum, week| sum.and(hours[hour][*week]));
        OfHour { hour, day, week_before, average: average(sum, weeks.len()) }
    };
    CurrencyHours {
        currency_code: code.to_owned(),
        currency_exponent: exponent,
        averaged_weeks: u8::try_from(weeks.len()).unwrap_or(WEEKS),
        hours: (first..first + HOURS).map(|place| hour(place % HOURS)).collect(),
    }
}

/// One of so many parts, each figure rounded half away from zero.
fn average(sum: Sold, weeks: usize) -> Sold {
    let weeks = i128::try_from(weeks).unwrap_or(1).max(1);
    let part = |figure: i64| {
        let (figure, half) = (i128::from(figure), weeks / 2);
        Money::from_wide((if figure < 0 { figure - half } else { figure + half }) / weeks)
    };
    Sold {
        tickets: part(sum.tickets).0,
        refunds: part(sum.refunds).0,
        net: part(sum.net.0),
        tax: part(sum.tax.0),
        total: part(sum.total.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_average_is_rounded_half_away_from_zero_and_of_nothing_nothing() {
        let of = |total| Sold { tickets: 3, total: Money(total), ..Sold::default() };
        assert_eq!(average(of(5), 2), Sold { tickets: 2, total: Money(3), ..Sold::default() });
        assert_eq!(average(of(-5), 2).total, Money(-3));
        assert_eq!(average(of(7), 4).total, Money(2));
        assert_eq!(average(Sold::default(), 0), Sold::default());
    }

    #[test]
    fn an_hour_is_that_of_the_clock_on_the_wall() {
        let hour = |timezone: &str, at: &str| {
            let (timezone, at, currency_code) = (timezone.to_owned(), at.to_owned(), String::new());
            hour_of(&Minute { timezone, weeks_ago: 0, currency_code, at, sold: Sold::default() })
        };
        assert_eq!(hour("Asia/Kathmandu", "2026-11-20 04:10"), Some(9), "a quarter to six hours ahead");
        assert_eq!(hour("Asia/Kathmandu", "2026-11-20 04:15"), Some(10));
        // The clock was put back in between.
        assert_eq!(hour("Europe/Berlin", "2026-10-25 00:30"), Some(2));
        assert_eq!(hour("Europe/Berlin", "2026-10-25 01:30"), Some(2));
        assert_eq!(hour("UTC", "soon"), None);
    }
}
