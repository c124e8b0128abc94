//! The databases of a headquarters, for tests: to put rows there as if they had been written by a request, to hold its
//! connections, and to look. Nothing of the program imports this.

use tillkeep_storage::{Change, Db, DbErr, Tx};

/// Handles that only tests have.
pub trait Databases {
    /// With the connections for people.
    fn db(&self) -> &Db;
    /// With the connections for stores.
    fn sync_db(&self) -> &Db;
    /// Commits as the server does, and announces what changed.
    fn commit(&self, tx: Tx) -> impl Future<Output = Result<Vec<Change>, DbErr>> + Send;
}
