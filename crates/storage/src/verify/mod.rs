//! The checker: what must hold in one database, and between headquarters and its stores, whatever happened to them. The
//! invariants I1 to I11 and I14 are listed in `docs/sync.md`; I12 and I13 are about processes and belong to the tests.
//!
//! Reads only, each database from one snapshot, beside running servers or without them.

mod acts;
mod books;
mod codes;
mod documents;
mod numbers;
mod outbox;
mod replica;
mod rules;

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::future::Future;
use std::pin::Pin;

use sea_orm::DbErr;
use serde_json::{Map, Value as Json};
use tillkeep_model::wire::camel;
use tillkeep_model::{Instant, Money};
use uuid::Uuid;

use crate::db::query;
use crate::entity::lost_number;
use crate::numbers::lost;
use crate::registry::{Row, SyncTable};
use crate::{Connection, Db, Side, Transaction, migration, settings};

/// Something that does not hold. It names columns and never their values, which may be a person's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// `I1` to `I11`, or `I14`.
    pub invariant: &'static str,
    /// The store concerned, where one is.
    pub store: Option<Uuid>,
    /// The table.
    pub entity: String,
    /// The row, or the number, that it was found at.
    pub id: String,
    pub text: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.invariant, self.entity, self.id)?;
        if let Some(store) = self.store {
            write!(f, " of store {store}")?;
        }
        write!(f, ": {}", self.text)
    }
}

/// A sale that a till has an answer for.
#[derive(Clone, Debug)]
pub struct Acknowledged {
    pub store: Uuid,
    pub sale: Uuid,
    pub receipt: String,
    pub total: Money,
}

/// What is known of the moment at which is looked.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Everything was sent and pulled: what is still under way is a finding.
    pub settled: bool,
    /// Documents that moved after this moment are not judged: databases of running servers are read one after the other.
    pub moving_since: Option<Instant>,
    /// Sales that must exist.
    pub acknowledged: Vec<Acknowledged>,
}

/// One database at one moment.
pub struct Source {
    conn: Transaction,
    side: Side,
    epoch: String,
    /// The store whose database this is; nil for headquarters.
    store: Uuid,
}

impl Source {
    /// The database at `url`, which is only read; refused when its schema is another one than this program's.
    pub async fn open(url: &str, side: Side) -> Result<Self, DbErr> {
        let pool = Db::open_to_read(url).await?;
        migration::refuse_other(&pool, side).await?;
        migration::check(&pool, migration::STEPS).await?;
        Self::of(&pool, side).await
    }

    /// Numbers that a store gave and whose documents went with its database: no finding, and named all the same.
    pub async fn lost_numbers(&self) -> Result<Vec<lost_number::Model>, DbErr> {
        lost::all(&self.conn, None).await
    }

    /// A database that is open.
    pub async fn of(pool: &Connection, side: Side) -> Result<Self, DbErr> {
        let conn = pool.begin().await?;
        Self::within(conn, side).await
    }

    /// What a transaction sees.
    pub async fn within(conn: Transaction, side: Side) -> Result<Self, DbErr> {
        // The first read is the moment of the snapshot.
        let epoch = settings::get(&conn, settings::EPOCH).await?.unwrap_or_default();
        let owner = settings::get(&conn, "store_id").await?.and_then(|id| id.parse().ok());
        Ok(Self { conn, side, epoch, store: owner.unwrap_or_default() })
    }

    pub const fn store(&self) -> Uuid {
        self.store
    }
}

/// Where checks write what they find.
struct Found {
    invariant: &'static str,
    findings: Vec<Finding>,
}

impl Found {
    fn add(&mut self, store: Uuid, entity: &str, id: impl fmt::Display, text: impl Into<String>) {
        self.findings.push(Finding {
            invariant: self.invariant,
            store: (!store.is_nil()).then_some(store),
            entity: entity.to_owned(),
            id: id.to_string(),
            text: text.into(),
        });
    }
}

type Done<'a> = Pin<Box<dyn Future<Output = Result<(), DbErr>> + Send + 'a>>;

/// A check of one database.
struct One {
    invariant: &'static str,
    run: for<'a> fn(&'a Source, &'a Options, &'a mut Found) -> Done<'a>,
}

/// A check of a store, beside headquarters when that is there.
struct Pair {
    invariant: &'static str,
    run: for<'a> fn(&'a Source, Option<&'a Source>, &'a Options, &'a mut Found) -> Done<'a>,
}

const ONE: &[One] = &[
    One { invariant: "I4 I5", run: |source, options, found| Box::pin(rules::fixed(source, options, found)) },
    One { invariant: "I8", run: |source, _, found| Box::pin(rules::versions(source, found)) },
    One { invariant: "I9", run: |source, _, found| Box::pin(rules::flags(source, found)) },
    One { invariant: "I5", run: |source, options, found| Box::pin(books::reports(source, options, found)) },
    One { invariant: "I6", run: |source, _, found| Box::pin(numbers::twice(source, found)) },
    One { invariant: "I14", run: |source, _, found| Box::pin(codes::once(source, found)) },
    One { invariant: "I11", run: |source, _, found| Box::pin(acts::chain(source, found)) },
    One { invariant: "I11", run: |source, _, found| Box::pin(acts::rows(source, found)) },
];

const PAIR: &[Pair] = &[
    Pair { invariant: "I1", run: |store, _, options, found| Box::pin(documents::acknowledged(store, options, found)) },
    Pair { invariant: "I2", run: |store, hq, options, found| Box::pin(documents::arrived(store, hq, options, found)) },
    Pair { invariant: "I4", run: |store, hq, options, found| Box::pin(documents::levels(store, hq, options, found)) },
    Pair { invariant: "I6", run: |store, hq, _, found| Box::pin(numbers::holes(store, hq, found)) },
    Pair { invariant: "I7", run: |store, hq, options, found| Box::pin(replica::equal(store, hq, options, found)) },
    Pair { invariant: "I9", run: |store, hq, options, found| Box::pin(outbox::gapless(store, hq, options, found)) },
];

/// Everything that does not hold in these databases. Headquarters is read before its stores.
pub async fn run(hq: Option<&Source>, stores: &[Source], options: &Options) -> Result<Vec<Finding>, DbErr> {
    let mut all = Vec::new();
    for source in hq.into_iter().chain(stores) {
        for check in ONE {
            let mut found = Found { invariant: check.invariant, findings: Vec::new() };
            (check.run)(source, options, &mut found).await?;
            all.append(&mut found.findings);
        }
    }
    for store in stores {
        for check in PAIR {
            let mut found = Found { invariant: check.invariant, findings: Vec::new() };
            (check.run)(store, hq, options, &mut found).await?;
            all.append(&mut found.findings);
        }
    }
    Ok(all)
}

type Rows = BTreeMap<String, Map<String, Json>>;

/// Rows as they travel by the columns of their key, without the columns in `without`.
fn by_key(rows: &[Box<dyn Row>], key: &[&str], without: &[&str]) -> Result<Rows, DbErr> {
    let camels: Vec<String> = without.iter().map(|column| camel(column)).collect();
    rows.iter()
        .map(|row| {
            let ids: Vec<String> = key.iter().filter_map(|column| Some(row.uuid(column)?.to_string())).collect();
            let json = row.to_json().map_err(|error| DbErr::Json(error.to_string()))?;
            let mut columns: Map<String, Json> =
                serde_json::from_str(&json).map_err(|error| DbErr::Json(error.to_string()))?;
            columns.retain(|name, _| !camels.contains(name));
            Ok((ids.join(" "), columns))
        })
        .collect()
}

/// The names of the columns in which two rows differ.
fn differing(a: &Map<String, Json>, b: &Map<String, Json>) -> Vec<String> {
    let names: HashSet<&String> = a.keys().chain(b.keys()).collect();
    let mut names: Vec<String> = names.into_iter().filter(|name| a.get(*name) != b.get(*name)).cloned().collect();
    names.sort_unstable();
    names
}

async fn having(
    source: &Source,
    table: &dyn SyncTable,
    column: &str,
    ids: &[Uuid],
) -> Result<Vec<Box<dyn Row>>, DbErr> {
    table.having(&source.conn, column, ids, false).await
}

/// What waits in a store's outbox, by type and id.
async fn waiting(store: &Source) -> Result<HashSet<(String, Uuid)>, DbErr> {
    let rows = query(&store.conn, "SELECT entity_type, entity_id FROM sync_outbox", []).await?;
    rows.iter().map(|row| Ok((row.try_get("", "entity_type")?, row.try_get("", "entity_id")?))).collect()
}
