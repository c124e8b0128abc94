//! What is in memory of one version of the database.

use std::sync::{Arc, PoisonError, RwLock};

use moka::sync::Cache;
use tillkeep_storage::{Db, DbErr};
use tokio::sync::OnceCell;
use uuid::Uuid;

use super::shop::Shop;
use super::sold::{Found, Sold};

/// Bytes of products at the most, roughly.
const PRODUCTS: u64 = 16 << 20;
/// Codes that were looked up, at the most; each has at most a hundred letters.
const CODES: u64 = 20_000;

/// The memory of the newest version that was asked for.
#[derive(Default)]
pub(crate) struct Memory(RwLock<Option<Arc<VersionCache>>>);

/// What is known of one version of the database.
pub struct VersionCache {
    version: u64,
    pub(super) db: Db,
    pub(super) store: Uuid,
    shop: OnceCell<Arc<Shop>>,
    pub(super) products: Cache<Uuid, Arc<Sold>>,
    pub(super) codes: Cache<String, Found>,
}

impl Memory {
    /// What is known of `db`, the database of `store`, as it is now.
    pub(crate) fn cache(&self, db: &Db, store: Uuid) -> Arc<VersionCache> {
        let version = db.memory_version();
        let present = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(cache) = present.filter(|cache| cache.version >= version) {
            return cache;
        }
        let mut place = self.0.write().unwrap_or_else(PoisonError::into_inner);
        // Of those that come at once the first one makes it.
        if let Some(cache) = place.as_ref().filter(|cache| cache.version >= version) {
            return cache.clone();
        }
        let cache = Arc::new(VersionCache::empty(version, db.clone(), store));
        *place = Some(cache.clone());
        cache
    }
}

impl VersionCache {
    fn empty(version: u64, db: Db, store: Uuid) -> Self {
        Self { version, db, store, shop: OnceCell::new(), products: products(), codes: Cache::new(CODES) }
    }

    /// The settings of this store and its tills.
    pub async fn shop(&self) -> Result<Arc<Shop>, DbErr> {
        self.shop.get_or_try_init(async || Shop::load(&self.db, self.store).await.map(Arc::new)).await.cloned()
    }
}

fn products() -> Cache<Uuid, Arc<Sold>> {
    Cache::builder().max_capacity(PRODUCTS).weigher(|_, sold: &Arc<Sold>| sold.weight()).build()
}

#[cfg(test)]
mod tests {
    use tillkeep_model::ids;
    use tillkeep_storage::entity::product;

    use super::*;

    #[test]
    fn products_in_memory_stay_within_their_room() {
        let kept = products();
        let description = Some("x".repeat(4000));
        for number in 0..10_000 {
            let id = ids::named(&number.to_string());
            let row = product::Model { id, description: description.clone(), ..product::Model::default() };
            kept.insert(id, Arc::new(Sold { row, specials: Vec::new() }));
        }
        kept.run_pending_tasks();
        let (bytes, count) = (kept.weighted_size(), kept.entry_count());
        assert!(bytes <= PRODUCTS && bytes / count > 4000, "{count} products of {bytes} bytes");
        assert!(count > 1000, "{count}");
    }
}
