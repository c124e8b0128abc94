//! Average costs at HQ are those that the stores have reckoned: of each product the figure of the store's newest effect,
//! whichever came last. `docs/sync.md`, rule U10.

use std::collections::{BTreeSet, HashMap};

use sea_orm::DbErr;
use uuid::Uuid;

use crate::Tx;
use crate::db::query;
use crate::document::movement::Position;
use crate::many::{execute_rows, find_in};

/// The places of these databases of `store`; those that HQ meets now come last, in this order.
pub(crate) async fn places(tx: &Tx, store: Uuid, epochs: &[&str]) -> Result<HashMap<String, i64>, DbErr> {
    let mut places: HashMap<String, i64> = HashMap::new();
    let sql = "SELECT node_epoch, place FROM node_places WHERE store_id = $1 AND node_epoch IN ($list)";
    for row in find_in(tx, sql, &[store.into()], epochs.iter().copied()).await? {
        places.insert(row.try_get("", "node_epoch")?, row.try_get("", "place")?);
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
    let last: i64 = query(tx, sql, [store.into()]).await?.first().map_or(Ok(0), |row| row.try_get("", "last"))?;
    let new: Vec<(&str, i64)> = new.into_iter().zip(last + 1..).collect();
    let sql = "INSERT INTO node_places (store_id, node_epoch, place) VALUES $rows";
    let rows = new.iter().map(|(epoch, place)| [(*epoch).into(), (*place).into()]);
    execute_rows(tx, sql, &[store.into()], "($1, ?, ?)", rows).await?;
    places.extend(new.into_iter().map(|(epoch, place)| (epoch.to_owned(), place)));
    Ok(places)
}

/// Which effect of `store` the averages of `products` are from, as far as they are from one.
pub(crate) async fn sources(tx: &Tx, store: Uuid, products: &BTreeSet<Uuid>) -> Result<HashMap<Uuid, Position>, DbErr> {
    let mut sources = HashMap::new();
    let sql = "SELECT product_id, place, seq FROM average_sources WHERE store_id = $1 AND product_id IN ($list)";
    for row in find_in(tx, sql, &[store.into()], products.iter().copied()).await? {
        let position = Position { place: row.try_get("", "place")?, seq: row.try_get("", "seq")? };
        sources.insert(row.try_get("", "product_id")?, position);
    }
    Ok(sources)
}

/// Notes which effects the averages are from now.
pub(crate) async fn note(tx: &Tx, store: Uuid, sources: &[(Uuid, Position)]) -> Result<(), DbErr> {
    let sql = "INSERT INTO average_sources (store_id, product_id, place, seq) VALUES $rows \
               ON CONFLICT (store_id, product_id) DO UPDATE SET place = excluded.place, seq = excluded.seq";
    let rows = sources.iter().map(|(product, at)| [(*product).into(), at.place.into(), at.seq.into()]);
    execute_rows(tx, sql, &[store.into()], "($1, ?, ?, ?)", rows).await?;
    Ok(())
}
