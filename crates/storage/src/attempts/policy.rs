//! How many wrong PINs are let be, for each kind of origin. The numbers are in `docs/security.md`.

use serde::{Deserialize, Serialize};
use tillkeep_model::Instant;
use uuid::Uuid;

use crate::entity::pin_attempt::Model;

const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
pub(super) const DAY: i64 = 24 * 60 * MINUTE;

/// Where attempts come from, or whom they are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An enrolled till: PINs that are typed there, with a name or without.
    Device,
    /// PINs alone, from all devices of one address that are not enrolled.
    UnknownDevices,
    /// PINs alone at headquarters, for whatever store, from one address or from the browsers of one person.
    Headquarters,
    /// The same from all addresses where no user signed in before.
    HeadquartersAnywhere,
    /// A username, whether a user has it or not, from one device or address.
    Account,
    /// A username from all addresses.
    AccountAnywhere,
    /// Sign-ins with a name, from one address.
    LoginAddress,
    /// PINs that a user proposed: the answer tells whether another user has them.
    Proposal,
    /// Those of all for whom one person answers that were refused, as another user has them.
    ProposalRefused,
    /// The others of all of them.
    ProposalAccepted,
    /// Codes of one person's second factor, from one known browser of theirs or from wherever else, once the PIN was right.
    SecondFactor,
    /// Locks that a user lifted: who lifts those of their own guesses gets more of them.
    Unlock,
    /// At headquarters, people whom a store asks it to judge.
    StoreSignIn,
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
    /// Wrong ones of a day up to which a right PIN ends the waits: else whoever has a PIN of their own could type it between
    /// their guesses. Beyond, as without it, each `longest` in which nothing is wrong makes one good.
    pub forgiven: i32,
    /// How many of a day there may be, after which only the next day helps.
    pub a_day: Option<i32>,
    /// Wrong ones of a minute, after which the next minute helps.
    pub a_minute: Option<i32>,
    /// Milliseconds that such a minute has.
    pub minute: i64,
}

const NEVER: i32 = i32::MAX;

/// What most of them share: no wait is longer than a quarter of an hour.
const USUAL: Policy = Policy {
    kind: Kind::Device,
    name: "device",
    free: 0,
    waits: &[0, 0, 1, 3, 5, 10],
    then: 60,
    longest: 900,
    forgiven: 20,
    a_day: None,
    a_minute: None,
    minute: MINUTE,
};

pub static POLICIES: &[Policy] = &[
    USUAL,
    Policy { kind: Kind::UnknownDevices, name: "unknown_devices", ..USUAL },
    Policy { kind: Kind::Headquarters, name: "headquarters", forgiven: 0, ..USUAL },
    Policy {
        kind: Kind::HeadquartersAnywhere,
        name: "headquarters_anywhere",
        free: 50,
        waits: &[],
        forgiven: 0,
        ..USUAL
    },
    Policy {
        kind: Kind::Account,
        name: "account",
        waits: &[0, 0, 1, 3, 5, 10, 10, 10, 10],
        then: 900,
        forgiven: NEVER,
        ..USUAL
    },
    Policy { kind: Kind::AccountAnywhere, name: "account_anywhere", free: 50, waits: &[], forgiven: NEVER, ..USUAL },
    Policy { kind: Kind::LoginAddress, name: "login_address", free: NEVER, a_minute: Some(30), ..USUAL },
    Policy { kind: Kind::Proposal, name: "proposal", free: NEVER, a_day: Some(10), ..USUAL },
    Policy { kind: Kind::ProposalRefused, name: "proposal_refused", free: NEVER, a_day: Some(10), ..USUAL },
    Policy { kind: Kind::ProposalAccepted, name: "proposal_accepted", free: NEVER, a_day: Some(100), ..USUAL },
    Policy { kind: Kind::SecondFactor, name: "second_factor", ..USUAL },
    Policy { kind: Kind::Unlock, name: "unlock", free: NEVER, a_day: Some(20), ..USUAL },
    Policy { kind: Kind::StoreSignIn, name: "store_sign_in", free: NEVER, a_minute: Some(30), minute: HOUR, ..USUAL },
];

impl Kind {
    pub fn policy(self) -> &'static Policy {
        // Every kind has its line; the test below holds the table to that.
        POLICIES.iter().find(|policy| policy.kind == self).unwrap_or(&POLICIES[0])
    }
}

/// The rule of a stored row.
pub(super) fn policy_of(row: &Model) -> &'static Policy {
    POLICIES.iter().find(|policy| policy.name == row.kind).unwrap_or(&POLICIES[0])
}

/// The beginning of the UTC day of `now`.
pub(super) fn day_of(now: Instant) -> Instant {
    Instant::from_millis(now.millis().div_euclid(DAY) * DAY)
}

/// What a row was when an attempt was counted in it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Counted {
    pub id: Uuid,
    pub day: Instant,
    pub minute_at: Instant,
    pub in_a_row: i32,
}

impl Counted {
    pub(super) fn new(row: &Model) -> Self {
        Self { id: row.id, day: row.day, minute_at: row.minute_at, in_a_row: row.in_a_row }
    }
}

impl Policy {
    /// Whether a block until then still holds. One that is longer than any of this kind was written by a clock that was ahead,
    /// and must not last until that clock's day comes.
    pub(super) fn blocks(&self, until: Instant, now: Instant) -> bool {
        let day = if self.a_day.is_some() { DAY } else { 0 };
        let minute = if self.a_minute.is_some() { self.minute } else { 0 };
        (1..=(self.longest * SECOND).max(day).max(minute)).contains(&until.millis_since(now))
    }

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

    /// After so many in a row the wait is the longest; further ones count no more.
    fn most(&self) -> i32 {
        let doubled = (0..20).find(|doubled| self.then << doubled >= self.longest).unwrap_or(20);
        let short = i32::try_from(self.waits.len()).unwrap_or(NEVER);
        self.free.saturating_add(short).saturating_add(doubled + 1)
    }

    /// How many the time since the last wrong one has made good.
    fn made_good(&self, row: &Model, now: Instant) -> i32 {
        let rested = now.millis_since(row.minute_at) / SECOND - self.wait(row.in_a_row);
        i32::try_from(rested.max(0) / self.longest).unwrap_or(NEVER)
    }

    /// The block by the day's and the minute's number, which no success lifts.
    fn quota(&self, row: &Model, now: Instant) -> Option<Instant> {
        let day = self.a_day.filter(|most| row.wrong_today >= *most).map(|_| row.day.plus_millis(DAY));
        let minute =
            self.a_minute.filter(|most| row.in_minute >= *most).map(|_| row.minute_at.plus_millis(self.minute));
        day.max(minute).filter(|until| *until > now)
    }

    /// Counts one attempt as wrong.
    pub(super) fn count(&self, row: &mut Model, now: Instant) {
        let today = day_of(now);
        if row.day != today {
            (row.day, row.wrong_today, row.announced) = (today, 0, false);
        }
        // By the time that passed and not by the calendar: a guesser would wait for midnight.
        row.in_a_row = (row.in_a_row - self.made_good(row, now)).max(0);
        // A clock that was set back must not stretch a minute.
        if !(0..self.minute).contains(&now.millis_since(row.minute_at)) {
            (row.minute_at, row.in_minute) = (now, 0);
        }
        let before = row.in_a_row;
        row.wrong_today = row.wrong_today.saturating_add(1);
        row.in_a_row = before.saturating_add(1).min(self.most());
        row.in_minute = row.in_minute.saturating_add(1);
        let wait = Some(now.plus_millis(self.wait(row.in_a_row) * SECOND)).filter(|until| *until > now);
        row.blocked_until = wait.max(self.quota(row, now));
        // That there was a short wait may have been said; that it became a long one, or the day's last, is news.
        let long = |nth: i32| self.wait(nth) * SECOND >= MINUTE;
        let hour = self.minute > MINUTE && self.a_minute == Some(row.in_minute);
        let news = long(row.in_a_row) && !long(before) || self.a_day == Some(row.wrong_today) || hour;
        row.announced &= !news;
    }

    /// Takes one counted attempt back; a right one also ends the waits.
    pub(super) fn take_back(&self, row: &mut Model, counted: &Counted, right: bool, now: Instant) {
        if row.day == counted.day {
            row.wrong_today = (row.wrong_today - 1).max(0);
        }
        if row.minute_at == counted.minute_at {
            row.in_minute = (row.in_minute - 1).max(0);
        }
        let alone = row.in_a_row == counted.in_a_row;
        let forgiven = right && row.wrong_today < self.forgiven;
        row.in_a_row = if forgiven { 0 } else { (row.in_a_row - 1).max(0) };
        row.announced &= !right;
        // What others counted meanwhile blocks for no longer than what is left of it.
        let left = now.plus_millis(self.wait(row.in_a_row) * SECOND);
        let still = row.blocked_until.map(|until| until.min(left)).filter(|until| !right && !alone && *until > now);
        row.blocked_until = still.max(self.quota(row, now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_own_policy() {
        use Kind::{
            Account, AccountAnywhere, Device, Headquarters, HeadquartersAnywhere, LoginAddress, Proposal,
            ProposalAccepted, ProposalRefused, SecondFactor, StoreSignIn, UnknownDevices, Unlock,
        };
        let signing_in =
            [Device, UnknownDevices, Headquarters, HeadquartersAnywhere, Account, AccountAnywhere, LoginAddress];
        let more = [SecondFactor, Proposal, ProposalRefused, ProposalAccepted, Unlock, StoreSignIn];
        for kind in signing_in.into_iter().chain(more) {
            assert_eq!(kind.policy().kind, kind);
        }
        let mut names: Vec<&str> = POLICIES.iter().map(|policy| policy.name).collect();
        names.dedup();
        assert_eq!(names.len(), 13);
    }

    #[test]
    fn a_store_has_thirty_wrong_ones_judged_and_no_more_until_the_hour_is_over() {
        let policy = Kind::StoreSignIn.policy();
        let (mut row, begun) = (Model::default(), Instant::from_millis(10 * DAY));
        for nth in 0..30 {
            assert_eq!(row.blocked_until, None, "{nth}");
            policy.count(&mut row, begun.plus_millis(i64::from(nth) * MINUTE));
        }
        let over = begun.plus_millis(HOUR);
        assert_eq!((row.blocked_until, row.announced), (Some(over), false));
        assert!(policy.blocks(over, over.plus_millis(-1)) && !policy.blocks(over, over));
        // A right one takes its own back, and no more.
        let counted = Counted::new(&row);
        policy.take_back(&mut row, &counted, true, begun.plus_millis(30 * MINUTE));
        assert_eq!((row.in_minute, row.blocked_until), (29, None));
        policy.count(&mut row, over);
        assert_eq!((row.in_minute, row.blocked_until), (1, None));
    }

    #[test]
    fn the_waits_of_a_device_grow_to_a_quarter_of_an_hour() {
        let waits: Vec<i64> = (1..=13).map(|nth| Kind::Device.policy().wait(nth)).collect();
        assert_eq!(waits, [0, 0, 1, 3, 5, 10, 60, 120, 240, 480, 900, 900, 900]);
    }

    #[test]
    fn no_wait_is_ever_longer_than_a_quarter_of_an_hour() {
        for policy in POLICIES {
            let longest = (1..200).chain([i32::MAX - 1, i32::MAX]).map(|nth| policy.wait(nth)).max();
            assert!(longest.is_some_and(|longest| longest <= 900), "{}", policy.name);
        }
        // What has a number for the day is no sign-in.
        let by_day = POLICIES.iter().filter(|policy| policy.a_day.is_some()).map(|policy| policy.name);
        assert_eq!(by_day.collect::<Vec<_>>(), ["proposal", "proposal_refused", "proposal_accepted", "unlock"]);
    }

    #[test]
    fn an_account_is_locked_from_one_address_by_its_tenth_wrong_pin_and_from_all_by_its_fifty_first() {
        let policy = Kind::Account.policy();
        assert!((1..10).all(|nth| policy.wait(nth) <= 10));
        assert_eq!((policy.wait(10), policy.wait(11), policy.wait(500)), (900, 900, 900));
        let policy = Kind::AccountAnywhere.policy();
        assert_eq!((policy.wait(50), policy.wait(51), policy.wait(52), policy.wait(500)), (0, 60, 120, 900));
    }
}
