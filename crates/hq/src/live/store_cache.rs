//! The rows of the stores that sync, in memory: each request of a store asks for its own.

use std::sync::Arc;

use tillkeep_http::cache::Cache;
use tillkeep_model::Instant;
use tillkeep_storage::entity::store;
use tillkeep_storage::sea_orm::EntityTrait;
use tillkeep_storage::{Db, DbErr};
use uuid::Uuid;

/// The rows of the stores that were asked for, until one of them changes.
#[derive(Default)]
pub struct StoreCache(Cache<Uuid, Arc<store::Model>>);

impl StoreCache {
    pub fn clear(&self) {
        self.0.clear();
    }

    /// A store was heard of for the first time: nothing else of its row changed, and nothing of the others.
    pub(crate) fn first_seen(&self, id: Uuid, at: Instant) {
        // One that is being read now may still lack it: then this is written once more, and changes nothing.
        self.0.amend(|rows| {
            if let Some(row) = rows.get_mut(&id) {
                Arc::make_mut(row).first_seen_at = Some(at);
            }
        });
    }

    /// The row of a store; the one in memory only while that `may_be_believed`.
    pub(crate) async fn get(
        &self,
        db: &Db,
        id: Uuid,
        may_be_believed: bool,
    ) -> Result<Option<Arc<store::Model>>, DbErr> {
        let (kept, turn) = self.0.get(&id);
        if kept.is_some() && may_be_believed {
            return Ok(kept);
        }
        let row = store::Entity::find_by_id(id).one(db.reader()).await?.map(Arc::new);
        if let Some(row) = &row {
            self.0.keep(id, row.clone(), turn);
        }
        Ok(row)
    }
}
