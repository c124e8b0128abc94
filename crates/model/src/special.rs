//! When a special is in force: its window at the wall clock of the store.

use chrono::{Datelike, Days, NaiveDateTime, NaiveTime};
use uuid::Uuid;

/// When, where and for whom a cart is priced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    pub store: Uuid,
    /// What a clock on the wall of the store shows.
    pub local: NaiveDateTime,
    pub has_customer: bool,
}

/// From when to when, by date, weekday and time of day; what is missing does not limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Window<'a> {
    /// `2026-11-20`, both inclusive.
    pub start_date: Option<&'a str>,
    pub end_date: Option<&'a str>,
    /// Bit 0 is Monday.
    pub days_of_week: i32,
    /// `16:00`; the end is exclusive. An end that is not after the start is on the day after.
    pub start_time: Option<&'a str>,
    pub end_time: Option<&'a str>,
}

impl Window<'_> {
    /// Whether `local` is inside. What is after midnight belongs to the day on which it began, date and weekday alike.
    #[must_use]
    pub fn holds(&self, local: NaiveDateTime) -> bool {
        let time = |text: Option<&str>| text.and_then(|text| NaiveTime::parse_from_str(text, "%H:%M").ok());
        let (day, now) = (local.date(), local.time());
        let begun = match (time(self.start_time), time(self.end_time)) {
            (Some(start), Some(end)) if start < end => (start <= now && now < end).then_some(day),
            (Some(start), Some(_)) if now >= start => Some(day),
            (Some(_), Some(end)) => day.checked_sub_days(Days::new(1)).filter(|_| now < end),
            _ => Some(day),
        };
        begun.is_some_and(|day| {
            let date = day.to_string();
            self.start_date.is_none_or(|start| start <= date.as_str())
                && self.end_date.is_none_or(|end| date.as_str() <= end)
                && self.days_of_week >> day.weekday().num_days_from_monday() & 1 == 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALWAYS: Window =
        Window { start_date: None, end_date: None, days_of_week: 127, start_time: None, end_time: None };

    fn holds(window: Window, local: &str) -> bool {
        window.holds(NaiveDateTime::parse_from_str(local, "%Y-%m-%d %H:%M").expect("a moment"))
    }

    #[test]
    fn dates_are_inclusive_and_the_end_of_a_time_is_not() {
        let dates = Window { start_date: Some("2026-11-20"), end_date: Some("2026-11-21"), ..ALWAYS };
        let hours = Window { start_time: Some("16:00"), end_time: Some("18:00"), ..ALWAYS };
        for (window, local, expected) in [
            (ALWAYS, "2026-11-20 00:00", true),
            (dates, "2026-11-19 23:59", false),
            (dates, "2026-11-20 00:00", true),
            (dates, "2026-11-21 23:59", true),
            (dates, "2026-11-22 00:00", false),
            (hours, "2026-11-20 15:59", false),
            (hours, "2026-11-20 16:00", true),
            (hours, "2026-11-20 17:59", true),
            (hours, "2026-11-20 18:00", false),
        ] {
            assert_eq!(holds(window, local), expected, "{window:?} at {local}");
        }
    }

    #[test]
    fn a_weekday_is_a_bit_from_monday_on() {
        // 2026-11-20 is a Friday.
        for (days, local, expected) in [
            (0b001_0000, "2026-11-20 12:00", true),
            (0b110_1111, "2026-11-20 12:00", false),
            (0b000_0001, "2026-11-23 12:00", true),
            (0b100_0000, "2026-11-22 12:00", true),
            (0, "2026-11-22 12:00", false),
        ] {
            assert_eq!(holds(Window { days_of_week: days, ..ALWAYS }, local), expected, "{days:b} at {local}");
        }
    }

    #[test]
    fn what_is_after_midnight_belongs_to_the_day_before() {
        // From Friday at ten in the evening until two, on that Friday alone.
        let night = Window {
            start_date: Some("2026-11-20"),
            end_date: Some("2026-11-20"),
            days_of_week: 0b001_0000,
            start_time: Some("22:00"),
            end_time: Some("02:00"),
        };
        for (local, expected) in [
            ("2026-11-20 01:00", false),
            ("2026-11-20 21:59", false),
            ("2026-11-20 22:00", true),
            ("2026-11-21 01:59", true),
            ("2026-11-21 02:00", false),
            ("2026-11-21 22:00", false),
        ] {
            assert_eq!(holds(night, local), expected, "{local}");
        }
        let whole_day = Window { start_time: Some("06:00"), end_time: Some("06:00"), ..night };
        for (local, expected) in [
            ("2026-11-20 05:59", false),
            ("2026-11-20 06:00", true),
            ("2026-11-21 05:59", true),
            ("2026-11-21 06:00", false),
        ] {
            assert_eq!(holds(whole_day, local), expected, "{local}");
        }
    }
}
