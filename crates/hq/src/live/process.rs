//! One process of a store as its handshakes show it, and which of two that run at once goes on. `docs/sync.md`, rule D8.

use std::cmp::Ordering;
use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use tillkeep_model::Instant;
use tillkeep_model::wire::HandshakeRequest;
use uuid::Uuid;

/// Answers of a process that are remembered: those that may still be under way, and those that came back.
const ANSWERS: usize = 16;
/// Between two questions of a store that does not say how often it asks.
const INTERVAL_MS: i64 = 30_000;
/// Who does not come back for so many of its intervals is silent,
const MISSED: i64 = 3;
/// and none is after less than this: a machine may be busy.
const LEAST_SILENCE_MS: i64 = 3_000;
/// Silence of a process of which nothing is known.
pub(crate) const USUAL_SILENCE_MS: i64 = INTERVAL_MS * MISSED;
/// Series of one process, and letters of their names: what a store says is bounded.
const SERIES: usize = 200;
const NAME: usize = 64;

/// A process of a store.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Process {
    pub instance: Uuid,
    /// Its newest nonces, with their turns.
    given: VecDeque<(Uuid, u64)>,
    /// The first and the last turn at which it was alive.
    pub alive: Option<(u64, u64)>,
    /// When those answers were given.
    #[serde(default)]
    given_at: VecDeque<(u64, Instant)>,
    /// The newest answers that came back, by their turns: it was alive when they were given.
    #[serde(default)]
    signs: VecDeque<(u64, Instant)>,
    #[serde(default)]
    made: Made,
    /// The process beside which it said that, and when.
    #[serde(default)]
    met: Option<(Uuid, Instant)>,
}

/// What a process says of itself with a handshake. One of an older release says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Made {
    /// The last number of each series of its documents.
    pub series: Option<BTreeMap<String, i64>>,
    pub interval_ms: Option<i64>,
}

/// Why one of two goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Because {
    /// It was heard before the other one, and nothing else tells the two apart.
    #[default]
    Earlier,
    /// It has newer documents.
    Newer,
    /// It was heard while the other one was silent.
    Heard,
    /// It was heard before the other one, of which documents and silence say different things.
    Torn,
    /// An operator decided for it.
    Decided,
}

/// Which of two goes on.
pub(crate) struct Decided<'a> {
    pub store: &'a Process,
    pub stops: &'a Process,
    pub because: Because,
    /// The one that stops was the store for as long as it was heard alone: what it sold then is taken.
    pub was_the_store: bool,
}

impl Because {
    /// The reason, said of the one that goes on.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Earlier => "headquarters heard it before this one",
            Self::Newer => "it has newer documents than this one",
            Self::Heard => "headquarters heard it while this one was silent",
            Self::Torn => {
                "headquarters heard it before this one, and which of the two has newer documents and which of them was \
                 silent say different things"
            }
            Self::Decided => "an operator decided so there",
        }
    }
}

impl Made {
    pub(crate) fn said(request: &HandshakeRequest) -> Self {
        let bounded = |series: &BTreeMap<String, i64>| {
            let named = series.iter().filter(|(name, _)| name.len() <= NAME).take(SERIES);
            named.map(|(name, last)| (name.clone(), *last)).collect()
        };
        Self { series: request.series.as_ref().map(bounded), interval_ms: request.interval_ms }
    }

    /// Which of two has newer documents: the one that has made more which the other one has not. Of one that says nothing
    /// nothing is known.
    fn newer(&self, other: &Self) -> Ordering {
        let (Some(mine), Some(theirs)) = (&self.series, &other.series) else { return Ordering::Equal };
        let beyond = |one: &BTreeMap<String, i64>, other: &BTreeMap<String, i64>| {
            let more = |(name, last): (&String, &i64)| {
                last.saturating_sub(other.get(name).copied().unwrap_or_default().max(0)).max(0)
            };
            one.iter().map(more).fold(0, i64::saturating_add)
        };
        beyond(mine, theirs).cmp(&beyond(theirs, mine))
    }

    /// After how many milliseconds without a sign a process is silent.
    fn silent_after(&self) -> i64 {
        self.interval_ms.unwrap_or(INTERVAL_MS).saturating_mul(MISSED).max(LEAST_SILENCE_MS)
    }
}

impl Process {
    pub(crate) const fn new(instance: Uuid) -> Self {
        Self {
            instance,
            given: VecDeque::new(),
            alive: None,
            given_at: VecDeque::new(),
            signs: VecDeque::new(),
            made: Made { series: None, interval_ms: None },
            met: None,
        }
    }

    /// After how many milliseconds without a sign it is silent.
    pub(crate) fn silent_after(&self) -> i64 {
        self.made.silent_after()
    }

    /// The nonce and the turn of the answer that it was given last.
    pub(crate) fn newest(&self) -> Option<(Uuid, u64)> {
        self.given.back().copied()
    }

    /// The turn at which it was last alive, or else was last answered.
    pub(crate) fn last_known(&self) -> Option<u64> {
        self.alive.map(|(_, last)| last).or_else(|| self.newest().map(|(_, turn)| turn))
    }

    fn turn_of(&self, nonce: Uuid) -> Option<u64> {
        self.given.iter().find(|(given, _)| *given == nonce).map(|(_, turn)| *turn)
    }

    /// Whether it is known that this answer came back.
    pub(crate) fn has_shown(&self, nonce: Uuid) -> bool {
        self.turn_of(nonce).is_some_and(|turn| self.alive.is_some_and(|(first, last)| first <= turn && turn <= last))
    }

    /// It is answered, after it said what it `made`; `others` is the newest turn of another process, with its name.
    ///
    /// Of two that run at once each says how far it is with its first handshake after the other one was answered: by the next
    /// one it may go on above the numbers of the other, also when that one was answered once more in between.
    pub(crate) fn answered(
        &mut self,
        (nonce, turn): (Uuid, u64),
        made: &Made,
        others: Option<(u64, Uuid)>,
        now: Instant,
    ) {
        let mine = self.last_known();
        let meets = others.filter(|(turn, _)| mine.is_some_and(|mine| *turn > mine)).map(|(_, other)| other);
        if mine.is_none() || meets.is_some_and(|other| !self.has_just_met(other, now)) {
            self.made = made.clone();
            self.met = meets.map(|other| (other, now));
        }
        self.given.push_back((nonce, turn));
        self.given_at.push_back((turn, now));
        keep_newest(&mut self.given);
        keep_newest(&mut self.given_at);
    }

    /// Whether it said how far it is beside `other`, and neither had the time to be silent since.
    fn has_just_met(&self, other: Uuid, now: Instant) -> bool {
        self.met.is_some_and(|(met, at)| met == other && now.millis_since(at) < self.silent_after())
    }

    /// It presents the nonce of an answer, and so was alive when that was given; false when it is none of its newest.
    pub(crate) fn shows(&mut self, nonce: Uuid) -> bool {
        let Some(turn) = self.turn_of(nonce) else { return false };
        let (first, last) = self.alive.map_or((turn, turn), |(first, last)| (first.min(turn), last.max(turn)));
        self.alive = Some((first, last));
        let at = self.given_at.iter().find(|(given, _)| *given == turn).copied();
        if let Some(at) = at.filter(|at| !self.signs.contains(at)) {
            let place = self.signs.partition_point(|(sign, _)| *sign < turn);
            self.signs.insert(place, at);
        }
        true
    }

    /// Of signs between which no other process gave one, `others` being the turns of theirs, the first and the last tell all.
    pub(crate) fn gathers(&mut self, others: &[u64]) {
        if let [.., before, _, newest] = &*self.signs.make_contiguous()
            && !others.iter().any(|turn| before.0 < *turn && *turn < newest.0)
        {
            self.signs.remove(self.signs.len() - 2);
        }
        keep_newest(&mut self.signs);
    }

    pub(crate) fn turns(&self) -> impl Iterator<Item = u64> {
        self.signs.iter().map(|(turn, _)| *turn)
    }

    /// Whether it and `other` are each known to have been alive between two signs of the other. Of processes that follow one
    /// another none is; one that was frozen is so of the one that came after it, and not the reverse.
    pub(crate) fn runs_beside(&self, other: &Self) -> bool {
        self.surrounds(other) && other.surrounds(self)
    }

    fn surrounds(&self, other: &Self) -> bool {
        let (Some((first, last)), Some(ends)) = (self.alive, other.alive) else { return false };
        other.turns().chain([ends.0, ends.1]).any(|turn| first < turn && turn < last)
    }

    /// For how many milliseconds it was silent while `other` was heard: from the first sign of that one until its own next.
    fn silence(&self, other: &Self) -> i64 {
        let mut longest = 0;
        for (before, after) in self.signs.iter().zip(self.signs.iter().skip(1)) {
            let between = other.signs.iter().find(|(turn, _)| before.0 < *turn && *turn < after.0);
            longest = between.map_or(0, |(_, heard)| after.1.millis_since(*heard)).max(longest);
        }
        longest
    }

    /// Which of two was heard while the other one was silent.
    fn heard_alone(&self, other: &Self) -> Ordering {
        let (mine, theirs) = (self.silence(other), other.silence(self));
        // Each of the two has to come back, sooner or later: what counts is that one was away for far longer.
        let away = |process: &Self, long: i64, short: i64| long >= process.made.silent_after() && long / 2 > short;
        if away(other, theirs, mine) {
            Ordering::Greater
        } else if away(self, mine, theirs) {
            Ordering::Less
        } else {
            Ordering::Equal
        }
    }

    /// Of two that run at once, which is the store, which is not, and why.
    pub(crate) fn decide<'a>(&'a self, other: &'a Self) -> Decided<'a> {
        let (earlier, later) = if self.alive <= other.alive { (self, other) } else { (other, self) };
        let (newer, heard) = (earlier.made.newer(&later.made), earlier.heard_alone(later));
        let (later_goes_on, because) = match (newer, heard) {
            (Ordering::Equal, Ordering::Equal) => (false, Because::Earlier),
            (Ordering::Greater, Ordering::Less) | (Ordering::Less, Ordering::Greater) => (false, Because::Torn),
            (Ordering::Equal, heard) => (heard == Ordering::Less, Because::Heard),
            (newer, _) => (newer == Ordering::Less, Because::Newer),
        };
        let (store, stops) = if later_goes_on { (later, earlier) } else { (earlier, later) };
        Decided { store, stops, because, was_the_store: later_goes_on || because == Because::Torn }
    }
}

fn keep_newest<T>(all: &mut VecDeque<T>) {
    while all.len() > ANSWERS {
        all.pop_front();
    }
}
