//! Numbers of documents that went with a database. They are named as lost where they would be missing; a document that comes
//! back, because headquarters had it, is there all the same.

use std::collections::BTreeMap;

use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QueryOrder};
use tillkeep_model::wire::LostNumbers;
use uuid::Uuid;

use crate::Tx;
use crate::entity::lost_number::{Column, Entity, Model};
use crate::many::execute_rows;

/// Ranges of one store that headquarters is sent at the most; so many times its database was restored.
const MOST: usize = 1000;
/// Letters of the name of a series.
const NAME: usize = 40;

/// Notes what a store lost, or said of its own; what cannot be a range is left aside.
pub async fn note(tx: &Tx, store: Uuid, lost: &[LostNumbers]) -> Result<(), DbErr> {
    let ranges = lost.iter().filter(|lost| (1..=lost.to).contains(&lost.from) && lost.series.len() <= NAME);
    // A statement cannot touch a row twice: of one beginning the longest.
    let mut longest: BTreeMap<(&str, i64), &LostNumbers> = BTreeMap::new();
    for lost in ranges.take(MOST) {
        let range = longest.entry((&lost.series, lost.from)).or_insert(lost);
        if range.to < lost.to {
            *range = lost;
        }
    }
    let sql = "INSERT INTO lost_numbers (store_id, series, first, last, noticed_at) VALUES $rows \
               ON CONFLICT (store_id, series, first) DO UPDATE SET last = excluded.last \
               WHERE lost_numbers.last < excluded.last";
    let row =
        |lost: &LostNumbers| [lost.series.as_str().into(), lost.from.into(), lost.to.into(), lost.noticed_at.into()];
    execute_rows(tx, sql, &[store.into()], "($1, ?, ?, ?, ?)", longest.into_values().map(row)).await?;
    Ok(())
}

/// The newest, as they travel.
pub async fn newest(conn: &impl ConnectionTrait, store: Uuid) -> Result<Vec<LostNumbers>, DbErr> {
    let rows = all(conn, Some(store)).await?;
    let oldest = rows.len().saturating_sub(MOST);
    let range =
        |row: Model| LostNumbers { series: row.series, from: row.first, to: row.last, noticed_at: row.noticed_at };
    Ok(rows.into_iter().skip(oldest).map(range).collect())
}

/// Those of one store or of all, as they were noticed.
pub async fn all(conn: &impl ConnectionTrait, store: Option<Uuid>) -> Result<Vec<Model>, DbErr> {
    let mut select = Entity::find().order_by_asc(Column::NoticedAt).order_by_asc(Column::Series);
    if let Some(store) = store {
        select = select.filter(Column::StoreId.eq(store));
    }
    select.all(conn).await
}

/// Lost ranges by series.
#[derive(Default)]
pub struct Lost(BTreeMap<String, Vec<(i64, i64)>>);

impl Lost {
    pub fn new(rows: impl IntoIterator<Item = Model>) -> Self {
        let mut by_series: BTreeMap<String, Vec<(i64, i64)>> = BTreeMap::new();
        for row in rows {
            by_series.entry(row.series).or_default().push((row.first, row.last));
        }
        Self(by_series)
    }

    /// The range of `series` that has `number`.
    pub fn range(&self, series: &str, number: i64) -> Option<(i64, i64)> {
        self.ranges(series).iter().copied().find(|(first, last)| (*first..=*last).contains(&number))
    }

    pub fn ranges(&self, series: &str) -> &[(i64, i64)] {
        self.0.get(series).map_or(&[], Vec::as_slice)
    }
}
