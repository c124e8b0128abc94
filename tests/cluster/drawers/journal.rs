//! What headquarters books of the days of a store, beside its day report and what the store has.

use std::collections::BTreeMap;

use serde_json::Value;

use super::identities::{Broken, number};
use super::kept::Kept;
use crate::kit::Client;

/// The entries of one store, and what its day report says of the same days: net, tax and total.
pub struct Journal {
    entries: Vec<Value>,
    reported: [i64; 3],
}

impl Journal {
    pub async fn read(admin: &Client, store: &str) -> Self {
        let trend = admin.get(&format!("/reports/trend?days=7&storeId={store}")).await.data();
        let day = |dates: &[Value], place: Option<usize>| -> String {
            place.and_then(|place| dates.get(place)?.as_str()).expect("a date").to_owned()
        };
        let dates = trend["dates"].as_array().expect("dates");
        let (from, to) = (day(dates, Some(0)), day(dates, dates.len().checked_sub(1)));
        let days = trend["currencies"].as_array().into_iter().flatten().filter_map(|one| one["days"].as_array());
        let days: Vec<&Value> = days.flatten().collect();
        let reported: [i64; 3] =
            ["/net", "/tax", "/total"].map(|place| days.iter().map(|day| number(day, place)).sum());
        let path = format!("/reports/journal?storeId={store}&from={from}&to={to}");
        let entries = admin.get(&path).await.data()["entries"].as_array().expect("entries").clone();
        Self { entries, reported }
    }

    /// What is left on all accounts, by kind: debits above zero, credits below.
    fn left(&self) -> BTreeMap<String, i64> {
        let mut left = BTreeMap::new();
        for line in self.entries.iter().filter_map(|entry| entry["lines"].as_array()).flatten() {
            let kind = line["kind"].as_str().unwrap_or_default().to_owned();
            *left.entry(kind).or_default() += number(line, "/debit") - number(line, "/credit");
        }
        left
    }
}

/// Each entry balances, and its accounts have what the store has; `in_the_safe` is what should be there.
pub fn of_journal(journal: &Journal, kept: &Kept, in_the_safe: i64, broken: &mut Broken) {
    for entry in &journal.entries {
        let side = |place: &str| -> i64 {
            entry["lines"].as_array().into_iter().flatten().map(|line| number(line, place)).sum()
        };
        let (debit, credit, total) = (side("/debit"), side("/credit"), number(entry, "/total"));
        broken.that(debit == credit && debit == total, || format!("debits {debit}, credits {credit} of {entry}"));
    }
    let left = journal.left();
    let of = |kinds: &[&str]| -> i64 { kinds.iter().filter_map(|kind| left.get(*kind)).sum() };
    let valid = || kept.documents.values().filter(|document| !document.is_voided);
    let drawers = || kept.drawers.values();
    let paid = |is_cash: bool| -> i64 {
        kept.payments.values().filter(|payment| payment.is_cash == is_cash).map(|payment| payment.amount).sum()
    };
    // What was counted is in the safe; of the others nobody knows better than what there should be.
    let uncounted: i64 = drawers().filter(|drawer| drawer.counted.is_none()).filter_map(|drawer| drawer.expected).sum();
    let [net, tax, _] = journal.reported;
    let others = ["card", "check", "voucher", "other", "on_account", "exchange", "gift_card", "store_credit"];
    for (what, is, should_be) in [
        ("revenue of documents", -of(&["revenue", "returns"]), valid().map(|document| document.net).sum()),
        ("revenue of the day report", -of(&["revenue", "returns"]), net),
        ("tax of documents", -of(&["tax"]), valid().map(|document| document.tax).sum()),
        ("tax of the day report", -of(&["tax"]), tax),
        ("rounding", -of(&["cash_rounding"]), valid().map(|document| document.rounding).sum()),
        ("total", journal.reported[2], paid(true) + paid(false) + of(&["cash_rounding"])),
        ("cash", of(&["cash"]), uncounted),
        ("other tenders", of(&others), paid(false)),
        ("variance", -of(&["cash_variance"]), drawers().filter_map(|drawer| drawer.variance).sum()),
        ("safe", of(&["safe"]), in_the_safe),
        ("difference", of(&["difference"]), 0),
    ] {
        broken.that(is == should_be, || format!("the journal: {what} is {is}, and should be {should_be}"));
    }
}
