//! Whether two processes of one store run at once, as they do after its directory was copied. `docs/sync.md`, rule D8.
//!
//! Each process has a random name (`instance`), and each handshake gives it a nonce that its next requests present. Who
//! presents the nonce of an answer was alive when that answer was given: it had asked before, and got it after. Processes
//! that follow one another, as at a restart, were alive one after the other, whatever arrives late or twice; of two that
//! run at once each is alive between two signs of the other. Which of the two goes on is decided in `process`.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tillkeep_model::Instant;
use tillkeep_storage::{DbErr, nodes};
use uuid::Uuid;

use super::process::{self, Because, Made, Process};

/// Processes of a store that are remembered: a late word of an older one is a stranger's, which shows nothing.
const PROCESSES: usize = 16;
/// How long after its last sign a refused process counts as running.
const RUNS_FOR_MS: i64 = 5 * 60 * 1000;

/// The processes of all stores. Several servers of one headquarters keep them in the database, and what is here is what this
/// one read there last; one server alone keeps there which of them are refused.
#[derive(Default)]
pub struct Copies(Mutex<HashMap<Uuid, Processes>>);

#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Processes {
    /// Counts the answers.
    turn: u64,
    known: VecDeque<Process>,
    refused: Vec<Refused>,
}

/// A process that another one keeps from being this store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Refused {
    instance: Uuid,
    /// The one that is the store.
    other: Uuid,
    since: Instant,
    heard_at: Option<Instant>,
    #[serde(default)]
    because: Because,
    /// It was the store until then: what it had sold is taken.
    #[serde(default)]
    sends: bool,
}

/// That a process is refused, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub because: Because,
    /// What it had sold is taken.
    pub sends: bool,
}

/// What a sign of a process means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sign {
    pub refused: Option<Refusal>,
    /// Another process has been given an answer since this one was alive, or this one is not known: a new nonce tells which
    /// of them live.
    pub asks: bool,
    /// Two were found out by it, and why one of them goes on.
    pub news: Option<Because>,
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

    pub(crate) fn with<T>(&self, store: Uuid, see: impl FnOnce(&mut Processes) -> T) -> T {
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
        known.and_then(Process::newest).is_some_and(|(newest, _)| Some(newest) != nonce)
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
    pub(crate) fn sign(&mut self, instance: Uuid, nonce: Option<Uuid>, now: Instant) -> Sign {
        let news = nonce.and_then(|nonce| self.comes_back(instance, nonce, now));
        for refused in self.refused.iter_mut().filter(|refused| refused.instance == instance) {
            refused.heard_at = Some(now);
        }
        let mine = self.find(instance).and_then(Process::last_known);
        let asks = mine.is_none() || self.newest_of_others(instance).map(|(turn, _)| turn) > mine;
        Sign { refused: self.refusal(instance), asks, news }
    }

    /// A process that does not say which one it is shook hands, when one that does was last heard at `heard_at`: while that one is
    /// heard it is a second copy and refused, and afterwards it is the store.
    pub(crate) fn nameless(&mut self, heard_at: Option<Instant>, now: Instant) -> Sign {
        let named = self.known.iter().filter(|process| self.refusal(process.instance).is_none());
        let silent_after = named.clone().map(Process::silent_after).max().unwrap_or(process::USUAL_SILENCE_MS);
        let other = named.max_by_key(|process| process.alive).map_or(Uuid::nil(), |process| process.instance);
        if heard_at.is_none_or(|at| now.millis_since(at) >= silent_after) {
            self.refused.retain(|refused| !refused.instance.is_nil());
            return Sign::default();
        }
        let known = self.refused.iter_mut().find(|refused| refused.instance.is_nil());
        let is_new = known.is_none();
        match known {
            Some(refused) => refused.heard_at = Some(now),
            None => self.refused.push(Refused {
                instance: Uuid::nil(),
                other,
                since: now,
                heard_at: Some(now),
                because: Because::Earlier,
                sends: false,
            }),
        }
        Sign { refused: self.refusal(Uuid::nil()), asks: false, news: is_new.then_some(Because::Earlier) }
    }

    /// Whether a sign of a process says nothing that is not known of it.
    pub(crate) fn expects(&self, instance: Uuid, nonce: Option<Uuid>) -> bool {
        let Some(process) = self.find(instance) else { return false };
        self.refusal(instance).is_none() && nonce.is_none_or(|nonce| process.has_shown(nonce))
    }

    /// The nonce of an answer to a process that said what it `made`.
    pub(crate) fn give(&mut self, instance: Uuid, made: &Made, now: Instant) -> Uuid {
        let nonce = Uuid::new_v4();
        self.turn += 1;
        let (turn, others) = (self.turn, self.newest_of_others(instance));
        self.process(instance).answered((nonce, turn), made, others, now);
        nonce
    }

    /// An operator decided at this process that it is the store: the others are refused.
    pub(crate) fn take_over(&mut self, instance: Uuid, now: Instant) {
        for refused in self.refused.iter_mut().filter(|refused| refused.instance == instance) {
            *refused = Refused {
                instance: refused.other,
                other: instance,
                since: now,
                heard_at: Some(now),
                because: Because::Decided,
                sends: false,
            };
        }
    }

    /// Whether a process is refused.
    pub(crate) fn refusal(&self, instance: Uuid) -> Option<Refusal> {
        let refused = self.refused.iter().find(|refused| refused.instance == instance)?;
        Some(Refusal { because: refused.because, sends: refused.sends })
    }

    /// Whether the same processes are refused as in `other`, whenever they were heard.
    pub(crate) fn refuses_the_same(&self, other: &Self) -> bool {
        let which = |all: &Self| all.refused.iter().map(|one| (one.instance, one.other)).collect::<Vec<_>>();
        which(self) == which(other)
    }

    fn find(&self, instance: Uuid) -> Option<&Process> {
        self.known.iter().find(|process| process.instance == instance)
    }

    /// The turn of the newest answer to another process, with its name.
    fn newest_of_others(&self, instance: Uuid) -> Option<(u64, Uuid)> {
        let others = self.known.iter().filter(|process| process.instance != instance);
        others.filter_map(|process| process.newest().map(|(_, turn)| (turn, process.instance))).max()
    }

    fn process(&mut self, instance: Uuid) -> &mut Process {
        let at = self.known.iter().position(|process| process.instance == instance).unwrap_or_else(|| {
            if self.known.len() >= PROCESSES {
                // Whoever gave no sign of life, or the oldest one: a copy that starts again and again displaces itself.
                let sign = |(_, process): &(usize, &Process)| {
                    (process.alive.map(|(_, last)| last), process.newest().map(|(_, turn)| turn))
                };
                let oldest = self.known.iter().enumerate().min_by_key(sign).map(|(place, _)| place);
                oldest.map(|place| self.known.remove(place));
            }
            self.known.push_back(Process::new(instance));
            self.known.len() - 1
        });
        &mut self.known[at]
    }

    /// An answer came back to `instance`, which was alive when it was given; why one of two goes on, when that shows two at
    /// once that were not known.
    fn comes_back(&mut self, instance: Uuid, nonce: Uuid, now: Instant) -> Option<Because> {
        let others: Vec<u64> =
            self.known.iter().filter(|other| other.instance != instance).flat_map(Process::turns).collect();
        let process = self.known.iter_mut().find(|process| process.instance == instance)?;
        let shown = process.shows(nonce);
        process.gathers(&others);
        if !shown || self.refusal(instance).is_some() {
            return None;
        }
        let mine = self.find(instance)?;
        let others = self.known.iter().filter(|other| other.instance != instance && other.runs_beside(mine));
        let beside = others.filter(|other| self.refusal(other.instance).is_none()).max_by_key(|other| other.alive)?;
        let decided = mine.decide(beside);
        let refused = Refused {
            instance: decided.stops.instance,
            other: decided.store.instance,
            since: now,
            heard_at: Some(now),
            because: decided.because,
            sends: decided.was_the_store,
        };
        let because = refused.because;
        self.refused.push(refused);
        Some(because)
    }

    fn running_twice(&self, now: Instant) -> Option<Instant> {
        let runs = |refused: &&Refused| refused.heard_at.is_some_and(|at| now.millis_since(at) < RUNS_FOR_MS);
        self.refused.iter().filter(runs).map(|refused| refused.since).min()
    }
}

#[cfg(test)]
mod tests;
