//! A connection and a transaction of either database.

#![expect(clippy::disallowed_methods, reason = "passes them on")]

use std::ops::ControlFlow;

use sea_orm::{
    AccessMode, ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, ExecResult, IsolationLevel,
    QueryResult, Statement, StatementBuilder, TransactionTrait, Value,
};

use super::sqlite::{Found, Lease, Pool};
use crate::count;

/// Connections of one kind to a database.
#[derive(Clone)]
pub struct Connection(Kind);

#[derive(Clone)]
enum Kind {
    Postgres(DatabaseConnection),
    Sqlite(Pool),
}

impl From<DatabaseConnection> for Connection {
    fn from(conn: DatabaseConnection) -> Self {
        Self(Kind::Postgres(conn))
    }
}

impl From<Pool> for Connection {
    fn from(pool: Pool) -> Self {
        Self(Kind::Sqlite(pool))
    }
}

impl Connection {
    /// Begins to read: everything is of one moment.
    pub async fn begin(&self) -> Result<Transaction, DbErr> {
        match &self.0 {
            Kind::Postgres(conn) => {
                let (level, mode) = (IsolationLevel::RepeatableRead, AccessMode::ReadOnly);
                Ok(conn.begin_with_config(Some(level), Some(mode)).await?.into())
            }
            Kind::Sqlite(pool) => begun(pool, "BEGIN").await,
        }
    }

    /// Begins to write.
    pub async fn begin_to_write(&self) -> Result<Transaction, DbErr> {
        match &self.0 {
            Kind::Postgres(conn) => Ok(conn.begin().await?.into()),
            // One that turns into a writer later fails at once when another one writes.
            Kind::Sqlite(pool) => begun(pool, "BEGIN IMMEDIATE").await,
        }
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Result<(), DbErr> {
        match &self.0 {
            Kind::Postgres(conn) => conn.ping().await,
            Kind::Sqlite(pool) => pool.lease().await?.execute_batch("SELECT 1").map(drop),
        }
    }

    /// Waits until no connection is in use, and closes them.
    pub async fn close(self) -> Result<(), DbErr> {
        match self.0 {
            Kind::Postgres(conn) => conn.close().await,
            Kind::Sqlite(pool) => {
                pool.close().await;
                Ok(())
            }
        }
    }
}

async fn begun(pool: &Pool, sql: &str) -> Result<Transaction, DbErr> {
    let lease = pool.lease().await?;
    lease.begin(sql)?;
    Ok(lease.into())
}

fn counted<C>(conn: &C) -> &C {
    count::statement();
    conn
}

/// A transaction of either database. Dropped without [`Transaction::commit`], nothing happened.
pub struct Transaction(Begun);

enum Begun {
    Postgres(DatabaseTransaction),
    Sqlite(Lease),
}

impl From<DatabaseTransaction> for Transaction {
    fn from(tx: DatabaseTransaction) -> Self {
        Self(Begun::Postgres(tx))
    }
}

impl From<Lease> for Transaction {
    fn from(lease: Lease) -> Self {
        Self(Begun::Sqlite(lease))
    }
}

impl Transaction {
    pub async fn commit(self) -> Result<(), DbErr> {
        match self.0 {
            Begun::Postgres(tx) => tx.commit().await,
            Begun::Sqlite(lease) => lease.commit(),
        }
    }

    pub async fn rollback(self) -> Result<(), DbErr> {
        match self.0 {
            Begun::Postgres(tx) => tx.rollback().await,
            Begun::Sqlite(lease) => {
                drop(lease);
                Ok(())
            }
        }
    }

    /// Executes `sql` once with the values of each row; how many rows that changed.
    pub(crate) async fn execute_each(
        &self,
        sql: &str,
        rows: impl Iterator<Item = Vec<Value>> + Send,
    ) -> Result<u64, DbErr> {
        match &self.0 {
            Begun::Postgres(tx) => {
                let mut changed = 0;
                for values in rows {
                    let statement = Statement::from_sql_and_values(DbBackend::Postgres, sql, values);
                    changed += counted(tx).execute_raw(statement).await?.rows_affected();
                }
                Ok(changed)
            }
            Begun::Sqlite(lease) => lease.execute_each(sql, rows),
        }
    }

    /// Gives `take` the rows of a statement of the ORM, one by one, until it has enough.
    pub(crate) async fn scan<S: StatementBuilder>(
        &self,
        statement: &S,
        take: &mut (dyn FnMut(Scanned<'_>) -> Result<ControlFlow<()>, DbErr> + Send),
    ) -> Result<(), DbErr> {
        match &self.0 {
            Begun::Postgres(tx) => {
                for row in counted(tx).query_all(statement).await? {
                    if take(Scanned::Named(row))?.is_break() {
                        break;
                    }
                }
                Ok(())
            }
            Begun::Sqlite(lease) => lease.scan(&statement.build(&DbBackend::Sqlite), |row| take(Scanned::Placed(row))),
        }
    }
}

/// A row as its database gives it.
pub(crate) enum Scanned<'row> {
    /// To be read by the names of its columns.
    Named(QueryResult),
    /// To be read by their places.
    Placed(&'row Found<'row>),
}

/// The statements of either database: the other one's driver, or a connection to the file that `$lease` makes of `$own`.
macro_rules! runs_statements {
    ($type:ty, $kind:ident, $own:ident => $lease:expr) => {
        #[async_trait::async_trait]
        impl ConnectionTrait for $type {
            fn get_database_backend(&self) -> DbBackend {
                match &self.0 {
                    $kind::Postgres(_) => DbBackend::Postgres,
                    $kind::Sqlite(_) => DbBackend::Sqlite,
                }
            }
            async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
                match &self.0 {
                    $kind::Postgres(conn) => counted(conn).execute_raw(statement).await,
                    $kind::Sqlite($own) => $lease.execute(&statement),
                }
            }
            async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
                match &self.0 {
                    $kind::Postgres(conn) => counted(conn).execute_unprepared(sql).await,
                    $kind::Sqlite($own) => $lease.execute_batch(sql),
                }
            }
            async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
                count::hear(|| statement.clone());
                match &self.0 {
                    $kind::Postgres(conn) => counted(conn).query_one_raw(statement).await,
                    $kind::Sqlite($own) => Ok($lease.stored(&statement)?.into_iter().next()),
                }
            }
            async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
                count::hear(|| statement.clone());
                match &self.0 {
                    $kind::Postgres(conn) => counted(conn).query_all_raw(statement).await,
                    $kind::Sqlite($own) => $lease.stored(&statement),
                }
            }
            async fn query_one<S: StatementBuilder>(&self, statement: &S) -> Result<Option<QueryResult>, DbErr> {
                count::hear(|| statement.build(&self.get_database_backend()));
                match &self.0 {
                    $kind::Postgres(conn) => counted(conn).query_one(statement).await,
                    $kind::Sqlite($own) => Ok($lease.typed(&statement.build(&DbBackend::Sqlite))?.into_iter().next()),
                }
            }
            async fn query_all<S: StatementBuilder>(&self, statement: &S) -> Result<Vec<QueryResult>, DbErr> {
                count::hear(|| statement.build(&self.get_database_backend()));
                match &self.0 {
                    $kind::Postgres(conn) => counted(conn).query_all(statement).await,
                    $kind::Sqlite($own) => $lease.typed(&statement.build(&DbBackend::Sqlite)),
                }
            }
        }
    };
}

runs_statements!(Connection, Kind, pool => pool.lease().await?);
runs_statements!(Transaction, Begun, lease => lease);
