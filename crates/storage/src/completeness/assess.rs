//! The judgement on what was read, without a database.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use tillkeep_model::Money;
use tillkeep_model::receipt::ReceiptNumber;
use tillkeep_model::state::SessionStatus;
use tillkeep_model::words::{CashMovementKind, Reported};
use tillkeep_model::z::ZReport;

use super::day::{CashMoved, Day, Figures, ReceiptRange, Register, SessionState, StoreContact, Verdict};
use super::facts::Facts;
use super::ranges::{Range, missing, without};
use super::zz::LastZz;
use crate::document::flags::has_foreign_number;
use crate::document::session::is_late;
use crate::entity::register_session;
use crate::numbers::{Given, series_name};

/// Missing numbers of one day that are looked for elsewhere before they are called missing.
pub(super) const LOOKED_FOR: usize = 1000;

/// A day with missing receipts that may still be found on another one.
pub(super) struct Assessed {
    date: String,
    registers: Vec<OfRegister>,
    missing_store_zz: Vec<Range>,
}

struct OfRegister {
    shown: Register,
    /// The store's part of its receipt numbers.
    store_code: String,
    gaps: Vec<Range>,
    /// Numbers of receipts that went with the store's database.
    known_lost: Vec<(i64, i64)>,
}

/// The last number of each series, from one day to the next.
struct Last {
    receipts: HashMap<String, i64>,
    sessions: HashMap<String, i64>,
    zz: LastZz,
}

/// The drawers of a day that have a number of this store.
fn numbered<'a>(facts: &'a Facts, date: &'a str) -> impl Iterator<Item = &'a register_session::Model> {
    let own = |session: &&register_session::Model| !has_foreign_number(&session.flags);
    facts.sessions.iter().filter(move |session| session.business_date == date).filter(own)
}

/// Each of `dates`, rising: what a day leaves off the next one goes on from.
pub(super) fn days(facts: &Facts, dates: &[String]) -> Vec<Assessed> {
    let number = |text: &String| ReceiptNumber::parse(text).map(|receipt| receipt.number);
    let receipts = facts.receipt_before.iter();
    let mut last = Last {
        receipts: receipts.filter_map(|(register, text)| Some((register.clone(), number(text)?))).collect(),
        sessions: facts.session_before.clone(),
        zz: facts.zz_before.clone(),
    };
    dates
        .iter()
        .map(|date| {
            let sold = facts.receipts.iter().filter(|(day, ..)| day == date).map(|(_, register, _)| register);
            let opened = facts.sessions.iter().filter(|session| session.business_date == *date);
            let codes: BTreeSet<&String> = sold.chain(opened.map(|session| &session.register_code)).collect();
            let registers = codes.into_iter().map(|code| register(facts, date, code, &mut last)).collect();
            let missing_store_zz = last.zz.of_store(numbered(facts, date));
            Assessed { date: date.clone(), registers, missing_store_zz }
        })
        .collect()
}

fn register(facts: &Facts, date: &str, code: &str, known_before: &mut Last) -> OfRegister {
    let Last { receipts: last_receipt, sessions: last_session, zz } = known_before;
    let of_day = |session: &&register_session::Model| session.business_date == date && session.register_code == code;
    let known: Vec<_> = facts.sessions.iter().filter(of_day).collect();
    let mut seen: BTreeMap<i64, (String, usize)> = BTreeMap::new();
    let mut count = 0;
    let mut store_code = String::new();
    for (_, _, text) in facts.receipts.iter().filter(|(day, register, _)| day == date && register == code) {
        count += 1;
        if let Some(receipt) = ReceiptNumber::parse(text) {
            store_code = receipt.store_code;
            seen.entry(receipt.number).or_insert_with(|| (text.clone(), 0)).1 += 1;
        }
    }
    // A Z report names receipts that HQ may not have.
    let own: Vec<_> = known.iter().filter(|session| !has_foreign_number(&session.flags)).collect();
    // That of a till names those of a series with a letter too.
    let reports = numbered(facts, date).filter(|session| session.register_code == ReceiptNumber::register_of(code));
    let named = reports.flat_map(|session| [&session.first_receipt_number, &session.last_receipt_number]);
    let named = named.flatten().filter_map(|text| ReceiptNumber::parse(text));
    let named: Vec<_> = named.filter(|receipt| receipt.register_code == code).collect();
    if let Some(receipt) = named.first() {
        store_code.clone_from(&receipt.store_code);
    }
    let present: BTreeSet<i64> = seen.keys().copied().collect();
    let all = present.iter().copied().chain(named.iter().map(|receipt| receipt.number));
    let (first, last) = (all.clone().min(), all.max());
    let gaps = match (first, last) {
        (Some(first), Some(last)) => {
            // The first receipt of a register is its number 1; beyond six digits an earlier one sorts elsewhere.
            let start = if first < 1_000_000 { 0 } else { first - 1 };
            let after = last_receipt.get(code).copied().filter(|before| *before < first).unwrap_or(start);
            last_receipt.insert(code.to_owned(), last);
            missing(after, &present, last)
        }
        _ => Vec::new(),
    };
    let (missing_sessions, lost_sessions) = missing_sessions(facts, code, &own, last_session);
    let (missing_zz, zz_twice) = zz.of_register(code, &own.iter().map(|session| **session).collect::<Vec<_>>());
    let shown = Register {
        register_code: code.to_owned(),
        sessions: sessions(facts, date, code, &known),
        missing_sessions,
        lost_sessions,
        lost_receipts: Vec::new(),
        first_receipt_number: seen.first_key_value().map(|(_, (text, _))| text.clone()),
        last_receipt_number: seen.last_key_value().map(|(_, (text, _))| text.clone()),
        receipt_count: count,
        missing_receipts: Vec::new(),
        missing_zz,
        zz_twice,
        receipts_twice: seen.into_values().filter(|(_, times)| *times > 1).map(|(text, _)| text).collect(),
    };
    let known_lost = facts.lost.ranges(&series_name("receipt", code, "")).to_vec();
    OfRegister { shown, store_code, gaps, known_lost }
}

/// Numbers of sessions that are missing, and those of them that are known to be lost; each series by itself.
fn missing_sessions(
    facts: &Facts,
    code: &str,
    own: &[&&register_session::Model],
    last_session: &mut HashMap<String, i64>,
) -> (Vec<Range>, Vec<Range>) {
    let mut by_letter: BTreeMap<String, BTreeSet<i64>> = BTreeMap::new();
    for session in own {
        let Given { letter, number } = Given::session(session.session_number.into());
        by_letter.entry(letter).or_default().insert(number);
    }
    let (mut gone, mut known_lost) = (Vec::new(), Vec::new());
    for (letter, numbers) in by_letter {
        let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else { continue };
        let series = format!("{code}{letter}");
        let after = last_session.get(&series).copied().filter(|before| before < first).unwrap_or(0);
        let known = facts.lost.ranges(&series_name("session", code, &letter));
        for gap in missing(after, &numbers, *last) {
            let (rest, of_known) = without(gap, known);
            let shown = |range: Range| {
                let number = |number| Given { letter: letter.clone(), number }.of_session();
                Range { from: number(range.from), to: number(range.to) }
            };
            gone.extend(rest.into_iter().map(shown));
            known_lost.extend(of_known.into_iter().map(shown));
        }
        last_session.insert(series, *last);
    }
    (gone, known_lost)
}

/// The sessions that HQ has, then those that only sales name.
fn sessions(facts: &Facts, date: &str, code: &str, known: &[&register_session::Model]) -> Vec<SessionState> {
    let mut sold: BTreeMap<_, Figures> = BTreeMap::new();
    for sums in facts.sums.iter().filter(|sums| sums.date == date && sums.register == code) {
        sold.insert(sums.session, sums.figures);
    }
    let mut out = Vec::with_capacity(known.len());
    for session in known {
        let received = sold.remove(&session.id).unwrap_or_default();
        let z_report: Option<Figures> = session
            .totals
            .as_ref()
            .filter(|_| session.status == SessionStatus::Closed)
            .and_then(|totals| serde_json::from_value(totals.0.clone()).ok());
        out.push(SessionState {
            id: session.id,
            session_number: Some(session.session_number),
            status: Some(session.status.clone()),
            received,
            z_report,
            difference: z_report.map(|z| received.less(z)),
            cash: cash(session),
        });
    }
    out.extend(sold.into_iter().map(|(id, received)| SessionState {
        id,
        session_number: None,
        status: None,
        received,
        z_report: None,
        difference: None,
        cash: None,
    }));
    out
}

/// What the movements of a drawer come to, and its report says of them. Of one that came back after the report was made the
/// drawer has a flag.
fn cash(session: &register_session::Model) -> Option<CashMoved> {
    let report = session.z_report().filter(|report| report.version >= ZReport::VERSION)?;
    let wide = |Money(amount): Money| i128::from(amount);
    let of_report = &report.cash;
    let said = wide(of_report.paid_in) + wide(of_report.float_add) - wide(of_report.paid_out) - wide(of_report.drop);
    let mut received = 0;
    let known = session.cash_movements.0.as_array().into_iter().flatten().filter(|movement| !is_late(movement));
    for movement in known {
        let amount = i128::from(movement["amount"].as_i64().unwrap_or_default());
        let kind = movement["type"].as_str().unwrap_or_default();
        received += match Reported::<CashMovementKind>::read(kind) {
            Reported::Known(CashMovementKind::PaidIn | CashMovementKind::FloatAdd) => amount,
            Reported::Known(CashMovementKind::PaidOut | CashMovementKind::Drop) => -amount,
            Reported::Known(CashMovementKind::NoSale) | Reported::Other(_) => 0,
        };
    }
    let money = Money::from_wide;
    Some(CashMoved { received: money(received), z_report: money(said), difference: money(received - said) })
}

impl Figures {
    /// What a store says of its day is any number: a difference that none holds is the largest one.
    fn less(self, other: Self) -> Self {
        let money = |one: Money, other: Money| Money::from_wide(i128::from(one.0) - i128::from(other.0));
        Self {
            sale_count: self.sale_count.saturating_sub(other.sale_count),
            refund_count: self.refund_count.saturating_sub(other.refund_count),
            void_count: self.void_count.saturating_sub(other.void_count),
            net_amount: money(self.net_amount, other.net_amount),
            tax_amount: money(self.tax_amount, other.tax_amount),
            total_amount: money(self.total_amount, other.total_amount),
        }
    }
}

impl OfRegister {
    fn text(&self, number: i64) -> String {
        let (store_code, register_code) = (self.store_code.clone(), self.shown.register_code.clone());
        ReceiptNumber { store_code, register_code, number }.to_string()
    }
}

impl Assessed {
    /// The receipts that this day lacks.
    pub(super) fn candidates(&self) -> impl Iterator<Item = String> + '_ {
        self.registers.iter().flat_map(|register| {
            register.gaps.iter().flat_map(|gap| gap.from..=gap.to).map(|number| register.text(number))
        })
    }

    /// Takes those off that another day has.
    pub(super) fn found(&mut self, elsewhere: &HashSet<String>) {
        for register in &mut self.registers {
            let mut gaps = std::mem::take(&mut register.gaps);
            if !elsewhere.is_empty() {
                let whole: Vec<Range> = std::mem::take(&mut gaps);
                for gap in whole {
                    let there: BTreeSet<i64> = (gap.from..=gap.to)
                        .take(LOOKED_FOR)
                        .filter(|number| elsewhere.contains(&register.text(*number)))
                        .collect();
                    gaps.extend(missing(gap.from - 1, &there, gap.to));
                }
            }
            let (mut gone, mut lost) = (Vec::new(), Vec::new());
            for gap in gaps {
                let (rest, known) = without(gap, &register.known_lost);
                gone.extend(rest);
                lost.extend(known);
            }
            let named = |gap: &Range| ReceiptRange {
                from: register.text(gap.from),
                to: register.text(gap.to),
                count: gap.to - gap.from + 1,
            };
            let shown = (gone.iter().map(named).collect(), lost.iter().map(named).collect());
            (register.shown.missing_receipts, register.shown.lost_receipts) = shown;
            register.gaps = gone;
        }
    }

    pub(super) fn judged(self, known: StoreContact<'_>) -> Day {
        let StoreContact { pending, first_seen, last_seen } = known;
        let registers: Vec<Register> = self.registers.into_iter().map(|register| register.shown).collect();
        let any = |wrong: fn(&Register) -> bool| registers.iter().any(wrong);
        let session =
            |wrong: fn(&SessionState) -> bool| registers.iter().flat_map(|register| &register.sessions).any(wrong);
        let mut reasons: Vec<&'static str> = [
            (any(|register| !register.missing_receipts.is_empty()), "receipts_missing"),
            (any(|register| !register.lost_receipts.is_empty()), "receipts_lost"),
            (any(|register| !register.lost_sessions.is_empty()), "sessions_lost"),
            (any(|register| !register.receipts_twice.is_empty()), "receipts_twice"),
            (any(|register| !register.missing_sessions.is_empty()), "sessions_missing"),
            (session(|session| session.status.is_none()), "session_unknown"),
            (session(|session| session.difference.is_some_and(|by| by != Figures::default())), "totals_differ"),
            (session(|session| session.cash.is_some_and(|cash| cash.difference != Money::ZERO)), "cash_differs"),
            (any(|register| !register.missing_zz.is_empty()) || !self.missing_store_zz.is_empty(), "zz_missing"),
            (any(|register| !register.zz_twice.is_empty()), "zz_twice"),
        ]
        .into_iter()
        .filter_map(|(wrong, reason)| wrong.then_some(reason))
        .collect();
        let wrong = !reasons.is_empty();
        let goes_on =
            session(|session| session.status.as_deref().is_some_and(|status| status != SessionStatus::Closed));
        let nothing = registers.is_empty();
        let not_heard = nothing && last_seen.is_none_or(|seen| seen <= self.date.as_str());
        reasons.extend(goes_on.then_some("session_open"));
        reasons.extend(nothing.then_some("nothing_received"));
        reasons.extend(pending.then_some("store_has_pending"));
        let before_start = nothing && first_seen.is_none_or(|first| self.date.as_str() < first);
        let verdict = if before_start {
            Verdict::BeforeFirstStart
        } else if pending || not_heard || (goes_on && !wrong) {
            Verdict::Open
        } else if wrong {
            Verdict::Incomplete
        } else {
            Verdict::Complete
        };
        Day {
            business_date: self.date,
            verdict,
            reasons,
            receipt_count: registers.iter().map(|register| register.receipt_count).sum(),
            missing_receipt_count: registers
                .iter()
                .flat_map(|register| &register.missing_receipts)
                .fold(0, |sum: i64, range| sum.saturating_add(range.count)),
            session_count: registers.iter().map(|register| register.sessions.len()).sum(),
            missing_store_zz: self.missing_store_zz,
            registers: Some(registers),
        }
    }
}
