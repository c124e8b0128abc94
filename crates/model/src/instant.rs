//! Points in time, cut to milliseconds, and the business date of a shop.

mod column;

use std::fmt;

use chrono::{DateTime, Datelike, Days, NaiveDate, NaiveTime, SecondsFormat, TimeDelta, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A UTC instant with millisecond precision. JSON: RFC 3339 with always three decimals,
/// `2026-11-20T12:34:56.789Z`; any offset is accepted on input.
///
/// Both databases and the JSON text keep the order of time, because nothing below a millisecond is ever stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(DateTime<Utc>);

impl Default for Instant {
    fn default() -> Self {
        Self(DateTime::UNIX_EPOCH)
    }
}

impl From<DateTime<Utc>> for Instant {
    fn from(time: DateTime<Utc>) -> Self {
        // Of a leap second as well, which not every database knows: it is the one after it.
        Self(DateTime::from_timestamp_millis(time.timestamp_millis()).unwrap_or_default())
    }
}

impl Instant {
    /// The Unix epoch: what an absent instant is read as.
    #[must_use]
    pub fn is_unset(self) -> bool {
        self == Self::default()
    }

    /// Reads RFC 3339 with any offset; `None` when the text is something else, or a year (in UTC) outside of 1 to
    /// 9999, which could not be written again in a form that everybody reads.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::within_reach(DateTime::parse_from_rfc3339(text).ok()?.with_timezone(&Utc))
    }

    /// `None` outside of the years 1 to 9999.
    #[must_use]
    pub fn within_reach(time: DateTime<Utc>) -> Option<Self> {
        let instant = Self::from(time);
        (1..=9999).contains(&instant.0.year()).then_some(instant)
    }

    #[must_use]
    pub const fn utc(self) -> DateTime<Utc> {
        self.0
    }

    /// Milliseconds since the Unix epoch.
    #[must_use]
    pub const fn millis(self) -> i64 {
        self.0.timestamp_millis()
    }

    #[must_use]
    pub fn from_millis(millis: i64) -> Self {
        Self(DateTime::from_timestamp_millis(millis).unwrap_or(DateTime::UNIX_EPOCH))
    }

    /// `millis` later (earlier when negative).
    #[must_use]
    pub fn plus_millis(self, millis: i64) -> Self {
        Self(self.0.checked_add_signed(TimeDelta::milliseconds(millis)).unwrap_or(self.0))
    }

    /// Milliseconds from `earlier` to this instant.
    #[must_use]
    pub fn millis_since(self, earlier: Self) -> i64 {
        self.millis() - earlier.millis()
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_rfc3339_opts(SecondsFormat::Millis, true))
    }
}

impl Serialize for Instant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Instant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            serde::de::Error::custom(format!("{text:?} is not an RFC 3339 instant like 2026-11-20T12:34:56.789Z"))
        })
    }
}

/// The business date at `now` in a shop of `timezone` whose day starts at `day_start`: the local date, or the day
/// before while the local time is still earlier than the start of the business day.
#[must_use]
pub fn business_date(now: Instant, timezone: chrono_tz::Tz, day_start: NaiveTime) -> NaiveDate {
    let local = now.utc().with_timezone(&timezone).naive_local();
    if local.time() < day_start {
        local.date().checked_sub_days(Days::new(1)).unwrap_or(local.date())
    } else {
        local.date()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_always_has_three_decimals_and_any_offset_is_normalised() {
        let read = Instant::parse("2026-11-20T13:34:56+01:00").expect("instant");
        assert_eq!(read.to_string(), "2026-11-20T12:34:56.000Z");
        assert_eq!(
            Instant::parse("2026-11-20T12:34:56.7899Z").expect("instant").to_string(),
            "2026-11-20T12:34:56.789Z"
        );
        let leap = Instant::parse("2016-12-31T23:59:60.5Z").expect("instant");
        assert_eq!(leap.to_string(), "2017-01-01T00:00:00.500Z", "as PostgreSQL has a leap second");
        assert_eq!(Instant::parse("9999-12-31T23:59:60.5Z"), None, "it is the year 10000");
        assert_eq!(
            Instant::parse("1969-12-31T23:59:59.9999Z").expect("instant").to_string(),
            "1969-12-31T23:59:59.999Z"
        );
        assert_eq!(Instant::parse("2026-11-20"), None);
        assert_eq!(Instant::parse("9999-12-31T23:59:59-01:00"), None, "it is the year 10000 in UTC");
        assert_eq!(Instant::parse("0001-01-01T00:00:00+01:00"), None, "it is the year 0 in UTC");
    }

    #[test]
    fn vector_w04_the_business_day_changes_at_the_cutoff_not_at_midnight() {
        let four = NaiveTime::from_hms_opt(4, 0, 0).expect("time");
        let day = |text| {
            business_date(Instant::parse(text).expect("instant"), chrono_tz::America::New_York, four).to_string()
        };
        assert_eq!(day("2026-06-06T07:59:00Z"), "2026-06-05");
        assert_eq!(day("2026-06-06T08:00:00Z"), "2026-06-06");
    }
}
