//! Numbers that begin with the code of another store. Nothing is taken from that store: what must be unique gets a number
//! of headquarters' own, what is printed stays as it is, and both are flagged. `docs/sync.md`, rule U11.

use std::collections::HashSet;

use sea_orm::{DbErr, Value};
use tillkeep_model::JsonText;

use super::Sender;
use super::apply::{Item, Prepared};
use crate::db::{placeholders, query};
use crate::registry::{Row, SyncType};
use crate::{Tx, series};

/// The flag of a document or a customer whose number began with another store's code.
pub const FOREIGN_NUMBER: &str = "foreign_number";

/// What headquarters' own numbers begin with.
const HQ: &str = "HQ";

/// Columns with numbers as they were printed.
const PRINTED: &[&str] = &["receipt_number", "first_receipt_number", "last_receipt_number"];

/// How the number of a row stands with the one that its sender gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    Own,
    /// It was replaced, now or before.
    Replaced,
    /// Headquarters gives it one.
    Wanted,
}

impl Number {
    pub fn is_flagged(self) -> bool {
        self != Self::Own
    }
}

/// What HQ had of a number before an envelope was merged into its row.
pub(super) struct Before {
    number: Option<String>,
    flagged: bool,
}

impl Before {
    pub fn of(entity: &SyncType, old: Option<&dyn Row>) -> Self {
        let number = entity.number.and_then(|column| old?.text(column));
        let flags = old.filter(|_| number.is_some()).and_then(|old| old.text("flags")).unwrap_or_default();
        let flags: Vec<String> = serde_json::from_str(&flags).unwrap_or_default();
        Self { number, flagged: flags.iter().any(|flag| flag == FOREIGN_NUMBER) }
    }

    /// Judges the number that `row` took over from its sender, and puts back the one that HQ had.
    pub fn judge(self, entity: &SyncType, row: &mut dyn Row, others: &HashSet<String>) -> Number {
        let flagged = if self.flagged { Number::Replaced } else { Number::Own };
        let Some(column) = entity.number else { return Number::Own };
        let Some(number) = row.text(column) else { return flagged };
        if self.number.as_ref() == Some(&number) || !begins_with_one_of(others, &number) {
            return flagged;
        }
        match self.number {
            None => Number::Wanted,
            Some(had) => {
                row.set(column, had.into());
                flagged
            }
        }
    }
}

/// The numbers that envelopes bring for rows whose numbers are unique.
pub(super) fn sent<'a>(entity: &SyncType, items: &'a [Item<'_>]) -> impl Iterator<Item = String> + use<'a> {
    let column = entity.number;
    items.iter().filter_map(move |item| item.decoded.row.text(column?))
}

/// The numbers that were printed for a document.
pub(super) fn printed(row: &dyn Row) -> Vec<String> {
    PRINTED.iter().filter_map(|column| row.text(column)).collect()
}

fn prefix(number: &str) -> Option<&str> {
    number.split_once('-').map(|(code, _)| code)
}

pub(super) fn begins_with_one_of(others: &HashSet<String>, number: &str) -> bool {
    prefix(number).is_some_and(|code| others.contains(code))
}

/// What `numbers` begin with, as far as that is the code of another store than the sender's (of one that was closed, too)
/// or headquarters' own. No query while all of them begin with the sender's.
pub(super) async fn codes_of_others(
    tx: &Tx,
    sender: &Sender,
    numbers: impl Iterator<Item = String>,
) -> Result<HashSet<String>, DbErr> {
    // What headquarters gave itself is nobody else's.
    let numbers = numbers.filter(|number| sender.given_number() != Some(number.as_str()));
    let codes = numbers.filter_map(|number| prefix(&number).map(str::to_owned));
    let codes: HashSet<String> = codes.filter(|code| *code != sender.store_code).collect();
    let mut others: HashSet<String> = codes.get(HQ).cloned().into_iter().collect();
    let codes: Vec<Value> = codes.into_iter().map(Value::from).collect();
    for chunk in codes.chunks(1000) {
        let sql =
            format!("SELECT DISTINCT code FROM stores WHERE id <> $1 AND code IN ({})", placeholders(2, chunk.len()));
        let values = std::iter::once(Value::from(sender.store_id)).chain(chunk.iter().cloned());
        for row in query(tx, &sql, values).await? {
            others.insert(row.try_get("", "code")?);
        }
    }
    Ok(others)
}

/// Gives the rows that want one a number of headquarters'.
pub(super) async fn renumber(tx: &Tx, entity: &SyncType, prepared: &mut [Prepared]) -> Result<(), DbErr> {
    let (name, infix) = match entity.name {
        "customers" => ("customer", ""),
        "purchase_orders" => ("po", "PO-"),
        "transfers" => ("transfer", "TR-"),
        _ => return Ok(()),
    };
    let wanting = || prepared.iter().filter(|document| document.number == Number::Wanted);
    let count = i64::try_from(wanting().count()).unwrap_or_default();
    let (Some(column), 1..) = (entity.number, count) else { return Ok(()) };
    let mut number = series::take(tx, name, count).await? - count;
    for document in prepared.iter_mut().filter(|document| document.number == Number::Wanted) {
        number += 1;
        document.row.set(column, format!("{HQ}-{infix}{number:06}").into());
    }
    Ok(())
}

/// Whether flags, as they are kept, say that a number is not of the store that the document is of.
pub(crate) fn is_flagged(flags: &JsonText) -> bool {
    flags.0.as_array().is_some_and(|flags| flags.iter().any(|flag| flag == FOREIGN_NUMBER))
}
