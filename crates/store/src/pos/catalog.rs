//! What the replica knows of the products of one cart: out of memory but for what a sale changes, which is read set-wise.

use std::collections::HashMap;
use std::sync::Arc;

use tillkeep_http::error::Result;
use tillkeep_model::pricing::{PriceSource, choose_price};
use tillkeep_model::{Money, Qty};
use tillkeep_storage::DbErr;
use tillkeep_storage::entity::{product, store, store_product};
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect};
use uuid::Uuid;

use super::cart::Cart;
use crate::Store;
use crate::memory::{Shop, Sold, Specials};

/// Everything a cart is priced with.
pub(crate) struct Catalog {
    pub shop: Arc<Shop>,
    pub products: HashMap<Uuid, Arc<Sold>>,
    pub specials: Arc<Specials>,
    pub rows: HashMap<Uuid, Here>,
}

/// What a store has of a product: its price, and its stock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Here {
    price: Money,
    has_price_override: bool,
    cost: Money,
    pub quantity: Qty,
    average_cost: Option<Money>,
    /// Whether this store keeps it: what it does not keep is sold all the same when it is scanned.
    pub is_stocked: bool,
}

/// Whether a product is sold at all.
pub(crate) fn is_sold(product: &product::Model) -> bool {
    product.is_active && product.deleted_at.is_none()
}

impl Catalog {
    /// What is in memory of these products alone, as [`Store::goods`].
    pub(crate) async fn of(store: &Store, ids: impl Iterator<Item = Uuid>) -> Result<Self> {
        let mut ids: Vec<Uuid> = ids.collect();
        ids.sort_unstable();
        ids.dedup();
        let (shop, products, specials) = store.goods(&ids).await?;
        Ok(Self { shop, products, specials, rows: HashMap::new() })
    }

    /// What is in memory of the products of `cart`, as [`Store::goods`]: no connection may be held meanwhile.
    pub(crate) async fn load(store: &Store, cart: &Cart) -> Result<Self> {
        let mut ids: Vec<Uuid> = cart.lines.iter().map(|line| line.product_id).collect();
        ids.sort_unstable();
        ids.dedup();
        let (shop, products, specials) = store.goods(&ids).await?;
        let charges: Vec<Uuid> = products
            .values()
            .filter_map(|sold| sold.row.charge_product_id)
            .filter(|id| !products.contains_key(id))
            .collect();
        if charges.is_empty() {
            return Ok(Self { shop, products, specials, rows: HashMap::new() });
        }
        // All of one moment: what was read before comes out of memory, unless it has changed meanwhile.
        ids.extend(charges);
        ids.sort_unstable();
        ids.dedup();
        let (shop, products, specials) = store.goods(&ids).await?;
        Ok(Self { shop, products, specials, rows: HashMap::new() })
    }

    /// Reads what the store has of these products now.
    pub(crate) async fn look(&mut self, conn: &impl ConnectionTrait, store_id: Uuid) -> Result<()> {
        let ids: Vec<Uuid> = self.products.keys().copied().collect();
        self.rows = rows(conn, store_id, &ids).await?;
        Ok(())
    }

    /// The settings of the store.
    pub(crate) fn store(&self) -> Result<&store::Model> {
        self.shop.own()
    }

    /// What a unit costs this store: the average of what was received, else the set cost of the store, else of the
    /// product. A cost of nothing is one that was never entered.
    pub(crate) fn unit_cost(&self, product: &product::Model) -> Option<Money> {
        let row = self.rows.get(&product.id);
        let set = |cost: Money| Some(cost).filter(|cost| *cost > Money::ZERO);
        row.and_then(|row| row.average_cost).or(row.and_then(|row| set(row.cost))).or(set(product.cost.0))
    }
}

/// Product, price, whether it is an own one, cost, quantity, average cost, and whether it is kept here.
type Columns = (Uuid, Money, bool, Money, Qty, Option<Money>, bool);

/// What `store_id` has of products, by product.
pub(crate) async fn rows(
    conn: &impl ConnectionTrait,
    store_id: Uuid,
    product_ids: &[Uuid],
) -> Result<HashMap<Uuid, Here>, DbErr> {
    use store_product::Column;
    let rows: Vec<Columns> = store_product::Entity::find()
        .select_only()
        .columns([
            Column::ProductId,
            Column::Price,
            Column::HasPriceOverride,
            Column::Cost,
            Column::Quantity,
            Column::AverageCost,
            Column::IsStocked,
        ])
        .filter(Column::StoreId.eq(store_id))
        .filter(Column::ProductId.is_in(product_ids.iter().copied()))
        .filter(Column::DeletedAt.is_null())
        .into_tuple()
        .all(conn)
        .await?;
    let here = |(product, price, has_price_override, cost, quantity, average_cost, is_stocked)| {
        (product, Here { price, has_price_override, cost, quantity, average_cost, is_stocked })
    };
    Ok(rows.into_iter().map(here).collect())
}

impl Here {
    /// Its price, and whether that is a price of its own.
    pub(crate) const fn own_price(self) -> (Money, bool) {
        (self.price, self.has_price_override)
    }
}

/// The unit price of a product in this store, and where it comes from.
pub(crate) fn shelf_price(product: &product::Model, row: Option<&Here>) -> (Money, PriceSource) {
    choose_price(product.price, row.map(|row| row.own_price()), None, None)
}
