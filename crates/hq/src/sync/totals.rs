//! How many rows there are of a type, for whoever is shown how far a load is.

use std::time::Duration;

use moka::sync::Cache;
use tillkeep_storage::registry::SyncType;
use tillkeep_storage::{DbErr, Transaction, pull};

/// How long a count is good enough: counting takes longer than reading a page.
const GOOD_FOR: Duration = Duration::from_mins(1);

/// The counts of types that are equal for all stores.
pub struct Totals(Cache<&'static str, i64>);

impl Default for Totals {
    fn default() -> Self {
        Self(Cache::builder().time_to_live(GOOD_FOR).build())
    }
}

impl Totals {
    pub async fn of(&self, conn: &Transaction, entity: &SyncType) -> Result<i64, DbErr> {
        if let Some(count) = self.known(entity.name) {
            return Ok(count);
        }
        let count = pull::count(conn, entity).await?;
        self.0.insert(entity.name, count);
        Ok(count)
    }

    /// What was counted lately.
    pub fn known(&self, entity_type: &str) -> Option<i64> {
        self.0.get(entity_type)
    }
}
