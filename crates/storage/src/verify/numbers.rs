//! I6: receipts and sessions are numbered 1 to n for each register.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use sea_orm::{DbErr, Value};
use tillkeep_model::receipt::ReceiptNumber;
use uuid::Uuid;

use super::finding::Found;
use super::pages::Pages;
use super::runs::Runs;
use super::source::Source;
use crate::Side;
use crate::db::query;
use crate::document::flags::has_foreign_number;
use crate::document::{sale, session};
use crate::numbers::Given;
use crate::numbers::lost::{self, Lost};

/// Store, table and register.
type Series = (Uuid, &'static str, String);

/// Has `note` hear of each number that a document of one store has, or of all stores.
async fn read(
    source: &Source,
    store: Option<Uuid>,
    mut note: impl FnMut(Series, i64, Uuid) + Send,
) -> Result<(), DbErr> {
    let codes = codes(source).await?;
    // A number that begins with another store's code is none of this store's series.
    let foreign = |store: Uuid, code: &str| codes.get(code).is_some_and(|owner| *owner != store);
    // Numbers that follow one another are read one after the other.
    let mut pages = in_order(source, store, "sales", "receipt_number", [("receipt_number", "".into())]);
    while let Some(rows) = pages.page().await? {
        for row in rows {
            let receipt: String = row.try_get("", "receipt_number")?;
            let store: Uuid = row.try_get("", "store_id")?;
            // Another system that pushes to headquarters may number in its own way.
            let receipt = ReceiptNumber::parse(&receipt).filter(|receipt| !foreign(store, &receipt.store_code));
            if let Some(receipt) = receipt {
                note((store, sale::TYPE, receipt.register_code), receipt.number, row.try_get("", "id")?);
            }
        }
    }
    let key = [("register_code", "".into()), ("session_number", i32::MIN.into())];
    let mut pages = in_order(source, store, "register_sessions", "register_code, session_number, flags", key);
    while let Some(rows) = pages.page().await? {
        for row in rows {
            if has_foreign_number(&row.try_get("", "flags")?) {
                continue;
            }
            let number: i32 = row.try_get("", "session_number")?;
            let register: String = row.try_get("", "register_code")?;
            let Given { letter, number } = Given::session(number.into());
            let series = (row.try_get("", "store_id")?, session::TYPE, register + &letter);
            note(series, number, row.try_get("", "id")?);
        }
    }
    Ok(())
}

/// Documents of one store or of all by store and `key`, as there is an index of them.
fn in_order<'a, const KEY: usize>(
    source: &'a Source,
    store: Option<Uuid>,
    table: &str,
    columns: &str,
    key: [(&'static str, Value); KEY],
) -> Pages<'a> {
    let (of_store, by_store) = match store {
        Some(store) => ("store_id = $1 AND", (Some(store.into()), None)),
        None => ("", (None, Some(("store_id", Uuid::nil().into())))),
    };
    let key: Vec<_> = by_store.1.into_iter().chain(key).chain([("id", Uuid::nil().into())]).collect();
    let sql = format!("SELECT id, store_id, {columns} FROM {table} WHERE {of_store} $behind");
    Pages::new(source, &sql, by_store.0, &key)
}

/// The stores by their codes.
async fn codes(source: &Source) -> Result<HashMap<String, Uuid>, DbErr> {
    let rows = query(&source.conn, "SELECT code, id FROM stores WHERE deleted_at IS NULL", []).await?;
    rows.iter().map(|row| Ok((row.try_get("", "code")?, row.try_get("", "id")?))).collect()
}

/// A number that two documents have.
pub(super) async fn twice(source: &Source, found: &mut Found) -> Result<(), DbErr> {
    let mut numbers: BTreeMap<Series, Runs> = BTreeMap::new();
    let mut double: BTreeMap<(Series, i64), Vec<Uuid>> = BTreeMap::new();
    read(source, None, |series, number, _| {
        if !numbers.entry(series.clone()).or_default().insert(number) && number > 0 {
            double.entry((series, number)).or_default();
        }
    })
    .await?;
    if double.is_empty() {
        return Ok(());
    }
    // Only now it is known of which numbers the documents are to be named.
    read(source, None, |series, number, id| {
        if let Some(ids) = double.get_mut(&(series, number)) {
            ids.push(id);
        }
    })
    .await?;
    for (((store, table, register), number), ids) in double {
        for id in ids {
            found.add(store, table, id, format!("number {number} of register {register:?} was given twice"));
        }
    }
    Ok(())
}

/// Numbers that no document has, but those that are known to be lost. A store that was restored lacks what headquarters has, so both are asked.
pub(super) async fn holes(store: &Source, hq: Option<&Source>, found: &mut Found) -> Result<(), DbErr> {
    if store.side != Side::Store {
        return Ok(());
    }
    let mut numbers: BTreeMap<Series, Runs> = BTreeMap::new();
    read(store, None, |series, number, _| {
        numbers.entry(series).or_default().insert(number);
    })
    .await?;
    let mut known_lost = lost::all(&store.conn, None).await?;
    if let Some(hq) = hq {
        // In the database of a store nearly all are of that store.
        let stores: BTreeSet<Uuid> = numbers.keys().map(|(store, ..)| *store).collect();
        for of in stores {
            read(hq, Some(of), |series, number, _| {
                if let Some(here) = numbers.get_mut(&series) {
                    here.insert(number);
                }
            })
            .await?;
        }
        known_lost.extend(lost::all(&hq.conn, Some(store.store)).await?);
    }
    let known_lost = Lost::new(known_lost);
    for ((store, table, register), numbers) in numbers {
        let last = numbers.last().unwrap_or_default();
        let kind = if table == sale::TYPE { "receipt" } else { "session" };
        let series = format!("{kind}:{register}");
        let missing = numbers.missing(1).filter(|number| known_lost.range(&series, *number).is_none());
        for number in missing.take(20) {
            let text = format!("register {register:?} has numbers up to {last}, and this one is missing");
            found.add(store, table, number, text);
        }
    }
    Ok(())
}
