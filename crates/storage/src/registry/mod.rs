//! The registry of synchronised types: the one place that says what travels, which way, to whom, and who owns which
//! column. Pull, upsert, replacement, push ownership, store filter, versions and counters all follow from it.
//!
//! Adding a type is its entity file, one entry in [`ALL`] and one migration; the tests below name what is missing.

mod fingerprint;
mod list;
pub mod owners;
mod row;
mod sync_type;
mod table;
mod unread;

use crate::document::Pushed;
pub use fingerprint::fingerprint;
pub use list::{ALL, FIRST, digits, fold};
pub use row::Row;
pub use sync_type::{AfterPull, Child, Derived, Scope, SyncType, counter_scope};
pub use table::{Of, SyncTable};
pub use unread::{Reading, Unread};

/// The pushed types, parents first.
pub fn pushed() -> impl Iterator<Item = (&'static SyncType, &'static dyn Pushed)> {
    let mut all: Vec<_> = ALL.iter().filter_map(|entity| Some((entity, entity.push?))).collect();
    all.sort_by_key(|(_, pushed)| pushed.order());
    all.into_iter()
}

/// The type called `name`, if there is one.
pub fn find(name: &str) -> Option<&'static SyncType> {
    ALL.iter().find(|entity| entity.name == name)
}

/// Whether the rows of `table` travel to stores inside of those of another type.
pub fn is_pulled_child(table: &str) -> bool {
    pulled().flat_map(|entity| entity.children).any(|child| child.table.name() == table)
}

/// Its place in the dependency order.
pub fn position(name: &str) -> Option<usize> {
    ALL.iter().position(|entity| entity.name == name)
}

/// The pulled types in dependency order.
pub fn pulled() -> impl Iterator<Item = &'static SyncType> {
    ALL.iter().filter(|entity| entity.is_pulled())
}

#[cfg(test)]
mod tests;
