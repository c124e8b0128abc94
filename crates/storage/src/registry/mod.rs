//! The registry of synchronised types: the one place that says what travels, which way, to whom, and who owns which
//! column. Pull, upsert, replacement, push ownership, store filter, versions and counters all follow from it.
//!
//! Adding a type is its entity file, one entry in [`ALL`] and one migration; the tests below name what is missing.

mod arrival;
pub(crate) mod awaited;
mod costs;
mod fingerprint;
pub(crate) mod flags;
mod list;
mod sync_type;

use std::collections::BTreeSet;

use tillkeep_model::fields::{Book, register};

use crate::document::Pushed;
pub use arrival::{Arrival, Arriving, Caches, Doing, Step, Waiting};
pub use costs::COST_KEYS;
pub use fingerprint::fingerprint;
pub use list::{ALL, FIRST, TOGETHER, digits, fold};
pub use sync_type::{Child, Derived, Scope, SyncType, counter_scope};

/// The pushed types, parents first.
pub fn pushed() -> impl Iterator<Item = (&'static SyncType, &'static Pushed)> {
    ALL.iter().filter_map(|entity| Some((entity, entity.push?)))
}

/// The books of what people write: those of the types here, and that of registers, which stay at their store. The books of
/// documents have room for texts alone.
pub fn books() -> impl Iterator<Item = &'static Book> {
    let of_types = ALL.iter().filter_map(|entity| entity.book);
    of_types.chain([&register::BOOK]).filter(|book| !book.is_of_document())
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

/// The names of the types that become visible together with the one called `name`, itself among them; none where it does so alone.
pub fn together(name: &str) -> &'static [&'static str] {
    TOGETHER.iter().find(|group| group.contains(&name)).copied().unwrap_or_default()
}

/// These types, and what becomes visible together with one of them.
pub fn with_those_together(names: impl IntoIterator<Item = &'static str>) -> BTreeSet<&'static str> {
    names.into_iter().flat_map(|name| together(name).iter().copied().chain([name])).collect()
}

/// The pulled types in dependency order, those that become visible together as one.
pub fn units() -> impl Iterator<Item = Vec<&'static SyncType>> {
    let leads = |entity: &&SyncType| together(entity.name).first().is_none_or(|first| *first == entity.name);
    pulled().filter(leads).map(|entity| match together(entity.name) {
        [] => vec![entity],
        names => names.iter().filter_map(|name| find(name)).collect(),
    })
}

#[cfg(test)]
mod tests;
