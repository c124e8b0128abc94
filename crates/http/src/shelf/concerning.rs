//! What stores have of products, and which specials concern them: read for all of them at once.

use std::collections::HashMap;
use std::sync::Arc;

use tillkeep_model::pricing::Special;
use tillkeep_model::special::Moment;
use tillkeep_model::{Bps, Money};
use tillkeep_storage::DbErr;
use tillkeep_storage::entity::product_special::{Column, Entity, Model};
use tillkeep_storage::entity::{department, product, store_product};
use tillkeep_storage::sea_orm::{ColumnTrait, Condition, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder};
use tillkeep_storage::taxes::{self, TaxGroup};
use uuid::Uuid;

use super::special::{concerns, in_force};

/// The specials that may be in force in one of `stores` for products with their departments, by code.
pub async fn concerning(
    conn: &impl ConnectionTrait,
    stores: &[Uuid],
    sold: &[(Uuid, Option<Uuid>)],
) -> Result<Vec<Model>, DbErr> {
    if sold.is_empty() {
        return Ok(Vec::new());
    }
    let mut products: Vec<Uuid> = sold.iter().map(|(product, _)| *product).collect();
    let mut departments: Vec<Uuid> = sold.iter().filter_map(|(_, department)| *department).collect();
    for ids in [&mut products, &mut departments] {
        ids.sort_unstable();
        ids.dedup();
    }
    let concerned =
        Condition::any().add(Column::ProductId.is_in(products)).add(Column::DepartmentId.is_in(departments));
    Entity::find()
        .filter(Column::DeletedAt.is_null())
        .filter(Column::IsActive.eq(true))
        .filter(Condition::any().add(Column::StoreId.is_null()).add(Column::StoreId.is_in(stores.iter().copied())))
        .filter(concerned)
        .order_by_asc(Column::Code)
        .all(conn)
        .await
}

/// What `store` has of some products, out of the database: for who keeps nothing of it in memory.
pub struct Read {
    /// Deleted ones too, and the charges that belong to them.
    pub products: HashMap<Uuid, product::Model>,
    own: HashMap<Uuid, store_product::Model>,
    pub tax_groups: HashMap<Uuid, TaxGroup>,
    pub department_limits: HashMap<Uuid, Bps>,
    pub specials: Vec<Model>,
}

impl Read {
    pub async fn of(conn: &impl ConnectionTrait, store: Uuid, ids: &[Uuid]) -> Result<Self, DbErr> {
        let mut products = self::products(conn, ids).await?;
        let charges: Vec<Uuid> = products.values().filter_map(|product| product.charge_product_id).collect();
        products.extend(self::products(conn, &charges).await?);
        let own = store_product::Entity::find()
            .filter(store_product::Column::StoreId.eq(store))
            .filter(store_product::Column::ProductId.is_in(products.keys().copied()))
            .filter(store_product::Column::DeletedAt.is_null())
            .all(conn)
            .await?;
        let concerned: Vec<_> = products.values().map(|row| (row.id, Some(row.department_id))).collect();
        let departments = department::Entity::find().filter(department::Column::DeletedAt.is_null()).all(conn).await?;
        Ok(Self {
            own: own.into_iter().map(|row| (row.product_id, row)).collect(),
            tax_groups: taxes::of_store(conn, Some(store)).await?,
            department_limits: departments
                .into_iter()
                .filter_map(|row| Some((row.id, row.max_discount_bps?)))
                .collect(),
            specials: concerning(conn, &[store], &concerned).await?,
            products,
        })
    }

    /// The price of the store's row, and whether it is the store's own.
    pub fn own_price(&self, product: Uuid) -> Option<(Money, bool)> {
        self.own.get(&product).map(|row| (row.price, row.has_price_override))
    }

    /// Whether the store keeps it.
    pub fn is_stocked(&self, product: Uuid) -> bool {
        self.own.get(&product).is_none_or(|row| row.is_stocked)
    }

    /// The rows that concern a product, in force or not.
    pub fn specials_of<'a>(&'a self, product: &'a product::Model) -> impl Iterator<Item = &'a Model> {
        self.specials.iter().filter(move |row| concerns(row, product.id, Some(product.department_id)))
    }

    /// The specials in force at `moment`: one value for all the lines that it concerns.
    pub fn in_force(&self, moment: &Moment) -> HashMap<Uuid, Arc<Special>> {
        let specials = self.specials.iter().filter_map(|row| in_force(row, moment));
        specials.map(|special| (special.id, Arc::new(special))).collect()
    }
}

async fn products(conn: &impl ConnectionTrait, ids: &[Uuid]) -> Result<HashMap<Uuid, product::Model>, DbErr> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = product::Entity::find().filter(product::Column::Id.is_in(ids.iter().copied())).all(conn).await?;
    Ok(rows.into_iter().map(|row| (row.id, row)).collect())
}
