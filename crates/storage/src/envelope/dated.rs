//! How far the times are believed that stores say. `docs/sync.md`, rule U7.

use tillkeep_model::Instant;

const DAY_MS: i64 = 24 * 3600 * 1000;
/// What lies further ahead than this is a mistake of a clock.
const AHEAD_MS: i64 = 2 * DAY_MS;
/// What lies further back than this was dated by a clock that was not set.
const BACK_MS: i64 = 365 * DAY_MS;

/// The last moment that is believed.
pub(crate) fn latest(now: Instant) -> Instant {
    now.plus_millis(AHEAD_MS)
}

/// The first moment that gives no user something to look at.
pub(crate) fn earliest(now: Instant) -> Instant {
    now.plus_millis(-BACK_MS)
}

pub(crate) fn is_ahead(at: Instant, now: Instant) -> bool {
    at > latest(now)
}

/// `at`, or the clock of headquarters where that is not believed.
pub(crate) fn believed(at: Instant, now: Instant) -> Instant {
    if is_ahead(at, now) { now } else { at }
}

/// The time of an envelope as headquarters compares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dated {
    pub at: Instant,
    /// What it says itself, where that is not believed: two such of one store are compared by this.
    pub said: Option<Instant>,
}

impl Dated {
    /// Of an envelope that was heard first at `heard`.
    pub(crate) fn new(said: Instant, heard: Instant) -> Self {
        Self { at: believed(said, heard), said: is_ahead(said, heard).then_some(said) }
    }
}
