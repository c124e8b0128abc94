//! Numbers that begin with the code of another store. Nothing is taken from that store: what must be unique gets a number
//! of headquarters' own, what is printed stays as it is, and both are flagged. `docs/sync.md`, rule U11.

use std::collections::HashSet;

use sea_orm::DbErr;

use super::group::Group;
use super::judge::Item;
use super::merged::{Merged, Number};
use crate::document::flags::FOREIGN_NUMBER;
use crate::document::{Clash, Form, Numbering, Pushed};
use crate::envelope::Sender;
use crate::many::find_in;
use crate::registry::SyncType;
use crate::rows::Row;
use crate::{Tx, series};

/// What headquarters' own numbers begin with.
const HQ: &str = "HQ";

/// What HQ had of a number before an envelope was merged into its row.
pub(super) struct Before {
    number: Option<String>,
    flagged: bool,
}

impl Before {
    pub(super) fn new(entity: &SyncType, old: Option<&dyn Row>) -> Self {
        let number = entity.unique_number().and_then(|column| old?.text(column));
        let flags = old.filter(|_| number.is_some()).and_then(|old| old.text("flags")).unwrap_or_default();
        let flags: Vec<String> = serde_json::from_str(&flags).unwrap_or_default();
        Self { number, flagged: flags.iter().any(|flag| flag == FOREIGN_NUMBER) }
    }

    /// Judges the number that `row` took over from its sender, and restores the one that HQ had.
    pub(super) fn judge(&self, entity: &SyncType, row: &mut dyn Row, others: &HashSet<String>) -> Number {
        let flagged = if self.flagged { Number::Replaced } else { Number::Own };
        let Some(column) = entity.unique_number() else { return Number::Own };
        let Some(number) = row.text(column) else { return flagged };
        if self.number.as_ref() == Some(&number) || !begins_with_one_of(others, &number) {
            return flagged;
        }
        match &self.number {
            None => Number::Wanted,
            Some(had) => {
                row.set(column, had.clone().into());
                flagged
            }
        }
    }
}

/// The numbers that envelopes bring for rows of unique numbers.
pub(super) fn sent<'a>(entity: &SyncType, items: &'a [Item<'_>]) -> impl Iterator<Item = String> + use<'a> {
    let column = entity.unique_number();
    items.iter().filter_map(move |item| item.decoded.row.text(column?))
}

/// The numbers that were printed for a document.
pub(super) fn printed(pushed: &Pushed, row: &dyn Row) -> Vec<String> {
    pushed.printed.iter().filter_map(|column| row.text(column)).collect()
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
    // What headquarters gave itself is no store's.
    let numbers = numbers.filter(|number| sender.given_number() != Some(number.as_str()));
    let codes = numbers.filter_map(|number| prefix(&number).map(str::to_owned));
    let codes: HashSet<String> = codes.filter(|code| *code != sender.store_code).collect();
    let mut others: HashSet<String> = codes.get(HQ).cloned().into_iter().collect();
    let sql = "SELECT DISTINCT code FROM stores WHERE id <> $1 AND code IN ($list)";
    for row in find_in(tx, sql, &[sender.store_id.into()], codes).await? {
        others.insert(row.try_get("", "code")?);
    }
    Ok(others)
}

/// Gives the rows that want one a number of headquarters'.
pub(super) async fn renumber(tx: &Tx, group: &Group<'_>, merged: &mut [Merged]) -> Result<(), DbErr> {
    let Some(Numbering { kind, column, form: Form::Text { infix }, clash: Clash::Refused, .. }) = group.pushed.number
    else {
        return Ok(());
    };
    let wanting = || merged.iter().filter(|document| document.number == Number::Wanted);
    let count @ 1.. = i64::try_from(wanting().count()).unwrap_or_default() else { return Ok(()) };
    let mut number = series::take(tx, kind, count).await? - count;
    for document in merged.iter_mut().filter(|document| document.number == Number::Wanted) {
        number += 1;
        document.row.set(column, format!("{HQ}{infix}{number:06}").into());
    }
    Ok(())
}
