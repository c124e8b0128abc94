//! How long the entries of stores wait, and when an operator should look.

use tillkeep_model::Instant;

/// A connected store sends what it has in seconds: an entry that waits for longer than this does not get through.
const MAY_WAIT_MS: i64 = 5 * 60 * 1000;

/// Milliseconds for which the oldest entry of a store has waited. The store wrote its time, by a clock that is
/// `clock_offset_ms` ahead of the one here.
pub(crate) fn waits_ms(oldest: Instant, clock_offset_ms: Option<i64>, now: Instant) -> i64 {
    now.millis_since(oldest).saturating_add(clock_offset_ms.unwrap_or_default()).max(0)
}

/// Whether the outbox of a store stands still although there is a line.
pub(crate) fn is_stuck(connected: bool, oldest: Option<Instant>, clock_offset_ms: Option<i64>, now: Instant) -> bool {
    connected && oldest.is_some_and(|oldest| waits_ms(oldest, clock_offset_ms, now) > MAY_WAIT_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outbox_is_stuck_when_its_oldest_entry_waits_for_more_than_five_minutes_with_a_line() {
        let ago = |seconds: i64| Some(Instant::default().plus_millis(-seconds * 1000));
        for (connected, oldest, offset_seconds, expected) in [
            (true, None, 0, false),
            (true, ago(0), 0, false),
            (true, ago(300), 0, false),
            (true, ago(301), 0, true),
            (false, ago(9000), 0, false),
            // Its clock is ten minutes slow: what it wrote a moment ago looks old.
            (true, ago(600), -600, false),
            (true, ago(901), -600, true),
            // And ten minutes fast: what looks new is old.
            (true, ago(-290), 600, true),
            (true, ago(-600), 600, false),
        ] {
            let stuck = is_stuck(connected, oldest, Some(offset_seconds * 1000), Instant::default());
            assert_eq!(stuck, expected, "{connected} {oldest:?} {offset_seconds}");
        }
        assert!(is_stuck(true, ago(301), None, Instant::default()));
    }
}
