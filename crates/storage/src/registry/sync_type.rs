//! What is said of one synchronised type.

use tillkeep_model::fields::Book;
use uuid::Uuid;

use super::arrival::Arrival;
use super::together;
use crate::document::{Clash, Pushed};
use crate::rows::SyncTable;

/// Which stores a pulled row concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Everyone,
    /// The store in `store_id`.
    Store,
    /// The two stores of a transfer.
    Parties,
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
    /// Whether a document that is there may get further ones.
    pub grows: bool,
    /// How many of them one document has at the most: far more than a till makes.
    pub most: usize,
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
    /// Stores pull it.
    pub pulled: bool,
    /// What it is to headquarters where stores push it.
    pub push: Option<&'static Pushed>,
    pub scope: Scope,
    /// Pulled whole, and what was there is replaced; has a counter but no row versions.
    pub replace_all: bool,
    /// Conflict key of an upsert.
    pub key: &'static [&'static str],
    /// Columns of the store that a pull never overwrites.
    pub store_owned: &'static [&'static str],
    /// Columns that headquarters changes without a notification to the stores.
    pub unannounced: &'static [&'static str],
    /// Columns that only the stores see where the row works; null for all others.
    pub withheld: &'static [&'static str],
    pub derived: &'static [Derived],
    /// What people call a row, as SQL; `None` for what has no name.
    pub label: Option<&'static str>,
    pub children: &'static [Child],
    pub table: &'static dyn SyncTable,
    /// What people write of it, or of a document the limits of its texts and lists.
    pub book: Option<&'static Book>,
    /// A row the store has made on its own stays when HQ does not have it.
    pub store_may_create: bool,
    /// What else happens where rows of it arrive.
    pub arrival: Arrival,
}

impl SyncType {
    pub const fn is_pulled(&self) -> bool {
        self.pulled
    }

    pub const fn is_pushed(&self) -> bool {
        self.push.is_some()
    }

    /// Whether what a store pulls of it lies aside until all that it makes sense with is there.
    pub fn is_staged(&self) -> bool {
        !together(self.name).is_empty()
    }

    /// The column of the number of which there may be one at headquarters.
    pub fn unique_number(&self) -> Option<&'static str> {
        let number = self.push?.number?;
        (number.clash == Clash::Refused).then_some(number.column)
    }
}

/// The scope of the version counter of `entity` for one store.
pub fn counter_scope(entity: &SyncType, store_id: Uuid) -> Uuid {
    if entity.scope == Scope::Store { store_id } else { Uuid::nil() }
}
