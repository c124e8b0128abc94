//! Values as nullable columns keep them.

use chrono::{NaiveDate, TimeDelta};

/// The date `days` after `anchor_date` (before it when negative), as the tables keep dates.
pub(super) fn date(anchor_date: NaiveDate, days: i64) -> Option<String> {
    Some(anchor_date.checked_add_signed(TimeDelta::days(days))?.to_string())
}

/// An owned text for a nullable column.
#[expect(clippy::unnecessary_wraps, reason = "nullable columns are all it is for")]
pub(super) fn text(value: &str) -> Option<String> {
    Some(value.to_owned())
}
