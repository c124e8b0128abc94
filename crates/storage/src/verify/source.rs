//! A database that is checked, and reading its rows to compare them.

use std::collections::{BTreeMap, HashSet};

use sea_orm::DbErr;
use serde_json::{Map, Value as Json};
use tillkeep_model::wire::camel;
use uuid::Uuid;

use crate::entity::lost_number;
use crate::kept_ids::KeptIds;
use crate::many::find_in;
use crate::numbers::lost;
use crate::rows::{Row, SyncTable};
use crate::{Connection, Db, Side, Transaction, migration, settings, upgrade};

/// Rows of a few columns that a statement reads at once.
const ROWS: usize = 2000;

/// One database at one moment.
pub struct Source {
    pub(super) conn: Transaction,
    pub(super) side: Side,
    pub(super) epoch: String,
    /// The store that has this database; nil for headquarters.
    pub(super) store: Uuid,
    /// Rows that a statement reads at once, of tables that grow without end.
    pub(super) rows: usize,
}

impl Source {
    /// The database at `url`, which is only read; refused when its schema is another one than this program's.
    pub async fn open(url: &str, side: Side) -> Result<Self, DbErr> {
        let pool = Db::open_to_read(url).await?;
        upgrade::refuse_other(&pool, side).await?;
        upgrade::check(&pool, migration::STEPS).await?;
        Self::new(&pool, side).await
    }

    /// Numbers that a store gave, of documents that went with its database: no finding, and named all the same.
    pub async fn lost_numbers(&self) -> Result<Vec<lost_number::Model>, DbErr> {
        lost::all(&self.conn, None).await
    }

    /// A database that is open.
    pub async fn new(pool: &Connection, side: Side) -> Result<Self, DbErr> {
        let conn = pool.begin().await?;
        Self::within(conn, side).await
    }

    /// What a transaction sees.
    pub async fn within(conn: Transaction, side: Side) -> Result<Self, DbErr> {
        // The first read is the moment of the snapshot.
        let epoch = settings::get(&conn, settings::EPOCH).await?.unwrap_or_default();
        let owner = settings::get(&conn, "store_id").await?.and_then(|id| id.parse().ok());
        Ok(Self { conn, side, epoch, store: owner.unwrap_or_default(), rows: ROWS })
    }

    /// As it is, read by so many rows at once: what is found does not depend on it.
    #[must_use]
    pub fn by_pages_of(self, rows: usize) -> Self {
        Self { rows: rows.max(1), ..self }
    }

    pub const fn store(&self) -> Uuid {
        self.store
    }
}

/// Rows of a store, and those of headquarters.
pub(super) type Sides<'a> = (&'a [Box<dyn Row>], &'a [Box<dyn Row>]);
pub(super) type SidesMut<'a> = (&'a mut [Box<dyn Row>], &'a mut [Box<dyn Row>]);

pub(super) type Rows = BTreeMap<String, Map<String, Json>>;

/// Rows as they travel by the columns of their key, without the columns in `without`.
pub(super) fn by_key(rows: &[Box<dyn Row>], key: &[&str], without: &[&str]) -> Result<Rows, DbErr> {
    by_sent_key(rows, key, without, &KeptIds::default())
}

/// As [`by_key`], of rows of headquarters by the ids that their store knows them by.
pub(super) fn by_sent_key(
    rows: &[Box<dyn Row>],
    key: &[&str],
    without: &[&str],
    kept: &KeptIds,
) -> Result<Rows, DbErr> {
    let camels: Vec<String> = without.iter().map(|column| camel(column)).collect();
    rows.iter()
        .map(|row| {
            let ids: Vec<String> =
                key.iter().filter_map(|column| Some(kept.sent(row.uuid(column)?).to_string())).collect();
            let json = kept.as_sent(row.to_json().map_err(|error| DbErr::Json(error.to_string()))?);
            let mut columns: Map<String, Json> =
                serde_json::from_str(&json).map_err(|error| DbErr::Json(error.to_string()))?;
            columns.retain(|name, _| !camels.contains(name));
            Ok((ids.join(" "), columns))
        })
        .collect()
}

/// The names of the columns in which two rows differ.
pub(super) fn differing(a: &Map<String, Json>, b: &Map<String, Json>) -> Vec<String> {
    let names: HashSet<&String> = a.keys().chain(b.keys()).collect();
    let mut names: Vec<String> = names.into_iter().filter(|name| a.get(*name) != b.get(*name)).cloned().collect();
    names.sort_unstable();
    names
}

pub(super) async fn having(
    source: &Source,
    table: &dyn SyncTable,
    column: &str,
    ids: &[Uuid],
) -> Result<Vec<Box<dyn Row>>, DbErr> {
    table.having(&source.conn, column, ids, false).await
}

/// Those of `ids` that `table` has.
pub(super) async fn existing(source: &Source, table: &str, ids: &[Uuid]) -> Result<HashSet<Uuid>, DbErr> {
    let sql = format!("SELECT id FROM {table} WHERE id IN ($list)");
    let rows = find_in(&source.conn, &sql, &[], ids.iter().copied()).await?;
    rows.iter().map(|row| row.try_get("", "id")).collect()
}
