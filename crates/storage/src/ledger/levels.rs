//! The rows of levels: what is there, locked in one order, and what they become.

use std::collections::{BTreeMap, HashMap, HashSet};

use sea_orm::{ColumnTrait, DbErr, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Value};
use tillkeep_model::{Cost, Instant, Money, Qty, ids};
use uuid::Uuid;

use crate::entity::{product, store_product};
use crate::many::{execute_rows, tuples_in};
use crate::versions::UNSTAMPED;
use crate::{Side, Tx};

/// What a store's row of a product begins with, and whether stock is kept of it.
#[derive(Clone, Copy, Debug)]
pub struct Product {
    pub(super) track_stock: bool,
    price: Money,
    cost: Money,
    reorder_point: Qty,
    reorder_quantity: Qty,
}

impl Product {
    /// What is read of one: few of the columns that a product has.
    pub(super) const COLUMNS: [product::Column; 6] = [
        product::Column::Id,
        product::Column::TrackStock,
        product::Column::Price,
        product::Column::Cost,
        product::Column::ReorderPoint,
        product::Column::ReorderQuantity,
    ];

    /// The product with these values of [`Product::COLUMNS`].
    pub(super) fn of(
        (id, track_stock, price, cost, reorder_point, reorder_quantity): (Uuid, bool, Money, Cost, Qty, Qty),
    ) -> (Uuid, Self) {
        (id, Self { track_stock, price, cost: cost.0, reorder_point, reorder_quantity })
    }
}

impl From<&product::Model> for Product {
    fn from(row: &product::Model) -> Self {
        Self {
            track_stock: row.track_stock,
            price: row.price,
            cost: row.cost.0,
            reorder_point: row.reorder_point,
            reorder_quantity: row.reorder_quantity,
        }
    }
}

/// A level that is there.
#[derive(Clone, Copy, Default)]
pub(super) struct Present {
    pub quantity: Qty,
    pub average: Option<Money>,
}

/// What becomes of a level.
pub(super) struct Delta {
    pub quantity: Qty,
    pub change: Qty,
    pub average: Option<Money>,
    pub sold_at: Option<Instant>,
    pub received_at: Option<Instant>,
}

impl Delta {
    pub(super) const fn new(level: Present) -> Self {
        Self { quantity: level.quantity, change: Qty::ZERO, average: level.average, sold_at: None, received_at: None }
    }
}

/// The levels of these products, locked.
pub(super) async fn present(tx: &Tx, store_id: Uuid, ids: &HashSet<Uuid>) -> Result<HashMap<Uuid, Present>, DbErr> {
    use store_product::Column;
    // By product, here and in the statement that writes: two writers that lock in one order cannot wait in a circle.
    let mut ids: Vec<Uuid> = ids.iter().copied().collect();
    ids.sort_unstable();
    let rows = store_product::Entity::find()
        .select_only()
        .columns([Column::ProductId, Column::Quantity, Column::AverageCost])
        .filter(Column::StoreId.eq(store_id))
        .order_by_asc(Column::ProductId)
        .lock_exclusive();
    let found: Vec<(Uuid, Qty, Option<Money>)> = tuples_in(tx, rows, Column::ProductId, ids).await?;
    Ok(found.into_iter().map(|(id, quantity, average)| (id, Present { quantity, average })).collect())
}

/// Writes the levels; a product that the store has nothing of yet gets a row.
pub(super) async fn write(
    tx: &mut Tx,
    store_id: Uuid,
    deltas: HashMap<Uuid, Delta>,
    products: &BTreeMap<Uuid, Product>,
    now: Instant,
) -> Result<(), DbErr> {
    if deltas.is_empty() {
        return Ok(());
    }
    let synced_at = (tx.side() == Side::Hq).then_some(now);
    let mut deltas: Vec<_> = deltas.into_iter().collect();
    deltas.sort_unstable_by_key(|(product_id, _)| *product_id);
    let row = |(product_id, delta): (Uuid, Delta)| {
        row(store_id, product_id, &delta, products.get(&product_id), (synced_at, now))
    };
    let places = format!("({})", ["?"; COLUMNS].join(", "));
    execute_rows(tx, &statement(), &[], &places, deltas.into_iter().map(row)).await?;
    tx.wrote::<store_product::Entity>()?;
    Ok(())
}

/// The columns of a row, in the order of [`statement`].
const COLUMNS: usize = 19;

fn row(
    store_id: Uuid,
    product_id: Uuid,
    delta: &Delta,
    product: Option<&Product>,
    (synced_at, now): (Option<Instant>, Instant),
) -> [Value; COLUMNS] {
    let amount = |amount: fn(&Product) -> i64| product.map_or(0, amount);
    [
        ids::store_product(store_id, product_id).into(),
        store_id.into(),
        product_id.into(),
        amount(|product| product.price.0).into(),
        false.into(),
        amount(|product| product.cost.0).into(),
        amount(|product| product.reorder_point.0).into(),
        amount(|product| product.reorder_quantity.0).into(),
        true.into(),
        delta.change.into(),
        delta.average.into(),
        delta.sold_at.into(),
        delta.received_at.into(),
        synced_at.into(),
        now.into(),
        now.into(),
        UNSTAMPED.into(),
        None::<Instant>.into(),
        None::<Qty>.into(),
    ]
}

fn statement() -> String {
    // The newer of what is there and what comes; a missing time loses against any.
    let later = |column: &str| {
        format!(
            "{column} = CASE WHEN excluded.{column} IS NULL OR store_product_dynamic.{column} > excluded.{column} \
             THEN store_product_dynamic.{column} ELSE excluded.{column} END"
        )
    };
    format!(
        "INSERT INTO store_product_dynamic (id, store_id, product_id, price, has_price_override, cost, \
         reorder_point, reorder_quantity, is_stocked, quantity, average_cost, last_sold_at, last_received_at, \
         last_synced_at, created_at, updated_at, sync_version, deleted_at, max_quantity) VALUES $rows \
         ON CONFLICT (store_id, product_id) DO UPDATE SET \
         quantity = store_product_dynamic.quantity + excluded.quantity, \
         average_cost = COALESCE(excluded.average_cost, store_product_dynamic.average_cost), {}, {}, \
         last_synced_at = COALESCE(excluded.last_synced_at, store_product_dynamic.last_synced_at), \
         updated_at = excluded.updated_at, sync_version = {UNSTAMPED}",
        later("last_sold_at"),
        later("last_received_at"),
    )
}
