//! How a database is opened, and what its connections are for.

use std::time::Duration;

/// Read connections of an embedded headquarters for its stores: some of them stay taken while slow clients pull without
/// a limit.
pub(crate) const SQLITE_SYNC_READERS: u32 = 10;
/// Pools of a headquarters on `PostgreSQL`: writers and readers for each [`Purpose`].
const POOLS: u32 = 4;

/// What connections are taken for. Each purpose has its own, so that neither can keep the other from working.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// People: sign-in and the routes of the back office, and the server's own housekeeping.
    People,
    /// The machine protocol: pushes, pulls and handshakes of stores.
    Sync,
}

/// How a database is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// Connections to `PostgreSQL` at the most, a quarter of them in each pool. Means nothing to `SQLite`.
    pub connections: u32,
    /// Runs on a `PostgreSQL` that forgets answered sales in a crash.
    pub accept_unsafe: bool,
    /// Who waits for the writing connection of `SQLite` for longer learns that it is busy, and nothing is begun.
    pub longest_wait: Duration,
    /// Who has the writing connection of `SQLite` and does nothing with it for this long loses it.
    pub longest_pause: Duration,
    /// A statement on `SQLite` that takes longer is broken off.
    pub longest_statement: Duration,
    /// Transactions on `SQLite` share a commit: none joins those that have gone on for this long, as those who are done
    /// wait for the answer.
    pub longest_group: Duration,
    /// How long what other servers sent lets people and sales pass it on `SQLite`. Then they share the time: it has to wait
    /// for as long as the one before it took.
    pub longest_bulk: Duration,
}

impl Opening {
    pub const USUAL: Self = Self {
        connections: 24,
        accept_unsafe: false,
        longest_wait: Duration::from_secs(20),
        longest_pause: Duration::from_secs(15),
        longest_statement: Duration::from_secs(30),
        longest_group: Duration::from_millis(2),
        longest_bulk: Duration::from_millis(10),
    };
    /// With fewer, unlimited pulls could take every reader of the stores.
    pub const LEAST_CONNECTIONS: u32 = 3 * POOLS;

    /// Connections to `PostgreSQL` in each pool.
    pub fn in_each(self) -> u32 {
        self.connections.max(Self::LEAST_CONNECTIONS) / POOLS
    }

    /// Connections that read for stores.
    pub fn sync_readers(self, embedded: bool) -> usize {
        (if embedded { SQLITE_SYNC_READERS } else { self.in_each() }) as usize
    }
}

impl Default for Opening {
    fn default() -> Self {
        Self::USUAL
    }
}
