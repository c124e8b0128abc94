//! The business date of this store.

use chrono::NaiveTime;
use chrono_tz::Tz;
use tillkeep_model::instant::{Instant, business_date};
use tillkeep_storage::entity::store;

/// The business date at `now`, `YYYY-MM-DD`: the store's own calendar, which changes at its `businessDayStart`.
pub fn today(store: &store::Model, now: Instant) -> String {
    // A setting that cannot be read must not stop a shop from selling.
    let timezone: Tz = store.timezone.parse().unwrap_or(Tz::UTC);
    let start = NaiveTime::parse_from_str(&store.business_day_start, "%H:%M").unwrap_or_default();
    business_date(now, timezone, start).to_string()
}
