//! Sends the outbox. Only HQ's verdict on an entry counts as an attempt; what the network does counts nothing.
//! `docs/sync.md`, rules U2 and U4.

use std::sync::Arc;
use std::time::Duration;

use tillkeep_model::wire::{PushResult, PushStatus};
use tillkeep_storage::entity::outbox::Model as Entry;
use tillkeep_storage::{DbErr, fault, outbox};

use super::client::HqError;
use super::elsewhere;
use crate::Store;

/// Entries of one request.
const BATCH: usize = 200;
/// Bytes that any line carries in the time of a request: so few do not fail for being too many.
const ANY_LINE: usize = 32 << 10;
const BACK_OFF_FROM: Duration = Duration::from_secs(1);
const BACK_OFF_TO: Duration = Duration::from_mins(1);

/// How the sender stands with HQ.
pub struct Sender {
    failures: u32,
    /// Entries of the next request: halved while a batch makes a healthy HQ fail or does not get through, and doubled
    /// while all goes well.
    batch: usize,
}

impl Default for Sender {
    fn default() -> Self {
        Self { failures: 0, batch: BATCH }
    }
}

/// What a round came to, and so what to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// Nothing to send: wait so long, or until there is something.
    Idle(Duration),
    /// There may be more.
    Sent,
    /// Not a verdict: wait so long, or until the line is back. A new document does not shorten it.
    Wait(Duration),
    /// HQ's own word: wait so long.
    Obey(Duration),
}

/// Sends until the store stops.
pub async fn run(store: Arc<Store>) {
    let mut sender = Sender::default();
    loop {
        let round = tokio::select! {
            round = sender.step(&store) => round,
            () = store.stop.cancelled() => return,
        };
        match round {
            Round::Sent => {}
            Round::Idle(wait) => tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = store.outbox_bell.notified() => {}
                () = store.stop.cancelled() => return,
            },
            Round::Wait(wait) => tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = store.sync.line_back.notified() => {}
                () = store.stop.cancelled() => return,
            },
            Round::Obey(wait) => tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = store.stop.cancelled() => return,
            },
        }
    }
}

impl Sender {
    /// Sends one batch and notes what HQ said of it.
    pub async fn step(&mut self, store: &Store) -> Round {
        let round = {
            let _gate = store.sync.sending.enter().await;
            self.step_within(store).await
        };
        store.sync.progressed(store.clock.uptime());
        round.unwrap_or_else(|error| {
            store.sync.failed(&error, store.clock.now());
            Round::Wait(BACK_OFF_FROM)
        })
    }

    /// As [`Sender::step`], by who holds the gate.
    pub(super) async fn step_within(&mut self, store: &Store) -> Result<Round, DbErr> {
        round(store, self).await
    }
}

async fn round(store: &Store, sender: &mut Sender) -> Result<Round, DbErr> {
    let rest = i64::try_from(store.settings.sync_interval.as_millis()).unwrap_or(i64::MAX);
    let entries = outbox::batch(store.db().reader(), sender.batch, store.clock.now(), rest).await?;
    if entries.is_empty() {
        // A refused entry rests for an interval before it is tried again.
        return Ok(Round::Idle(store.settings.sync_interval));
    }
    fault::point("sender.send")?;
    let envelopes: Vec<String> = entries.iter().map(|entry| envelope(store, entry)).collect();
    let answer = store.hq.push(&envelopes).await;
    fault::point("sender.answered")?;
    match answer {
        Ok(answer) if answer.results.len() == entries.len() => {
            sender.failures = 0;
            sender.batch = (sender.batch * 2).min(BATCH);
            settle(store, &entries, &answer.results).await?;
            let now = store.clock.now();
            store.sync.reached(now);
            store.sync.update(|line| line.last_push_at = Some(now));
            Ok(Round::Sent)
        }
        Ok(answer) => {
            let text = format!("{} verdicts on {} entries", answer.results.len(), entries.len());
            Ok(back_off(store, sender, &HqError::Unreadable(text)))
        }
        Err(error) => {
            // A batch that HQ cannot swallow while it answers other requests is halved down to the culprit; that one
            // alone counts as its attempt, so that a poison entry cannot hold the rest.
            if let HqError::Answered { refusal, .. } = &error
                && refusal.is_of_the_content()
                && store.hq.versions("").await.is_ok()
            {
                if let [only] = entries.as_slice() {
                    sender.batch = BATCH;
                    // What something between here and HQ says of an entry is no verdict on it.
                    if !refusal.is_verdict() {
                        return Ok(back_off(store, sender, &error));
                    }
                    refuse(store, &[(only, error.to_string())]).await?;
                    return Ok(Round::Sent);
                }
                sender.batch = entries.len().div_ceil(2);
                return Ok(Round::Wait(Duration::from_millis(100)));
            }
            // Nor may a batch be more than the line carries in the time of a request: it would never get through.
            let bytes: usize = entries.iter().map(|entry| entry.payload.len()).sum();
            if matches!(error, HqError::Unreachable(_)) && bytes > ANY_LINE {
                sender.batch = entries.len().div_ceil(2);
            }
            if matches!(error, HqError::Elsewhere) {
                elsewhere::refused(store).await?;
            }
            Ok(back_off(store, sender, &error))
        }
    }
}

/// Full jitter, 1 s to 60 s; HQ's own word is obeyed.
fn back_off(store: &Store, sender: &mut Sender, error: &HqError) -> Round {
    store.sync.failed(error, store.clock.now());
    if let HqError::Busy { retry_after: Some(wait) } = error {
        return Round::Obey((*wait).min(BACK_OFF_TO));
    }
    let ceiling = BACK_OFF_FROM.saturating_mul(1 << sender.failures.min(6)).min(BACK_OFF_TO);
    sender.failures += 1;
    let millis = u64::try_from(ceiling.as_millis()).unwrap_or(60_000);
    Round::Wait(Duration::from_millis(millis / 10 + store.chance.up_to(millis - millis / 10)))
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
        entry.node_epoch,
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
    confirm(store, &taken).await?;
    refuse(store, &refused).await
}

/// HQ has these: they leave the outbox.
async fn confirm(store: &Store, taken: &[&Entry]) -> Result<(), DbErr> {
    let _turn = store.sync.applying.lock().await;
    let tx = store.db().begin().await?;
    outbox::confirm(&tx, taken, store.clock.now()).await?;
    tx.commit().await?;
    Ok(())
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
