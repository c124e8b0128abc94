//! What is in memory of one version of the database.

use std::sync::{Arc, PoisonError, RwLock};

use moka::sync::Cache;
use tillkeep_storage::{Db, DbErr};
use tokio::sync::OnceCell;
use uuid::Uuid;

use super::shop::Shop;
use super::sold::{Found, Sold};
use super::specials::Specials;

/// Bytes of products at the most, roughly.
const PRODUCTS: u64 = 16 << 20;
/// Codes that were looked up, at the most; each has at most a hundred letters.
const CODES: u64 = 20_000;

/// The memory of the newest versions that were asked for.
#[derive(Default)]
pub(crate) struct Memory {
    goods: Newest<VersionCache>,
    specials: Newest<SpecialsCache>,
}

/// Something of the newest version that was asked for.
struct Newest<T>(RwLock<Option<(u64, Arc<T>)>>);

impl<T> Default for Newest<T> {
    fn default() -> Self {
        Self(RwLock::new(None))
    }
}

impl<T> Newest<T> {
    /// That of `version`, or of a later one; the first who asks makes it.
    fn of(&self, version: u64, empty: impl FnOnce() -> T) -> Arc<T> {
        let present = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, value)) = present.filter(|(made, _)| *made >= version) {
            return value;
        }
        let mut place = self.0.write().unwrap_or_else(PoisonError::into_inner);
        // Of those that come at once the first one makes it.
        if let Some((_, value)) = place.as_ref().filter(|(made, _)| *made >= version) {
            return value.clone();
        }
        let value = Arc::new(empty());
        *place = Some((version, value.clone()));
        value
    }
}

/// What is known of one version of the database.
pub struct VersionCache {
    pub(super) db: Db,
    pub(super) store: Uuid,
    shop: OnceCell<Arc<Shop>>,
    pub(super) products: Cache<Uuid, Arc<Sold>>,
    pub(super) codes: Cache<String, Found>,
}

impl Memory {
    /// What is known of `db`, the database of `store`, as it is now.
    pub(crate) fn cache(&self, db: &Db, store: Uuid) -> Arc<VersionCache> {
        self.goods.of(db.memory_version(), || VersionCache::empty(db.clone(), store))
    }

    /// The same of the specials.
    pub(crate) fn specials(&self, db: &Db, store: Uuid) -> Arc<SpecialsCache> {
        let empty = || SpecialsCache { db: db.clone(), store, loaded: OnceCell::new() };
        self.specials.of(db.specials_version(), empty)
    }
}

/// The specials of one version of the database.
pub struct SpecialsCache {
    db: Db,
    store: Uuid,
    loaded: OnceCell<Arc<Specials>>,
}

impl SpecialsCache {
    pub async fn load(&self) -> Result<Arc<Specials>, DbErr> {
        self.loaded.get_or_try_init(async || Specials::load(&self.db, self.store).await.map(Arc::new)).await.cloned()
    }
}

impl VersionCache {
    fn empty(db: Db, store: Uuid) -> Self {
        Self { db, store, shop: OnceCell::new(), products: products(), codes: Cache::new(CODES) }
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
            kept.insert(id, Arc::new(Sold { row }));
        }
        kept.run_pending_tasks();
        let (bytes, count) = (kept.weighted_size(), kept.entry_count());
        assert!(bytes <= PRODUCTS && bytes / count > 4000, "{count} products of {bytes} bytes");
        assert!(count > 1000, "{count}");
    }
}
