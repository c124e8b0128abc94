//! The cycle of a store: ask what moved, pull it, wait. Runs on its own, whatever the socket does. Specification,
//! section 4.4.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tillkeep_model::AlarmCode;
use tillkeep_storage::{DbErr, settings};

use super::handshake::{self, EPOCH};
use super::pull::{self, Moved, PullError};
use super::{in_between, moved, report, restore, specification, token};
use crate::Store;
use crate::headquarters::HqError;

/// A handshake comes at least this often.
const HANDSHAKE_EVERY: Duration = Duration::from_hours(1);

/// While HQ cannot be reached, the longest between two cycles.
const LOOK_AGAIN: Duration = Duration::from_secs(8);

/// What the cycle remembers from one time to the next.
#[derive(Default)]
pub struct Cycle {
    last_handshake: Option<Duration>,
    /// A cycle has got through: everything that headquarters had then was here.
    had_everything: bool,
}

/// Cycles until the store stops.
pub(super) async fn run(store: Arc<Store>) {
    let mut cycle = Cycle::default();
    loop {
        let wait = tokio::select! {
            wait = cycle.step(&store) => wait,
            () = store.stop.cancelled() => return,
        };
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = store.sync.cycle_bell.notified() => {}
            () = store.sync.announced.notified() => spread(&store).await,
            () = store.stop.cancelled() => return,
        }
    }
}

/// With many stores each waits a moment of its own before it follows a notification. `docs/sync.md`, rule D10.
async fn spread(store: &Store) {
    let delay = store.sync.line().notify_delay_ms;
    if delay > 0 {
        let wait = Duration::from_millis(store.chance.up_to(delay));
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = store.stop.cancelled() => {}
        }
    }
}

impl Cycle {
    /// One cycle; how long to wait for the next one, unless something happens before.
    pub async fn step(&mut self, store: &Store) -> Duration {
        if let Err(error) = write_numbers(store).await {
            tracing::warn!(%error, "the last numbers could not be read");
        }
        token::keep_again(store);
        // It may be set right while no till sells.
        if store.moments.is_well() {
            store.end_alarm(AlarmCode::ClockBehindRegister, "");
        }
        let due = self.last_handshake.is_none_or(|at| store.clock.uptime().saturating_sub(at) >= HANDSHAKE_EVERY)
            || store.sync.handshake_due.load(Ordering::Acquire)
            // Whoever sets the clock sees at once that it is right.
            || store.alarms.has(AlarmCode::ClockOff);
        let done = cycle(store, due).await;
        in_between::cycled(store, done.as_ref().copied());
        let now = store.clock.now();
        let interval = match done {
            Ok(()) => {
                store.sync.reached(now);
                store.sync.update(|line| line.last_cycle_at = Some(now));
                if !std::mem::replace(&mut self.had_everything, true) {
                    tracing::info!(headquarters = store.settings.hq_url, "this store has everything from headquarters");
                }
                if due {
                    self.last_handshake = Some(store.clock.uptime());
                }
                store.settings.sync_interval
            }
            Err(error) => {
                // That one type is in trouble, for days perhaps, is no reason to shake hands each time.
                if error.of_one_type().is_none() {
                    store.sync.lost_line();
                    store.sync.handshake_due.store(true, Ordering::Release);
                } else if due {
                    self.last_handshake = Some(store.clock.uptime());
                }
                store.sync.failed(&error, now);
                match error {
                    // A request may have hung on a dead line for all of its time: with the whole interval on top, the
                    // outbox would not be empty 35 seconds after the line is back.
                    PullError::Hq(HqError::Unreachable(_)) => store.settings.sync_interval.min(LOOK_AGAIN),
                    _ => store.settings.sync_interval,
                }
            }
        };
        store.tell_line().await;
        // ±10 %, so that stores started together do not stay together.
        let tenth = u64::try_from(interval.as_millis()).unwrap_or(u64::MAX) / 10;
        Duration::from_millis(tenth * 9 + store.chance.up_to(tenth * 2))
    }
}

/// Tries again what the file of numbers did not take, also when no till sells.
async fn write_numbers(store: &Store) -> Result<(), DbErr> {
    if store.numbers.is_unwritten() {
        store.wrote_numbers(store.numbers.catch_up(store.reader()).await?);
    }
    Ok(())
}

async fn cycle(store: &Store, handshake_due: bool) -> Result<(), PullError> {
    if handshake_due {
        // First: what changes while it is said is said with the next one.
        store.sync.handshake_due.store(false, Ordering::Release);
        if let Err(error) = handshake::shake_hands(store).await {
            store.sync.handshake_due.store(true, Ordering::Release);
            if specification::is_all_that_is_spoken(store, &error).await? {
                return specification::cycle(store).await;
            }
            return Err(error);
        }
    }
    let known = settings::get(store.reader(), EPOCH).await?;
    let said = report::query(store, known.as_deref().unwrap_or_default()).await?;
    let mut answer = store.hq.versions(&said).await?;
    // There is a line: what waits can go, whatever becomes of the pulls.
    store.sync.cycled(store.clock.uptime());
    store.sync.line_back.notify_waiters();
    store.outbox_bell.notify_one();
    if !answer.resync.is_empty() {
        lost(store, &answer.resync).await?;
    } else if known.as_deref() != Some(answer.epoch.as_str()) || answer.handshake {
        handshake::shake_hands(store).await?;
        // Headquarters may have asked which of two processes lives: this one has its answer.
        answer = store.hq.versions(&report::query(store, &answer.epoch).await?).await?;
    }
    let broken = pull_all(store, &answer.epoch, &answer.versions).await?;
    // A type that cannot be stored here is no reason to keep the store's own documents from it.
    restore::run(store).await?;
    broken.map_or(Ok(()), Err)
}

/// Everything that moved, after a reload if there must be one; why a type is not here.
async fn pull_all(store: &Store, epoch: &str, heads: &BTreeMap<String, i64>) -> Result<Option<PullError>, PullError> {
    let (epoch, mut moved) = match moved::pull(store, epoch, Some(heads)).await {
        Err(PullError::Hq(HqError::Reload { code })) => {
            tracing::warn!(code, "headquarters' data is not what this store's cursors are from");
            reloaded(store).await?
        }
        other => (epoch.to_owned(), other?),
    };
    if !moved.lost.is_empty() {
        lost(store, &moved.lost).await?;
        moved = moved::pull(store, &epoch, Some(heads)).await?;
    }
    if moved.rows > 0 || moved.broken.is_some() {
        // Where a change is live, and where it cannot be stored, is known at HQ at once and not a cycle later.
        store.hq.report(&report::query(store, &epoch).await?).await?;
    }
    Ok(moved.broken)
}

async fn reloaded(store: &Store) -> Result<(String, Moved), PullError> {
    // The handshake finds out why, and has the store send again what HQ lost before it reloads.
    handshake::shake_hands(store).await?;
    let answer = store.hq.versions("").await?;
    let moved = match moved::pull(store, &answer.epoch, Some(&answer.versions)).await {
        Err(PullError::Hq(HqError::Reload { .. })) => {
            pull::reload(store, |_| true).await?;
            moved::pull(store, &answer.epoch, Some(&answer.versions)).await?
        }
        other => other?,
    };
    Ok((answer.epoch, moved))
}

/// HQ lost what this store has of these types. Handshake first: what HQ lost of this store's own is sent again, or the reload
/// would take it for deleted.
async fn lost(store: &Store, types: &[String]) -> Result<(), PullError> {
    tracing::warn!(
        types = types.join(", "),
        "headquarters lost what this store has of these types: loading them again"
    );
    handshake::shake_hands(store).await?;
    pull::reload(store, |entity| types.iter().any(|name| name == entity.name)).await?;
    Ok(())
}
