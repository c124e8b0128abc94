//! Asking for products, and for what codes mean.

use std::collections::HashMap;
use std::sync::Arc;

use tillkeep_storage::DbErr;
use tillkeep_storage::entity::product;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use uuid::Uuid;

use super::cache::VersionCache;
use super::sold::{Found, Sold};

impl VersionCache {
    /// Those of `ids` that are here, deleted or not; what is not in memory is read set-wise.
    pub async fn products(&self, ids: &[Uuid]) -> Result<HashMap<Uuid, Arc<Sold>>, DbErr> {
        let mut found: HashMap<Uuid, Arc<Sold>> = HashMap::with_capacity(ids.len());
        let mut missing = Vec::new();
        for id in ids {
            match self.products.get(id) {
                Some(sold) => drop(found.insert(*id, sold)),
                None => missing.push(*id),
            }
        }
        if missing.is_empty() {
            return Ok(found);
        }
        let conn = self.db.snapshot().await?;
        let rows = product::Entity::find().filter(product::Column::Id.is_in(missing)).all(&conn).await?;
        for row in rows {
            let sold = Arc::new(Sold { row });
            self.products.insert(sold.row.id, sold.clone());
            found.insert(sold.row.id, sold);
        }
        Ok(found)
    }

    /// One product, as [`VersionCache::products`].
    pub async fn product(&self, id: Uuid) -> Result<Option<Arc<Sold>>, DbErr> {
        Ok(self.products(&[id]).await?.remove(&id))
    }

    /// What `code` was found to mean before.
    pub fn code(&self, code: &str) -> Option<Found> {
        self.codes.get(code)
    }

    /// Keeps what `code` means.
    pub fn keep_code(&self, code: &str, found: Found) {
        self.codes.insert(code.to_owned(), found);
    }
}
