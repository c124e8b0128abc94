//! The database of a store, behind the door.

use tillkeep_storage::Db;

/// The database, to be written through [`super::Act::run`] alone.
pub(crate) struct Door(pub(super) Db);

impl Door {
    pub(crate) const fn new(db: Db) -> Self {
        Self(db)
    }
}
