//! From what documents and drawers say to debits and credits. Whatever is posted has two sides, so that each entry balances; what
//! documents do not explain stands on an account of its own.

use std::collections::BTreeMap;

use chrono::{Days, NaiveDate};
use tillkeep_model::Money;
use tillkeep_model::accounting::AccountKind;
use tillkeep_model::chain::{self, Tax};
use tillkeep_model::words::{CashMovementKind, SafeMovementKind, SaleType};
use tillkeep_storage::reports::journal::{Day, Documents, Drawer, Lines, Movement, Payments};

/// Movements of the safe are of their own day, at the latest so many days after that of the drawer which carries them: so far back
/// drawers are read, and each movement is booked once.
pub(super) const CARRIED_DAYS: u64 = 31;

/// The day of one store in one currency.
#[derive(Debug, Default)]
pub(super) struct Entry {
    /// Drawers that are not closed: what they say may change.
    pub(super) open_drawers: i64,
    /// Debits above zero, credits below.
    sums: BTreeMap<(AccountKind, Option<String>), i128>,
}

impl Entry {
    /// Debits one and credits the other; below zero it is the other way round.
    fn post(&mut self, debit: (AccountKind, Option<&str>), credit: (AccountKind, Option<&str>), amount: i128) {
        for ((kind, code), signed) in [(debit, amount), (credit, -amount)] {
            *self.sums.entry((kind, code.map(str::to_owned))).or_default() += signed;
        }
    }

    /// What is left on each account, by kind and code: debits above zero, credits below.
    pub(super) fn lines(&self) -> impl Iterator<Item = (AccountKind, Option<&str>, i128)> {
        self.sums.iter().filter(|(_, sum)| **sum != 0).map(|((kind, code), sum)| (*kind, code.as_deref(), *sum))
    }

    fn movement(&mut self, movement: &Movement) {
        const CASH: (AccountKind, Option<&str>) = (AccountKind::Cash, None);
        const SAFE: (AccountKind, Option<&str>) = (AccountKind::Safe, None);
        let reason = movement.reason_code.as_deref();
        let is = |kind: CashMovementKind| movement.kind == kind;
        let (debit, credit) = if is(CashMovementKind::PaidIn) {
            (CASH, (AccountKind::PaidIn, reason))
        } else if is(CashMovementKind::PaidOut) {
            ((AccountKind::PaidOut, reason), CASH)
        } else if is(CashMovementKind::Drop) {
            (SAFE, CASH)
        } else if is(CashMovementKind::FloatAdd) {
            (CASH, SAFE)
        } else {
            // Nothing moves; or it is one of a newer program.
            return;
        };
        self.post(debit, credit, wide(movement.amount));
    }

    fn safe_movement(&mut self, movement: &Movement) {
        let (safe, amount) = ((AccountKind::Safe, None), wide(movement.amount));
        if movement.kind == SafeMovementKind::Deposit {
            self.post((AccountKind::Deposit, None), safe, amount);
        } else if movement.kind == SafeMovementKind::Correction {
            self.post(safe, (AccountKind::SafeCorrection, None), amount);
        }
    }

    fn drawer(&mut self, drawer: &Drawer) {
        let (cash, safe) = ((AccountKind::Cash, None), (AccountKind::Safe, None));
        self.open_drawers += i64::from(drawer.is_open);
        self.post(cash, safe, wide(drawer.opening_float));
        drawer.movements.iter().for_each(|movement| self.movement(movement));
        self.post(cash, (AccountKind::CashVariance, None), drawer.cash_variance.map_or(0, wide));
        // What was counted goes to the safe. Of a drawer that was closed by force nobody knows it: it stays where it was.
        self.post(safe, cash, drawer.counted_cash.map_or(0, wide));
    }
}

/// The entries of some days.
#[derive(Debug, Default)]
pub(super) struct Books(BTreeMap<Day, Entry>);

impl Books {
    pub(super) fn entries(&self) -> impl Iterator<Item = (&Day, &Entry)> {
        self.0.iter()
    }

    fn entry(&mut self, day: &Day) -> &mut Entry {
        self.0.entry(day.clone()).or_default()
    }

    /// What documents came to, on accounts without a code until their lines say one.
    pub(super) fn documents(&mut self, documents: &[Documents]) {
        for of in documents {
            let open = (AccountKind::Difference, None);
            let entry = self.entry(&of.day);
            entry.post(open, (sold_as(&of.sale_type), None), wide(of.net));
            entry.post(open, (AccountKind::Tax, None), wide(of.tax));
            entry.post(open, (AccountKind::CashRounding, None), wide(of.cash_rounding));
        }
    }

    /// Which rates they have.
    pub(super) fn lines(&mut self, lines: &[Lines]) {
        for of in lines {
            let taxes: Vec<Tax> = chain::list(&of.tax_details);
            let kind = sold_as(&of.sale_type);
            let entry = self.entry(&of.day);
            // Without tax it is no revenue of a rate that its lines have.
            if let Some(code) = codes(&taxes).filter(|_| !of.is_exempt) {
                entry.post((kind, None), (kind, Some(code.as_str())), wide(of.net));
            }
            for tax in taxes.iter().filter(|tax| !tax.code.is_empty()) {
                let amount = i128::from(tax.tax) * i128::from(of.count);
                entry.post((AccountKind::Tax, None), (AccountKind::Tax, Some(tax.code.as_str())), amount);
            }
        }
    }

    /// By what they were paid. Where that is all of it, nothing is left to be cleared.
    pub(super) fn payments(&mut self, payments: &[Payments]) {
        for of in payments {
            let tender = (AccountKind::of_tender(&of.tender_kind), Some(of.tender_code.as_str()));
            self.entry(&of.day).post(tender, (AccountKind::Difference, None), wide(of.amount));
        }
    }

    /// What drawers say beside their sales, and the movements of the safe that they carry.
    pub(super) fn drawers(&mut self, drawers: &[Drawer], (from, to): (&str, &str)) {
        for of in drawers {
            if of.day.business_date.as_str() >= from {
                self.entry(&of.day).drawer(of);
            }
            for movement in &of.safe_movements {
                let business_date = booked_on(&of.day.business_date, movement.business_date.as_deref());
                if (from..=to).contains(&business_date.as_str()) {
                    self.entry(&Day { business_date, ..of.day.clone() }).safe_movement(movement);
                }
            }
        }
    }
}

fn wide(amount: Money) -> i128 {
    i128::from(amount.0)
}

/// What a newer program calls otherwise is a sale, as in every report.
fn sold_as(sale_type: &str) -> AccountKind {
    if sale_type == SaleType::Refund { AccountKind::Returns } else { AccountKind::Revenue }
}

/// The codes of the rates on a line: `VAT19`, and `STATE+CITY` of one with two.
fn codes(taxes: &[Tax]) -> Option<String> {
    let codes: Vec<&str> = taxes.iter().map(|tax| tax.code.as_str()).filter(|code| !code.is_empty()).collect();
    if codes.is_empty() { None } else { Some(codes.join("+")) }
}

/// The day of a movement of the safe that the drawer of `carried_on` carries.
fn booked_on(carried_on: &str, said: Option<&str>) -> String {
    let date = |text: &str| NaiveDate::parse_from_str(text, "%Y-%m-%d").ok();
    let (Some(first), Some(said)) = (date(carried_on), said.and_then(date)) else { return carried_on.to_owned() };
    let last = first.checked_add_days(Days::new(CARRIED_DAYS)).unwrap_or(first);
    said.clamp(first, last).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};
    use tillkeep_model::JsonText;
    use uuid::Uuid;

    use super::*;

    fn day() -> Day {
        Day { business_date: "2026-11-20".into(), store: Uuid::nil(), currency_code: "EUR".into() }
    }

    fn posted(books: &Books) -> Vec<(&'static str, Option<&str>, i128)> {
        let (_, entry) = books.entries().next().expect("an entry");
        entry.lines().map(|(kind, code, sum)| (kind.word(), code, sum)).collect()
    }

    #[test]
    fn what_lines_do_not_explain_has_no_code_and_what_was_not_paid_is_to_be_cleared() {
        let mut books = Books::default();
        let (net, tax, cash_rounding) = (Money(1000), Money(190), Money(2));
        books.documents(&[Documents { day: day(), sale_type: "sale".into(), net, tax, cash_rounding }]);
        let rate = json!([{"code": "VAT19", "baseAmount": 300, "taxAmount": 57}]);
        let of = |tax_details: Json, count, net| Lines {
            day: day(),
            sale_type: "sale".into(),
            is_exempt: false,
            tax_details: JsonText(tax_details),
            count,
            net: Money(net),
        };
        books.lines(&[of(rate, 3, 900), of(json!({"not": "a list"}), 1, 50)]);
        let (tender_code, tender_kind) = ("CASH".to_owned(), "cash".to_owned());
        books.payments(&[Payments { day: day(), tender_code, tender_kind, amount: Money(1100) }]);
        let wanted = [
            ("cash", Some("CASH"), 1100),
            ("tax", None, -19),
            ("tax", Some("VAT19"), -171),
            ("revenue", None, -100),
            ("revenue", Some("VAT19"), -900),
            ("cash_rounding", None, -2),
            ("difference", None, 92),
        ];
        assert_eq!(posted(&books), wanted);
    }

    #[test]
    fn a_movement_of_the_safe_is_of_its_own_day_but_never_before_its_drawer_nor_long_after_it() {
        for (said, wanted) in [
            (Some("2026-11-20"), "2026-11-20"),
            (Some("2026-11-23"), "2026-11-23"),
            (Some("2026-11-01"), "2026-11-20"),
            (Some("2027-11-01"), "2026-12-21"),
            (Some("soon"), "2026-11-20"),
            (None, "2026-11-20"),
        ] {
            assert_eq!(booked_on("2026-11-20", said), wanted, "{said:?}");
        }
    }
}
