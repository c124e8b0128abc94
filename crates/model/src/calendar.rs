//! The calendar and the clock on the wall of a shop.

use chrono::{Days, LocalResult, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, TimeZone, Utc};
use chrono_tz::Tz;

use crate::Instant;
use crate::instant::business_date;

/// The date so many days after `date`, as dates are written; nothing when it is no date.
#[must_use]
pub fn days_after(date: &str, days: u32) -> Option<String> {
    let date: NaiveDate = date.parse().ok()?;
    date.checked_add_days(Days::new(days.into())).map(|date| date.to_string())
}

/// Where a shop is, and when its business day begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calendar {
    timezone: Tz,
    day_start: NaiveTime,
}

impl Calendar {
    /// Of the settings of a store. One that cannot be read must not stop a shop from selling: then it is UTC, and midnight.
    #[must_use]
    pub fn new(timezone: &str, business_day_start: &str) -> Self {
        Self {
            timezone: timezone.parse().unwrap_or(Tz::UTC),
            day_start: NaiveTime::parse_from_str(business_day_start, "%H:%M").unwrap_or_default(),
        }
    }

    /// The business date at `now`, which changes at the start of the business day.
    #[must_use]
    pub fn date(self, now: Instant) -> NaiveDate {
        business_date(now, self.timezone, self.day_start)
    }

    /// What a clock on the wall of the shop shows.
    #[must_use]
    pub fn wall_clock(self, at: Instant) -> NaiveDateTime {
        at.utc().with_timezone(&self.timezone).naive_local()
    }

    /// When the clock on the wall showed the same a week ago. An hour that was there twice counts whole; one that was left out
    /// ends where it would have begun.
    #[must_use]
    pub fn week_before(self, now: Instant) -> Instant {
        let then = self.wall_clock(now).checked_sub_days(Days::new(7)).unwrap_or_default();
        let moment = match self.timezone.from_local_datetime(&then) {
            LocalResult::Single(moment) | LocalResult::Ambiguous(_, moment) => moment.with_timezone(&Utc),
            // The clock was put forward over it: as long after the last moment before as it would have been.
            LocalResult::None => {
                let before = self.timezone.from_local_datetime(&(then - TimeDelta::hours(2))).latest();
                before.map_or_else(|| then.and_utc(), |before| before.with_timezone(&Utc) + TimeDelta::hours(2))
            }
        };
        moment.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Instant {
        Instant::parse(text).expect("an instant")
    }

    fn new_york() -> Calendar {
        Calendar::new("America/New_York", "04:00")
    }

    #[test]
    fn a_shop_has_its_own_date_until_its_business_day_ends() {
        assert_eq!(new_york().date(at("2026-11-21T06:30:00Z")).to_string(), "2026-11-20", "half past one at night");
        assert_eq!(new_york().date(at("2026-11-21T09:00:00Z")).to_string(), "2026-11-21");
        assert_eq!(Calendar::new("Nowhere/Land", "late").date(at("2026-11-21T00:30:00Z")).to_string(), "2026-11-21");
    }

    #[test]
    fn a_week_before_is_when_the_clock_on_the_wall_showed_the_same() {
        for (now, before) in [
            ("2026-11-20T15:30:00Z", "2026-11-13T15:30:00Z"),
            // Between the two the clock was put back by an hour: half past ten both times.
            ("2026-11-03T15:30:00Z", "2026-10-27T14:30:00Z"),
            // A week before the clock was put back: half past one, for the second time.
            ("2026-11-08T06:30:00Z", "2026-11-01T06:30:00Z"),
            // A week before there was no half past two: the clock went from two to three.
            ("2026-03-15T06:30:00Z", "2026-03-08T07:30:00Z"),
        ] {
            assert_eq!(new_york().week_before(at(now)), at(before), "{now}");
        }
    }
}
