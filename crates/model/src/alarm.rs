//! What is wrong with a store, as it says it to headquarters and shows it to its own people.

use std::fmt::Write;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Instant;

/// A clock that is further off is an alarm. `docs/sync.md`, rule U8.
const CLOCK_MAY_BE_OFF_MS: u64 = 120_000;

/// Whether a clock that is so far ahead of another one, or behind it, is to be set.
#[must_use]
pub const fn is_clock_off(offset_ms: i64) -> bool {
    offset_ms.unsigned_abs() > CLOCK_MAY_BE_OFF_MS
}

/// Something that a person has to look at, though the store goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AlarmCode {
    /// The clock is more than five minutes behind what was booked last.
    ClockBehindRegister,
    /// The clock is more than two minutes off that of headquarters.
    ClockOff,
    /// The file of the last numbers cannot be written, or could not be read.
    NumbersFile,
    /// A till has printed numbers that this store does not know.
    TillAhead,
    /// The report of a drawer that was closed does not add up.
    DrawerDoesNotAddUp,
    /// Headquarters has other entries of a chain of documents than this store, or later ones: it was written anew here.
    ChainRewritten,
    /// Something between this store and headquarters answered in its place.
    AnsweredInBetween,
    /// The sync token that this store took over cannot be kept: after a restart it would speak with the one before.
    TokenNotKept,
    /// Headquarters says so: the key of its PINs was asked for again, and withheld.
    PinKeyAsked,
    /// Headquarters says so: so many wrong PINs came from it that none of people of all stores is judged until the hour ends.
    SignInsStopped,
    /// Headquarters says so: its release does not ask headquarters of people of all stores, so that it has what verifies them.
    TooOld,
    /// Headquarters says so: it makes more new customers in an hour than a store may.
    TooManyNewCustomers,
}

impl AlarmCode {
    pub const ALL: [Self; 12] = [
        Self::ClockBehindRegister,
        Self::ClockOff,
        Self::NumbersFile,
        Self::TillAhead,
        Self::DrawerDoesNotAddUp,
        Self::ChainRewritten,
        Self::AnsweredInBetween,
        Self::TokenNotKept,
        Self::PinKeyAsked,
        Self::SignInsStopped,
        Self::TooOld,
        Self::TooManyNewCustomers,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClockBehindRegister => "clock_behind_register",
            Self::ClockOff => "clock_off",
            Self::NumbersFile => "numbers_file",
            Self::TillAhead => "till_ahead",
            Self::DrawerDoesNotAddUp => "drawer_does_not_add_up",
            Self::ChainRewritten => "chain_rewritten",
            Self::AnsweredInBetween => "answered_in_between",
            Self::TokenNotKept => "token_not_kept",
            Self::PinKeyAsked => "pin_key_asked",
            Self::SignInsStopped => "sign_ins_stopped",
            Self::TooOld => "too_old",
            Self::TooManyNewCustomers => "too_many_new_customers",
        }
    }

    /// The code of this name, if there is one.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.as_str() == name)
    }
}

/// An alarm, and since when it is one by the clock of its store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = StoreAlarm)]
pub struct Alarm {
    pub code: AlarmCode,
    pub since: Instant,
}

impl Alarm {
    /// Alarms in one text: `numbers_file:2026-11-20T12:34:56.789Z,till_ahead:…`.
    pub fn write(alarms: &[Self]) -> String {
        let mut text = String::new();
        for Self { code, since } in alarms {
            let comma = if text.is_empty() { "" } else { "," };
            // Writing to a text does not fail.
            write!(text, "{comma}{}:{since}", code.as_str()).unwrap_or_default();
        }
        text
    }

    /// The alarms that were said, each code once; `unknown` hears how many there were that are not known here.
    pub fn read(text: &str, unknown: impl FnOnce(usize)) -> Vec<Self> {
        let items = || text.split(',').filter(|item| !item.is_empty());
        let read = |item: &str| {
            let (code, since) = item.split_once(':')?;
            Some(Self { code: AlarmCode::parse(code)?, since: Instant::parse(since)? })
        };
        let mut alarms: Vec<Self> = items().take(AlarmCode::ALL.len()).filter_map(read).collect();
        let left_out = items().count() - alarms.len();
        if left_out > 0 {
            unknown(left_out);
        }
        alarms.sort_unstable_by_key(|alarm| alarm.code);
        alarms.dedup_by_key(|alarm| alarm.code);
        alarms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alarms_are_read_as_they_were_written_and_what_is_not_known_is_counted() {
        let alarms = [AlarmCode::NumbersFile, AlarmCode::TillAhead]
            .map(|code| Alarm { code, since: Instant::default().plus_millis(1) });
        let text = Alarm::write(&alarms);
        assert_eq!(text, "numbers_file:1970-01-01T00:00:00.001Z,till_ahead:1970-01-01T00:00:00.001Z");
        assert_eq!(Alarm::read(&text, |count| panic!("{count}")), alarms);
        let mut left_out = 0;
        let newer = format!("{text},from_the_future:1970-01-01T00:00:00.001Z,till_ahead:never");
        assert_eq!(Alarm::read(&newer, |count| left_out = count), alarms);
        assert_eq!(left_out, 2);
        assert_eq!(Alarm::read("", |count| panic!("{count}")), []);
        for code in AlarmCode::ALL {
            assert_eq!(AlarmCode::parse(code.as_str()), Some(code));
        }
    }

    #[test]
    fn a_clock_is_off_beyond_two_minutes_either_way() {
        for (offset_ms, is_off) in [(0, false), (120_000, false), (-120_000, false), (120_001, true), (i64::MIN, true)]
        {
            assert_eq!(is_clock_off(offset_ms), is_off, "{offset_ms}");
        }
    }
}
