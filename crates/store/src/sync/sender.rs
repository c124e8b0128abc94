//! Sends the outbox. Only HQ's verdict on an entry counts as an attempt; what the network does counts nothing.
//! `docs/sync.md`, rules U2 and U4.

use std::sync::Arc;
use std::time::Duration;

use tillkeep_storage::entity::outbox::Model as Entry;
use tillkeep_storage::{DbErr, fault, outbox};

use super::back_off;
use super::suspects::Suspects;
use super::verdicts::{self, apply_verdicts, set_aside};
use super::{elsewhere, in_between};
use crate::Store;
use crate::headquarters::{HqError, Verdict};

/// Entries of one request.
const BATCH: usize = 200;
/// Bytes that any line carries in the time of a request: so few do not fail for being too many.
const ANY_LINE: usize = 32 << 10;
/// How often a request may get no answer at all before it is asked whether its content is the reason.
const LINE_BREAKS: u32 = 3;
/// How many answers in a row may be no verdicts though they say that all went well, before a batch is halved: a page of a
/// network that wants a sign-in says nothing of what was sent.
const DOUBTS: u32 = 3;
/// The wait before the rest of a batch that was halved, or what is left without the culprit.
const NEXT_AT_ONCE: Duration = Duration::from_millis(100);
/// The longest that what waits alone rests: with a cycle on top it has gone 35 seconds after the cause has.
const ALONE_TO: Duration = Duration::from_secs(20);

/// How long the next documents gather after a request that took all there were: the first one leaves at once, and a shop
/// at its busiest makes no request, and no commit at both ends, for each of its sales.
const GATHERING: Duration = Duration::from_millis(50);

/// How the sender stands with HQ.
pub struct Sender {
    failures: u32,
    /// Answers since the last verdict that say that all went well, and are no verdicts.
    doubts: u32,
    suspects: Suspects,
    /// Whether the last request took as many as one may, so that more may wait.
    full: bool,
    /// Entries of the next request: halved while a batch makes a healthy HQ fail or does not get through, and doubled
    /// while all goes well.
    batch: usize,
    alone: Alone,
}

impl Default for Sender {
    fn default() -> Self {
        let (suspects, alone) = Default::default();
        Self { failures: 0, doubts: 0, suspects, full: false, batch: BATCH, alone }
    }
}

/// How those fare that wait alone, each because there was no verdict on it while HQ answered other requests.
#[derive(Default)]
struct Alone {
    failures: u32,
    /// Thousands of customers may wait until an hour is over (rule U16): they have turns of their own.
    customers: Turns,
    others: Turns,
    /// The last turn was of the others, and came to nothing.
    customers_next: bool,
    /// Not before this, by the clock that never goes back.
    from: Duration,
}

/// How those take turns that wait alone.
struct Turns {
    /// Entries of their next request: one, and more when that goes well, because the cause is gone then.
    batch: usize,
    /// The last one that was tried.
    last: i64,
}

impl Default for Turns {
    fn default() -> Self {
        Self { batch: 1, last: 0 }
    }
}

impl Alone {
    fn turns(&mut self, customers: bool) -> &mut Turns {
        if customers { &mut self.customers } else { &mut self.others }
    }

    /// Which entries have the next turn, and whether they are customers.
    async fn next(&mut self, store: &Store) -> Result<(bool, Vec<Entry>), DbErr> {
        for customers in [self.customers_next, !self.customers_next] {
            let Turns { batch, last } = *self.turns(customers);
            let entries = outbox::alone(store.reader(), customers, last, batch).await?;
            if !entries.is_empty() {
                return Ok((customers, entries));
            }
        }
        Ok((false, Vec::new()))
    }

    /// So many of a turn were `taken`. When none was of the others, customers have a turn at once; then all of them rest.
    async fn had_a_turn(&mut self, store: &Store, customers: bool, taken: usize) -> Result<(), DbErr> {
        self.customers_next = !customers && taken == 0;
        let turns = self.turns(customers);
        if taken > 0 {
            turns.batch = (turns.batch * 2).min(BATCH);
            self.failures = 0;
            return Ok(());
        }
        turns.batch = 1;
        if self.customers_next && !outbox::alone(store.reader(), true, 0, 1).await?.is_empty() {
            return Ok(());
        }
        let longest = ALONE_TO.min(store.settings.sync_interval);
        self.from = store.clock.uptime() + back_off::of_request(self.failures, longest, &store.chance);
        self.failures += 1;
        Ok(())
    }
}

/// Whether entries wait to be sent one by one.
pub(super) async fn some_wait_alone(store: &Store) -> Result<bool, DbErr> {
    for customers in [true, false] {
        if !outbox::alone(store.reader(), customers, 0, 1).await?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
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
    /// Not a verdict on an entry that was sent by itself: wait so long, or until there is another one to compare it with.
    Compare(Duration),
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
            Round::Idle(wait) | Round::Compare(wait) => tokio::select! {
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
    let next = async |after| outbox::batch_after(store.reader(), after, sender.batch, store.clock.now(), rest).await;
    let mut entries = next(sender.suspects.after()).await?;
    if entries.is_empty() && sender.suspects.after() > 0 {
        entries = next(0).await?;
    }
    sender.full = entries.len() >= sender.batch;
    if !entries.is_empty() {
        let entries = whole(store, entries).await?;
        return if entries.is_empty() { Ok(Round::Sent) } else { together(store, sender, &entries).await };
    }
    let wait = sender.alone.from.saturating_sub(store.clock.uptime());
    if !wait.is_zero() {
        return Ok(Round::Idle(wait.min(interval)));
    }
    let (customers, entries) = sender.alone.next(store).await?;
    if entries.is_empty() {
        // A refused entry rests for an interval before it is tried again.
        return Ok(Round::Idle(interval));
    }
    let entries = whole(store, entries).await?;
    if entries.is_empty() { Ok(Round::Sent) } else { alone(store, sender, customers, &entries).await }
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

/// Sends entries of which nothing is known. A batch that gets no verdict is halved down to one entry, and the others are tried
/// without it. When another one gets a verdict and it gets none once more, it is the culprit, and waits alone from then on, so
/// that it cannot hold the rest. While nothing gets a verdict, as behind the page of a network, there is no culprit.
async fn together(store: &Store, sender: &mut Sender, entries: &[Entry]) -> Result<Round, DbErr> {
    let error = match send(store, entries).await? {
        Ok(verdicts) => {
            (sender.failures, sender.doubts) = (0, 0);
            in_between::judged(store);
            sender.batch = (sender.batch * 2).min(BATCH);
            sender.suspects.judged(entries.iter().map(|entry| entry.seq));
            apply_verdicts(store, entries, &verdicts).await?;
            reached(store);
            return Ok(Round::Sent);
        }
        Err(error) => error,
    };
    in_between::not_judged(store, &error);
    let often = if matches!(error, HqError::Unreadable(_)) {
        sender.doubts += 1;
        sender.doubts >= DOUBTS
    } else {
        sender.failures >= LINE_BREAKS
    };
    if is_of_the_content(store, &error, often).await? {
        if let [only] = entries {
            return suspect(store, sender, only, &error).await;
        }
        sender.batch = entries.len().div_ceil(2);
        return Ok(Round::Wait(NEXT_AT_ONCE));
    }
    // Nor may a batch be more than the line carries in the time of a request: it would never get through.
    let bytes: usize = entries.iter().map(|entry| entry.payload.len()).sum();
    if matches!(error, HqError::Unreachable(_)) && bytes > ANY_LINE {
        sender.batch = entries.len().div_ceil(2);
    }
    if let HqError::Elsewhere(why) = &error {
        elsewhere::refused(store, why).await?;
    }
    Ok(rest(store, sender, &error))
}

/// An entry got no verdict by itself: it is set aside if another one got one since it last did not.
async fn suspect(store: &Store, sender: &mut Sender, entry: &Entry, error: &HqError) -> Result<Round, DbErr> {
    if sender.suspects.is_the_culprit(entry.seq) {
        store.sync.failed(error, store.clock.now());
        set_aside(store, &[(entry, error.to_string())]).await?;
        return Ok(Round::Wait(NEXT_AT_ONCE));
    }
    match rest(store, sender, error) {
        Round::Wait(wait) => Ok(Round::Compare(wait)),
        round => Ok(round),
    }
}

/// Tries what waits alone. Whatever comes of it, the others need not wait for it.
async fn alone(store: &Store, sender: &mut Sender, customers: bool, entries: &[Entry]) -> Result<Round, DbErr> {
    sender.alone.turns(customers).last = entries.last().map_or(0, |entry| entry.seq);
    let taken = match send(store, entries).await? {
        Ok(verdicts) => {
            sender.suspects.judged(entries.iter().map(|entry| entry.seq));
            reached(store);
            in_between::judged(store);
            apply_verdicts(store, entries, &verdicts).await?
        }
        Err(error) if is_of_the_content(store, &error, true).await? => {
            if let [only] = entries {
                set_aside(store, &[(only, error.to_string())]).await?;
            }
            0
        }
        Err(error) => return Ok(rest(store, sender, &error)),
    };
    sender.alone.had_a_turn(store, customers, taken).await?;
    Ok(Round::Sent)
}

/// Sends one request: HQ's verdicts on exactly these entries, in their order, or why there are none.
async fn send(store: &Store, entries: &[Entry]) -> Result<Result<Vec<Verdict>, HqError>, DbErr> {
    fault::point("sender.send")?;
    let envelopes: Vec<String> = entries.iter().map(|entry| envelope(store, entry)).collect();
    let answer = store.hq.push(&envelopes).await;
    fault::point("sender.answered")?;
    Ok(answer.and_then(|results| verdicts::of_entries(results, entries)))
}

/// Whether it may be what was sent that gets no verdict. `often` says that it got none so often that the line alone is not
/// the reason. Who says neither of itself that it cannot now nor of this store that it may not is asked something else: what
/// answers that as headquarters does is there. An answer in which all is well is not questioned: what gives it may give
/// any.
async fn is_of_the_content(store: &Store, error: &HqError, often: bool) -> Result<bool, DbErr> {
    match error {
        HqError::Unreadable(_) => Ok(often),
        HqError::Unreachable(_) if !often => Ok(false),
        HqError::Unreachable(_) | HqError::Between { .. } | HqError::Answered { .. } => {
            in_between::answers(store).await
        }
        HqError::Refused(_)
        | HqError::Reload { .. }
        | HqError::HistoryChanged
        | HqError::Elsewhere(_)
        | HqError::Busy { .. } => Ok(false),
    }
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
    let more = if store.hq.speaks_the_specification_alone() { String::new() } else { extensions(entry) };
    format!(
        "{{\"store_id\":\"{}\",\"entity_type\":\"{}\",\"entity_id\":\"{}\",\"action\":\"{}\",\"timestamp\":\"{}\",\
         {more}\"data\":{}}}",
        store.id, entry.entity_type, entry.entity_id, entry.action, entry.timestamp, entry.payload
    )
}

/// What the specification lacks: the number of the entry and the database that gave it, and what the change is about.
fn extensions(entry: &Entry) -> String {
    let changed = entry.changed.as_ref().map(|columns| format!("\"changed\":{columns},")).unwrap_or_default();
    format!("\"seq\":{},\"node_epoch\":\"{}\",{changed}", entry.seq, entry.node_epoch)
}
