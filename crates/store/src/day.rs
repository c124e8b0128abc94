//! The calendar and the clock of this store.

use chrono::NaiveDateTime;
use tillkeep_model::calendar::Calendar;
use tillkeep_model::instant::Instant;
use tillkeep_storage::entity::store;

/// The business date at `now`, `YYYY-MM-DD`: the store's own calendar, which changes at its `businessDayStart`.
pub(crate) fn today(store: &store::Model, now: Instant) -> String {
    calendar(store).date(now).to_string()
}

/// What a clock on the wall of the store shows.
pub(crate) fn wall_clock(store: &store::Model, at: Instant) -> NaiveDateTime {
    calendar(store).wall_clock(at)
}

fn calendar(store: &store::Model) -> Calendar {
    Calendar::new(&store.timezone, &store.business_day_start)
}
