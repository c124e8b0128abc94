//! The stock ledger. A level is the sum of its movements, and each movement happens once: it is keyed by its source
//! line and kind, so that a document applied twice changes stock once. `docs/sync.md`, rule U3.

use std::collections::{BTreeMap, HashMap, HashSet};

use sea_orm::sea_query::LockType;
use sea_orm::{ColumnTrait, DbErr, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder, QuerySelect, Value};
use tillkeep_model::{Instant, Money, Qty, ids, rdiv};
use uuid::Uuid;

use crate::averages::{self, Position};
use crate::db::{Turn, query, rows_per_statement, take_turn};
use crate::entity::{product, stock_movement, store_product};
use crate::{Side, Tx};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Sale,
    SaleVoid,
    Refund,
    Adjustment,
    /// What a store that lost its database gets back from HQ as its level; known to that store alone.
    Restored,
}

impl Kind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sale => "sale",
            Self::SaleVoid => "sale_void",
            Self::Refund => "refund",
            Self::Adjustment => "adjustment",
            Self::Restored => "restored",
        }
    }
}

/// One change of one product's level.
#[derive(Clone, Debug)]
pub struct Movement {
    pub kind: Kind,
    pub product_id: Uuid,
    pub change: Qty,
    pub source_id: Uuid,
    pub line_id: Uuid,
    pub business_date: String,
    pub at: Instant,
    /// Goods that came from outside: sets the time of the last receipt.
    pub received: bool,
    /// What a unit of goods that came in cost; feeds the moving average.
    pub unit_cost: Option<Money>,
    /// Whether stock was kept of the product where this happened. Where that is not said, what this server does counts.
    pub tracked: Option<bool>,
    /// The average cost after it at its store, and when that was: the newest is HQ's too.
    pub average_after: Option<(Money, Position)>,
}

/// What became of a product's level.
#[derive(Clone, Copy, Debug, Default)]
pub struct Level {
    pub before: Qty,
    pub after: Qty,
    pub average: Option<Money>,
}

/// What [`apply`] did.
#[derive(Debug, Default)]
pub struct Effects {
    /// Of the products that something moved of: those of which stock is kept.
    pub levels: HashMap<Uuid, Level>,
}

/// What [`apply`] answers when a level would be more than a number holds.
const OUT_OF_BOUNDS: &str = "a stock level is out of bounds";

/// Whether `error` is a level beyond what can be counted: the fault of the movements, which would fail again.
pub fn is_out_of_bounds(error: &DbErr) -> bool {
    matches!(error, DbErr::Custom(text) if text == OUT_OF_BOUNDS)
}

fn sum(one: Qty, other: Qty) -> Result<Qty, DbErr> {
    one.0.checked_add(other.0).map(Qty).ok_or_else(|| DbErr::Custom(OUT_OF_BOUNDS.to_owned()))
}

/// What a store's row of a product begins with, and whether stock is kept of it.
#[derive(Clone, Copy, Debug)]
pub struct Product {
    track_stock: bool,
    price: Money,
    cost: Money,
    reorder_point: Qty,
    reorder_quantity: Qty,
}

impl From<&product::Model> for Product {
    fn from(row: &product::Model) -> Self {
        Self {
            track_stock: row.track_stock,
            price: row.price,
            cost: row.cost,
            reorder_point: row.reorder_point,
            reorder_quantity: row.reorder_quantity,
        }
    }
}

/// Applies `movements` to the levels of `store_id`, each at most once, set-wise.
pub async fn apply(tx: &mut Tx, store_id: Uuid, movements: Vec<Movement>, now: Instant) -> Result<Effects, DbErr> {
    let wanted: HashSet<Uuid> = movements.iter().map(|movement| movement.product_id).collect();
    let products = known_products(tx, store_id, &wanted).await?;
    let done = already_done(tx, &movements).await?;
    book(tx, store_id, movements, &products, &done, now).await
}

/// As [`apply`], for a document that this store makes in this very transaction of `products` that it knows: nothing of it
/// can have been applied before.
pub async fn apply_new(
    tx: &mut Tx,
    store_id: Uuid,
    movements: Vec<Movement>,
    products: &BTreeMap<Uuid, Product>,
    now: Instant,
) -> Result<Effects, DbErr> {
    book(tx, store_id, movements, products, &HashSet::new(), now).await
}

/// Applies those of `movements` that are not `done`.
async fn book(
    tx: &mut Tx,
    store_id: Uuid,
    movements: Vec<Movement>,
    products: &BTreeMap<Uuid, Product>,
    done: &HashSet<(Uuid, String)>,
    now: Instant,
) -> Result<Effects, DbErr> {
    let mut effects = Effects::default();
    let wanted: HashSet<Uuid> = movements.iter().map(|movement| movement.product_id).collect();
    let mut levels = present_levels(tx, store_id, &wanted).await?;
    let told = movements.iter().filter(|movement| movement.average_after.is_some());
    let mut sources = averages::sources(tx, store_id, &told.map(|movement| movement.product_id).collect()).await?;
    let mut newer: BTreeMap<Uuid, Position> = BTreeMap::new();
    let mut deltas: HashMap<Uuid, Delta> = HashMap::new();
    let mut rows = Vec::new();
    let mut seen = HashSet::new();
    for movement in movements {
        let key = (movement.line_id, movement.kind.as_str());
        let product = products.get(&movement.product_id);
        let is_done = |kind: Kind| done.contains(&(movement.line_id, kind.as_str().to_owned()));
        // What went out comes back, whatever is kept of the product by now.
        let went = matches!(movement.kind, Kind::SaleVoid) && (is_done(Kind::Sale) || is_done(Kind::Refund));
        let tracked = movement.tracked.unwrap_or_else(|| went || product.is_none_or(|product| product.track_stock));
        if !tracked || is_done(movement.kind) || !seen.insert(key) {
            continue;
        }
        let level = levels.entry(movement.product_id).or_default();
        let delta = deltas.entry(movement.product_id).or_insert_with(|| Delta::at(*level));
        if let Some((average, at)) = movement.average_after {
            // An effect that was held up on its way says what was, not what is.
            if sources.get(&movement.product_id).is_none_or(|newest| at >= *newest) {
                delta.average = Some(average);
                sources.insert(movement.product_id, at);
                newer.insert(movement.product_id, at);
            }
        } else if let Some(cost) = movement.unit_cost.filter(|_| movement.change > Qty::ZERO) {
            delta.average = Some(moving_average(delta.quantity, delta.average, movement.change, cost));
        }
        delta.quantity = sum(delta.quantity, movement.change)?;
        delta.change = sum(delta.change, movement.change)?;
        if matches!(movement.kind, Kind::Sale) {
            delta.sold_at = delta.sold_at.max(Some(movement.at));
        }
        if movement.received {
            delta.received_at = delta.received_at.max(Some(movement.at));
        }
        rows.push(
            stock_movement::Model {
                id: ids::beside(movement.source_id, ids::named(&format!("movement:{}:{}", key.0, key.1))),
                store_id,
                product_id: movement.product_id,
                movement_type: key.1.to_owned(),
                quantity_change: movement.change,
                quantity_after: Some(delta.quantity),
                source_id: movement.source_id,
                source_line_id: movement.line_id,
                business_date: movement.business_date,
                occurred_at: movement.at,
                created_at: now,
            }
            .into_active_model(),
        );
    }
    for (product_id, delta) in &deltas {
        let (before, after) = (delta.quantity - delta.change, delta.quantity);
        effects.levels.insert(*product_id, Level { before, after, average: delta.average });
    }
    let mut rows = rows.into_iter();
    loop {
        let chunk: Vec<_> = rows.by_ref().take(rows_per_statement(11)).collect();
        if chunk.is_empty() {
            break;
        }
        stock_movement::Entity::insert_many(chunk).exec_without_returning(tx).await?;
    }
    averages::note(tx, store_id, &newer.into_iter().collect::<Vec<_>>()).await?;
    write_levels(tx, store_id, deltas, products, now).await?;
    Ok(effects)
}

/// `avg = rdiv(q × avg + r × cost, q + r)` when there is stock, else the receipt's cost.
fn moving_average(quantity: Qty, average: Option<Money>, received: Qty, cost: Money) -> Money {
    match average {
        Some(average) if quantity > Qty::ZERO => {
            let value = i128::from(quantity.0) * i128::from(average.0) + i128::from(received.0) * i128::from(cost.0);
            Money::from_wide(rdiv(value, i128::from(quantity.0) + i128::from(received.0)))
        }
        _ => cost,
    }
}

#[derive(Clone, Copy, Default)]
struct Present {
    quantity: Qty,
    average: Option<Money>,
}

struct Delta {
    quantity: Qty,
    change: Qty,
    average: Option<Money>,
    sold_at: Option<Instant>,
    received_at: Option<Instant>,
}

impl Delta {
    const fn at(level: Present) -> Self {
        Self { quantity: level.quantity, change: Qty::ZERO, average: level.average, sold_at: None, received_at: None }
    }
}

/// The products of `ids` that are known. Of those that this store sells for the first time nobody changes the price until
/// the store has its row: that holds a copy of the price, and who changes the price changes the copies that are there.
async fn known_products(tx: &Tx, store_id: Uuid, ids: &HashSet<Uuid>) -> Result<BTreeMap<Uuid, Product>, DbErr> {
    use store_product::Column;
    let ids: Vec<Uuid> = ids.iter().copied().collect();
    let mut listed: HashSet<Uuid> = HashSet::new();
    for chunk in ids.chunks(5000) {
        let rows = store_product::Entity::find().select_only().column(Column::ProductId);
        let rows = rows.filter(Column::StoreId.eq(store_id)).filter(Column::ProductId.is_in(chunk.iter().copied()));
        listed.extend(rows.into_tuple::<Uuid>().all(tx).await?);
    }
    let (listed, new): (Vec<Uuid>, Vec<Uuid>) = ids.into_iter().partition(|id| listed.contains(id));
    let mut known = products(tx, &listed, None).await?;
    known.extend(products(tx, &new, Some(LockType::Share)).await?);
    let unknown: Vec<Uuid> = new.into_iter().filter(|id| !known.contains_key(id)).collect();
    if !unknown.is_empty() {
        // What is not there cannot be locked: who makes a product takes this turn too.
        take_turn(tx, Turn::Product).await?;
        known.extend(products(tx, &unknown, Some(LockType::Share)).await?);
    }
    Ok(known)
}

async fn products(tx: &Tx, ids: &[Uuid], lock: Option<LockType>) -> Result<BTreeMap<Uuid, Product>, DbErr> {
    let mut found = BTreeMap::new();
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    for chunk in ids.chunks(5000) {
        let mut select = product::Entity::find().filter(product::Column::Id.is_in(chunk.iter().copied()));
        if let Some(lock) = lock {
            select = select.order_by_asc(product::Column::Id).lock(lock);
        }
        found.extend(select.all(tx).await?.iter().map(|row| (row.id, Product::from(row))));
    }
    Ok(found)
}

async fn already_done(tx: &Tx, movements: &[Movement]) -> Result<HashSet<(Uuid, String)>, DbErr> {
    use stock_movement::Column;
    let lines: Vec<Uuid> = movements.iter().map(|movement| movement.line_id).collect();
    let mut done = HashSet::new();
    for chunk in lines.chunks(5000) {
        let rows: Vec<(Uuid, String)> = stock_movement::Entity::find()
            .select_only()
            .columns([Column::SourceLineId, Column::MovementType])
            .filter(Column::SourceLineId.is_in(chunk.iter().copied()))
            .into_tuple()
            .all(tx)
            .await?;
        done.extend(rows);
    }
    Ok(done)
}

async fn present_levels(tx: &Tx, store_id: Uuid, ids: &HashSet<Uuid>) -> Result<HashMap<Uuid, Present>, DbErr> {
    use store_product::Column;
    // By product, here and in the statement that writes: two writers that lock in one order cannot wait in a circle.
    let mut ids: Vec<Uuid> = ids.iter().copied().collect();
    ids.sort_unstable();
    let mut present = HashMap::new();
    for chunk in ids.chunks(5000) {
        let rows: Vec<(Uuid, Qty, Option<Money>)> = store_product::Entity::find()
            .select_only()
            .columns([Column::ProductId, Column::Quantity, Column::AverageCost])
            .filter(Column::StoreId.eq(store_id))
            .filter(Column::ProductId.is_in(chunk.iter().copied()))
            .order_by_asc(Column::ProductId)
            .lock_exclusive()
            .into_tuple()
            .all(tx)
            .await?;
        present.extend(rows.into_iter().map(|(id, quantity, average)| (id, Present { quantity, average })));
    }
    Ok(present)
}

async fn write_levels(
    tx: &mut Tx,
    store_id: Uuid,
    deltas: HashMap<Uuid, Delta>,
    products: &BTreeMap<Uuid, Product>,
    now: Instant,
) -> Result<(), DbErr> {
    const COLUMNS: usize = 19;
    if deltas.is_empty() {
        return Ok(());
    }
    let synced_at = (tx.side() == Side::Hq).then_some(now);
    // The newer of what is there and what comes; a missing time loses against any.
    let later = |column: &str| {
        format!(
            "{column} = CASE WHEN excluded.{column} IS NULL OR store_product_dynamic.{column} > excluded.{column} \
             THEN store_product_dynamic.{column} ELSE excluded.{column} END"
        )
    };
    let mut deltas: Vec<_> = deltas.into_iter().collect();
    deltas.sort_unstable_by_key(|(product_id, _)| *product_id);
    for chunk in deltas.chunks(rows_per_statement(COLUMNS)) {
        let mut values: Vec<Value> = Vec::with_capacity(chunk.len() * COLUMNS);
        let mut tuples = Vec::with_capacity(chunk.len());
        for (product_id, delta) in chunk {
            tuples.push(format!("({})", crate::db::placeholders(values.len() + 1, COLUMNS)));
            let product = products.get(product_id);
            let of = |amount: fn(&Product) -> i64| product.map_or(0, amount);
            values.extend([
                ids::store_product(store_id, *product_id).into(),
                store_id.into(),
                (*product_id).into(),
                of(|product| product.price.0).into(),
                false.into(),
                of(|product| product.cost.0).into(),
                of(|product| product.reorder_point.0).into(),
                of(|product| product.reorder_quantity.0).into(),
                true.into(),
                delta.change.into(),
                delta.average.into(),
                delta.sold_at.into(),
                delta.received_at.into(),
                synced_at.into(),
                now.into(),
                now.into(),
                crate::versions::UNSTAMPED.into(),
                None::<Instant>.into(),
                None::<Qty>.into(),
            ]);
        }
        let sql = format!(
            "INSERT INTO store_product_dynamic (id, store_id, product_id, price, has_price_override, cost, \
             reorder_point, reorder_quantity, is_stocked, quantity, average_cost, last_sold_at, last_received_at, \
             last_synced_at, created_at, updated_at, sync_version, deleted_at, max_quantity) VALUES {} \
             ON CONFLICT (store_id, product_id) DO UPDATE SET \
             quantity = store_product_dynamic.quantity + excluded.quantity, \
             average_cost = COALESCE(excluded.average_cost, store_product_dynamic.average_cost), {}, {}, \
             last_synced_at = COALESCE(excluded.last_synced_at, store_product_dynamic.last_synced_at), \
             updated_at = excluded.updated_at, sync_version = {}",
            tuples.join(", "),
            later("last_sold_at"),
            later("last_received_at"),
            crate::versions::UNSTAMPED,
        );
        query(tx, &sql, values).await?;
    }
    tx.touch("store_product_dynamic");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_beyond_what_a_number_holds_is_an_error_and_no_panic() {
        let error = sum(Qty(i64::MAX), Qty(1)).expect_err("too much");
        assert!(is_out_of_bounds(&error));
        assert!(is_out_of_bounds(&sum(Qty(i64::MIN), Qty(-1)).expect_err("too little")));
        assert!(!is_out_of_bounds(&DbErr::Custom("something else".to_owned())));
        assert_eq!(sum(Qty(i64::MAX), Qty(-1)).expect("a level"), Qty(i64::MAX - 1));
    }

    #[test]
    fn vector_m02_the_moving_average_weighs_what_was_there() {
        assert_eq!(moving_average(Qty::pieces(10), Some(Money(500)), Qty::pieces(5), Money(560)), Money(520));
        assert_eq!(moving_average(Qty::pieces(-3), Some(Money(500)), Qty::pieces(5), Money(560)), Money(560));
    }
}
