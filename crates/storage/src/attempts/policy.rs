//! How many wrong PINs are let be, for each kind of origin. The numbers are in `docs/security.md`.

use tillkeep_model::Instant;

use crate::entity::pin_attempt::Model;

const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;
const DAY: i64 = 24 * 60 * MINUTE;

/// Where attempts come from, or whom they are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A till that is registered at this store.
    Terminal,
    /// All other tills of a store together.
    UnknownTerminals,
    /// All tills of a store.
    Store,
    /// Sign-ins with a PIN alone, from one address.
    PinAddress,
    /// A username, whether somebody has it or not.
    Account,
    /// Sign-ins with a name, from one address.
    LoginAddress,
    /// PINs that somebody proposed for themselves or others: the answer tells whether somebody else has them.
    Proposal,
}

/// The rule of one kind.
#[derive(Debug)]
pub struct Policy {
    pub kind: Kind,
    pub name: &'static str,
    /// Wrong ones in a row before the waits begin.
    pub free: i32,
    /// Seconds to wait after each of the next wrong ones in a row.
    pub waits: &'static [i64],
    /// Seconds after one more, doubled with every further one up to `longest`.
    pub then: i64,
    pub longest: i64,
    /// Wrong ones of a day, after which only the next day or an unlock helps.
    pub a_day: Option<i32>,
    /// Wrong ones of a minute, after which the next minute helps.
    pub a_minute: Option<i32>,
}

const SLOW: &[i64] = &[0, 0, 1, 3, 5, 10];
const NEVER: i32 = i32::MAX;

/// What several people share (a store, an address) begins to wait only after two of its terminals could be locked.
const SHARED: i32 = 40;

pub static POLICIES: &[Policy] = &[
    Policy {
        kind: Kind::Terminal,
        name: "terminal",
        free: 0,
        waits: SLOW,
        then: 60,
        longest: 900,
        a_day: Some(20),
        a_minute: None,
    },
    Policy {
        kind: Kind::UnknownTerminals,
        name: "unknown_terminals",
        free: 0,
        waits: SLOW,
        then: 60,
        longest: 900,
        a_day: Some(20),
        a_minute: None,
    },
    Policy {
        kind: Kind::Store,
        name: "store",
        free: SHARED,
        waits: SLOW,
        then: 60,
        longest: 900,
        a_day: Some(100),
        a_minute: None,
    },
    Policy {
        kind: Kind::PinAddress,
        name: "pin_address",
        free: SHARED,
        waits: SLOW,
        then: 60,
        longest: 900,
        a_day: Some(200),
        a_minute: None,
    },
    Policy {
        kind: Kind::Account,
        name: "account",
        free: 0,
        waits: &[0, 0, 1, 3, 5, 10, 10, 10, 10],
        then: 1800,
        longest: 1800,
        a_day: None,
        a_minute: None,
    },
    Policy {
        kind: Kind::LoginAddress,
        name: "login_address",
        free: NEVER,
        waits: &[],
        then: 0,
        longest: 0,
        a_day: None,
        a_minute: Some(30),
    },
    Policy {
        kind: Kind::Proposal,
        name: "proposal",
        free: NEVER,
        waits: &[],
        then: 0,
        longest: 0,
        a_day: Some(10),
        a_minute: None,
    },
];

impl Kind {
    pub fn policy(self) -> &'static Policy {
        // Every kind has its line; the test below holds the table to that.
        POLICIES.iter().find(|policy| policy.kind == self).unwrap_or(&POLICIES[0])
    }
}

/// The rule of a stored row; a kind that this release does not know follows the strictest.
pub(super) fn of(row: &Model) -> &'static Policy {
    POLICIES.iter().find(|policy| policy.name == row.kind).unwrap_or(&POLICIES[0])
}

/// The beginning of the UTC day of `now`.
pub(super) fn day_of(now: Instant) -> Instant {
    Instant::from_millis(now.millis().div_euclid(DAY) * DAY)
}

impl Policy {
    /// Seconds to wait after the `in_a_row`th wrong one.
    fn wait(&self, in_a_row: i32) -> i64 {
        let Ok(nth) = usize::try_from(in_a_row.saturating_sub(self.free)) else { return 0 };
        match nth.checked_sub(1) {
            None => 0,
            Some(index) => self.waits.get(index).copied().unwrap_or_else(|| {
                let doubled = u32::try_from(index - self.waits.len()).unwrap_or(u32::MAX).min(20);
                (self.then << doubled).min(self.longest)
            }),
        }
    }

    /// The block by the day's and the minute's number, which no success lifts.
    fn quota(&self, row: &Model, now: Instant) -> Option<Instant> {
        let day = self.a_day.filter(|most| row.wrong_today >= *most).map(|_| row.day.plus_millis(DAY));
        let minute = self.a_minute.filter(|most| row.in_minute >= *most).map(|_| row.minute_at.plus_millis(MINUTE));
        day.max(minute).filter(|until| *until > now)
    }

    /// Counts one attempt as wrong.
    pub(super) fn count(&self, row: &mut Model, now: Instant) {
        let today = day_of(now);
        if row.day != today {
            (row.day, row.wrong_today, row.in_a_row, row.announced) = (today, 0, 0, false);
        }
        // A clock that was put back must not stretch a minute.
        if !(0..MINUTE).contains(&now.millis_since(row.minute_at)) {
            (row.minute_at, row.in_minute) = (now, 0);
        }
        row.wrong_today = row.wrong_today.saturating_add(1);
        row.in_a_row = row.in_a_row.saturating_add(1);
        row.in_minute = row.in_minute.saturating_add(1);
        let wait = Some(now.plus_millis(self.wait(row.in_a_row) * SECOND)).filter(|until| *until > now);
        row.blocked_until = wait.max(self.quota(row, now));
        // That there was a short wait may have been told; that it became a long one, or the day's last, is news.
        let long = |nth: i32| self.wait(nth) * SECOND >= MINUTE;
        let news = long(row.in_a_row) && !long(row.in_a_row - 1) || self.a_day == Some(row.wrong_today);
        row.announced &= !news;
    }

    /// Takes one counted attempt back; a right one also ends the waits.
    pub(super) fn take_back(&self, row: &mut Model, counted: &super::Counted, right: bool, now: Instant) {
        if row.day == counted.day {
            row.wrong_today = (row.wrong_today - 1).max(0);
        }
        if row.minute_at == counted.minute_at {
            row.in_minute = (row.in_minute - 1).max(0);
        }
        let alone = row.in_a_row == counted.in_a_row;
        row.in_a_row = if right { 0 } else { (row.in_a_row - 1).max(0) };
        row.announced &= !right;
        if right || alone {
            row.blocked_until = self.quota(row, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_own_policy() {
        use Kind::{Account, LoginAddress, PinAddress, Proposal, Store, Terminal, UnknownTerminals};
        for kind in [Terminal, UnknownTerminals, Store, PinAddress, Account, LoginAddress, Proposal] {
            assert_eq!(kind.policy().kind, kind);
        }
    }

    #[test]
    fn the_waits_of_a_terminal_grow_to_a_quarter_of_an_hour() {
        let waits: Vec<i64> = (1..=13).map(|nth| Kind::Terminal.policy().wait(nth)).collect();
        assert_eq!(waits, [0, 0, 1, 3, 5, 10, 60, 120, 240, 480, 900, 900, 900]);
        assert_eq!(Kind::Terminal.policy().wait(i32::MAX), 900);
    }

    #[test]
    fn one_locked_terminal_makes_its_store_and_its_address_wait_for_nothing() {
        let locked = Kind::Terminal.policy().a_day.expect("a limit");
        for kind in [Kind::Store, Kind::PinAddress] {
            assert!(kind.policy().free >= 2 * locked, "{kind:?}");
            assert_eq!(kind.policy().wait(2 * locked), 0);
        }
    }

    #[test]
    fn an_account_is_locked_for_half_an_hour_by_its_tenth_wrong_pin() {
        let policy = Kind::Account.policy();
        assert!((1..10).all(|nth| policy.wait(nth) <= 10));
        assert_eq!((policy.wait(10), policy.wait(11), policy.wait(500)), (1800, 1800, 1800));
    }
}
