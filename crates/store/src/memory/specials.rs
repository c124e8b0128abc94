//! The specials of this store, read as a whole, by what they name.

use std::collections::HashMap;
use std::sync::Arc;

use tillkeep_http::shelf::special::{is_in_force, of_row};
use tillkeep_model::pricing::Special;
use tillkeep_model::special::Moment;
use tillkeep_storage::entity::product_special::{Column, Entity, Model};
use tillkeep_storage::sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder};
use tillkeep_storage::{Db, DbErr};
use uuid::Uuid;

/// Those that may be in force here: active ones of this store or of all, whatever their windows are.
#[derive(Debug, Default)]
pub struct Specials {
    /// By product, or by department where they name no product; each list by code.
    of: HashMap<Uuid, Vec<Offer>>,
}

/// A special as it was pulled, and as it is charged.
#[derive(Debug)]
struct Offer {
    row: Model,
    /// Nothing when this release cannot read it.
    special: Option<Arc<Special>>,
}

impl Specials {
    pub(super) async fn load(db: &Db, store: Uuid) -> Result<Self, DbErr> {
        let rows = Entity::find()
            .filter(Column::DeletedAt.is_null())
            .filter(Column::IsActive.eq(true))
            .filter(Condition::any().add(Column::StoreId.is_null()).add(Column::StoreId.eq(store)))
            .order_by_asc(Column::Code)
            .all(&db.snapshot().await?)
            .await?;
        let mut of: HashMap<Uuid, Vec<Offer>> = HashMap::new();
        for row in rows {
            let Some(named) = row.product_id.or(row.department_id) else { continue };
            let special = of_row(&row).map(Arc::new);
            of.entry(named).or_default().push(Offer { row, special });
        }
        Ok(Self { of })
    }

    /// The rows that concern a product, by code.
    pub fn concerning(&self, product: Uuid, department: Uuid) -> Vec<&Model> {
        let named = [product, department].into_iter().filter_map(|id| self.of.get(&id)).flatten();
        let mut rows: Vec<&Model> = named.map(|offer| &offer.row).collect();
        rows.sort_by_key(|row| row.code.as_str());
        rows
    }

    /// Those that name this product or department, and no product of it, and are in force at `moment`.
    pub(crate) fn in_force(&self, named: Uuid, moment: &Moment) -> Arc<[Arc<Special>]> {
        let offers = self.of.get(&named).into_iter().flatten().filter(|offer| is_in_force(&offer.row, moment));
        offers.filter_map(|offer| offer.special.clone()).collect()
    }
}
