//! A write transaction, and what belongs to its commit.

#![expect(clippy::disallowed_methods, reason = "passes them on")]

use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use sea_orm::{ConnectionTrait, DbBackend, DbErr, ExecResult, QueryResult, Statement, StatementBuilder};

use super::keyed_request::KeyedRequest;
use crate::sql::connection::Transaction;
use crate::versions::Change;
use crate::{Side, fault, registry, sought, tags, versions};

/// A write transaction. What it changed of the synchronised types is stamped with versions as the last thing before
/// the commit.
pub struct Tx {
    inner: Transaction,
    side: Side,
    /// Types of which rows were written without a version.
    touched: BTreeSet<usize>,
    /// The keyed request that this is the transaction of.
    keyed: Option<Arc<KeyedRequest>>,
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
    pub(crate) fn new(inner: Transaction, side: Side, keyed: Option<Arc<KeyedRequest>>) -> Self {
        Self { inner, side, touched: BTreeSet::new(), keyed, taken: Mutex::default() }
    }

    pub const fn side(&self) -> Side {
        self.side
    }

    /// Whether others write at the same time, so that what is to change is locked. `SQLite` has one writer.
    pub fn has_others(&self) -> bool {
        self.inner.get_database_backend() != DbBackend::Sqlite
    }

    /// Leaves the key of the request out: what is committed says no more than that it was refused.
    pub fn set_aside(&mut self) {
        self.keyed = None;
    }

    /// The keyed request that this is the transaction of, unless it was set aside.
    pub(crate) fn key(&self) -> Option<Arc<KeyedRequest>> {
        self.keyed.clone()
    }

    /// Notes that this transaction takes a number of a series.
    pub(crate) fn took(&self, series: String, number: i64) {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).push((series, number));
    }

    /// The numbers that this transaction has taken, for [`crate::numbers::Numbers::keep`] once it is committed.
    pub fn taken(&self) -> Vec<(String, i64)> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Has the commit give versions to the rows of `entity` that a statement of its own wrote with
    /// [`versions::UNSTAMPED`]. The writes by type (`writes.rs`) do that by themselves.
    pub fn touch(&mut self, entity: &'static registry::SyncType) {
        self.touched.extend(registry::position(entity.name));
    }

    /// Writes what the rows that were touched are looked for by (at HQ). The commit does so too; who has many rows, and is about to
    /// take what others wait for, does it before: the commit then finds each text as it is to be.
    pub async fn write_texts(&self) -> Result<(), DbErr> {
        if self.side == Side::Hq {
            for position in &self.touched {
                sought::write(&self.inner, &registry::ALL[*position]).await?;
            }
        }
        Ok(())
    }

    /// The last statements before the commit: writes the key of the request and stamps versions (at HQ).
    pub(crate) async fn prepare(&self) -> Result<Vec<Change>, DbErr> {
        let mut changes = Vec::new();
        // Before the counters, which are held for the shortest time: this may wait for another one with the same key.
        if let Some(keyed) = &self.keyed {
            keyed.write(&self.inner).await?;
        }
        fault::point("tx.stamp")?;
        if self.side == Side::Hq {
            // The registry's order is the lock order of the counters.
            for position in &self.touched {
                // By what it has no version yet, a row is known to be of this transaction.
                sought::write(&self.inner, &registry::ALL[*position]).await?;
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
        if let Some(keyed) = &self.keyed {
            keyed.written();
        }
        fault::point("tx.committed")?;
        Ok(changes)
    }
}
