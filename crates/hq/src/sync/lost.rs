//! Noticing that HQ's database may have lost its last seconds while this server runs: another server took its place, as a
//! standby that is promoted. `docs/sync.md`, rule D8.

use tillkeep_storage::DbErr;

use crate::Hq;

/// Looks whether the database is still the same run of its server. After another one all that is kept of it in memory is
/// read again, and each store shakes hands, as what it has sent lately may be gone.
pub(super) async fn look(hq: &Hq) {
    if let Err(error) = compare(hq).await {
        tracing::debug!(%error, "the database is away: there is nothing to compare");
    }
}

async fn compare(hq: &Hq) -> Result<(), DbErr> {
    let run = hq.db().run().await?;
    if hq.database_run.get() == run {
        return Ok(());
    }
    hq.stores_to_notify.everyone(hq.db()).await?;
    hq.note_uncertain_commit();
    hq.database_run.set(run);
    tracing::warn!("the database was started again, or is on another server now: all stores shake hands");
    Ok(())
}
