//! How large everything is that is measured.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Written into the report, since figures of other sizes do not compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sizes {
    /// Runs of each measurement when no flag says how many.
    pub runs: usize,
    /// Products that a store loads (P1), and of the large tables (P10).
    pub products: usize,
    /// Requests (P2), and how many sales each has (P2, P10).
    pub pushes: usize,
    pub batch: usize,
    /// Open sockets at the most (P4).
    pub sockets: usize,
    /// Sales and stores of the large tables, and how often each question is asked (P10).
    pub sales: usize,
    pub stores: usize,
    pub asked: usize,
    /// Stores that only ask, and pull what moved (P11).
    pub idle: usize,
    /// Milliseconds under load for each rate.
    pub load_millis: u64,
    /// Milliseconds of commits of `SQLite` before and after each part of a rate of sales.
    pub commits_millis: u64,
    /// Changes that are followed to a store (P5).
    pub changes: usize,
    /// Sign-ins with few and with many people (P7), and how many those are.
    pub sign_ins: usize,
    pub people: usize,
    /// Starts of each server (P9).
    pub starts: usize,
}

impl Sizes {
    pub const FULL: Self = Self {
        runs: 5,
        products: 300_000,
        pushes: 10,
        batch: 1000,
        sockets: 8_000,
        sales: 300_000,
        stores: 10_000,
        asked: 30,
        idle: 500,
        load_millis: 6_000,
        commits_millis: 500,
        changes: 300,
        sign_ins: 40,
        people: 100_000,
        starts: 7,
    };
    pub const QUICK: Self = Self {
        runs: 1,
        products: 20_000,
        pushes: 3,
        batch: 1000,
        sockets: 500,
        sales: 20_000,
        stores: 500,
        asked: 9,
        idle: 100,
        load_millis: 1_200,
        commits_millis: 100,
        changes: 60,
        sign_ins: 12,
        people: 10_000,
        starts: 3,
    };

    /// The least with which everything still happens: for tests of the benchmark itself.
    pub const TINY: Self = Self {
        runs: 1,
        products: 50,
        pushes: 1,
        batch: 100,
        sockets: 5,
        sales: 50,
        stores: 5,
        asked: 2,
        idle: 5,
        load_millis: 80,
        commits_millis: 5,
        changes: 2,
        sign_ins: 1,
        people: 20,
        starts: 1,
    };

    pub const fn load(&self) -> Duration {
        Duration::from_millis(self.load_millis)
    }

    pub const fn warm_up(&self) -> Duration {
        Duration::from_millis(self.load_millis / 4)
    }

    /// How long a server has nothing to do before it is asked what memory it has given back: two minutes at full size, and
    /// never less than the ten seconds within which the allocator gives pages back.
    pub const fn rest(&self) -> Duration {
        match self.load_millis {
            6_000.. => Duration::from_mins(2),
            1_000.. => Duration::from_secs(12),
            _ => Duration::from_millis(50),
        }
    }

    pub const fn commits(&self) -> Duration {
        Duration::from_millis(self.commits_millis)
    }
}
