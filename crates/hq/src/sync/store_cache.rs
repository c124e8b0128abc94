//! The rows of the stores that sync, in memory: each request of a store asks for its own.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use tillkeep_model::Instant;
use tillkeep_storage::entity::store;
use tillkeep_storage::sea_orm::EntityTrait;
use tillkeep_storage::{Db, DbErr};
use uuid::Uuid;

/// The rows of the stores that were asked for, until one of them changes.
#[derive(Default)]
pub struct StoreCache(RwLock<Cached>);

#[derive(Default)]
struct Cached {
    generation: u64,
    rows: HashMap<Uuid, Arc<store::Model>>,
}

impl StoreCache {
    pub fn clear(&self) {
        let mut cached = self.0.write().unwrap_or_else(PoisonError::into_inner);
        cached.generation += 1;
        cached.rows.clear();
    }

    /// A store was heard of for the first time: nothing else of its row changed, and nothing of the others.
    pub(super) fn first_seen(&self, id: Uuid, at: Instant) {
        let mut cached = self.0.write().unwrap_or_else(PoisonError::into_inner);
        // One that is being read now may still lack it: then this is written once more, and changes nothing.
        if let Some(row) = cached.rows.get_mut(&id) {
            Arc::make_mut(row).first_seen_at = Some(at);
        }
    }

    /// The row of a store; the one in memory only while that `may_be_believed`.
    pub(super) async fn get(
        &self,
        db: &Db,
        id: Uuid,
        may_be_believed: bool,
    ) -> Result<Option<Arc<store::Model>>, DbErr> {
        let generation = {
            let cached = self.0.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(row) = cached.rows.get(&id).filter(|_| may_be_believed) {
                return Ok(Some(row.clone()));
            }
            cached.generation
        };
        let Some(row) = store::Entity::find_by_id(id).one(db.reader()).await?.map(Arc::new) else {
            return Ok(None);
        };
        let mut cached = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if cached.generation == generation {
            cached.rows.insert(id, row.clone());
        }
        Ok(Some(row))
    }
}
