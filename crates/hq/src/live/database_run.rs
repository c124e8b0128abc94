//! The run of the database server that what is in memory is from.

use std::sync::{Mutex, PoisonError};

use tillkeep_storage::{Db, DbErr};

/// The run of the database server that the heads in memory are from.
pub struct DatabaseRun(Mutex<Option<String>>);

impl DatabaseRun {
    /// To be asked before anything is read of the database that is kept.
    pub async fn load(db: &Db) -> Result<Self, DbErr> {
        Ok(Self(Mutex::new(db.run().await?)))
    }

    pub(crate) fn get(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set(&self, run: Option<String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = run;
    }
}
