//! The calendar and the clock of this store.

use tillkeep_model::calendar::Calendar;
use tillkeep_model::instant::Instant;
use tillkeep_storage::entity::store;

/// The business date at `now`, `YYYY-MM-DD`: the store's own calendar, which changes at its `businessDayStart`.
pub(crate) fn today(store: &store::Model, now: Instant) -> String {
    calendar(store).date(now).to_string()
}

fn calendar(store: &store::Model) -> Calendar {
    Calendar::new(&store.timezone, &store.business_day_start)
}
