//! Sends the outbox. Only HQ's verdict on an entry counts as an attempt; what the network does counts nothing.
//! `docs/sync.md`, rules U2 and U4.

use std::sync::Arc;
use std::time::Duration;

use rand::RngExt;
use tillkeep_model::wire::{PushResult, PushStatus};
use tillkeep_storage::entity::outbox::Model as Entry;
use tillkeep_storage::{DbErr, outbox};

use super::client::HqError;
use crate::Store;

/// Entries of one request.
const BATCH: usize = 200;
const BACK_OFF_FROM: Duration = Duration::from_secs(1);
const BACK_OFF_TO: Duration = Duration::from_mins(1);

/// How the sender stands with HQ.
struct Breaker {
    failures: u32,
    /// Entries of the next request: halved while a batch makes a healthy HQ fail.
    batch: usize,
}

/// What a round came to.
enum Round {
    /// Nothing to send.
    Idle,
    Sent,
    /// Not a verdict: wait so long, or until the line is back.
    Wait(Duration),
    /// HQ's own word: wait so long.
    Obey(Duration),
}

/// Sends until the store stops.
pub async fn run(store: Arc<Store>) {
    let mut breaker = Breaker { failures: 0, batch: BATCH };
    loop {
        let round = tokio::select! {
            round = round(&store, &mut breaker) => round,
            () = store.stop.cancelled() => return,
        };
        let wait = match round {
            Ok(Round::Sent) => continue,
            // A refused entry rests for an interval before it is tried again.
            Ok(Round::Idle) => store.settings.sync_interval,
            Ok(Round::Wait(wait)) => {
                // A new document must not shorten a back-off; a line that is back does.
                tokio::select! {
                    () = tokio::time::sleep(wait) => {}
                    () = store.sync.line_back.notified() => {}
                    () = store.stop.cancelled() => return,
                }
                continue;
            }
            Ok(Round::Obey(wait)) => {
                tokio::select! {
                    () = tokio::time::sleep(wait) => {}
                    () = store.stop.cancelled() => return,
                }
                continue;
            }
            Err(error) => {
                store.sync.failed(&error, store.clock.now());
                BACK_OFF_FROM
            }
        };
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = store.outbox_bell.notified() => {}
            () = store.stop.cancelled() => return,
        }
    }
}

async fn round(store: &Store, breaker: &mut Breaker) -> Result<Round, DbErr> {
    let rest = i64::try_from(store.settings.sync_interval.as_millis()).unwrap_or(i64::MAX);
    let entries = outbox::batch(store.db().reader(), breaker.batch, store.clock.now().plus_millis(-rest)).await?;
    if entries.is_empty() {
        return Ok(Round::Idle);
    }
    let envelopes: Vec<String> = entries.iter().map(|entry| envelope(store, entry)).collect();
    match store.hq.push(&envelopes).await {
        Ok(answer) if answer.results.len() == entries.len() => {
            breaker.failures = 0;
            breaker.batch = BATCH;
            settle(store, &entries, &answer.results).await?;
            let now = store.clock.now();
            store.sync.reached(now);
            store.sync.update(|line| line.last_push_at = Some(now));
            Ok(Round::Sent)
        }
        Ok(answer) => {
            let text = format!("{} verdicts on {} entries", answer.results.len(), entries.len());
            Ok(back_off(store, breaker, &HqError::Unreadable(text)))
        }
        Err(error) => {
            // A batch that HQ cannot swallow while it answers other requests is halved down to the culprit; that one
            // alone counts as its attempt, so that a poison entry cannot hold the rest.
            let swallowed = matches!(&error, HqError::Status { status, .. } if *status == 413 || *status >= 500);
            if swallowed && store.hq.versions().await.is_ok() {
                if let [only] = entries.as_slice() {
                    breaker.batch = BATCH;
                    refuse(store, &[(only, error.to_string())]).await?;
                    return Ok(Round::Sent);
                }
                breaker.batch = entries.len().div_ceil(2);
                return Ok(Round::Wait(Duration::from_millis(100)));
            }
            Ok(back_off(store, breaker, &error))
        }
    }
}

/// Full jitter, 1 s to 60 s; HQ's own word is obeyed.
fn back_off(store: &Store, breaker: &mut Breaker, error: &HqError) -> Round {
    store.sync.failed(error, store.clock.now());
    if let HqError::Busy { retry_after: Some(wait) } = error {
        return Round::Obey((*wait).min(BACK_OFF_TO));
    }
    let ceiling = BACK_OFF_FROM.saturating_mul(1 << breaker.failures.min(6)).min(BACK_OFF_TO);
    breaker.failures += 1;
    let millis = u64::try_from(ceiling.as_millis()).unwrap_or(60_000);
    Round::Wait(Duration::from_millis(rand::rng().random_range(millis / 10..=millis)))
}

/// The envelope of an entry; its data is the text that was stored with the document.
fn envelope(store: &Store, entry: &Entry) -> String {
    format!(
        "{{\"store_id\":\"{}\",\"entity_type\":\"{}\",\"entity_id\":\"{}\",\"action\":\"{}\",\"timestamp\":\"{}\",\
         \"seq\":{},\"node_epoch\":\"{}\",\"data\":{}}}",
        store.id,
        entry.entity_type,
        entry.entity_id,
        entry.action,
        entry.timestamp,
        entry.seq,
        store.node_epoch,
        entry.payload
    )
}

async fn settle(store: &Store, entries: &[Entry], results: &[PushResult]) -> Result<(), DbErr> {
    let (mut taken, mut refused) = (Vec::new(), Vec::new());
    for (entry, result) in entries.iter().zip(results) {
        if result.status == PushStatus::Ok {
            taken.push(entry);
        } else {
            let text = result.error.clone().unwrap_or_else(|| "refused without a reason".to_owned());
            refused.push((entry, text));
        }
    }
    {
        let _turn = store.sync.applying.lock().await;
        let tx = store.db().begin().await?;
        outbox::confirm(&tx, &taken, store.clock.now()).await?;
        tx.commit().await?;
    }
    refuse(store, &refused).await
}

/// Counts HQ's refusals; the tenth of an entry is its last.
async fn refuse(store: &Store, refused: &[(&Entry, String)]) -> Result<(), DbErr> {
    if refused.is_empty() {
        return Ok(());
    }
    let _turn = store.sync.applying.lock().await;
    let tx = store.db().begin().await?;
    let mut dead = Vec::new();
    for (entry, error) in refused {
        if outbox::refuse(&tx, entry, error, store.clock.now()).await? {
            dead.push((entry, error));
        }
    }
    tx.commit().await?;
    for (entry, error) in dead {
        tracing::error!(
            "SYNC DEAD LETTER {} {} after {} failures: {error}",
            entry.entity_type,
            entry.entity_id,
            entry.attempts + 1
        );
    }
    Ok(())
}
