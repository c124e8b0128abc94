//! Connections and transactions. The difference between the two databases lives here and nowhere else.

#![expect(clippy::disallowed_methods, reason = "gives their rows types")]

use std::collections::BTreeSet;
use std::ops::Deref;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use sea_orm::{
    ConnectionTrait, DbBackend, DbErr, ExecResult, FromQueryResult, QueryResult, Statement, StatementBuilder,
    TransactionTrait, Value,
};
use uuid::Uuid;

use crate::connection::{Connection, Transaction};

pub use crate::errors::{again, in_short, is_data_fault, is_passing, strikes_everything, unique_violation};
use crate::idempotency::{self, Deed};
use crate::memory::Version;
use crate::pools::{self, Pool, Writers};
pub use crate::pools::{Opening, Purpose};
pub use crate::row::Row;
use crate::sqlite::Rank;
use crate::{fault, registry, tags, versions};

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
    memory: Version,
}

impl Db {
    /// Opens the database at `url` (`sqlite://path` or `postgres://…`) and brings its schema up to date.
    pub async fn open(url: &str, side: Side) -> Result<Self, DbErr> {
        Self::open_with(url, side, Opening::default()).await
    }

    /// As [`Db::open`], otherwise than by default.
    pub async fn open_with(url: &str, side: Side, opening: Opening) -> Result<Self, DbErr> {
        let (people, sync) = pools::open(url, side, opening).await?;
        Ok(Self { people, sync, purpose: Purpose::People, side, memory: Version::default() })
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
    pub async fn open_to_read(url: &str) -> Result<Connection, DbErr> {
        pools::open_to_read(url).await
    }

    /// Opens the `SQLite` file at `path` as it is, to write, while no server uses it.
    pub fn open_alone(path: &Path) -> Result<Connection, DbErr> {
        pools::open_alone(path)
    }

    /// The address of the `SQLite` file at `path`.
    pub fn url_of_file(path: &Path) -> String {
        // What follows a question mark is no part of the path.
        format!("sqlite://{}", path.display().to_string().replace('%', "%25").replace('?', "%3f"))
    }

    pub const fn side(&self) -> Side {
        self.side
    }

    /// Whether it is a file of this server, with one writer.
    pub fn is_embedded(&self) -> bool {
        matches!(self.people.writer, Writers::Sqlite(_))
    }

    /// For a single statement that needs no snapshot with others.
    pub const fn reader(&self) -> &Connection {
        &self.pool().reader
    }

    /// Several reads of one moment.
    pub async fn snapshot(&self) -> Result<Transaction, DbErr> {
        self.reader().begin().await
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
        fault::point("tx.begin")?;
        let inner = match self.writers() {
            Writers::Postgres(conn) => conn.begin().await?.into(),
            Writers::Sqlite(writer) => writer.lend(self.rank()).await?.noting(self.memory.writes()).into(),
        };
        Ok(Tx::new(inner, self.side, deed))
    }

    pub(crate) const fn writers(&self) -> &Writers {
        &self.pool().writer
    }

    pub(crate) const fn memory(&self) -> &Version {
        &self.memory
    }

    /// Counts the commits that changed what a store keeps in memory ([`crate::memory`]): what was read under another
    /// number may be old.
    pub fn memory_version(&self) -> u64 {
        self.memory.read()
    }

    pub(crate) const fn rank(&self) -> Rank {
        match self.purpose {
            Purpose::People => Rank::First,
            Purpose::Sync => Rank::Bulk,
        }
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
        for writer in [self.sync.writer, self.people.writer] {
            match writer {
                Writers::Postgres(conn) => conn.close().await?,
                Writers::Sqlite(writer) => writer.close().await,
            }
        }
        Ok(())
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
    inner: Transaction,
    side: Side,
    touched: BTreeSet<usize>,
    /// The keyed request that this is the transaction of.
    deed: Option<Arc<Deed>>,
    /// Numbers that were taken of series which are kept in a file.
    taken: Mutex<Vec<(String, i64)>>,
}

#[async_trait::async_trait]
impl ConnectionTrait for Tx {
    fn get_database_backend(&self) -> DbBackend {
        self.inner.get_database_backend()
    }
    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        self.inner.execute_raw(statement).await
    }
    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        self.inner.execute_unprepared(sql).await
    }
    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        self.inner.query_one_raw(statement).await
    }
    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        self.inner.query_all_raw(statement).await
    }
    async fn query_one<S: StatementBuilder>(&self, statement: &S) -> Result<Option<QueryResult>, DbErr> {
        self.inner.query_one(statement).await
    }
    async fn query_all<S: StatementBuilder>(&self, statement: &S) -> Result<Vec<QueryResult>, DbErr> {
        self.inner.query_all(statement).await
    }
}

/// For the functions that serve reading snapshots and writers alike.
impl Deref for Tx {
    type Target = Transaction;
    fn deref(&self) -> &Transaction {
        &self.inner
    }
}

impl Tx {
    pub(crate) fn new(inner: Transaction, side: Side, deed: Option<Arc<Deed>>) -> Self {
        Self { inner, side, touched: BTreeSet::new(), deed, taken: Mutex::default() }
    }

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

    /// The last statements before the commit: writes the key of the request and stamps versions (at HQ).
    pub(crate) async fn prepare(&self) -> Result<Vec<Change>, DbErr> {
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
        Ok(changes)
    }

    /// Writes the key of the request, stamps versions (at HQ) and commits.
    pub async fn commit(self) -> Result<Vec<Change>, DbErr> {
        let changes = self.prepare().await?;
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
    /// Successes that leave the log.
    Prune = 8,
    /// What stores did and said, which several servers write for the same ones.
    Heard = 9,
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

/// The rows of `sql`, whatever it selects.
pub async fn query(
    conn: &impl ConnectionTrait,
    sql: &str,
    values: impl IntoIterator<Item = Value>,
) -> Result<Vec<Row>, DbErr> {
    let rows = conn.query_all_raw(statement(conn, sql, values)).await?;
    Ok(rows.into_iter().map(Row::from).collect())
}

/// The rows of `sql`, which selects columns of tables and no expressions.
pub async fn models<M: FromQueryResult>(
    conn: &impl ConnectionTrait,
    sql: &str,
    values: impl IntoIterator<Item = Value>,
) -> Result<Vec<M>, DbErr> {
    let rows = conn.query_all(&Text(statement(conn, sql, values))).await?;
    rows.iter().map(|row| M::from_query_result(row, "")).collect()
}

/// A statement that is written out.
struct Text(Statement);

impl StatementBuilder for Text {
    fn build(&self, _: &DbBackend) -> Statement {
        self.0.clone()
    }
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
