//! I4 between a store and headquarters: the levels are the same.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use sea_orm::{DbErr, EntityName, Value};
use uuid::Uuid;

use super::finding::{Found, Options};
use super::logged::{log, own_epochs};
use super::pages::Pages;
use super::source::Source;
use crate::db::{Row, query};
use crate::entity::store_product;
use crate::kept_ids::KeptIds;

/// When all is sent, a product's level is the same on both sides, but for what documents moved at their store alone that
/// a user decided not to apply. What another system pushed by hand under this store's name never came from here, and
/// neither did its effect.
pub(super) async fn equal(
    store: &Source,
    hq: Option<&Source>,
    options: &Options,
    found: &mut Found,
) -> Result<(), DbErr> {
    let Some(hq) = hq.filter(|_| options.settled) else { return Ok(()) };
    let mut foreign: HashSet<Uuid> = HashSet::new();
    let mut apart: BTreeMap<Uuid, i64> = BTreeMap::new();
    let kept = KeptIds::of_store(&hq.conn, store.store).await?;
    let epochs = own_epochs(store).await?;
    let mut pages = movements(hq, store.store);
    while let Some(rows) = pages.page().await? {
        let moved = moved(&rows, &kept)?;
        let log = log(hq, store, &epochs, &documents_of(&moved)).await?;
        for (document, product, change) in moved {
            let Some(noted) = log.get(&document) else { continue };
            if !noted.from_here && noted.from_elsewhere {
                foreign.insert(product);
            }
            // A part of it may have been applied: the sale, and not its void.
            if noted.resolved {
                *apart.entry(product).or_default() -= change;
            }
        }
    }
    let mut pages = movements(store, store.store);
    while let Some(rows) = pages.page().await? {
        let moved = moved(&rows, &KeptIds::default())?;
        let log = log(hq, store, &epochs, &documents_of(&moved)).await?;
        for (document, product, change) in moved {
            if log.get(&document).is_some_and(|noted| noted.resolved) {
                *apart.entry(product).or_default() += change;
            }
        }
    }
    let (here, there) = (stock(store, store.store).await?, stock(hq, store.store).await?);
    let products: HashSet<&Uuid> = here.keys().chain(there.keys()).collect();
    let costed = costed(store).await?;
    for product in products {
        let of = |levels: &BTreeMap<Uuid, Stock>| levels.get(product).copied().unwrap_or_default();
        let (here, there) = (of(&here), of(&there));
        let (more, resolved) = (here.quantity - there.quantity, apart.get(product).copied());
        // A store that was restored since took over headquarters' level (rule D8), and nothing is apart any more.
        if more != 0 && Some(more) != resolved && !foreign.contains(product) {
            let text = format!("{} are at the store, {} by headquarters' books", here.quantity, there.quantity);
            found.add(store.store, store_product::Entity.table_name(), product, text);
        }
        let said = costed.contains(product) && resolved.is_none() && !foreign.contains(product);
        if said && here.average_cost != there.average_cost {
            let text = "the average cost at headquarters is not the one that the store has reckoned";
            found.add(store.store, store_product::Entity.table_name(), product, text);
        }
    }
    Ok(())
}

/// The products of which the store has said what they cost it: programs before 0.2.0 did not.
async fn costed(store: &Source) -> Result<HashSet<Uuid>, DbErr> {
    let sql = "SELECT product_id FROM inventory_adjustments WHERE average_cost_after IS NOT NULL \
               UNION SELECT product_id FROM sale_items WHERE average_cost_after IS NOT NULL";
    query(&store.conn, sql, []).await?.iter().map(|row| row.try_get("", "product_id")).collect()
}

/// The movements of `store`, as there is an index of them.
fn movements(source: &Source, store: Uuid) -> Pages<'_> {
    let sql = "SELECT id, source_id, product_id, quantity_change FROM stock_movements WHERE store_id = $1 AND $behind";
    let key = [("product_id", Value::from(Uuid::nil())), ("id", Uuid::nil().into())];
    Pages::new(source, sql, [store.into()], &key)
}

/// Document (as its store calls it), product and quantity of movements.
fn moved(rows: &[Row], kept: &KeptIds) -> Result<Vec<(Uuid, Uuid, i64)>, DbErr> {
    let of = |row: &Row| {
        let document = kept.sent(row.try_get("", "source_id")?);
        Ok((document, row.try_get("", "product_id")?, row.try_get("", "quantity_change")?))
    };
    rows.iter().map(of).collect()
}

fn documents_of(moved: &[(Uuid, Uuid, i64)]) -> Vec<Uuid> {
    let documents: BTreeSet<Uuid> = moved.iter().map(|(document, ..)| *document).collect();
    documents.into_iter().collect()
}

#[derive(Clone, Copy, Default)]
struct Stock {
    quantity: i64,
    average_cost: Option<i64>,
}

async fn stock(source: &Source, store: Uuid) -> Result<BTreeMap<Uuid, Stock>, DbErr> {
    let sql = "SELECT product_id, quantity, average_cost FROM store_product_dynamic WHERE store_id = $1";
    let rows = query(&source.conn, sql, [store.into()]).await?;
    rows.iter()
        .map(|row| {
            let (quantity, average_cost) = (row.try_get("", "quantity")?, row.try_get("", "average_cost")?);
            Ok((row.try_get("", "product_id")?, Stock { quantity, average_cost }))
        })
        .collect()
}
