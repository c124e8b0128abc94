//! Average costs at HQ are those that the stores have reckoned: of each product the figure of the store's newest effect,
//! whichever came last. `docs/sync.md`, rule U10.

use std::collections::{BTreeSet, HashMap};

use sea_orm::{DbErr, Value};
use uuid::Uuid;

use crate::Tx;
use crate::db::{execute, placeholders, query, rows_per_statement};

/// When a store did something: the place of its database among those that HQ has met, then the number in its outbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub place: i64,
    pub seq: i64,
}

/// The places of these databases of `store`; those that HQ meets now come last, in this order.
pub async fn places(tx: &Tx, store: Uuid, epochs: &[&str]) -> Result<HashMap<String, i64>, DbErr> {
    let mut places: HashMap<String, i64> = HashMap::new();
    for chunk in epochs.chunks(1000) {
        let sql = format!(
            "SELECT node_epoch, place FROM node_places WHERE store_id = $1 AND node_epoch IN ({})",
            placeholders(2, chunk.len())
        );
        let values = std::iter::once(store.into()).chain(chunk.iter().map(|epoch| Value::from(*epoch)));
        for row in query(tx, &sql, values).await? {
            places.insert(row.try_get("", "node_epoch")?, row.try_get("", "place")?);
        }
    }
    let mut new: Vec<&str> = Vec::new();
    for epoch in epochs {
        if !places.contains_key(*epoch) && !new.contains(epoch) {
            new.push(epoch);
        }
    }
    if new.is_empty() {
        return Ok(places);
    }
    let sql = "SELECT COALESCE(MAX(place), 0) AS last FROM node_places WHERE store_id = $1";
    let mut last: i64 = query(tx, sql, [store.into()]).await?.first().map_or(Ok(0), |row| row.try_get("", "last"))?;
    for chunk in new.chunks(rows_per_statement(3)) {
        let mut values: Vec<Value> = Vec::with_capacity(3 * chunk.len());
        let mut tuples = Vec::with_capacity(chunk.len());
        for epoch in chunk {
            last += 1;
            tuples.push(format!("({})", placeholders(values.len() + 1, 3)));
            values.extend([store.into(), (*epoch).into(), last.into()]);
            places.insert((*epoch).to_owned(), last);
        }
        let sql = format!("INSERT INTO node_places (store_id, node_epoch, place) VALUES {}", tuples.join(", "));
        execute(tx, &sql, values).await?;
    }
    Ok(places)
}

/// Which effect of `store` the averages of `products` are from, as far as they are from one.
pub async fn sources(tx: &Tx, store: Uuid, products: &BTreeSet<Uuid>) -> Result<HashMap<Uuid, Position>, DbErr> {
    let mut sources = HashMap::new();
    let products: Vec<Value> = products.iter().map(|id| (*id).into()).collect();
    for chunk in products.chunks(5000) {
        let sql = format!(
            "SELECT product_id, place, seq FROM average_sources WHERE store_id = $1 AND product_id IN ({})",
            placeholders(2, chunk.len())
        );
        for row in query(tx, &sql, std::iter::once(store.into()).chain(chunk.iter().cloned())).await? {
            let position = Position { place: row.try_get("", "place")?, seq: row.try_get("", "seq")? };
            sources.insert(row.try_get("", "product_id")?, position);
        }
    }
    Ok(sources)
}

/// Notes which effects the averages are from now.
pub async fn note(tx: &Tx, store: Uuid, sources: &[(Uuid, Position)]) -> Result<(), DbErr> {
    for chunk in sources.chunks(rows_per_statement(4)) {
        let mut values: Vec<Value> = Vec::with_capacity(4 * chunk.len());
        let mut tuples = Vec::with_capacity(chunk.len());
        for (product, position) in chunk {
            tuples.push(format!("({})", placeholders(values.len() + 1, 4)));
            values.extend([store.into(), (*product).into(), position.place.into(), position.seq.into()]);
        }
        let sql = format!(
            "INSERT INTO average_sources (store_id, product_id, place, seq) VALUES {} \
             ON CONFLICT (store_id, product_id) DO UPDATE SET place = excluded.place, seq = excluded.seq",
            tuples.join(", ")
        );
        execute(tx, &sql, values).await?;
    }
    Ok(())
}
