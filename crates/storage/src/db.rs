//! Connections and transactions. The difference between the two databases lives here and nowhere else.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::path::Path;
use std::time::Duration;

use sea_orm::sqlx::Connection;
use sea_orm::sqlx::sqlite::{SqliteJournalMode, SqliteSynchronous};
use sea_orm::{
    AccessMode, ConnectOptions, ConnectionTrait, Database, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr,
    ExecResult, IsolationLevel, QueryResult, SqlErr, SqliteTransactionMode, Statement, TransactionOptions,
    TransactionTrait, Value,
};
use uuid::Uuid;

use crate::{fault, migration, registry, versions};

/// Oldest `SQLite` without the WAL-reset corruption.
const OLDEST_SQLITE: (u32, u32, u32) = (3, 51, 3);
/// Read connections to an embedded database.
const READERS: u32 = 4;

/// Which server a database belongs to: the tables are the same, what is unique and what is versioned is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Hq,
    Store,
}

/// One database: a writer and its readers.
///
/// On `SQLite` the writer is a single connection, so that writers queue in the program and never fail with "busy".
#[derive(Clone)]
pub struct Db {
    writer: DatabaseConnection,
    reader: DatabaseConnection,
    side: Side,
}

impl Db {
    /// Opens the database at `url` (`sqlite://path` or `postgres://…`) and brings its schema up to date.
    pub async fn open(url: &str, side: Side) -> Result<Self, DbErr> {
        let (writer, reader) = if url.starts_with("sqlite:") {
            (connect_sqlite(url, 1, true).await?, connect_sqlite(url, READERS, false).await?)
        } else {
            let pool = connect_postgres(url, 10).await?;
            (pool.clone(), pool)
        };
        let db = Self { writer, reader, side };
        db.assert_sound().await?;
        if db.writer.get_database_backend() == DbBackend::Postgres {
            // Several nodes may start at once; all but one of them find everything done.
            let turn = db.begin().await?;
            take_turn(&turn, Turn::Migration).await?;
            migration::run(&db.writer, side).await?;
        } else {
            migration::run(&db.writer, side).await?;
        }
        Ok(db)
    }

    /// Opens the `SQLite` file at `path`.
    pub async fn open_file(path: &Path, side: Side) -> Result<Self, DbErr> {
        Self::open(&Self::url_of_file(path), side).await
    }

    /// Opens the database at `url` only to look at it: nothing is made, migrated or written, beside a running server or
    /// without one.
    pub async fn open_to_read(url: &str) -> Result<DatabaseConnection, DbErr> {
        if url.starts_with("sqlite:") {
            return connect_sqlite(url, 1, false).await;
        }
        connect_postgres(url, 1).await
    }

    /// The address of the `SQLite` file at `path`.
    pub fn url_of_file(path: &Path) -> String {
        // The driver reads the path as part of an address.
        format!("sqlite://{}", path.display().to_string().replace('%', "%25").replace('?', "%3f"))
    }

    pub const fn side(&self) -> Side {
        self.side
    }

    /// For a single statement that needs no snapshot with others.
    pub const fn reader(&self) -> &DatabaseConnection {
        &self.reader
    }

    /// Several reads of one moment.
    pub async fn snapshot(&self) -> Result<DatabaseTransaction, DbErr> {
        match self.reader.get_database_backend() {
            DbBackend::Postgres => {
                self.reader.begin_with_config(Some(IsolationLevel::RepeatableRead), Some(AccessMode::ReadOnly)).await
            }
            _ => self.reader.begin().await,
        }
    }

    /// Begins a write. Dropped without [`Tx::commit`], nothing happened.
    pub async fn begin(&self) -> Result<Tx, DbErr> {
        let options = match self.writer.get_database_backend() {
            // A deferred transaction that turns into a writer fails at once when another one writes.
            DbBackend::Sqlite => TransactionOptions {
                sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
                ..TransactionOptions::default()
            },
            _ => TransactionOptions::default(),
        };
        fault::point("tx.begin")?;
        let inner = self.writer.begin_with_options(options).await?;
        Ok(Tx { inner, side: self.side, touched: BTreeSet::new() })
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Result<(), DbErr> {
        self.reader.ping().await
    }

    /// Closes every connection; on `SQLite` this folds the write-ahead log into the file.
    pub async fn close(self) -> Result<(), DbErr> {
        self.reader.close().await?;
        self.writer.close().await
    }

    /// Refuses to run where an answered sale could be lost.
    async fn assert_sound(&self) -> Result<(), DbErr> {
        if self.writer.get_database_backend() != DbBackend::Sqlite {
            return Ok(());
        }
        let text = |row: Option<QueryResult>| row.map_or(Ok(String::new()), |row| row.try_get_by_index::<String>(0));
        let number = |row: Option<QueryResult>| row.map_or(Ok(-1), |row| row.try_get_by_index::<i32>(0));
        let one = |sql| self.writer.query_one_raw(Statement::from_string(DbBackend::Sqlite, sql));
        let version = text(one("SELECT sqlite_version()").await?)?;
        let mut parts = version.split('.').filter_map(|part| part.parse().ok());
        let found = (parts.next().unwrap_or(0), parts.next().unwrap_or(0), parts.next().unwrap_or(0));
        let journal = text(one("PRAGMA journal_mode").await?)?;
        let synchronous = number(one("PRAGMA synchronous").await?)?;
        if found < OLDEST_SQLITE || journal != "wal" || synchronous != 2 {
            return Err(DbErr::Custom(format!(
                "the database is not durable: SQLite {version} (3.51.3 or newer is needed), journal_mode {journal} \
                 (wal is needed), synchronous {synchronous} (2, FULL, is needed)"
            )));
        }
        Ok(())
    }
}

fn quiet(mut options: ConnectOptions) -> ConnectOptions {
    options.sqlx_logging(false).acquire_timeout(Duration::from_secs(20));
    options
}

async fn connect_postgres(url: &str, connections: u32) -> Result<DatabaseConnection, DbErr> {
    let options = quiet(ConnectOptions::new(url)).max_connections(connections).to_owned();
    Database::connect(options).await.map_err(|error| {
        // The driver says an address back that it cannot read, password included.
        if error.to_string().contains(url) {
            let text = "the address of the database cannot be read; write postgres://user:password@host:5432/name";
            return DbErr::Custom(text.to_owned());
        }
        error
    })
}

async fn connect_sqlite(url: &str, connections: u32, writes: bool) -> Result<DatabaseConnection, DbErr> {
    let mut options = quiet(ConnectOptions::new(url));
    options.max_connections(connections).min_connections(1).test_before_acquire(false);
    options.idle_timeout(None).max_lifetime(None);
    // After a failed write SQLite may have ended the transaction by itself or kept it open, and the driver then counts
    // transactions wrongly: the next "commit" would be of a savepoint within one that never ends, and answered sales would
    // be lost. Such a connection is not used again.
    options.map_sqlx_sqlite_pool_opts(|pool| {
        pool.after_release(|conn, _| {
            Box::pin(async move {
                // A rollback may still be queued.
                conn.ping().await?;
                Ok(!conn.is_in_transaction())
            })
        })
    });
    options.map_sqlx_sqlite_opts(move |sqlite| {
        let sqlite = sqlite
            .create_if_missing(writes)
            .read_only(!writes)
            .foreign_keys(true)
            .busy_timeout(Duration::from_secs(10))
            .statement_cache_capacity(200)
            .pragma("cache_size", "-16000");
        if writes { sqlite.journal_mode(SqliteJournalMode::Wal).synchronous(SqliteSynchronous::Full) } else { sqlite }
    });
    Database::connect(options).await
}

/// Something that stores can now pull.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    pub entity_type: &'static str,
    /// The one store concerned; `None` is all of them.
    pub store: Option<Uuid>,
    /// The new head of the type in that scope.
    pub version: i64,
}

/// A write transaction. What it changed of the synchronised types is stamped with versions as the last thing before
/// the commit.
pub struct Tx {
    inner: DatabaseTransaction,
    side: Side,
    touched: BTreeSet<usize>,
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
}

/// For the functions that serve reading snapshots and writers alike.
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

    /// Notes that rows of `entity_type` were written with version [`versions::UNSTAMPED`].
    pub fn touch(&mut self, entity_type: &str) {
        if let Some(position) = registry::position(entity_type) {
            self.touched.insert(position);
        }
    }

    /// Stamps versions (at HQ) and commits.
    pub async fn commit(self) -> Result<Vec<Change>, DbErr> {
        let mut changes = Vec::new();
        fault::point("tx.stamp")?;
        if self.side == Side::Hq {
            // The registry's order is the lock order of the counters.
            for position in &self.touched {
                versions::stamp(&self.inner, &registry::ALL[*position], &mut changes).await?;
            }
        }
        fault::point("tx.commit")?;
        self.inner.commit().await?;
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
}

/// Waits until no other transaction has this `turn` and keeps it until the end of this one. On `SQLite` there is only
/// one writer anyway.
pub async fn take_turn(tx: &Tx, turn: Turn) -> Result<(), DbErr> {
    if tx.get_database_backend() == DbBackend::Postgres {
        execute(tx, "SELECT pg_advisory_xact_lock($1)", [(0x7461_6c6c_i64 + turn as i64).into()]).await?;
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

/// What the database says about a broken unique key, or `None` for another error.
pub fn unique_violation(error: &DbErr) -> Option<Vec<String>> {
    let Some(SqlErr::UniqueConstraintViolation(message)) = error.sql_err() else { return None };
    // SQLite names `table.column, …`, PostgreSQL the index in quotes.
    let columns = match message.rsplit_once("failed: ") {
        Some((_, list)) => list.split(", ").filter_map(|name| Some(name.split_once('.')?.1.to_owned())).collect(),
        None => message.split('"').find_map(crate::migration::columns_of_index).unwrap_or_default(),
    };
    Some(columns.iter().map(|column| tillkeep_model::wire::camel(column.trim_end_matches("_folded"))).collect())
}

/// Whether `error` is the fault of the data in the statement (a constraint, a value that does not fit), so that the
/// same statement would fail again. Everything else is the infrastructure's fault and passes.
pub fn is_data_fault(error: &DbErr) -> bool {
    let (DbErr::Exec(runtime) | DbErr::Query(runtime)) = error else { return false };
    let sea_orm::RuntimeErr::SqlxError(error) = runtime else { return false };
    let Some(code) = error.as_database_error().and_then(sea_orm::sqlx::error::DatabaseError::code) else {
        return false;
    };
    // PostgreSQL: class 21 is a row twice in one statement, 22 data exceptions, 23 constraints, 54 limits (a text too
    // long for an index). SQLite: 18 too big, 19 constraint, 20 mismatch in the low byte of the extended code.
    let sqlite = code.parse::<u32>().is_ok_and(|code| matches!(code & 0xff, 18..=20)) && code.len() < 5;
    sqlite || (code.len() == 5 && ["21", "22", "23", "54"].iter().any(|class| code.starts_with(class)))
}

/// Whether `error` says that the database is away or cannot write now: no connection, no room, no lock in time. The same
/// statement may work a moment later.
pub fn is_passing(error: &DbErr) -> bool {
    use sea_orm::sqlx::Error as Sqlx;
    let (DbErr::Exec(runtime) | DbErr::Query(runtime) | DbErr::Conn(runtime)) = error else {
        return matches!(error, DbErr::ConnectionAcquire(_));
    };
    let sea_orm::RuntimeErr::SqlxError(cause) = runtime else { return matches!(error, DbErr::Conn(_)) };
    let Some(code) = cause.as_database_error().and_then(sea_orm::sqlx::error::DatabaseError::code) else {
        let cause: &Sqlx = cause;
        return matches!(error, DbErr::Conn(_))
            || matches!(cause, Sqlx::Io(_) | Sqlx::PoolTimedOut | Sqlx::PoolClosed | Sqlx::WorkerCrashed);
    };
    // PostgreSQL: class 08 is the connection, 40 a transaction that lost against another one, 53 and 58 the machine, 55 a
    // lock, 57 an operator. SQLite: 5 and 6 locks, 8 read-only, 10 input and output, 13 full, 14 cannot open.
    let sqlite =
        code.len() < 5 && code.parse::<u32>().is_ok_and(|code| matches!(code & 0xff, 5 | 6 | 8 | 10 | 13 | 14));
    sqlite || (code.len() == 5 && ["08", "40", "53", "55", "57", "58"].iter().any(|class| code.starts_with(class)))
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
