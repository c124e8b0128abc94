//! Stores that are to shake hands, as they have something to learn that nothing else tells them.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tillkeep_storage::{Db, DbErr, nodes};
use uuid::Uuid;

/// Stores that have something to learn in a handshake.
#[derive(Default)]
pub struct StoresToNotify(Mutex<HashSet<Uuid>>);

impl StoresToNotify {
    pub async fn load(db: &Db) -> Result<Self, DbErr> {
        let stores_to_notify = Self::default();
        stores_to_notify.everyone(db).await?;
        Ok(stores_to_notify)
    }

    /// Each store shakes hands once: besides what was settled, only a handshake shows that this database lacks what a store
    /// has sent.
    pub async fn everyone(&self, db: &Db) -> Result<(), DbErr> {
        let stores = nodes::stores(db.reader()).await?;
        self.lock().extend(stores);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<Uuid>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn contains(&self, store: Uuid) -> bool {
        self.lock().contains(&store)
    }

    pub fn insert(&self, store: Uuid) {
        self.lock().insert(store);
    }

    pub fn remove(&self, store: Uuid) {
        self.lock().remove(&store);
    }
}
