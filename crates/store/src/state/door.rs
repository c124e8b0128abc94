//! The database of a store, behind the door.

use tillkeep_storage::Db;

/// The database, to be written through [`crate::act::Act::run`] alone.
pub(crate) struct Door(pub(crate) Db);

impl Door {
    pub(crate) const fn new(db: Db) -> Self {
        Self(db)
    }
}
