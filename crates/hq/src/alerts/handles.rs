//! The handle of the database that background tasks of this room have. What people ask for reads and writes through its `Caller`.

use tillkeep_storage::Db;

use crate::Hq;

impl Hq {
    /// Behind people, as what stores ask is.
    pub(in crate::alerts) const fn db_of_alerts(&self) -> &Db {
        self.databases.sync()
    }
}
