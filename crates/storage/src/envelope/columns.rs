//! One row of what HQ has and what a store sent: column by column, as its `Pushed::owned` says. `docs/sync.md`, rule
//! U11.

use sea_orm::Value;
use serde_json::Value as Json;

use super::keys::Keys;
use crate::rows::owners::{SERVER_COLUMNS, owns};
use crate::rows::{Row, SyncTable};

/// The row as HQ will have it: what the sender owns and sent from `sent`, everything else from `old`; of `lists` both.
pub(crate) fn merge_columns(
    table: &dyn SyncTable,
    old: Option<Box<dyn Row>>,
    sent: Box<dyn Row>,
    keys: &Keys,
    owned: &[&str],
    lists: &[&str],
) -> Box<dyn Row> {
    let columns = table.columns();
    if let Some(mut old) = old {
        for column in columns.into_iter().filter(|column| owns(owned, column) && keys.name(column)) {
            let Some(value) = sent.get(column) else { continue };
            let value = if lists.contains(&column) { union(old.text(column), sent.text(column)).into() } else { value };
            old.set(column, value);
        }
        return old;
    }
    let mut new = sent;
    // What a store may not write starts as in a row of which nothing is said.
    let plain = table.decode("{}").ok();
    for column in columns.into_iter().filter(|column| !owns(owned, column)) {
        if !matches!(column, "id" | "created_at" | "updated_at")
            && let Some(value) = new.get(column)
            && !new.set(column, value.as_null())
            && let Some(value) = plain.as_ref().and_then(|plain| plain.get(column)).filter(has_default)
        {
            new.set(column, value);
        }
    }
    new
}

/// What HQ had of a row before an envelope was merged into it.
pub(crate) struct Had(Vec<(&'static str, Value)>);

impl Had {
    pub(crate) fn new(columns: Vec<&'static str>, row: &dyn Row) -> Self {
        // What the server sets itself says nothing of what was taken; but a delete is one.
        let is_compared = |column: &&str| *column == "deleted_at" || !SERVER_COLUMNS.contains(column);
        let columns = columns.into_iter().filter(is_compared);
        Self(columns.filter_map(|column| Some((column, row.get(column)?))).collect())
    }

    pub(crate) fn get(&self, column: &str) -> Option<&Value> {
        self.0.iter().find(|(name, _)| *name == column).map(|(_, value)| value)
    }

    /// Whether `row` is still that; of `lists` it counts what is in them, and not how they are written.
    pub(crate) fn is_all_of(&self, row: &dyn Row, lists: &[&str]) -> bool {
        let json = |text: &str| serde_json::from_str::<Json>(text).ok();
        self.0.iter().all(|(column, had)| match row.get(column) {
            Some(has) if has == *had => true,
            Some(Value::String(Some(has))) if lists.contains(column) => {
                matches!(had, Value::String(Some(had)) if json(had).is_some_and(|had| json(&has) == Some(had)))
            }
            _ => false,
        })
    }
}

/// A list that only grows: an element of the same `receiptId` is taken again, no element is lost. A store that was set up
/// again does not know what it once received.
fn union(old: Option<String>, sent: Option<String>) -> String {
    let list = |text: Option<String>| -> Vec<Json> {
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    };
    let mut all = list(old);
    for element in list(sent) {
        let same = |known: &Json| known["receiptId"] == element["receiptId"] && !element["receiptId"].is_null();
        match all.iter().position(|known| same(known) || *known == element) {
            Some(place) => all[place] = element,
            None => all.push(element),
        }
    }
    Json::Array(all).to_string()
}

/// An id or an instant that may not be null has none.
const fn has_default(value: &Value) -> bool {
    !matches!(value, Value::Uuid(_) | Value::ChronoDateTimeUtc(_))
}

/// Counts what was sent and not taken.
#[derive(Default)]
pub(crate) struct Ignored {
    pub count: u64,
}

impl Ignored {
    pub(crate) fn add(&mut self, count: usize) {
        self.count += count as u64;
    }

    /// What was sent of columns that are not the sender's. What each server keeps for itself is no news.
    pub(crate) fn sent_in_vain(
        columns: Vec<&'static str>,
        sent: &dyn Row,
        keys: &Keys,
        owned: &[&str],
    ) -> Vec<(&'static str, Value)> {
        columns
            .into_iter()
            .filter(|column| !owns(owned, column) && !SERVER_COLUMNS.contains(column) && keys.name(column))
            .filter_map(|column| Some((column, sent.get(column)?)))
            .collect()
    }

    /// Counts those that differ from what HQ has: a store sends its whole row, and most of it is known.
    pub(crate) fn compare(&mut self, sent: &[(&'static str, Value)], row: &dyn Row, but: &[&str]) {
        let lost = |(column, value): &&(&'static str, Value)| {
            !but.contains(column) && row.get(column).is_some_and(|kept| kept != *value)
        };
        self.add(sent.iter().filter(lost).count());
    }
}
