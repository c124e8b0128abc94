//! Whether another copy of this store runs and goes on in place of this one. `docs/sync.md`, rule D8.

use tillkeep_storage::DbErr;
use uuid::Uuid;

use crate::Store;
use crate::headquarters::{SyncState, standing};

/// Headquarters refused this copy, and said why: it sells nothing from now on.
pub(super) async fn refused(store: &Store, why: &str) -> Result<(), DbErr> {
    if store.sync.refuses(true) {
        return Ok(());
    }
    tracing::error!(why, "another copy of this store goes on: nothing is sold here until one is stopped");
    note(store, Some(store.sync.instance), SyncState::is_refused).await
}

/// Headquarters took a handshake of this copy.
pub(super) async fn accepted(store: &Store) -> Result<(), DbErr> {
    let noted = standing::is_refused(store.sync_db()).await?;
    if store.sync.refuses(false) || noted {
        tracing::info!("this copy is the store");
        return note(store, None, |_| true).await;
    }
    Ok(())
}

async fn note(store: &Store, instance: Option<Uuid>, still: impl Fn(&SyncState) -> bool) -> Result<(), DbErr> {
    let tx = store.sync_db().begin().await?;
    if still(&store.sync) {
        standing::note(&tx, instance).await?;
        tx.commit().await?;
    }
    Ok(())
}
