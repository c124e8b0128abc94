//! The kinds of alerts: the one table of what is looked for, how bad it is, and what is said of it.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use tillkeep_model::{AlarmCode, Instant};
use utoipa::ToSchema;
use uuid::Uuid;

use super::of_server::{OfServer, Said};
use crate::live::alerting::Gaps;
use crate::live::store_state::StoreState;

/// A store that is away for less is said to be silent by nobody: its line may come back.
const SILENT_AFTER_MS: i64 = 5 * 60 * 1000;

/// What an alert is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AlertKind {
    /// A store is not connected and was not heard of for five minutes.
    StoreSilent,
    /// A store has stopped to send entries.
    DeadLetter,
    /// A store was handed a type that it could not store.
    UnstoredType,
    /// The clock of a store is more than two minutes off.
    StoreClock,
    /// Documents of a store are missing.
    CompletenessGap,
    /// Two copies of one store run at once.
    StoreRunsTwice,
    /// Wrong PINs have somebody wait for a minute or longer.
    PinsLocked,
    /// A chain of documents was broken or written anew.
    ChainBroken,
    /// The disk of a server of headquarters is nearly full.
    DiskNearlyFull,
    /// The newest backup of a server of headquarters is more than two days old.
    BackupOld,
    /// A receiver of sales has not taken one that was stored more than an hour ago.
    ReceiverBehind,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Severity {
    Warning,
    Critical,
}

impl Severity {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }
}

/// What one look has read beside the states of stores.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub gaps: Gaps,
    /// Stores with a broken chain, and since when.
    pub chains: HashMap<Uuid, Instant>,
    /// Counters of wrong PINs at headquarters that have somebody wait.
    pub locked: i64,
    /// How many receivers of sales are behind, and since when one is.
    pub behind: Option<(i64, Instant)>,
}

/// How it is found.
pub(super) enum Find {
    /// Of each store in use.
    Store(fn(&StoreState, &Read, Instant) -> Said),
    /// Of headquarters as a whole.
    Chain(fn(&Read, Instant) -> Said),
    /// Of this server of headquarters.
    Server(fn(&OfServer, Instant) -> Said),
}

#[expect(clippy::struct_field_names, reason = "what the rest is said of")]
pub(super) struct Kind {
    pub kind: AlertKind,
    pub severity: Severity,
    pub find: Find,
}

impl AlertKind {
    pub(crate) const ALL: [Self; 11] = [
        Self::StoreSilent,
        Self::DeadLetter,
        Self::UnstoredType,
        Self::StoreClock,
        Self::CompletenessGap,
        Self::StoreRunsTwice,
        Self::PinsLocked,
        Self::ChainBroken,
        Self::DiskNearlyFull,
        Self::BackupOld,
        Self::ReceiverBehind,
    ];

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::StoreSilent => "store_silent",
            Self::DeadLetter => "dead_letter",
            Self::UnstoredType => "unstored_type",
            Self::StoreClock => "store_clock",
            Self::CompletenessGap => "completeness_gap",
            Self::StoreRunsTwice => "store_runs_twice",
            Self::PinsLocked => "pins_locked",
            Self::ChainBroken => "chain_broken",
            Self::DiskNearlyFull => "disk_nearly_full",
            Self::BackupOld => "backup_old",
            Self::ReceiverBehind => "receiver_behind",
        }
    }

    pub(crate) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// Whether each server of headquarters finds it of itself alone.
    pub(super) fn is_of_server(self) -> bool {
        KINDS.iter().any(|kind| kind.kind == self && matches!(kind.find, Find::Server(_)))
    }
}

use AlertKind::{
    BackupOld, ChainBroken, CompletenessGap, DeadLetter, DiskNearlyFull, PinsLocked, ReceiverBehind, StoreClock,
    StoreRunsTwice, StoreSilent, UnstoredType,
};
use Find::{Chain, Server, Store};
use Severity::{Critical, Warning};

/// Every kind; one that is found in two ways stands here twice.
pub(super) static KINDS: [Kind; 12] = [
    Kind { kind: StoreSilent, severity: Critical, find: Store(silent) },
    Kind { kind: DeadLetter, severity: Critical, find: Store(dead_letter) },
    Kind { kind: UnstoredType, severity: Critical, find: Store(unstored) },
    Kind { kind: StoreClock, severity: Warning, find: Store(clock) },
    Kind { kind: CompletenessGap, severity: Critical, find: Store(gap) },
    Kind { kind: StoreRunsTwice, severity: Critical, find: Store(runs_twice) },
    Kind { kind: PinsLocked, severity: Warning, find: Store(sign_ins_stopped) },
    Kind { kind: PinsLocked, severity: Warning, find: Chain(locked) },
    Kind { kind: ChainBroken, severity: Critical, find: Store(chain_broken) },
    Kind { kind: DiskNearlyFull, severity: Critical, find: Server(OfServer::disk) },
    Kind { kind: BackupOld, severity: Warning, find: Server(OfServer::backup) },
    Kind { kind: ReceiverBehind, severity: Warning, find: Chain(receivers_behind) },
];

fn silent(store: &StoreState, _: &Read, now: Instant) -> Said {
    let heard = store.last_heard_at?;
    let is_silent = !store.connection.connected && now.millis_since(heard) > SILENT_AFTER_MS;
    is_silent.then(|| (heard, "It is not connected and was not heard of for more than five minutes.".to_owned()))
}

fn dead_letter(store: &StoreState, _: &Read, now: Instant) -> Said {
    let text = match store.dead_lettered {
        count if count <= 0 => return None,
        1 => "It has stopped to send one entry.".to_owned(),
        count => format!("It has stopped to send {count} entries."),
    };
    Some((store.oldest_pending_at.unwrap_or(now), text))
}

fn unstored(store: &StoreState, _: &Read, now: Instant) -> Said {
    let first = store.unstored.first()?;
    let text = match store.unstored.len() {
        1 => format!("It could not store what it was sent of {first}."),
        count => format!("It could not store what it was sent of {first} and {} other types.", count - 1),
    };
    Some((store.last_error_at.unwrap_or(now), text))
}

/// Since when it has this alarm.
fn alarm(store: &StoreState, code: AlarmCode) -> Option<Instant> {
    store.alarms.iter().find(|alarm| alarm.code == code).map(|alarm| alarm.since)
}

fn clock(store: &StoreState, _: &Read, now: Instant) -> Said {
    let since = alarm(store, AlarmCode::ClockOff).or_else(|| store.clock_warning.then_some(now))?;
    let text = store.clock_offset_ms.map_or_else(
        || "Its clock is more than two minutes off.".to_owned(),
        |offset_ms| format!("Its clock is {} seconds off that of headquarters.", offset_ms / 1000),
    );
    Some((since, text))
}

fn gap(store: &StoreState, read: &Read, _: Instant) -> Said {
    let gap = read.gaps.get(&store.store_id)?;
    Some((gap.since, "Headquarters has fewer documents of it than it has made; see its completeness.".to_owned()))
}

fn runs_twice(store: &StoreState, _: &Read, _: Instant) -> Said {
    Some((store.runs_twice_since?, "Two copies of it run at once; stop one of them.".to_owned()))
}

fn sign_ins_stopped(store: &StoreState, _: &Read, _: Instant) -> Said {
    let since = alarm(store, AlarmCode::SignInsStopped)?;
    Some((since, "So many wrong PINs came from it that headquarters judges none of its for an hour.".to_owned()))
}

fn locked(read: &Read, now: Instant) -> Said {
    let text = match read.locked {
        count if count <= 0 => return None,
        1 => "Wrong PINs or codes at headquarters have one person or place wait.".to_owned(),
        count => format!("Wrong PINs or codes at headquarters have {count} people or places wait."),
    };
    Some((now, text))
}

fn receivers_behind(read: &Read, _: Instant) -> Said {
    let (count, since) = read.behind?;
    let text = match count {
        1 => "A receiver has not taken sales that were stored more than an hour ago.".to_owned(),
        count => format!("{count} receivers have not taken sales that were stored more than an hour ago."),
    };
    Some((since, text))
}

fn chain_broken(store: &StoreState, read: &Read, _: Instant) -> Said {
    if let Some(since) = read.chains.get(&store.store_id) {
        return Some((*since, "A document came from it that does not follow from the one before it.".to_owned()));
    }
    let since = alarm(store, AlarmCode::ChainRewritten)?;
    Some((since, "It found that a chain of its documents was written anew.".to_owned()))
}

#[cfg(test)]
mod tests {
    use tillkeep_model::Alarm;
    use tillkeep_storage::alerts::found::Gap;

    use super::*;
    use crate::live::store_state::testing::{at, store};

    fn said_of(kind: AlertKind, store: &StoreState, read: &Read, now: Instant) -> Said {
        KINDS.iter().filter(|one| one.kind == kind).find_map(|one| match one.find {
            Store(find) => find(store, read, now),
            Chain(_) | Server(_) => None,
        })
    }

    #[test]
    fn every_kind_is_in_the_table_by_the_word_that_it_is_sent_by() {
        for kind in AlertKind::ALL {
            assert_eq!(serde_json::to_value(kind).expect("a word"), kind.word());
            assert_eq!(AlertKind::parse(kind.word()), Some(kind));
            assert!(KINDS.iter().any(|one| one.kind == kind), "{kind:?}");
        }
    }

    #[test]
    fn a_store_that_is_well_has_no_alert_and_one_that_is_not_has_that_alone() {
        let none = Read::default();
        let now = at(1000);
        let mut away = store(0);
        away.connection.connected = false;
        let alarm = |code| vec![Alarm { code, since: at(5) }];
        let gaps = Gaps::from([(Uuid::nil(), Gap { since: at(7), missing: 1 })]);
        let chains = HashMap::from([(Uuid::nil(), at(7))]);
        let cases = [
            (StoreSilent, away, Read::default()),
            (DeadLetter, StoreState { dead_lettered: 2, ..store(0) }, Read::default()),
            (UnstoredType, StoreState { unstored: vec!["products".to_owned()], ..store(0) }, Read::default()),
            (StoreClock, StoreState { clock_warning: true, ..store(0) }, Read::default()),
            (CompletenessGap, store(0), Read { gaps, ..Read::default() }),
            (StoreRunsTwice, StoreState { runs_twice_since: Some(at(3)), ..store(0) }, Read::default()),
            (PinsLocked, StoreState { alarms: alarm(AlarmCode::SignInsStopped), ..store(0) }, Read::default()),
            (ChainBroken, StoreState { alarms: alarm(AlarmCode::ChainRewritten), ..store(0) }, Read::default()),
            (ChainBroken, store(0), Read { chains, ..Read::default() }),
        ];
        for (wrong, state, read) in cases {
            for kind in AlertKind::ALL {
                assert_eq!(said_of(kind, &state, &read, now).is_some(), kind == wrong, "{kind:?} of {wrong:?}");
                assert_eq!(said_of(kind, &store(0), &none, now), None, "{kind:?}");
            }
        }
        assert!(receivers_behind(&none, now).is_none());
        let behind = Read { behind: Some((2, at(9))), ..Read::default() };
        assert_eq!(receivers_behind(&behind, now).map(|(since, _)| since), Some(at(9)));
        assert!(locked(&none, now).is_none() && locked(&Read { locked: 1, ..none }, now).is_some());
    }

    #[test]
    fn a_store_is_silent_after_five_minutes_away() {
        let mut away = store(0);
        away.connection.connected = false;
        for (seconds, is_silent) in [(0, false), (300, false), (301, true)] {
            assert_eq!(silent(&away, &Read::default(), at(seconds)).is_some(), is_silent, "{seconds}");
        }
        away.last_heard_at = None;
        assert_eq!(silent(&away, &Read::default(), at(9000)), None, "it was never started");
    }
}
