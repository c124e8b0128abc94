//! Whether another copy of this store runs, which headquarters heard before this one. `docs/sync.md`, rule D8.

use tillkeep_storage::{Db, DbErr, settings};
use uuid::Uuid;

use super::SyncState;
use crate::Store;

/// The name under which headquarters refuses this copy: it keeps it over restarts, until it is the store again.
const REFUSED: &str = "refused_instance";
/// Somebody decided here that this copy is the store.
const TAKE_OVER: &str = "take_over";

/// The name of this process, and whether it may be the store.
pub struct Standing {
    pub instance: Uuid,
    pub refused: bool,
}

/// As the process before it was told.
pub async fn standing(db: &Db) -> Result<Standing, DbErr> {
    let refused: Option<Uuid> = value(db, REFUSED).await?.and_then(|text| text.parse().ok());
    let taken_over = takes_over(db).await?;
    Ok(Standing { instance: refused.unwrap_or_else(Uuid::new_v4), refused: refused.is_some() && !taken_over })
}

async fn value(db: &Db, key: &str) -> Result<Option<String>, DbErr> {
    Ok(settings::get(db.reader(), key).await?.filter(|text| !text.is_empty()))
}

/// Whether headquarters is still to be told that this copy is the store.
pub(super) async fn takes_over(db: &Db) -> Result<bool, DbErr> {
    Ok(value(db, TAKE_OVER).await?.is_some())
}

/// Notes that somebody decided for this copy; false when headquarters does not refuse it.
pub async fn take_over(db: &Db) -> Result<bool, DbErr> {
    if value(db, REFUSED).await?.is_none() {
        return Ok(false);
    }
    let tx = db.begin().await?;
    settings::set(&tx, TAKE_OVER, "yes").await?;
    tx.commit().await?;
    Ok(true)
}

/// Headquarters refused this copy: it sells nothing from now on.
pub(super) async fn refused(store: &Store) -> Result<(), DbErr> {
    if store.sync.refuses(true) {
        return Ok(());
    }
    tracing::error!("another copy of this store runs and was there before: nothing is sold here until one is stopped");
    set(store, &store.sync.instance.to_string(), SyncState::is_refused).await
}

/// Headquarters took a handshake of this copy.
pub(super) async fn accepted(store: &Store) -> Result<(), DbErr> {
    let noted = value(store.db(), REFUSED).await?.is_some();
    if store.sync.refuses(false) || noted {
        tracing::info!("this copy is the store");
        return set(store, "", |_| true).await;
    }
    Ok(())
}

async fn set(store: &Store, instance: &str, still: impl Fn(&SyncState) -> bool) -> Result<(), DbErr> {
    let tx = store.sync_db().begin().await?;
    if still(&store.sync) {
        settings::set(&tx, REFUSED, instance).await?;
        settings::set(&tx, TAKE_OVER, "").await?;
        tx.commit().await?;
    }
    Ok(())
}
