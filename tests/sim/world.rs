//! What all actors of a run share: virtual time, one source of chance, the log, and the place where a request waits for
//! time to pass.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Poll;

use axum::Router;
use tillkeep_http::Clock;
use tillkeep_model::Instant;
use tillkeep_store::Chance;
use tillkeep_store::headquarters::Request;
use uuid::Uuid;

use crate::back::Sold;
use crate::plan::Faults;

/// A moment in the life of every run.
const BEGIN: &str = "2026-11-20T08:00:00Z";

pub struct World {
    /// Time that passed, and the time of day of no node in particular.
    pub clock: Clock,
    chance: Chance,
    state: Mutex<State>,
}

/// The network and what is noted of the run.
#[derive(Default)]
pub struct State {
    /// No headquarters answers without it.
    pub hq: Option<Router>,
    /// The next request that headquarters works on is its last.
    pub dying: bool,
    /// Headquarters died while it worked on a request.
    pub died: bool,
    pub faults: Faults,
    /// Until when each store has no line, in milliseconds of the run.
    pub cut: BTreeMap<usize, i64>,
    /// Requests that arrive a second time, much later: shop, when, request.
    pub late: Vec<(usize, i64, Request)>,
    /// What stores sold, of which something may come back.
    pub sold: Vec<Sold>,
    /// Sales of which something came back, or may have, without a word of headquarters.
    pub unchecked: BTreeSet<Uuid>,
    /// Columns that were added to two types.
    pub columns: u32,
    parked: Option<i64>,
    log: Vec<String>,
    pub counts: BTreeMap<&'static str, u64>,
}

impl World {
    pub fn new(seed: u64) -> Arc<Self> {
        let clock = Clock::standing_at(Instant::parse(BEGIN).expect("an instant"));
        Arc::new(Self { clock, chance: Chance::of_seed(seed), state: Mutex::default() })
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("not poisoned")
    }

    /// Milliseconds since the run began.
    pub fn time(&self) -> i64 {
        i64::try_from(self.clock.uptime().as_millis()).expect("a short run")
    }

    /// One line of the log. Nothing in it may come from the machine: no ids, no time of day but the virtual one.
    pub fn note(&self, actor: &str, what: impl Display) {
        let line = format!("{:>10} {actor} {what}", self.time());
        self.state().log.push(line);
    }

    pub fn count(&self, what: &'static str) {
        *self.state().counts.entry(what).or_default() += 1;
    }

    pub fn take_log(&self) -> Vec<String> {
        std::mem::take(&mut self.state().log)
    }

    /// From 0 to `most`, both included.
    pub fn up_to(&self, most: u64) -> u64 {
        self.chance.up_to(most)
    }

    pub fn between(&self, from: i64, to: i64) -> i64 {
        from + i64::try_from(self.chance.up_to(u64::try_from((to - from).max(0)).expect("not negative")))
            .expect("small")
    }

    pub fn index(&self, len: usize) -> usize {
        usize::try_from(self.chance.up_to(len as u64 - 1)).expect("small")
    }

    /// True in `per_mille` of a thousand times.
    pub fn happens(&self, per_mille: u64) -> bool {
        per_mille > 0 && self.chance.up_to(999) < per_mille
    }

    /// A source of chance of its own, for one store.
    pub fn another_chance(&self) -> Chance {
        Chance::of_seed(self.chance.up_to(u64::MAX - 1))
    }

    /// Waits in virtual time, which the scheduler alone moves.
    pub async fn pass(&self, millis: i64) {
        let until = self.time() + millis;
        poll_fn(|_| {
            if self.time() >= until {
                return Poll::Ready(());
            }
            self.state().parked = Some(until);
            Poll::Pending
        })
        .await;
    }

    /// When whoever waits now goes on; `None` when it waits for something real.
    pub fn take_parked(&self) -> Option<i64> {
        self.state().parked.take()
    }
}
