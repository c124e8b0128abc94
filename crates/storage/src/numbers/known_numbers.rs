//! How far a store's numbers may run ahead: a number that is out of reach is kept on its document and counts for nothing,
//! so that no caller with a store's token makes its series unusable. `docs/sync.md`, rule D8.
//!
//! A series is counted by its documents. Where one of them is too far ahead, or a user has set the series right, the
//! table `known_numbers` has its last number from then on, and each new document within reach raises it.

use std::collections::{BTreeMap, HashMap};

use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter};
use uuid::Uuid;

use super::document_numbers;
use crate::db::execute;
use crate::entity::known_number::{Column, Entity};
use crate::many::execute_rows;
use crate::series::OUTBOX;
use crate::sync_log::kept;
use crate::{Tx, nodes};

/// How far beyond the last known one a number may be.
pub const AHEAD: i64 = 1_000_000;
/// The same of sessions, of which a letter has a hundred thousand.
const SESSIONS_AHEAD: i64 = 10_000;

/// The flag of a document with a number too far ahead.
pub const NUMBER_AHEAD: &str = "number_ahead";

/// How far a number of `series` may be ahead.
pub(crate) fn reach(series: &str) -> i64 {
    if series.starts_with("session:") { SESSIONS_AHEAD } else { AHEAD }
}

/// What headquarters counts itself of a store: all of it, or of `only` these series.
pub async fn of_store(
    conn: &impl ConnectionTrait,
    store: Uuid,
    only: Option<&[&str]>,
) -> Result<BTreeMap<String, i64>, DbErr> {
    let mut known = BTreeMap::new();
    let all = || Entity::find().filter(Column::StoreId.eq(store));
    let rows = match only {
        None => all().all(conn).await?,
        Some(series) => all().filter(Column::Series.is_in(series.iter().copied())).all(conn).await?,
    };
    known.extend(rows.into_iter().map(|row| (row.series, row.last)));
    Ok(known)
}

/// From now on `series` of the store goes on after `last`.
pub async fn set(tx: &Tx, store: Uuid, series: &str, last: i64) -> Result<(), DbErr> {
    write(tx, store, &[(series.to_owned(), last)]).await?;
    if series == OUTBOX {
        // Entries above it were taken, and their numbers are none.
        let sql = "UPDATE sync_log SET seq = NULL WHERE store_id = $1 AND seq > $2";
        execute(tx, sql, [store.into(), last.into()]).await?;
        kept::forget_numbers(tx, store, last).await?;
    }
    Ok(())
}

async fn write(tx: &Tx, store: Uuid, numbers: &[(String, i64)]) -> Result<(), DbErr> {
    let sql = "INSERT INTO known_numbers (store_id, series, last) VALUES $rows \
               ON CONFLICT (store_id, series) DO UPDATE SET last = excluded.last";
    let rows = numbers.iter().map(|(series, last)| [series.as_str().into(), (*last).into()]);
    execute_rows(tx, sql, &[store.into()], "($1, ?, ?)", rows).await?;
    Ok(())
}

/// A number that a document brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brought {
    pub series: String,
    pub number: i64,
    /// The document is new; one that comes again raises nothing.
    pub new: bool,
}

/// Which of the numbers, in their order, are too far ahead of those that headquarters knows.
pub async fn judge(tx: &Tx, store: Uuid, code: &str, brought: &[Option<Brought>]) -> Result<Vec<bool>, DbErr> {
    let mut names: Vec<&str> = brought.iter().flatten().map(|one| one.series.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let mut known: HashMap<String, i64> = HashMap::new();
    for chunk in names.chunks(1000) {
        known.extend(of_store(tx, store, Some(chunk)).await?);
    }
    let far = |one: &Brought, known: &HashMap<String, i64>| {
        one.number > known.get(&one.series).copied().unwrap_or_default().saturating_add(reach(&one.series))
    };
    // As long as its numbers are small it need not be known how far a series is.
    if brought.iter().flatten().any(|one| far(one, &known) && !known.contains_key(&one.series)) {
        let of_documents = document_numbers::load(tx, store, code).await?;
        for one in brought.iter().flatten().filter(|one| far(one, &known)).collect::<Vec<_>>() {
            known
                .entry(one.series.clone())
                .or_insert_with(|| of_documents.get(&one.series).copied().unwrap_or_default());
        }
    }
    let before = known.clone();
    let ahead: Vec<bool> = brought.iter().map(|one| one.as_ref().is_some_and(|one| far(one, &before))).collect();
    for (one, ahead) in brought.iter().zip(&ahead) {
        let Some(one) = one.as_ref().filter(|one| one.new && !ahead) else { continue };
        if let Some(last) = known.get_mut(&one.series) {
            *last = one.number.max(*last);
        }
    }
    let known: Vec<(String, i64)> = known.into_iter().collect();
    write(tx, store, &known).await?;
    Ok(ahead)
}

/// The highest number of an outbox entry that a store may send now.
pub async fn highest_seq(conn: &impl ConnectionTrait, store: Uuid) -> Result<i64, DbErr> {
    let by_hand = of_store(conn, store, Some(&[OUTBOX])).await?.into_values().max().unwrap_or_default();
    // Of all its databases: one that goes on from a copy goes on with its numbers.
    let sent = nodes::epochs(conn, store).await?.into_values().max().unwrap_or_default();
    Ok(by_hand.max(sent).saturating_add(AHEAD))
}
