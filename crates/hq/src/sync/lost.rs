//! Noticing that HQ's database may have lost its last seconds while this server runs: another server took its place, as a
//! standby that is promoted. `docs/sync.md`, rule D8.

use std::sync::{Mutex, PoisonError};

use tillkeep_storage::{Db, DbErr};

use crate::Hq;

/// The run of the database server that the heads in memory are from.
pub struct DatabaseRun(Mutex<Option<String>>);

impl DatabaseRun {
    /// To be asked before anything is read of the database that is kept.
    pub async fn load(db: &Db) -> Result<Self, DbErr> {
        Ok(Self(Mutex::new(db.run().await?)))
    }

    fn get(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, run: Option<String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = run;
    }
}

/// Looks whether the database is still the same run of its server. After another one all that is kept of it in memory is
/// read again, and each store shakes hands, as what it has sent lately may be gone.
pub async fn look(hq: &Hq) {
    if let Err(error) = compare(hq).await {
        tracing::debug!(%error, "the database is away: there is nothing to compare");
    }
}

async fn compare(hq: &Hq) -> Result<(), DbErr> {
    let run = hq.db().run().await?;
    if hq.database_run.get() == run {
        return Ok(());
    }
    hq.to_tell.everyone(hq.db()).await?;
    hq.doubt();
    hq.database_run.set(run);
    tracing::warn!("the database was started again, or is on another server now: all stores shake hands");
    Ok(())
}
