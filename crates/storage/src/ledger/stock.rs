//! The stock ledger. A level is the sum of its movements, and each movement happens once: it is keyed by its source
//! line and kind, so that a document applied twice changes stock once. `docs/sync.md`, rule U3.

use std::collections::{BTreeMap, HashMap, HashSet};

use sea_orm::sea_query::LockType;
use sea_orm::{ColumnTrait, DbErr, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use tillkeep_model::{Instant, Money, Qty, ids, rdiv};
use uuid::Uuid;

pub use super::levels::Product;
use super::levels::{Delta, Present};
use super::{averages, levels};
use crate::Tx;
use crate::db::{Turn, take_turn};
use crate::document::movement::{Kind, Movement, Position};
use crate::entity::{product, stock_movement, store_product};
use crate::many::tuples_in;
use crate::sql::bulk;

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

/// Applies `movements` to the levels of `store_id`, each at most once, set-wise.
pub async fn apply(tx: &mut Tx, store_id: Uuid, movements: Vec<Movement>, now: Instant) -> Result<Effects, DbErr> {
    apply_knowing(tx, store_id, movements, &mut BTreeMap::new(), now).await
}

/// As [`apply`], with the products that were read before in this transaction; those that it reads are added.
pub(crate) async fn apply_knowing(
    tx: &mut Tx,
    store_id: Uuid,
    movements: Vec<Movement>,
    known: &mut BTreeMap<Uuid, Product>,
    now: Instant,
) -> Result<Effects, DbErr> {
    let wanted: HashSet<Uuid> = movements.iter().map(|movement| movement.product_id).collect();
    know_products(tx, store_id, &wanted, known).await?;
    let done = already_done(tx, &movements).await?;
    book(tx, store_id, movements, known, &done, now).await
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
    let wanted: HashSet<Uuid> = movements.iter().map(|movement| movement.product_id).collect();
    let averaged = movements.iter().filter(|movement| movement.average_after.is_some());
    let averaged = averaged.map(|movement| movement.product_id).collect();
    let mut ledger = Ledger {
        present: levels::present(tx, store_id, &wanted).await?,
        sources: averages::sources(tx, store_id, &averaged).await?,
        newer: BTreeMap::new(),
        deltas: HashMap::new(),
        rows: Vec::new(),
    };
    let mut seen = HashSet::new();
    for movement in movements {
        let is_done = |kind: Kind| done.contains(&(movement.line_id, kind.as_str().to_owned()));
        // What went out comes back, whatever is kept of the product by now.
        let went = matches!(movement.kind, Kind::SaleVoid) && (is_done(Kind::Sale) || is_done(Kind::Refund));
        let kept = || products.get(&movement.product_id).is_none_or(|product| product.track_stock);
        if movement.tracked.unwrap_or_else(|| went || kept())
            && !is_done(movement.kind)
            && seen.insert((movement.line_id, movement.kind))
        {
            ledger.add(store_id, movement, now)?;
        }
    }
    ledger.write(tx, store_id, products, now).await
}

/// The levels of a store on the way from what is there to what will be.
struct Ledger {
    present: HashMap<Uuid, Present>,
    /// The effects that the average costs are from.
    sources: HashMap<Uuid, Position>,
    /// Those of them that are new.
    newer: BTreeMap<Uuid, Position>,
    deltas: HashMap<Uuid, Delta>,
    rows: Vec<stock_movement::Model>,
}

impl Ledger {
    fn add(&mut self, store_id: Uuid, movement: Movement, now: Instant) -> Result<(), DbErr> {
        let product_id = movement.product_id;
        let level = self.present.get(&product_id).copied().unwrap_or_default();
        let delta = self.deltas.entry(product_id).or_insert_with(|| Delta::new(level));
        if let Some((average, at)) = movement.average_after {
            // An effect that was held up on its way says what was, not what is.
            if self.sources.get(&product_id).is_none_or(|newest| at >= *newest) {
                delta.average = Some(average);
                self.sources.insert(product_id, at);
                self.newer.insert(product_id, at);
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
        let (line, kind) = (movement.line_id, movement.kind.as_str());
        self.rows.push(stock_movement::Model {
            id: ids::beside(movement.source_id, ids::named(&format!("movement:{line}:{kind}"))),
            store_id,
            product_id,
            movement_type: kind.to_owned(),
            quantity_change: movement.change,
            quantity_after: Some(delta.quantity),
            source_id: movement.source_id,
            source_line_id: line,
            business_date: movement.business_date,
            occurred_at: movement.at,
            created_at: now,
        });
        Ok(())
    }

    async fn write(
        self,
        tx: &mut Tx,
        store_id: Uuid,
        products: &BTreeMap<Uuid, Product>,
        now: Instant,
    ) -> Result<Effects, DbErr> {
        let level = |delta: &Delta| Level {
            before: delta.quantity - delta.change,
            after: delta.quantity,
            average: delta.average,
        };
        let effects = Effects { levels: self.deltas.iter().map(|(product, delta)| (*product, level(delta))).collect() };
        bulk::together::<stock_movement::Entity>(tx, self.rows, None).await?;
        averages::note(tx, store_id, &self.newer.into_iter().collect::<Vec<_>>()).await?;
        levels::write(tx, store_id, self.deltas, products, now).await?;
        Ok(effects)
    }
}

/// `avg = rdiv(q × avg + r × cost, q + r)` when there is stock, else the receipt's cost.
pub(crate) fn moving_average(quantity: Qty, average: Option<Money>, received: Qty, cost: Money) -> Money {
    match average {
        Some(average) if quantity > Qty::ZERO => {
            let value = i128::from(quantity.0) * i128::from(average.0) + i128::from(received.0) * i128::from(cost.0);
            Money::from_wide(rdiv(value, i128::from(quantity.0) + i128::from(received.0)))
        }
        _ => cost,
    }
}

/// Adds the products of `ids` to those that are `known`. Of those that this store sells for the first time none gets a new price
/// until the store has its row: that holds a copy of the price, and who changes the price changes the copies that are there.
async fn know_products(
    tx: &Tx,
    store_id: Uuid,
    ids: &HashSet<Uuid>,
    known: &mut BTreeMap<Uuid, Product>,
) -> Result<(), DbErr> {
    use store_product::Column;
    let wanted: Vec<Uuid> = ids.iter().filter(|id| !known.contains_key(id)).copied().collect();
    let rows = store_product::Entity::find().select_only().column(Column::ProductId);
    let rows = rows.filter(Column::StoreId.eq(store_id));
    let listed = tuples_in(tx, rows, Column::ProductId, wanted.iter().copied()).await?;
    let listed: HashSet<Uuid> = HashSet::from_iter(listed);
    let (listed, new): (Vec<Uuid>, Vec<Uuid>) = wanted.into_iter().partition(|id| listed.contains(id));
    known.extend(products(tx, &listed, None).await?);
    known.extend(products(tx, &new, Some(LockType::Share)).await?);
    let unknown: Vec<Uuid> = new.into_iter().filter(|id| !known.contains_key(id)).collect();
    if !unknown.is_empty() {
        // What is not there cannot be locked: who makes a product takes this turn too.
        take_turn(tx, Turn::Product).await?;
        known.extend(products(tx, &unknown, Some(LockType::Share)).await?);
    }
    Ok(())
}

async fn products(tx: &Tx, ids: &[Uuid], lock: Option<LockType>) -> Result<BTreeMap<Uuid, Product>, DbErr> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    let mut select = product::Entity::find().select_only().columns(Product::COLUMNS);
    if let Some(lock) = lock {
        select = select.order_by_asc(product::Column::Id).lock(lock);
    }
    let rows = tuples_in(tx, select, product::Column::Id, ids).await?;
    Ok(rows.into_iter().map(Product::of).collect())
}

async fn already_done(tx: &Tx, movements: &[Movement]) -> Result<HashSet<(Uuid, String)>, DbErr> {
    use stock_movement::Column;
    let rows = stock_movement::Entity::find().select_only().columns([Column::SourceLineId, Column::MovementType]);
    let lines = movements.iter().map(|movement| movement.line_id);
    Ok(tuples_in(tx, rows, Column::SourceLineId, lines).await?.into_iter().collect())
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
