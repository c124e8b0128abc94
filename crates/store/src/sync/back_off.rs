//! How long a store waits after a failure before it tries again: twice as long each time, and partly by chance, so that the
//! stores of a chain do not come back together.

use std::time::Duration;

use crate::chance::Chance;

/// The first wait, without chance.
pub(super) const SHORTEST: Duration = Duration::from_secs(1);
/// The longest wait, with chance.
pub(super) const LONGEST: Duration = Duration::from_mins(1);
/// What chance adds to a wait for the socket at the most.
const JITTER_MS: u64 = 1000;

/// The wait before a request is sent again after `failures` others: any time from a tenth of the doubled wait to all of it.
pub(super) fn of_request(failures: u32, longest: Duration, chance: &Chance) -> Duration {
    let most = millis(doubled(failures).min(longest));
    Duration::from_millis(most / 10 + chance.up_to(most - most / 10))
}

/// The wait before the socket is opened again after `attempts` others: `min(1000 × 2^attempts + jitter, 60000)` milliseconds.
/// Specification, section 6, rule 3. `chance` is a number from 0 to the one that it is given.
pub(super) fn of_socket(attempts: u32, chance: impl FnOnce(u64) -> u64) -> Duration {
    doubled(attempts).saturating_add(Duration::from_millis(chance(JITTER_MS))).min(LONGEST)
}

fn doubled(failures: u32) -> Duration {
    SHORTEST.saturating_mul(1_u32.checked_shl(failures).unwrap_or(u32::MAX)).min(LONGEST)
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_waits_to_connect_double_from_one_second_to_sixty() {
        let waits = |jitter: u64, attempts: std::ops::Range<u32>| -> Vec<u128> {
            attempts.map(|attempts| of_socket(attempts, |_| jitter).as_millis()).collect()
        };
        assert_eq!(waits(0, 0..9), [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
        assert_eq!(waits(1000, 6..76), [60_000; 70], "the jitter does not go beyond the cap");
        let most = |attempts| of_socket(attempts, |most| most).as_millis();
        assert_eq!([most(0), most(1), most(2)], [2000, 3000, 5000], "the jitter is up to a second");
    }

    #[test]
    fn a_request_waits_from_a_tenth_to_all_of_a_time_that_doubles_up_to_the_longest() {
        let chance = Chance::of_seed(7);
        for (failures, most) in [(0, 1000), (1, 2000), (5, 32_000), (6, 60_000), (40, 60_000)] {
            let waits: Vec<u128> = (0..500).map(|_| of_request(failures, LONGEST, &chance).as_millis()).collect();
            let (shortest, longest) = (waits.iter().min().expect("one"), waits.iter().max().expect("one"));
            assert!((most / 10..most / 5).contains(shortest), "{failures}: {shortest}");
            assert!((most * 9 / 10..=most).contains(longest), "{failures}: {longest}");
        }
        assert!(of_request(40, Duration::from_secs(20), &chance) <= Duration::from_secs(20));
    }
}
