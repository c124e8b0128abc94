//! One row of what HQ has and what a store sent: column by column, as its `Pushed::owned` says. `docs/sync.md`, rule
//! U11.

use std::sync::OnceLock;

use sea_orm::Value;
use serde_json::Value as Json;

use super::keys::Keys;
use crate::document::{Pushed, lists};
use crate::rows::owners::{ALL_OF_IT, SERVER_COLUMNS, owns};
use crate::rows::{Row, SyncTable};

/// The columns of a table, each at its place among [`Keys`].
pub(crate) struct Columns {
    table: &'static dyn SyncTable,
    names: Vec<&'static str>,
    /// A row of which nothing is said, once one is asked for.
    plain: OnceLock<Option<Box<dyn Row>>>,
}

impl Columns {
    pub(super) fn new(table: &'static dyn SyncTable) -> Self {
        Self { table, names: table.columns(), plain: OnceLock::new() }
    }

    pub(crate) fn names(&self) -> &[&'static str] {
        &self.names
    }

    /// Those that were sent.
    pub(crate) fn sent(&self, keys: &Keys) -> impl Iterator<Item = &'static str> {
        self.names.iter().enumerate().filter(|(place, _)| keys.has(*place)).map(|(_, name)| *name)
    }

    /// What `column` has in a row of which nothing is said.
    pub(crate) fn beginning(&self, column: &str) -> Option<Value> {
        self.plain.get_or_init(|| self.table.decode("{}").ok()).as_ref()?.get(column)
    }

    /// The row as HQ will have it: what the sender owns and sent from `sent`, everything else from `old`; of the lists of
    /// `pushed` that only grow both.
    pub(crate) fn merge(
        &self,
        old: Option<Box<dyn Row>>,
        sent: Box<dyn Row>,
        keys: &Keys,
        owned: &[&str],
        pushed: Option<&Pushed>,
    ) -> Box<dyn Row> {
        if let Some(mut old) = old {
            let grows = pushed.map_or(&[] as &[&str], |pushed| pushed.append_only_lists);
            for column in self.sent(keys).filter(|column| owns(owned, column)) {
                let Some(value) = sent.get(column) else { continue };
                let both = || lists::union(old.text(column).as_deref(), sent.text(column).as_deref());
                let value = if grows.contains(&column) { both().into() } else { value };
                old.set(column, value);
            }
            if let Some(kept) = pushed.and_then(|pushed| pushed.kept) {
                for list in grows.iter().filter(|list| owns(owned, list) && keys.name(list)) {
                    kept(&mut *old, list, sent.text(list).as_deref());
                }
            }
            return old;
        }
        let mut new = sent;
        // What a store may not write starts as in a row of which nothing is said.
        let not_owned = if owned == ALL_OF_IT { SERVER_COLUMNS } else { self.names() };
        for column in not_owned.iter().copied().filter(|column| !owns(owned, column)) {
            if !matches!(column, "id" | "created_at" | "updated_at")
                && let Some(value) = new.get(column)
                && !new.set(column, value.as_null())
                && let Some(value) = self.beginning(column).filter(has_default)
            {
                new.set(column, value);
            }
        }
        new
    }

    /// What headquarters reckons itself of a new row begins as in one of which nothing is said.
    pub(crate) fn begin_anew(&self, row: &mut dyn Row, reckoned: &[&str]) {
        for column in reckoned {
            if let Some(value) = self.beginning(column) {
                row.set(column, value);
            }
        }
    }
}

/// What HQ had of a row before an envelope was merged into it.
pub(crate) struct Had(Vec<(&'static str, Value)>);

impl Had {
    pub(crate) fn new(columns: &Columns, row: &dyn Row) -> Self {
        // What the server sets itself says nothing of what was taken; but a delete is one.
        let is_compared = |column: &&str| *column == "deleted_at" || !SERVER_COLUMNS.contains(column);
        let columns = columns.names.iter().copied().filter(is_compared);
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
        columns: &Columns,
        sent: &dyn Row,
        keys: &Keys,
        owned: &[&str],
    ) -> Vec<(&'static str, Value)> {
        // Who may write all of it sends nothing in vain.
        if owned == ALL_OF_IT {
            return Vec::new();
        }
        columns
            .sent(keys)
            .filter(|column| !owns(owned, column) && !SERVER_COLUMNS.contains(column))
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
