//! The documents of a month, a page at a time: each type in one order that is always the same, and as its documents travel.

use std::collections::{BTreeMap, HashMap};

use sea_orm::DbErr;
use uuid::Uuid;

use crate::db::query;
use crate::pull::{self, parted};
use crate::registry::{self, SyncType};
use crate::rows::Row;
use crate::{Transaction, document};

/// Documents of a page: of so few, all lines fit into memory.
const PAGE: usize = 100;

/// Documents of one type, and what of them is summed up.
#[derive(Clone, Copy)]
pub struct Exported {
    pub name: &'static str,
    entity: &'static SyncType,
    sums: document::Exported,
}

/// What a month consists of, in the order of the registry. The business date of each document says which month it is of.
pub fn exported() -> Vec<Exported> {
    let exported = |(entity, pushed): (&'static SyncType, &document::Pushed)| {
        Some(Exported { name: entity.name, entity, sums: pushed.exported? })
    };
    registry::pushed().filter_map(exported).collect()
}

/// How far an export has come: business date, store and id of the last document.
#[derive(Clone, Debug)]
struct ExportPosition(String, Uuid, Uuid);

/// The documents of one type of one month, from one snapshot.
pub struct Export<'a> {
    conn: &'a Transaction,
    exported: Exported,
    /// What sorts behind every day of the month.
    end: String,
    place: Option<ExportPosition>,
    /// The currency of each store, for documents that name none.
    currencies: HashMap<Uuid, String>,
    pub totals: Totals,
}

/// What has been handed out so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub documents: u64,
    /// Lines by the key under which they stand in their documents.
    pub lines: BTreeMap<&'static str, u64>,
    /// Sums of amounts by currency and column.
    pub amounts: BTreeMap<String, BTreeMap<&'static str, i128>>,
    /// Sums of quantities by column.
    pub quantities: BTreeMap<&'static str, i128>,
}

impl<'a> Export<'a> {
    /// Begins with the documents of `month`, such as `2026-08`.
    pub async fn begin(conn: &'a Transaction, exported: Exported, month: &str) -> Result<Self, DbErr> {
        let rows = query(conn, "SELECT id, currency_code FROM stores", []).await?;
        let currency = |row: &crate::db::Row| Ok((row.try_get("", "id")?, row.try_get("", "currency_code")?));
        Ok(Self {
            conn,
            exported,
            // Days are texts: a point sorts behind the hyphen.
            end: format!("{month}."),
            place: Some(ExportPosition(format!("{month}-"), Uuid::nil(), Uuid::nil())),
            currencies: rows.iter().map(currency).collect::<Result<_, DbErr>>()?,
            totals: Totals::default(),
        })
    }

    /// The next documents as JSON; none when there are no more.
    pub async fn page(&mut self) -> Result<Vec<String>, DbErr> {
        let Some(ExportPosition(date, store, id)) = self.place.take() else { return Ok(Vec::new()) };
        let sql = format!(
            "SELECT id, store_id, business_date FROM {table} WHERE business_date >= $1 AND business_date < $4 \
             AND (business_date, store_id, id) > ($1, $2, $3) ORDER BY business_date, store_id, id LIMIT {PAGE}",
            table = self.exported.entity.table.name(),
        );
        let found = query(self.conn, &sql, [date.into(), store.into(), id.into(), self.end.clone().into()]).await?;
        let mut ids = Vec::with_capacity(found.len());
        for row in &found {
            let id = row.try_get("", "id")?;
            ids.push(id);
            self.place = Some(ExportPosition(row.try_get("", "business_date")?, row.try_get("", "store_id")?, id));
        }
        if found.len() < PAGE {
            self.place = None;
        }
        self.documents(&ids).await
    }

    async fn documents(&mut self, ids: &[Uuid]) -> Result<Vec<String>, DbErr> {
        let read = self.exported.entity.table.read_having(self.conn, "id", ids, false).await?;
        let (mut rows, mut unread) = parted(read);
        let mut children = pull::children(self.conn, self.exported.entity, &mut rows, &mut unread).await?;
        if let Some(unread) = unread.into_iter().next() {
            // Without it the month would not be whole.
            return Err(unread.into());
        }
        let order: HashMap<Uuid, usize> = ids.iter().enumerate().map(|(place, id)| (*id, place)).collect();
        rows.sort_by_key(|row| row.uuid("id").and_then(|id| order.get(&id).copied()));
        for row in &rows {
            self.count(&**row);
        }
        for (key, lines) in children.values().flatten() {
            *self.totals.lines.entry(key).or_default() += u64::try_from(lines.len()).unwrap_or(u64::MAX);
        }
        pull::texts(&rows, &mut children, self.exported.entity)
    }

    fn count(&mut self, row: &dyn Row) {
        let totals = &mut self.totals;
        totals.documents += 1;
        let of_store = || self.currencies.get(&row.uuid("store_id")?).cloned();
        let currency = row.text("currency_code").or_else(of_store).unwrap_or_default();
        for column in self.exported.sums.amounts {
            let sums = totals.amounts.entry(currency.clone()).or_default();
            *sums.entry(column).or_default() += i128::from(row.integer(column).unwrap_or_default());
        }
        for column in self.exported.sums.quantities {
            *totals.quantities.entry(column).or_default() += i128::from(row.integer(column).unwrap_or_default());
        }
    }
}
