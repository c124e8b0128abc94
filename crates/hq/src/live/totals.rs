//! How many rows there are of a type, for whoever is shown how far a load is.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tillkeep_model::Instant;
use tillkeep_storage::registry::SyncType;
use tillkeep_storage::{DbErr, Transaction, pull};

/// How long a count is good enough for the next page: counting takes longer than reading a page.
const GOOD_FOR_MS: u64 = 60_000;

/// The counts of types that are equal for all stores, with when they were made. A store that is served from kept pages has none
/// made, and is shown the one that they were made with.
#[derive(Default)]
pub struct Totals(Mutex<HashMap<&'static str, (Instant, i64)>>);

impl Totals {
    fn counted(&self) -> MutexGuard<'_, HashMap<&'static str, (Instant, i64)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// For a page that is made.
    pub async fn get(&self, conn: &Transaction, entity: &SyncType, now: Instant) -> Result<i64, DbErr> {
        let counted = self.counted().get(entity.name).copied();
        if let Some((at, count)) = counted
            && now.millis_since(at).unsigned_abs() < GOOD_FOR_MS
        {
            return Ok(count);
        }
        let count = pull::count(conn, entity).await?;
        self.counted().insert(entity.name, (now, count));
        Ok(count)
    }

    /// What was counted last.
    pub fn known(&self, entity_type: &str) -> Option<i64> {
        self.counted().get(entity_type).map(|(_, count)| *count)
    }
}
