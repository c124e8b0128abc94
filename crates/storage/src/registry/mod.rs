//! The registry of synchronised types: the one place that says what travels, which way, to whom, and who owns which
//! column. Pull, upsert, replacement, push ownership, store filter, versions and counters all follow from it.
//!
//! Adding a type is its entity file, one entry in [`ALL`] and one migration; the tests below name what is missing.

mod fingerprint;
mod list;
pub mod owners;
mod table;
mod unread;

use tillkeep_model::fields::Book;
use uuid::Uuid;

pub use fingerprint::fingerprint;
pub use list::{ALL, digits, fold};
pub use table::{Of, Row, SyncTable};
pub use unread::{Reading, Unread};

/// Which way a type travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    Pull,
    Push,
    Both,
}

/// Which stores a pulled row concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Everyone,
    /// The store in `store_id`.
    Store,
    /// The two stores of a transfer.
    Parties,
}

/// What becomes of a pushed row with a text, a list or a number of lines beyond its limit (`tillkeep_model::fields`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// The envelope is refused with the name of the field.
    Refuse,
    /// What is too much is cut off and the row flagged: money came in, and is never refused.
    Cut,
}

/// Rows that travel inside their parent.
pub struct Child {
    /// Key in the parent's JSON.
    pub key: &'static str,
    pub table: &'static dyn SyncTable,
    /// Column that names the parent.
    pub parent: &'static str,
    /// The limits of its texts and lists.
    pub book: &'static Book,
    /// Names the ids of children that came without one.
    pub kind: &'static str,
    /// States of the document in which its maker's word on its lines replaces those that are there.
    pub replaced_while: &'static [&'static str],
    /// How many of them one document has at the most: far more than a till makes.
    pub most: usize,
}

/// What a pushing store is to a row that HQ may already have.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// The state of the row at HQ (of its parent for a line), `None` when HQ does not have it.
    pub status: Option<&'a str>,
    /// The row is new at HQ.
    pub new: bool,
    /// The caller is the receiving store of a transfer.
    pub receives: bool,
    /// Headquarters made the order (that of a line's order).
    pub made_by_hq: bool,
}

/// A column that each server derives from another one when a row arrives.
pub struct Derived {
    pub column: &'static str,
    pub from: &'static str,
    pub by: fn(&str) -> String,
}

/// One synchronised type.
pub struct SyncType {
    /// Name on the wire, and of the table.
    pub name: &'static str,
    pub flow: Flow,
    pub scope: Scope,
    /// Pulled and replaced whole; has a counter but no row versions.
    pub whole: bool,
    /// Conflict key of an upsert.
    pub key: &'static [&'static str],
    /// Columns of the store that a pull never overwrites.
    pub kept: &'static [&'static str],
    /// Columns that only stores see whose staff the row is; null for all others.
    pub withheld: &'static [&'static str],
    pub derived: &'static [Derived],
    pub children: &'static [Child],
    pub table: &'static dyn SyncTable,
    /// What people write of it, or of a document the limits of its texts and lists.
    pub book: Option<&'static Book>,
    /// Columns that a pushing store may write; empty for what is never pushed.
    pub owned: fn(Claim) -> &'static [&'static str],
    /// What becomes of a row beyond its limits.
    pub beyond: Beyond,
    /// The type that must be at HQ before a row of this one, and the column that names it.
    pub parent: Option<(&'static str, &'static str)>,
    /// Its states.
    pub document: Option<tillkeep_model::state::Document>,
    /// Written by more than one server: a status that may not follow is left alone, and the rest is taken all the same.
    pub shared: bool,
    /// The natural key that a store fixes when it makes a row.
    pub number: Option<&'static str>,
    /// JSON lists that only grow: their elements are known by `receiptId`.
    pub lists: &'static [&'static str],
    /// Place in a push request: parents first.
    pub push_order: u8,
    /// A row the store has made on its own stays when HQ does not have it.
    pub local_rows: bool,
}

impl SyncType {
    pub fn is_pulled(&self) -> bool {
        self.flow != Flow::Push
    }

    pub fn is_pushed(&self) -> bool {
        self.flow != Flow::Pull
    }
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

/// What a store that has nothing yet pulls before all else: without it nobody can sign in there.
pub const FIRST: &[&str] = &["stores", "users", "roles", "permissions", "role_permissions", "user_store_roles"];

/// The scope of the version counter of `entity` for one store.
pub fn counter_scope(entity: &SyncType, store_id: Uuid) -> Uuid {
    if entity.scope == Scope::Store { store_id } else { Uuid::nil() }
}

#[cfg(test)]
mod tests;
