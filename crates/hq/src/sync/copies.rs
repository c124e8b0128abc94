//! Whether two processes of one store run at once, as they do after its directory was copied. `docs/sync.md`, rule D8.
//!
//! Each process has a random name (`instance`), and each handshake gives it a nonce that its next requests present. Who
//! presents the nonce of an answer was alive when that answer was given: it had asked before, and got it after. Processes
//! that follow one another, as at a restart, were alive one after the other, whatever arrives late or twice; of two that
//! run at once each is alive between two signs of the other.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tillkeep_http::error::{Error, Result};
use tillkeep_model::{ErrorCode, Instant};
use tillkeep_storage::{DbErr, nodes};
use uuid::Uuid;

use crate::Hq;

/// Processes of a store that are remembered: a late word of an older one is a stranger's, which shows nothing.
const PROCESSES: usize = 16;
/// Nonces of a process whose answers may still be under way.
const NONCES: usize = 16;
/// How long after its last sign a refused process counts as running.
const RUNS_FOR_MS: i64 = 5 * 60 * 1000;

/// The processes of all stores, as this server heard of them.
#[derive(Default)]
pub struct Copies(Mutex<HashMap<Uuid, Processes>>);

#[derive(Default)]
struct Processes {
    /// Counts the answers.
    turn: u64,
    known: VecDeque<Process>,
    refused: Vec<Refused>,
}

struct Process {
    instance: Uuid,
    /// Its newest nonces, with their turns.
    given: VecDeque<(Uuid, u64)>,
    /// The first and the last turn at which it was alive.
    alive: Option<(u64, u64)>,
}

/// A process that another one, which was heard before it, keeps from being this store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Refused {
    instance: Uuid,
    /// The one that is the store.
    other: Uuid,
    since: Instant,
    #[serde(skip)]
    heard_at: Option<Instant>,
}

/// What a sign of a process means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sign {
    pub refused: bool,
    /// Another process has been given an answer since this one was: a new nonce tells which of them live.
    pub asks: bool,
    /// Two were found out by it.
    news: bool,
}

impl Copies {
    /// What was noted before this server started.
    pub async fn load(db: &tillkeep_storage::Db) -> Result<Self, DbErr> {
        let mut all = HashMap::new();
        for (store, text) in nodes::refused_copies(db.reader()).await? {
            let refused = serde_json::from_str(&text).unwrap_or_default();
            all.insert(store, Processes { refused, ..Processes::default() });
        }
        Ok(Self(Mutex::new(all)))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Uuid, Processes>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A process of `store` asked something, with the newest nonce that it has.
    fn sign(&self, store: Uuid, instance: Uuid, nonce: Option<Uuid>, now: Instant) -> Sign {
        let mut all = self.lock();
        let own = all.entry(store).or_default();
        let news = own.alive(instance, nonce, now);
        let mut refused = own.refused.iter_mut().filter(|refused| refused.instance == instance);
        let is_refused = refused.next().map(|refused| refused.heard_at = Some(now)).is_some();
        let newest = |process: &Process| process.given.back().map(|(_, turn)| *turn);
        let mine = own.known.iter().find(|process| process.instance == instance).and_then(newest);
        let asks = mine.is_some() && own.known.iter().filter_map(newest).max() > mine;
        Sign { refused: is_refused, asks, news }
    }

    /// The nonce of an answer to a process.
    pub fn give(&self, store: Uuid, instance: Uuid) -> Uuid {
        let nonce = Uuid::new_v4();
        let mut all = self.lock();
        let own = all.entry(store).or_default();
        own.turn += 1;
        let turn = own.turn;
        let process = own.process(instance);
        process.given.push_back((nonce, turn));
        if process.given.len() > NONCES {
            process.given.pop_front();
        }
        nonce
    }

    /// Whether this process was answered before, and presents another nonce than its newest: the request comes late, or the
    /// answer was lost.
    pub fn is_late(&self, store: Uuid, instance: Option<Uuid>, nonce: Option<Uuid>) -> bool {
        let all = self.lock();
        let known = all.get(&store).and_then(|own| own.known.iter().find(|process| Some(process.instance) == instance));
        known.and_then(|process| process.given.back()).is_some_and(|(newest, _)| Some(*newest) != nonce)
    }

    /// Somebody decided at this process that it is the store: the others are refused.
    pub fn take_over(&self, store: Uuid, instance: Uuid, now: Instant) {
        let mut all = self.lock();
        let Some(own) = all.get_mut(&store) else { return };
        for refused in own.refused.iter_mut().filter(|refused| refused.instance == instance) {
            *refused = Refused { instance: refused.other, other: instance, since: now, heard_at: Some(now) };
        }
    }

    fn is_refused(&self, store: Uuid, instance: Uuid) -> bool {
        self.lock().get(&store).is_some_and(|own| own.refused.iter().any(|refused| refused.instance == instance))
    }

    /// Since when two processes of `store` run, while the refused one still does.
    pub fn running_twice(&self, store: Uuid, now: Instant) -> Option<Instant> {
        self.lock().get(&store).and_then(|own| own.running_twice(now))
    }

    /// Stores of which two processes run.
    pub fn count(&self, now: Instant) -> usize {
        self.lock().values().filter(|own| own.running_twice(now).is_some()).count()
    }

    /// Takes what is noted in the database, where another server of headquarters may have found it out or been told
    /// otherwise.
    pub fn adopt(&self, store: Uuid, noted: &str) {
        let Ok(mut refused) = serde_json::from_str::<Vec<Refused>>(noted) else { return };
        let mut all = self.lock();
        let own = all.entry(store).or_default();
        for refused in &mut refused {
            let heard = own.refused.iter().find(|heard| heard.instance == refused.instance);
            refused.heard_at = heard.and_then(|heard| heard.heard_at);
        }
        own.refused = refused;
    }

    /// Whether all that is `noted` is known here too.
    fn knows_all(&self, store: Uuid, noted: &str) -> bool {
        let noted: Vec<Refused> = serde_json::from_str(noted).unwrap_or_default();
        let all = self.lock();
        let here = all.get(&store).map_or(&[][..], |own| &own.refused);
        noted.iter().all(|noted| here.iter().any(|here| (here.instance, here.other) == (noted.instance, noted.other)))
    }

    /// What is to outlive this server.
    pub fn noted(&self, store: Uuid) -> String {
        let all = self.lock();
        let refused = all.get(&store).map_or(&[][..], |own| &own.refused);
        serde_json::to_string(refused).unwrap_or_default()
    }
}

impl Processes {
    fn process(&mut self, instance: Uuid) -> &mut Process {
        let at = self.known.iter().position(|process| process.instance == instance).unwrap_or_else(|| {
            if self.known.len() >= PROCESSES {
                // Whoever gave no sign of life, or the oldest one: a copy that starts again and again displaces itself.
                let sign = |(_, process): &(usize, &Process)| {
                    (process.alive.map(|(_, last)| last), process.given.back().map(|(_, turn)| *turn))
                };
                let oldest = self.known.iter().enumerate().min_by_key(sign).map(|(place, _)| place);
                oldest.map(|place| self.known.remove(place));
            }
            self.known.push_back(Process { instance, given: VecDeque::new(), alive: None });
            self.known.len() - 1
        });
        &mut self.known[at]
    }

    /// Notes when `instance` was alive; true when that shows two at once that were not known.
    fn alive(&mut self, instance: Uuid, nonce: Option<Uuid>, now: Instant) -> bool {
        let Some(mine) = self.known.iter_mut().find(|process| process.instance == instance) else { return false };
        let Some((_, turn)) = mine.given.iter().find(|(given, _)| Some(*given) == nonce).copied() else { return false };
        let (first, last) = mine.alive.map_or((turn, turn), |(first, last)| (first.min(turn), last.max(turn)));
        mine.alive = Some((first, last));
        let is_refused = |instance| self.refused.iter().any(|refused: &Refused| refused.instance == instance);
        if is_refused(instance) {
            return false;
        }
        let beside = self.known.iter().filter(|process| process.instance != instance && !is_refused(process.instance));
        let beside = beside.filter_map(|process| Some((process.instance, process.alive?)));
        let beside =
            beside.filter(|(_, (begin, end))| *begin <= last && first <= *end).max_by_key(|(_, (begin, _))| *begin);
        let Some((other, (begin, _))) = beside else { return false };
        let (instance, other) = if begin > first { (other, instance) } else { (instance, other) };
        self.refused.push(Refused { instance, other, since: now, heard_at: Some(now) });
        true
    }

    fn running_twice(&self, now: Instant) -> Option<Instant> {
        let runs = |refused: &&Refused| refused.heard_at.is_some_and(|at| now.millis_since(at) < RUNS_FOR_MS);
        self.refused.iter().filter(runs).map(|refused| refused.since).min()
    }
}

/// Takes note of a request of a store's process. One of an older release says nothing of itself.
pub async fn hear(hq: &Hq, store: Uuid, code: &str, instance: Option<Uuid>, nonce: Option<Uuid>) -> Sign {
    let Some(instance) = instance else { return Sign::default() };
    let mut sign = hq.copies.sign(store, instance, nonce, hq.clock.now());
    if sign.news {
        tracing::error!(store = code, "two copies of this store run at once: the one that was heard later is refused");
        keep(hq, store, false).await;
        // Another server of headquarters may have found it out first.
        sign.refused = hq.copies.is_refused(store, instance);
    }
    if sign.news || sign.refused {
        hq.board.mark([store]);
    }
    sign
}

/// The answer to a refused process.
pub fn refuse_copy(sign: Sign) -> Result<()> {
    if !sign.refused {
        return Ok(());
    }
    let text = "another copy of this store is running and was here before this one; stop one of the two. If this is the one \
                to go on, run tillkeep store take-over here";
    Err(Error::new(ErrorCode::StoreRunsElsewhere, text))
}

/// Writes what outlives this server. It is in memory already: what cannot be written now is written with the next word.
/// What another server of headquarters noted before holds, unless somebody `decided` otherwise: else each of them could
/// refuse another one of the two.
pub async fn keep(hq: &Hq, store: Uuid, decided: bool) {
    let written = async {
        let tx = hq.sync_db().begin().await?;
        let there = nodes::locked_refused_copies(&tx, store).await?;
        if decided || hq.copies.knows_all(store, &there) {
            nodes::note_refused_copies(&tx, store, &hq.copies.noted(store)).await?;
        } else {
            hq.copies.adopt(store, &there);
        }
        tx.commit().await
    };
    if let Err(error) = written.await {
        tracing::warn!(%error, "that two copies of a store run could not be noted in the database");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STORE: Uuid = Uuid::nil();

    fn at(seconds: i64) -> Instant {
        Instant::default().plus_millis(seconds * 1000)
    }

    /// A process with what it has to present.
    struct Copy {
        instance: Uuid,
        nonce: Option<Uuid>,
    }

    impl Copy {
        fn start() -> Self {
            Self { instance: Uuid::new_v4(), nonce: None }
        }

        /// A handshake whose answer comes; false when it is refused.
        fn handshake(&mut self, hq: &Copies, now: Instant) -> bool {
            let refused = hq.sign(STORE, self.instance, self.nonce, now).refused;
            if !refused {
                self.nonce = Some(hq.give(STORE, self.instance));
            }
            !refused
        }

        /// A handshake whose answer goes nowhere, with what it presented then.
        fn late(&self, hq: &Copies, nonce: Option<Uuid>) {
            if !hq.sign(STORE, self.instance, nonce, at(0)).refused {
                hq.give(STORE, self.instance);
            }
        }

        /// A quiet cycle.
        fn cycle(&mut self, hq: &Copies, now: Instant) -> bool {
            let sign = hq.sign(STORE, self.instance, self.nonce, now);
            if sign.asks || sign.refused {
                return self.handshake(hq, now) && !hq.sign(STORE, self.instance, self.nonce, now).refused;
            }
            true
        }
    }

    #[test]
    fn restarts_and_whatever_arrives_late_or_twice_are_never_called_two() {
        let hq = Copies::default();
        let mut ended: Vec<Copy> = Vec::new();
        for round in 0..200_usize {
            let mut process = Copy::start();
            assert!(process.handshake(&hq, at(0)), "{round}");
            for _ in 0..round % 4 {
                assert!(process.cycle(&hq, at(0)), "{round}");
                // Its own request once more, and those of processes before it.
                process.late(&hq, process.nonce);
                for old in ended.iter().rev().take(3) {
                    old.late(&hq, old.nonce);
                    old.late(&hq, None);
                    hq.sign(STORE, old.instance, old.nonce, at(0));
                }
                // The first handshake of a process that ended before it was heard.
                Copy::start().late(&hq, None);
            }
            ended.push(process);
        }
        assert_eq!(hq.running_twice(STORE, at(0)), None);
        assert_eq!(hq.noted(STORE), "[]");
    }

    #[test]
    fn of_two_that_run_at_once_the_one_heard_later_is_refused_within_a_cycle_of_both() {
        let hq = Copies::default();
        let (mut first, mut later) = (Copy::start(), Copy::start());
        assert!(first.handshake(&hq, at(0)) && first.cycle(&hq, at(0)));
        assert!(later.handshake(&hq, at(5)) && later.cycle(&hq, at(5)));
        assert_eq!(hq.running_twice(STORE, at(5)), None, "it may be a restart");
        assert!(first.cycle(&hq, at(30)));
        assert_eq!(hq.running_twice(STORE, at(30)), Some(at(30)));
        assert!(!later.cycle(&hq, at(35)) && first.cycle(&hq, at(60)) && !later.handshake(&hq, at(65)));
        assert_eq!(hq.count(at(66)), 1);
        // It is stopped: after a while nothing is shown, and its name stays refused.
        assert_eq!(hq.running_twice(STORE, at(365)), None);
        assert!(!later.handshake(&hq, at(400)));
        // The other one starts anew.
        let mut restarted = Copy::start();
        assert!(restarted.handshake(&hq, at(401)) && restarted.cycle(&hq, at(431)));
    }

    #[test]
    fn who_takes_over_is_the_store_and_the_other_one_is_refused_also_after_headquarters_started_anew() {
        let hq = Copies::default();
        let (mut first, mut later) = (Copy::start(), Copy::start());
        assert!(first.handshake(&hq, at(0)) && first.cycle(&hq, at(0)));
        assert!(later.handshake(&hq, at(5)) && later.cycle(&hq, at(5)));
        assert!(first.cycle(&hq, at(30)) && !later.cycle(&hq, at(35)));
        hq.take_over(STORE, later.instance, at(40));
        assert!(later.handshake(&hq, at(40)) && later.cycle(&hq, at(70)));
        assert!(!first.cycle(&hq, at(71)));
        let refused: Vec<Refused> = serde_json::from_str(&hq.noted(STORE)).expect("noted");
        let anew = Copies::default();
        anew.lock().insert(STORE, Processes { refused, ..Processes::default() });
        assert!(later.handshake(&anew, at(100)) && later.cycle(&anew, at(101)) && !first.handshake(&anew, at(102)));
        assert_eq!(anew.running_twice(STORE, at(103)), Some(at(40)));
    }
}
