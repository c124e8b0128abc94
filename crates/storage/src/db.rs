//! Connections and transactions. The difference between the two databases lives here and nowhere else.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use sea_orm::{
    AccessMode, ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, ExecResult, IsolationLevel,
    QueryResult, SqliteTransactionMode, Statement, TransactionOptions, TransactionTrait, Value,
};
use uuid::Uuid;

use crate::count::Count;
pub use crate::errors::{again, in_short, is_data_fault, is_passing, strikes_everything, unique_violation};
use crate::idempotency::{self, Deed};
use crate::memory::{Version, Writes};
use crate::pools::{self, Pool};
pub use crate::pools::{Opening, Purpose};
use crate::{fault, migration, registry, tags, versions};

/// Which server a database belongs to: the tables are the same, what is unique and what is versioned is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Hq,
    Store,
}

/// One database, seen with the connections of one [`Purpose`]: writers and readers.
#[derive(Clone)]
pub struct Db {
    people: Pool,
    sync: Pool,
    purpose: Purpose,
    side: Side,
    count: Count,
    memory: Version,
}

impl Db {
    /// Opens the database at `url` (`sqlite://path` or `postgres://…`) and brings its schema up to date.
    pub async fn open(url: &str, side: Side) -> Result<Self, DbErr> {
        Self::open_with(url, side, Opening::default()).await
    }

    /// As [`Db::open`], otherwise than by default.
    pub async fn open_with(url: &str, side: Side, opening: Opening) -> Result<Self, DbErr> {
        let count = Count::default();
        let (people, sync) = pools::open(url, side, opening, &count).await?;
        let db = Self { people, sync, purpose: Purpose::People, side, count, memory: Version::default() };
        if pools::is_sqlite(url) {
            migration::run(&db.people.writer, side, migration::STEPS).await?;
            return Ok(db);
        }
        let patient = pools::open_to_migrate(url).await?;
        migration::run(&patient, side, migration::STEPS).await?;
        patient.close().await?;
        Ok(db)
    }

    /// The same database with the connections for `purpose`.
    #[must_use]
    pub fn of(&self, purpose: Purpose) -> Self {
        Self { purpose, ..self.clone() }
    }

    const fn pool(&self) -> &Pool {
        match self.purpose {
            Purpose::People => &self.people,
            Purpose::Sync => &self.sync,
        }
    }

    /// Opens the `SQLite` file at `path`.
    pub async fn open_file(path: &Path, side: Side) -> Result<Self, DbErr> {
        Self::open(&Self::url_of_file(path), side).await
    }

    /// Opens the database at `url` only to look at it: nothing is made, migrated or written, beside a running server or
    /// without one.
    pub async fn open_to_read(url: &str) -> Result<DatabaseConnection, DbErr> {
        pools::open_to_read(url).await
    }

    /// Opens the `SQLite` file at `path` as it is, to write, while no server uses it.
    pub async fn open_alone(path: &Path) -> Result<DatabaseConnection, DbErr> {
        pools::open_alone(&Self::url_of_file(path)).await
    }

    /// The address of the `SQLite` file at `path`.
    pub fn url_of_file(path: &Path) -> String {
        // The driver reads the path as part of an address.
        format!("sqlite://{}", path.display().to_string().replace('%', "%25").replace('?', "%3f"))
    }

    pub const fn side(&self) -> Side {
        self.side
    }

    /// Whether it is a file of this server, with one writer.
    pub fn is_embedded(&self) -> bool {
        self.people.writer.get_database_backend() == DbBackend::Sqlite
    }

    /// For a single statement that needs no snapshot with others.
    pub const fn reader(&self) -> &DatabaseConnection {
        &self.pool().reader
    }

    /// Several reads of one moment.
    pub async fn snapshot(&self) -> Result<DatabaseTransaction, DbErr> {
        let reader = self.reader();
        match reader.get_database_backend() {
            DbBackend::Postgres => {
                reader.begin_with_config(Some(IsolationLevel::RepeatableRead), Some(AccessMode::ReadOnly)).await
            }
            _ => reader.begin().await,
        }
    }

    /// Begins a write. Dropped without [`Tx::commit`], nothing happened.
    pub async fn begin(&self) -> Result<Tx, DbErr> {
        self.begin_for(idempotency::current()).await
    }

    /// As [`Db::begin`], for what is noted beside the thing that a request asks for (an attempt that is counted, a refusal
    /// in the audit log): the key of the request does not go with it.
    pub async fn begin_aside(&self) -> Result<Tx, DbErr> {
        self.begin_for(None).await
    }

    async fn begin_for(&self, deed: Option<Arc<Deed>>) -> Result<Tx, DbErr> {
        let writer = &self.pool().writer;
        let options = match writer.get_database_backend() {
            // A deferred transaction that turns into a writer fails at once when another one writes.
            DbBackend::Sqlite => TransactionOptions {
                sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
                ..TransactionOptions::default()
            },
            _ => TransactionOptions::default(),
        };
        fault::point("tx.begin")?;
        let inner = writer.begin_with_options(options).await?;
        let memory = self.memory.writes();
        Ok(Tx { inner, side: self.side, touched: BTreeSet::new(), deed, taken: Mutex::default(), memory })
    }

    /// How many statements this database was asked since it was opened; beginnings and ends of transactions are none.
    pub fn statements(&self) -> u64 {
        self.count.read()
    }

    /// Counts the commits that changed what a store keeps in memory ([`crate::memory`]): what was read under another
    /// number may be old.
    pub fn memory_version(&self) -> u64 {
        self.memory.read()
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Result<(), DbErr> {
        self.reader().ping().await
    }

    /// Which run of its server this is: another one may have lost what was committed last, as a standby that was promoted.
    /// `None` for a file, which is put back under nobody who runs.
    pub async fn run(&self) -> Result<Option<String>, DbErr> {
        if self.is_embedded() {
            return Ok(None);
        }
        let rows = query(self.reader(), "SELECT CAST(pg_postmaster_start_time() AS TEXT) AS run", []).await?;
        rows.first().map(|row| row.try_get("", "run")).transpose()
    }

    /// Closes every connection; on `SQLite` this folds the write-ahead log into the file.
    pub async fn close(self) -> Result<(), DbErr> {
        // The last connection to close folds the log, and one that only reads cannot.
        self.sync.reader.close().await?;
        self.people.reader.close().await?;
        self.sync.writer.close().await?;
        self.people.writer.close().await
    }
}

/// Something that stores can now pull.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    pub entity_type: &'static str,
    /// The one store concerned; `None` is all of them.
    pub store: Option<Uuid>,
    /// The new head of the type in that scope.
    pub version: i64,
    /// The tag of that head, where whoever tells of the change knows it.
    pub tag: Option<Uuid>,
}

/// A write transaction. What it changed of the synchronised types is stamped with versions as the last thing before
/// the commit.
pub struct Tx {
    inner: DatabaseTransaction,
    side: Side,
    touched: BTreeSet<usize>,
    /// The keyed request that this is the transaction of.
    deed: Option<Arc<Deed>>,
    /// Numbers that were taken of series which are kept in a file.
    taken: Mutex<Vec<(String, i64)>>,
    /// Comes last: it speaks when the transaction is over.
    memory: Writes,
}

#[async_trait::async_trait]
impl ConnectionTrait for Tx {
    fn get_database_backend(&self) -> DbBackend {
        self.inner.get_database_backend()
    }
    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        self.memory.note(&statement.sql);
        self.inner.execute_raw(statement).await
    }
    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        self.memory.note(sql);
        self.inner.execute_unprepared(sql).await
    }
    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        self.memory.note(&statement.sql);
        self.inner.query_one_raw(statement).await
    }
    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        self.memory.note(&statement.sql);
        self.inner.query_all_raw(statement).await
    }
}

/// For the functions that serve reading snapshots and writers alike, and only read.
impl Deref for Tx {
    type Target = DatabaseTransaction;
    fn deref(&self) -> &DatabaseTransaction {
        &self.inner
    }
}

impl Tx {
    pub const fn side(&self) -> Side {
        self.side
    }

    /// Leaves the key of the request out: what is committed says no more than that it was refused.
    pub fn set_aside(&mut self) {
        self.deed = None;
    }

    /// Notes that this transaction takes a number of a series.
    pub(crate) fn took(&self, series: String, number: i64) {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).push((series, number));
    }

    /// The numbers that this transaction has taken, for [`crate::numbers::Numbers::keep`] once it is committed.
    pub fn taken(&self) -> Vec<(String, i64)> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes that rows of `entity_type` were written with version [`versions::UNSTAMPED`].
    pub fn touch(&mut self, entity_type: &str) {
        if let Some(position) = registry::position(entity_type) {
            self.touched.insert(position);
        }
    }

    /// Writes the key of the request, stamps versions (at HQ) and commits.
    pub async fn commit(self) -> Result<Vec<Change>, DbErr> {
        let mut changes = Vec::new();
        // Before the counters, which are held for the shortest time: this may wait for another one with the same key.
        if let Some(deed) = &self.deed {
            deed.write(&self.inner).await?;
        }
        fault::point("tx.stamp")?;
        if self.side == Side::Hq {
            // The registry's order is the lock order of the counters.
            for position in &self.touched {
                versions::stamp(&self.inner, &registry::ALL[*position], &mut changes).await?;
            }
            tags::write(&self.inner, &mut changes).await?;
        }
        fault::point("tx.commit")?;
        self.inner.commit().await?;
        if let Some(deed) = &self.deed {
            deed.written();
        }
        fault::point("tx.committed")?;
        Ok(changes)
    }
}

/// Work that only one transaction does at a time.
#[derive(Clone, Copy, Debug)]
pub enum Turn {
    Migration = 1,
    Seed = 2,
    Audit = 3,
    Pin = 4,
    /// Balances of customers who are on their way to headquarters.
    Account = 5,
    /// Products that are sold before headquarters knows them, and those that it gets to know.
    Product = 6,
    /// What comes from one store.
    Push = 7,
}

/// Waits until no other transaction has this `turn` and keeps it until the end of this one. On `SQLite` there is only
/// one writer anyway.
pub async fn take_turn(tx: &impl ConnectionTrait, turn: Turn) -> Result<(), DbErr> {
    if tx.get_database_backend() == DbBackend::Postgres {
        execute(tx, "SELECT pg_advisory_xact_lock($1)", [(0x7461_6c6c_i64 + turn as i64).into()]).await?;
    }
    Ok(())
}

/// As [`take_turn`], for one store: work of other stores goes on.
pub async fn take_turn_of(tx: &impl ConnectionTrait, turn: Turn, store_id: Uuid) -> Result<(), DbErr> {
    if tx.get_database_backend() == DbBackend::Postgres {
        // The last part of an id is drawn at random. Two stores with the same one would wait for each other, and no more.
        let [.., a, b, c, d] = store_id.into_bytes();
        let store = i32::from_be_bytes([a, b, c, d]);
        execute(tx, "SELECT pg_advisory_xact_lock($1, $2)", [(turn as i32).into(), store.into()]).await?;
    }
    Ok(())
}

/// One statement in the text both databases read: `$1`, `$2`, …
pub fn statement(conn: &impl ConnectionTrait, sql: &str, values: impl IntoIterator<Item = Value>) -> Statement {
    Statement::from_sql_and_values(conn.get_database_backend(), sql, values)
}

/// Executes `sql`; the number of rows it changed.
pub async fn execute(
    conn: &impl ConnectionTrait,
    sql: &str,
    values: impl IntoIterator<Item = Value>,
) -> Result<u64, DbErr> {
    Ok(conn.execute_raw(statement(conn, sql, values)).await?.rows_affected())
}

/// The rows of `sql`.
pub async fn query(
    conn: &impl ConnectionTrait,
    sql: &str,
    values: impl IntoIterator<Item = Value>,
) -> Result<Vec<QueryResult>, DbErr> {
    conn.query_all_raw(statement(conn, sql, values)).await
}

/// `$from, $from+1, …` for `count` parameters.
pub fn placeholders(from: usize, count: usize) -> String {
    (from..from + count).map(|index| format!("${index}")).collect::<Vec<_>>().join(", ")
}

/// Rows of one statement when each has `columns` values: under the parameter limit of both databases.
pub const fn rows_per_statement(columns: usize) -> usize {
    let fit = 30_000 / if columns == 0 { 1 } else { columns };
    if fit > 500 { 500 } else { fit }
}
