//! Whether two processes of one store run at once, as they do after its directory was copied. `docs/sync.md`, rule D8.
//!
//! Each process has a random name (`instance`), and each handshake gives it a nonce that its next requests present. Who
//! presents the nonce of an answer was alive when that answer was given: it had asked before, and got it after. Processes
//! that follow one another, as at a restart, were alive one after the other, whatever arrives late or twice; of two that
//! run at once each is alive between two signs of the other.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tillkeep_model::Instant;
use tillkeep_storage::{DbErr, nodes};
use uuid::Uuid;

/// Processes of a store that are remembered: a late word of an older one is a stranger's, which shows nothing.
const PROCESSES: usize = 16;
/// Nonces of a process whose answers may still be under way.
const NONCES: usize = 16;
/// How long after its last sign a refused process counts as running.
const RUNS_FOR_MS: i64 = 5 * 60 * 1000;

/// The processes of all stores. Several servers of one headquarters keep them in the database, and what is here is what this
/// one read there last; one server alone keeps there which of them are refused.
#[derive(Default)]
pub struct Copies(Mutex<HashMap<Uuid, Processes>>);

#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Processes {
    /// Counts the answers.
    turn: u64,
    known: VecDeque<Process>,
    refused: Vec<Refused>,
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
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
    heard_at: Option<Instant>,
}

/// What a sign of a process means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sign {
    pub refused: bool,
    /// Another process has been given an answer since this one was: a new nonce tells which of them live.
    pub asks: bool,
    /// Two were found out by it.
    pub news: bool,
}

impl Copies {
    /// What was noted before this server started.
    pub async fn load(db: &tillkeep_storage::Db) -> Result<Self, DbErr> {
        let mut all = HashMap::new();
        for (store, text) in nodes::processes(db.reader()).await? {
            let noted: Processes = serde_json::from_str(&text).unwrap_or_default();
            // A server that is alone remembers the rest itself, and has forgotten it.
            let known = if db.is_embedded() { Processes::default() } else { noted.clone() };
            all.insert(store, Processes { refused: noted.refused, ..known });
        }
        Ok(Self(Mutex::new(all)))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Uuid, Processes>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn with<T>(&self, store: Uuid, see: impl FnOnce(&mut Processes) -> T) -> T {
        see(self.lock().entry(store).or_default())
    }

    /// Takes over what another server of headquarters noted.
    pub fn adopt(&self, store: Uuid, noted: &str) {
        if let Ok(noted) = serde_json::from_str(noted) {
            self.with(store, |own| *own = noted);
        }
    }

    /// Whether this process was answered before, and presents another nonce than its newest: the request comes late, or the
    /// answer was lost.
    pub fn is_late(&self, store: Uuid, instance: Option<Uuid>, nonce: Option<Uuid>) -> bool {
        let all = self.lock();
        let known = all.get(&store).and_then(|own| own.known.iter().find(|process| Some(process.instance) == instance));
        known.and_then(|process| process.given.back()).is_some_and(|(newest, _)| Some(*newest) != nonce)
    }

    /// Since when two processes of `store` run, while the refused one still does.
    pub fn running_twice(&self, store: Uuid, now: Instant) -> Option<Instant> {
        self.lock().get(&store).and_then(|own| own.running_twice(now))
    }

    /// Stores of which two processes run.
    pub fn count(&self, now: Instant) -> usize {
        self.lock().values().filter(|own| own.running_twice(now).is_some()).count()
    }
}

impl Processes {
    /// A process asked something, with the newest nonce that it has.
    pub(super) fn sign(&mut self, instance: Uuid, nonce: Option<Uuid>, now: Instant) -> Sign {
        let news = self.alive(instance, nonce, now);
        let mut refused = self.refused.iter_mut().filter(|refused| refused.instance == instance);
        let is_refused = refused.next().map(|refused| refused.heard_at = Some(now)).is_some();
        let newest = |process: &Process| process.given.back().map(|(_, turn)| *turn);
        let mine = self.known.iter().find(|process| process.instance == instance).and_then(newest);
        let asks = mine.is_some() && self.known.iter().filter_map(newest).max() > mine;
        Sign { refused: is_refused, asks, news }
    }

    /// Whether a sign of a process says nothing that is not known of it.
    pub(super) fn expects(&self, instance: Uuid, nonce: Option<Uuid>) -> bool {
        let Some(process) = self.known.iter().find(|process| process.instance == instance) else { return false };
        let seen = |turn| process.alive.is_some_and(|(first, last)| first <= turn && turn <= last);
        let given = |nonce| process.given.iter().find(|(given, _)| *given == nonce);
        !self.refuses(instance) && nonce.is_none_or(|nonce| given(nonce).is_some_and(|(_, turn)| seen(*turn)))
    }

    /// The nonce of an answer to a process.
    pub(super) fn give(&mut self, instance: Uuid) -> Uuid {
        let nonce = Uuid::new_v4();
        self.turn += 1;
        let turn = self.turn;
        let process = self.process(instance);
        process.given.push_back((nonce, turn));
        if process.given.len() > NONCES {
            process.given.pop_front();
        }
        nonce
    }

    /// Somebody decided at this process that it is the store: the others are refused.
    pub(super) fn take_over(&mut self, instance: Uuid, now: Instant) {
        for refused in self.refused.iter_mut().filter(|refused| refused.instance == instance) {
            *refused = Refused { instance: refused.other, other: instance, since: now, heard_at: Some(now) };
        }
    }

    pub(super) fn refuses(&self, instance: Uuid) -> bool {
        self.refused.iter().any(|refused| refused.instance == instance)
    }

    /// Whether the same processes are refused as in `other`, whenever they were heard.
    pub(super) fn refuses_the_same(&self, other: &Self) -> bool {
        let which = |all: &Self| all.refused.iter().map(|one| (one.instance, one.other)).collect::<Vec<_>>();
        which(self) == which(other)
    }

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

#[cfg(test)]
mod tests {
    use super::*;

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
        fn handshake(&mut self, hq: &mut Processes, now: Instant) -> bool {
            let refused = hq.sign(self.instance, self.nonce, now).refused;
            if !refused {
                self.nonce = Some(hq.give(self.instance));
            }
            !refused
        }

        /// A handshake whose answer goes nowhere, with what it presented then.
        fn late(&self, hq: &mut Processes, nonce: Option<Uuid>) {
            if !hq.sign(self.instance, nonce, at(0)).refused {
                hq.give(self.instance);
            }
        }

        /// A quiet cycle.
        fn cycle(&mut self, hq: &mut Processes, now: Instant) -> bool {
            let sign = hq.sign(self.instance, self.nonce, now);
            if sign.asks || sign.refused {
                return self.handshake(hq, now) && !hq.sign(self.instance, self.nonce, now).refused;
            }
            true
        }
    }

    #[test]
    fn restarts_and_whatever_arrives_late_or_twice_are_never_called_two() {
        let mut hq = Processes::default();
        let mut ended: Vec<Copy> = Vec::new();
        for round in 0..200_usize {
            let mut process = Copy::start();
            assert!(process.handshake(&mut hq, at(0)), "{round}");
            for _ in 0..round % 4 {
                assert!(process.cycle(&mut hq, at(0)), "{round}");
                // Its own request once more, and those of processes before it.
                process.late(&mut hq, process.nonce);
                for old in ended.iter().rev().take(3) {
                    old.late(&mut hq, old.nonce);
                    old.late(&mut hq, None);
                    hq.sign(old.instance, old.nonce, at(0));
                }
                // The first handshake of a process that ended before it was heard.
                Copy::start().late(&mut hq, None);
            }
            ended.push(process);
        }
        assert_eq!(hq.running_twice(at(0)), None);
        assert!(hq.refused.is_empty());
    }

    #[test]
    fn of_two_that_run_at_once_the_one_heard_later_is_refused_within_a_cycle_of_both() {
        let mut hq = Processes::default();
        let (mut first, mut later) = (Copy::start(), Copy::start());
        assert!(first.handshake(&mut hq, at(0)) && first.cycle(&mut hq, at(0)));
        assert!(later.handshake(&mut hq, at(5)) && later.cycle(&mut hq, at(5)));
        assert_eq!(hq.running_twice(at(5)), None, "it may be a restart");
        assert!(first.cycle(&mut hq, at(30)));
        assert_eq!(hq.running_twice(at(30)), Some(at(30)));
        assert!(!later.cycle(&mut hq, at(35)) && first.cycle(&mut hq, at(60)) && !later.handshake(&mut hq, at(65)));
        assert!(hq.running_twice(at(66)).is_some());
        // It is stopped: after a while nothing is shown, and its name stays refused.
        assert_eq!(hq.running_twice(at(365)), None);
        assert!(!later.handshake(&mut hq, at(400)));
        // The other one starts again.
        let mut restarted = Copy::start();
        assert!(restarted.handshake(&mut hq, at(401)) && restarted.cycle(&mut hq, at(431)));
    }

    #[test]
    fn who_takes_over_is_the_store_and_the_other_one_is_refused_also_after_headquarters_restarted() {
        let mut hq = Processes::default();
        let (mut first, mut later) = (Copy::start(), Copy::start());
        assert!(first.handshake(&mut hq, at(0)) && first.cycle(&mut hq, at(0)));
        assert!(later.handshake(&mut hq, at(5)) && later.cycle(&mut hq, at(5)));
        assert!(first.cycle(&mut hq, at(30)) && !later.cycle(&mut hq, at(35)));
        hq.take_over(later.instance, at(40));
        assert!(later.handshake(&mut hq, at(40)) && later.cycle(&mut hq, at(70)));
        assert!(!first.cycle(&mut hq, at(71)));
        let mut restarted = Processes { refused: hq.refused, ..Processes::default() };
        assert!(
            later.handshake(&mut restarted, at(100))
                && later.cycle(&mut restarted, at(101))
                && !first.handshake(&mut restarted, at(102))
        );
        assert_eq!(restarted.running_twice(at(103)), Some(at(40)));
    }
}
