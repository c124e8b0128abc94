//! The moment of an act. It is taken in the transaction, so that who has the later number has the later time, and never before
//! the one before it, however the clock is set. `docs/sync.md`, rule U8.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tillkeep_http::Clock;
use tillkeep_model::Instant;

/// So far behind a clock is a clock that was put right: time stands still until it is there again. Further back it is wrong.
const MAY_BE_BEHIND_MS: i64 = 5 * 60 * 1000;

/// Gives acts their moments.
pub(crate) struct Moments {
    clock: Clock,
    readings: Mutex<Readings>,
}

/// What the last act and the clock of headquarters showed.
struct Readings {
    /// That of the last act.
    last: Instant,
    /// What the clock of headquarters showed, and when that was by the clock that is never set.
    headquarters: Option<(Instant, Duration)>,
}

/// When something is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    pub at: Instant,
    /// The clock is too far behind what was done last to be believed.
    pub is_corrected: bool,
}

impl Moments {
    /// After an act at `last`.
    pub(crate) fn new(clock: Clock, last: Instant) -> Self {
        Self { clock, readings: Mutex::new(Readings { last, headquarters: None }) }
    }

    /// Headquarters' clock showed `at` when the clock that is never set stood at `uptime`.
    pub(crate) fn heard(&self, at: Instant, uptime: Duration) {
        self.readings.lock().unwrap_or_else(PoisonError::into_inner).headquarters = Some((at, uptime));
    }

    /// Whether the clock is to be believed by now.
    pub(crate) fn is_well(&self) -> bool {
        let last = self.readings.lock().unwrap_or_else(PoisonError::into_inner).last;
        last.millis_since(self.clock.now()) <= MAY_BE_BEHIND_MS
    }

    /// The moment of an act; its transaction has begun, and no other has.
    pub(crate) fn next(&self) -> Moment {
        let mut readings = self.readings.lock().unwrap_or_else(PoisonError::into_inner);
        let moment = readings.moment(self.clock.now(), self.clock.uptime());
        readings.last = moment.at;
        moment
    }
}

impl Readings {
    fn moment(&self, now: Instant, uptime: Duration) -> Moment {
        if let Some(at) = self.not_before_last(now) {
            return Moment { at, is_corrected: false };
        }
        let confirmed = self.headquarters.map(|(at, then)| {
            let passed = uptime.saturating_sub(then).as_millis();
            at.plus_millis(i64::try_from(passed).unwrap_or_default())
        });
        // Without headquarters the last act is the best that is known.
        let at = confirmed.map_or(self.last.plus_millis(1), |at| self.not_before_last(at).unwrap_or(at));
        Moment { at, is_corrected: true }
    }

    /// `at`, or right after the last act when it is little behind that.
    fn not_before_last(&self, at: Instant) -> Option<Instant> {
        match self.last.millis_since(at) {
            ..=0 => Some(at),
            1..=MAY_BE_BEHIND_MS => Some(self.last.plus_millis(1)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY_MS: i64 = 24 * 3600 * 1000;

    fn at(millis: i64) -> Instant {
        Instant::default().plus_millis(10 * DAY_MS + millis)
    }

    fn moments() -> (Clock, Moments) {
        let clock = Clock::standing_at(at(0));
        (clock.clone(), Moments::new(clock, at(0)))
    }

    #[test]
    fn a_clock_that_is_set_back_a_little_waits_until_it_is_there_again() {
        let (clock, moments) = moments();
        clock.advance(-MAY_BE_BEHIND_MS + 3);
        for millis in 1..4 {
            assert_eq!(moments.next(), Moment { at: at(millis), is_corrected: false });
        }
        clock.advance(MAY_BE_BEHIND_MS - 3);
        assert_eq!(moments.next(), Moment { at: at(4), is_corrected: false });
        clock.advance(7);
        assert_eq!(moments.next(), Moment { at: at(7), is_corrected: false });
        clock.advance(-MAY_BE_BEHIND_MS - 1);
        assert!(moments.next().is_corrected, "beyond that it is wrong");
    }

    #[test]
    fn a_clock_that_is_set_back_a_day_is_not_believed_with_or_without_headquarters() {
        let (clock, moments) = moments();
        clock.advance(-DAY_MS);
        assert_eq!(moments.next(), Moment { at: at(1), is_corrected: true });
        moments.heard(at(500), clock.uptime());
        clock.pass(40);
        assert_eq!(moments.next(), Moment { at: at(540), is_corrected: true });
        // It asked again, and the answer was a moment younger.
        moments.heard(at(535), clock.uptime());
        assert_eq!(moments.next(), Moment { at: at(541), is_corrected: true });
    }

    #[test]
    fn after_acts_in_the_future_the_first_one_of_a_clock_that_was_put_right_is_corrected_and_no_further_one() {
        let (clock, moments) = moments();
        clock.advance(DAY_MS);
        assert!(!moments.next().is_corrected);
        clock.advance(-DAY_MS);
        moments.heard(at(3), clock.uptime());
        assert_eq!(moments.next(), Moment { at: at(3), is_corrected: true });
        clock.pass(4);
        assert_eq!(moments.next(), Moment { at: at(4), is_corrected: false });
    }
}
