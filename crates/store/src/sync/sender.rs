//! Sends the outbox. Only HQ's verdict on an entry counts as an attempt; what the network does counts nothing.
//! `docs/sync.md`, rules U2 and U4.

use std::sync::Arc;
use std::time::Duration;

use tillkeep_model::wire::PushResult;
use tillkeep_storage::entity::outbox::Model as Entry;
use tillkeep_storage::{DbErr, fault, outbox};
use uuid::Uuid;

use super::back_off;
use super::client::HqError;
use super::elsewhere;
use super::verdicts::{apply_verdicts, set_aside};
use crate::Store;

/// Entries of one request.
const BATCH: usize = 200;
/// Bytes that any line carries in the time of a request: so few do not fail for being too many.
const ANY_LINE: usize = 32 << 10;
/// How often a request may get no answer at all before it is asked whether its content is the reason.
const LINE_BREAKS: u32 = 3;
/// The longest that what waits alone rests: with a cycle on top it has gone 35 seconds after the cause has.
const ALONE_TO: Duration = Duration::from_secs(20);

/// How long the next documents gather after a request that took all there were: the first one leaves at once, and a shop
/// at its busiest makes no request, and no commit at both ends, for each of its sales.
const GATHERING: Duration = Duration::from_millis(50);

/// How the sender stands with HQ.
pub struct Sender {
    failures: u32,
    /// Whether the last request took as many as one may, so that more may wait.
    full: bool,
    /// Entries of the next request: halved while a batch makes a healthy HQ fail or does not get through, and doubled
    /// while all goes well.
    batch: usize,
    alone: Alone,
}

impl Default for Sender {
    fn default() -> Self {
        Self { failures: 0, full: false, batch: BATCH, alone: Alone::default() }
    }
}

/// How those fare that wait alone, each because there was no verdict on it while HQ answered other requests.
struct Alone {
    failures: u32,
    /// Entries of their next request: one, and more when that goes well, because the cause is gone then.
    batch: usize,
    /// The last one that was tried: they take turns.
    last: i64,
    /// Not before this, by the clock that never goes back.
    from: Duration,
}

impl Default for Alone {
    fn default() -> Self {
        Self { failures: 0, batch: 1, last: 0, from: Duration::ZERO }
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
pub(super) async fn run(store: Arc<Store>) {
    let mut sender = Sender::default();
    loop {
        let round = tokio::select! {
            round = sender.step(&store) => round,
            () = store.stop.cancelled() => return,
        };
        match round {
            Round::Sent if sender.full => {}
            Round::Sent => tokio::select! {
                () = tokio::time::sleep(GATHERING) => {}
                () = store.stop.cancelled() => return,
            },
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
            Round::Wait(back_off::SHORTEST)
        })
    }

    /// As [`Sender::step`], by who holds the gate.
    pub(super) async fn step_within(&mut self, store: &Store) -> Result<Round, DbErr> {
        round(store, self).await
    }
}

async fn round(store: &Store, sender: &mut Sender) -> Result<Round, DbErr> {
    let interval = store.settings.sync_interval;
    let rest = i64::try_from(interval.as_millis()).unwrap_or(i64::MAX);
    let entries = outbox::batch(store.reader(), sender.batch, store.clock.now(), rest).await?;
    sender.full = entries.len() >= sender.batch;
    if !entries.is_empty() {
        let entries = whole(store, entries).await?;
        return if entries.is_empty() { Ok(Round::Sent) } else { together(store, sender, &entries).await };
    }
    let wait = sender.alone.from.saturating_sub(store.clock.uptime());
    if !wait.is_zero() {
        return Ok(Round::Idle(wait.min(interval)));
    }
    let entries = outbox::alone(store.reader(), sender.alone.last, sender.alone.batch).await?;
    if entries.is_empty() {
        // A refused entry rests for an interval before it is tried again.
        return Ok(Round::Idle(interval));
    }
    let entries = whole(store, entries).await?;
    if entries.is_empty() { Ok(Round::Sent) } else { alone(store, sender, &entries).await }
}

/// The entries with their content: what was forgotten of those that HQ has lost is made again.
async fn whole(store: &Store, mut entries: Vec<Entry>) -> Result<Vec<Entry>, DbErr> {
    if entries.iter().all(|entry| !entry.payload.is_empty()) {
        return Ok(entries);
    }
    let tx = store.sync_db().begin().await?;
    outbox::make_again(&tx, &mut entries).await?;
    let (whole, gone): (Vec<_>, Vec<_>) = entries.into_iter().partition(|entry| !entry.payload.is_empty());
    if !gone.is_empty() {
        tracing::warn!(
            entries = gone.len(),
            "headquarters lacks what is not here any more either: it is not sent again"
        );
        outbox::confirm(&tx, &gone.iter().collect::<Vec<_>>(), store.clock.now()).await?;
    }
    tx.commit().await?;
    Ok(whole)
}

/// Sends entries of which nothing is known. A batch that gets no verdict while HQ answers other requests is halved down to
/// the culprit, which waits alone from then on, so that it cannot hold the rest.
async fn together(store: &Store, sender: &mut Sender, entries: &[Entry]) -> Result<Round, DbErr> {
    match send(store, entries).await? {
        Ok(results) => {
            sender.failures = 0;
            sender.batch = (sender.batch * 2).min(BATCH);
            apply_verdicts(store, entries, &results).await?;
            reached(store);
            Ok(Round::Sent)
        }
        Err(error) if is_of_the_content(store, &error, sender.failures >= LINE_BREAKS).await => {
            if let [only] = entries {
                set_aside(store, &[(only, error.to_string())]).await?;
                return Ok(rest(store, sender, &error));
            }
            sender.batch = entries.len().div_ceil(2);
            Ok(Round::Wait(Duration::from_millis(100)))
        }
        Err(error) => {
            // Nor may a batch be more than the line carries in the time of a request: it would never get through.
            let bytes: usize = entries.iter().map(|entry| entry.payload.len()).sum();
            if matches!(error, HqError::Unreachable(_)) && bytes > ANY_LINE {
                sender.batch = entries.len().div_ceil(2);
            }
            if matches!(error, HqError::Elsewhere) {
                elsewhere::refused(store).await?;
            }
            Ok(rest(store, sender, &error))
        }
    }
}

/// Tries what waits alone. Whatever comes of it, the others need not wait for it.
async fn alone(store: &Store, sender: &mut Sender, entries: &[Entry]) -> Result<Round, DbErr> {
    sender.alone.last = entries.last().map_or(0, |entry| entry.seq);
    let taken = match send(store, entries).await? {
        Ok(results) => {
            reached(store);
            apply_verdicts(store, entries, &results).await?
        }
        Err(error) if is_of_the_content(store, &error, true).await => {
            if let [only] = entries {
                set_aside(store, &[(only, error.to_string())]).await?;
            }
            0
        }
        Err(error) => return Ok(rest(store, sender, &error)),
    };
    if taken > 0 {
        sender.alone.failures = 0;
        sender.alone.batch = (sender.alone.batch * 2).min(BATCH);
    } else {
        sender.alone.batch = 1;
        let longest = ALONE_TO.min(store.settings.sync_interval);
        let wait = back_off::of_request(sender.alone.failures, longest, &store.chance);
        sender.alone.from = store.clock.uptime() + wait;
        sender.alone.failures += 1;
    }
    Ok(Round::Sent)
}

/// Sends one request: HQ's verdicts on exactly these entries, or why there are none.
async fn send(store: &Store, entries: &[Entry]) -> Result<Result<Vec<PushResult>, HqError>, DbErr> {
    fault::point("sender.send")?;
    let envelopes: Vec<String> = entries.iter().map(|entry| envelope(store, entry)).collect();
    let answer = store.hq.push(&envelopes).await;
    fault::point("sender.answered")?;
    Ok(answer.and_then(|answer| {
        let of_it = |(entry, result): (&Entry, &PushResult)| {
            entry.entity_type == result.entity_type && result.entity_id.parse::<Uuid>().ok() == Some(entry.entity_id)
        };
        if answer.results.len() == entries.len() && entries.iter().zip(&answer.results).all(of_it) {
            return Ok(answer.results);
        }
        let text = format!("{} verdicts that are not on the {} entries sent", answer.results.len(), entries.len());
        Err(HqError::Unreadable(text))
    }))
}

/// Whether it is what was sent that gets no verdict: HQ answers other requests, and says neither of itself that it cannot
/// now nor of this store that it may not. `often` says that a broken connection is more than the line's.
async fn is_of_the_content(store: &Store, error: &HqError, often: bool) -> bool {
    let may_be = match error {
        HqError::Unreachable(_) => often,
        HqError::Between { .. } | HqError::Answered { .. } | HqError::Unreadable(_) => true,
        HqError::Refused(_)
        | HqError::Reload { .. }
        | HqError::HistoryChanged
        | HqError::Elsewhere
        | HqError::Busy { .. } => false,
    };
    may_be && store.hq.answers().await
}

fn reached(store: &Store) {
    let now = store.clock.now();
    store.sync.reached(now);
    store.sync.update(|line| line.last_push_at = Some(now));
}

/// Waits longer with each failure; HQ's own word is obeyed.
fn rest(store: &Store, sender: &mut Sender, error: &HqError) -> Round {
    store.sync.failed(error, store.clock.now());
    if let HqError::Busy { retry_after: Some(wait) } = error {
        return Round::Obey((*wait).min(back_off::LONGEST));
    }
    let wait = back_off::of_request(sender.failures, back_off::LONGEST, &store.chance);
    sender.failures += 1;
    Round::Wait(wait)
}

/// The envelope of an entry; its data is the text that was stored with the document.
fn envelope(store: &Store, entry: &Entry) -> String {
    let changed = entry.changed.as_ref().map(|columns| format!("\"changed\":{columns},")).unwrap_or_default();
    format!(
        "{{\"store_id\":\"{}\",\"entity_type\":\"{}\",\"entity_id\":\"{}\",\"action\":\"{}\",\"timestamp\":\"{}\",\
         \"seq\":{},\"node_epoch\":\"{}\",{changed}\"data\":{}}}",
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
