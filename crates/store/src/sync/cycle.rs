//! The cycle of a store: ask what moved, pull it, wait. Runs on its own, whatever the socket does. Specification,
//! section 4.4.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rand::RngExt;
use tillkeep_model::wire::{HandshakeAnswer, HandshakeRequest, Outcome};
use tillkeep_storage::{DbErr, outbox, registry, series, settings};
use tokio::time::Instant as Stopwatch;

use super::client::HqError;
use super::pull::{self, PullError};
use crate::Store;

/// A handshake comes at least this often.
const HANDSHAKE_EVERY: Duration = Duration::from_hours(1);
/// What HQ confirmed is kept for 90 days, so that a restored HQ can ask for it again.
const KEEP_SENT_MS: i64 = 90 * 24 * 3600 * 1000;
const EPOCH: &str = "hq_epoch";
const TICKET: &str = "hq_ticket";

/// Cycles until the store stops.
pub async fn run(store: Arc<Store>) {
    let mut last_handshake = None;
    loop {
        let due = last_handshake.is_none_or(|at: Stopwatch| at.elapsed() >= HANDSHAKE_EVERY)
            || store.sync.handshake_due.load(Ordering::Acquire);
        let done = tokio::select! {
            done = cycle(&store, due) => done,
            () = store.stop.cancelled() => return,
        };
        let now = store.clock.now();
        match done {
            Ok(()) => {
                store.sync.reached(now);
                store.sync.update(|line| line.last_cycle_at = Some(now));
                if due {
                    last_handshake = Some(Stopwatch::now());
                }
                // There is a line: what waits can go, within a cycle of the line's return.
                store.sync.line_back.notify_waiters();
                store.outbox_bell.notify_one();
            }
            Err(error) => {
                store.sync.handshake_due.store(true, Ordering::Release);
                store.sync.failed(&error, now);
            }
        }
        tokio::select! {
            () = tokio::time::sleep(jittered(store.settings.sync_interval)) => {}
            () = store.sync.cycle_bell.notified() => {}
            () = store.sync.told.notified() => spread(&store).await,
            () = store.stop.cancelled() => return,
        }
    }
}

/// ±10 %, so that stores started together do not stay together.
fn jittered(interval: Duration) -> Duration {
    interval * rand::rng().random_range(90..=110) / 100
}

/// With many stores each waits a moment of its own before it follows a notification. `docs/sync.md`, rule D10.
async fn spread(store: &Store) {
    let delay = store.sync.line().notify_delay_ms;
    if delay > 0 {
        let wait = Duration::from_millis(rand::rng().random_range(0..delay));
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = store.stop.cancelled() => {}
        }
    }
}

async fn cycle(store: &Store, handshake_due: bool) -> Result<(), PullError> {
    if handshake_due {
        shake_hands(store).await?;
        store.sync.handshake_due.store(false, Ordering::Release);
    }
    let answer = store.hq.versions().await?;
    let known = settings::get(store.db().reader(), EPOCH).await?;
    if known.as_deref() != Some(answer.epoch.as_str()) || answer.handshake {
        shake_hands(store).await?;
    }
    match pull::moved(store, &answer.epoch, &answer.versions).await {
        Err(PullError::Hq(HqError::Reload { code })) => {
            tracing::warn!(code, "headquarters' data is not what this store's cursors are from: loading anew");
            pull::reload(store, |_| true).await?;
            store.sync.handshake_due.store(true, Ordering::Release);
            pull::moved(store, &answer.epoch, &answer.versions).await?;
            Ok(())
        }
        other => other.map(|_| ()),
    }
}

/// Tells HQ who is here, and learns what only a handshake carries.
async fn shake_hands(store: &Store) -> Result<(), PullError> {
    let conn = store.db().reader();
    let asked = store.clock.now();
    let request = HandshakeRequest {
        epoch: settings::get(conn, EPOCH).await?,
        ticket: settings::get(conn, TICKET).await?,
        node_epoch: store.node_epoch.clone(),
        last_seq: series::all(conn).await?.get("outbox").copied().unwrap_or_default(),
        store_version: env!("CARGO_PKG_VERSION").to_owned(),
        clock: Some(asked),
        fingerprints: registry::pulled()
            .map(|entity| (entity.name.to_owned(), registry::fingerprint(entity)))
            .collect(),
        outbox: outbox::state(conn).await?,
        pin_key_id: store.auth.pins.key_id(),
    };
    let answer = store.hq.handshake(&request).await?;
    if let Some(key) = &answer.pin_key {
        store
            .auth
            .pins
            .install(key)
            .map_err(|error| DbErr::Custom(format!("the PIN key could not be kept: {error}")))?;
    }
    let other_epoch = request.epoch.as_ref().is_some_and(|epoch| *epoch != answer.epoch);
    let rolled_back = request.ticket.is_some() && !answer.ticket_known;
    if other_epoch || rolled_back {
        tracing::warn!(other_epoch, rolled_back, "headquarters or this store was put back: loading anew");
        pull::reload(store, |_| true).await?;
    } else if !answer.resync.is_empty() && request.epoch.is_some() {
        tracing::info!(types = ?answer.resync, "columns were added: loading these types anew");
        pull::reload(store, |entity| answer.resync.iter().any(|name| name == entity.name)).await?;
    }
    remember(store, &answer).await?;
    let now = store.clock.now();
    // The middle of question and answer is when HQ looked at its clock.
    let middle = asked.plus_millis(now.millis_since(asked) / 2);
    store.sync.update(|line| {
        line.clock_offset_ms = Some(answer.clock.millis_since(middle));
        line.epoch = Some(answer.epoch.clone());
        line.notify_delay_ms = answer.notify_delay_ms;
    });
    Ok(())
}

/// Keeps what the handshake said, in one transaction: ticket, numbers, and what HQ settled of the outbox.
async fn remember(store: &Store, answer: &HandshakeAnswer) -> Result<(), DbErr> {
    let _turn = store.sync.applying.lock().await;
    let now = store.clock.now();
    let tx = store.db().begin().await?;
    settings::set(&tx, EPOCH, &answer.epoch).await?;
    settings::set(&tx, TICKET, &answer.ticket).await?;
    for (name, value) in &answer.high_water {
        if series::raise(&tx, name, *value).await? > 0 {
            tracing::warn!(series = name, value, "headquarters has higher numbers: this store goes on from there");
        }
    }
    outbox::forget_sent(&tx, now.plus_millis(-KEEP_SENT_MS)).await?;
    for settled in &answer.acknowledged {
        let Some(entry) = outbox::find(&tx, settled.seq).await? else { continue };
        let how = if settled.outcome == Outcome::Ok { "taken" } else { "resolved" };
        tracing::info!(seq = settled.seq, entity_type = entry.entity_type, how, "headquarters settled an entry");
        outbox::confirm(&tx, &[&entry], now).await?;
    }
    tx.commit().await?;
    Ok(())
}
