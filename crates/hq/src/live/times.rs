//! How long headquarters waits for a store. Specification, section 8.

use std::time::Duration;

/// Every server has the default ones; a test has shorter ones, to see what happens when they are over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// For the `auth` message of a socket that was opened without a token.
    pub auth_within: Duration,
    pub ping_every: Duration,
    /// Silence after which a store is dropped.
    pub pong_within: Duration,
    /// For a place to pull without a limit.
    pub place_within: Duration,
    /// For the next piece of such a pull to be taken.
    pub take_within: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            auth_within: Duration::from_secs(10),
            ping_every: Duration::from_secs(15),
            pong_within: Duration::from_secs(40),
            place_within: Duration::from_secs(2),
            take_within: Duration::from_secs(5),
        }
    }
}
