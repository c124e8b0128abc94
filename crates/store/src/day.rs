//! The calendar and the clock of this store.

use chrono::{NaiveDateTime, NaiveTime};
use chrono_tz::Tz;
use tillkeep_model::instant::{Instant, business_date};
use tillkeep_storage::entity::store;

/// The business date at `now`, `YYYY-MM-DD`: the store's own calendar, which changes at its `businessDayStart`.
pub fn today(store: &store::Model, now: Instant) -> String {
    let start = NaiveTime::parse_from_str(&store.business_day_start, "%H:%M").unwrap_or_default();
    business_date(now, timezone(store), start).to_string()
}

/// What a clock on the wall of the store shows.
pub fn wall_clock(store: &store::Model, at: Instant) -> NaiveDateTime {
    at.utc().with_timezone(&timezone(store)).naive_local()
}

/// A setting that cannot be read must not stop a shop from selling.
fn timezone(store: &store::Model) -> Tz {
    store.timezone.parse().unwrap_or(Tz::UTC)
}
