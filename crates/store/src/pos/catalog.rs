//! What the replica knows of the products of one cart, read set-wise.

use std::collections::HashMap;

use tillkeep_http::error::Result;
use tillkeep_model::Money;
use tillkeep_model::pricing::{PriceSource, choose_price};
use tillkeep_storage::DbErr;
use tillkeep_storage::entity::{product, store, store_product};
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};
use uuid::Uuid;

use super::taxes::{self, TaxGroup};

/// Everything a cart is priced with.
pub struct Catalog {
    pub store: store::Model,
    pub products: HashMap<Uuid, product::Model>,
    pub rows: HashMap<Uuid, store_product::Model>,
    pub tax_groups: HashMap<Uuid, TaxGroup>,
}

impl Catalog {
    pub async fn load(conn: &impl ConnectionTrait, store: store::Model, ids: &[Uuid]) -> Result<Self> {
        let products = product::Entity::find().filter(product::Column::Id.is_in(ids.iter().copied())).all(conn).await?;
        Ok(Self {
            products: products.into_iter().map(|product| (product.id, product)).collect(),
            rows: rows(conn, store.id, ids).await?,
            tax_groups: taxes::of_store(conn, store.id).await?,
            store,
        })
    }

    /// What a unit costs this store: the average of what was received, else the set cost of the store, else of the
    /// product. A cost of nothing is one that nobody has entered.
    pub fn unit_cost(&self, product: &product::Model) -> Option<Money> {
        let row = self.rows.get(&product.id);
        let set = |cost: Money| Some(cost).filter(|cost| *cost > Money::ZERO);
        row.and_then(|row| row.average_cost).or(row.and_then(|row| set(row.cost))).or(set(product.cost))
    }
}

/// This store's rows of products, by product.
pub async fn rows(
    conn: &impl ConnectionTrait,
    store_id: Uuid,
    product_ids: &[Uuid],
) -> Result<HashMap<Uuid, store_product::Model>, DbErr> {
    use store_product::Column;
    let rows = store_product::Entity::find()
        .filter(Column::StoreId.eq(store_id))
        .filter(Column::ProductId.is_in(product_ids.iter().copied()))
        .filter(Column::DeletedAt.is_null())
        .all(conn)
        .await?;
    Ok(rows.into_iter().map(|row| (row.product_id, row)).collect())
}

/// The unit price of a product in this store, and where it comes from.
pub fn shelf_price(product: &product::Model, row: Option<&store_product::Model>) -> (Money, PriceSource) {
    choose_price(product.price, row.map(|row| (row.price, row.has_price_override)), None, None)
}
