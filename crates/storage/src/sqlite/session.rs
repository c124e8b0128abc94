//! One connection, and the right to use it for a transaction.

use std::cell::Cell;
use std::path::Path;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, StatementStatus};
use sea_orm::sea_query::Values;
use sea_orm::{DbBackend, DbErr, ExecResult, ProxyExecResult, QueryResult, Statement, Value};

use super::blocking;
use super::errors::{failed, undone};
use super::limits::{Activity, limit_statements};
use super::values::{Misfit, Reading, Shapes, bind};
use crate::count;
use crate::memory::Writes;

/// What another program on the same file may make this one wait.
const BUSY: Duration = Duration::from_secs(10);
/// Prepared statements that a connection keeps.
const KEPT: usize = 300;

thread_local! {
    /// Pages in the write-ahead log after the commit that this thread made last.
    static LOGGED: Cell<i32> = const { Cell::new(0) };
}

/// A connection that several may have, one after the other.
pub(crate) struct Session {
    state: Mutex<State>,
    /// Which transaction it is that has the connection. Who was given an earlier one is refused.
    turn: AtomicU64,
    pub(super) activity: Arc<Activity>,
    /// Pages in the write-ahead log after the last commit.
    logged: AtomicI32,
}

struct State {
    conn: Connection,
    shapes: Shapes,
    /// `SQLite` ends a transaction by itself on some errors (disk full): what came after would be committed one by one.
    in_transaction: bool,
}

impl Session {
    /// Opens the file at `path`; the one that writes makes it when it is missing.
    pub fn open(path: &Path, writes: bool) -> Result<Arc<Self>, DbErr> {
        let mode = if writes {
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE
        } else {
            OpenFlags::SQLITE_OPEN_READ_ONLY
        };
        let opened = || -> rusqlite::Result<Connection> {
            // The mutex around it is the program's own.
            let conn = Connection::open_with_flags(path, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
            conn.busy_timeout(BUSY)?;
            if writes {
                conn.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")?;
            }
            // Journals of savepoints and sorted rows stay in memory: both are small.
            conn.execute_batch("PRAGMA foreign_keys = ON; PRAGMA cache_size = -16000; PRAGMA temp_store = MEMORY")?;
            // Without it a statement is planned anew when another value is bound.
            conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
            conn.set_prepared_statement_cache_capacity(KEPT);
            Ok(conn)
        };
        let state = State { conn: opened().map_err(failed)?, shapes: Shapes::default(), in_transaction: false };
        Ok(Arc::new(Self {
            state: Mutex::new(state),
            turn: AtomicU64::new(0),
            activity: Arc::default(),
            logged: AtomicI32::new(0),
        }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // What panicked while it had the connection has not left a transaction: that is looked at below.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on a statement that takes longer than `limit` is broken off.
    pub fn limit(&self, limit: Duration) -> Result<(), DbErr> {
        limit_statements(&self.state().conn, &self.activity, limit).map_err(failed)
    }

    /// From now on whoever commits says how long the write-ahead log is, and `SQLite` folds nothing of it by itself.
    pub fn watch_log(&self) {
        self.state().conn.wal_hook(Some(|_, pages| {
            LOGGED.set(pages);
            Ok(())
        }));
    }

    /// The right to use the connection until somebody else is given it.
    pub fn lease(self: &Arc<Self>) -> Lease {
        let turn = self.turn.fetch_add(1, Ordering::AcqRel) + 1;
        Lease { session: self.clone(), turn, notes: None, end: None }
    }

    /// Runs `BEGIN`, `COMMIT` or one of their like.
    pub fn control(&self, sql: &str, in_transaction: bool) -> Result<(), DbErr> {
        self.state().control(sql, in_transaction, &self.activity)
    }

    /// Takes the connection from whoever has it, and rolls back what was not committed.
    pub fn take_back(&self) {
        self.turn.fetch_add(1, Ordering::AcqRel);
        self.state().roll_back(&self.activity);
    }

    /// Whether the transaction that was begun is still there.
    pub fn is_in_transaction(&self) -> bool {
        !self.state().conn.is_autocommit()
    }

    /// Pages in the write-ahead log after the last commit, when somebody [watches it](Session::watch_log).
    pub fn logged(&self) -> i32 {
        self.logged.load(Ordering::Relaxed)
    }

    /// Folds what it can of the write-ahead log into the file, and waits for nobody.
    pub fn checkpoint(&self) -> Result<(), DbErr> {
        self.state().conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).map_err(failed)
    }
}

impl State {
    fn control(&mut self, sql: &str, in_transaction: bool, activity: &Activity) -> Result<(), DbErr> {
        activity.begins();
        let done = self.conn.prepare_cached(sql).and_then(|mut prepared| prepared.raw_execute());
        activity.ended();
        self.in_transaction = in_transaction;
        done.map(drop).map_err(failed)
    }

    fn roll_back(&mut self, activity: &Activity) {
        if !self.conn.is_autocommit() {
            // An error of it says that SQLite has rolled back by itself.
            drop(self.control("ROLLBACK", false, activity));
        }
        self.in_transaction = false;
    }
}

/// The right to use a connection for one transaction. Dropped without [`Lease::commit`], nothing happened.
pub(crate) struct Lease {
    session: Arc<Session>,
    turn: u64,
    /// Hears of each statement, and is let go when the transaction is over.
    notes: Option<Arc<Writes>>,
    end: Option<Box<dyn FnOnce() + Send + Sync>>,
}

impl Lease {
    /// Has `end` called when the connection is free again.
    pub fn ending(mut self, end: impl FnOnce() + Send + Sync + 'static) -> Self {
        self.end = Some(Box::new(end));
        self
    }

    /// Has `notes` hear of each statement.
    pub fn noting(mut self, notes: Arc<Writes>) -> Self {
        self.notes = Some(notes);
        self
    }

    /// Every statement passes here.
    fn note(&self, sql: &str) {
        count::statement();
        if let Some(notes) = &self.notes {
            notes.note(sql);
        }
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> Result<T, DbErr>) -> Result<T, DbErr> {
        blocking(|| {
            let mut state = self.session.state();
            if self.session.turn.load(Ordering::Acquire) != self.turn {
                return Err(undone("it took too long"));
            }
            if state.in_transaction && state.conn.is_autocommit() {
                return Err(undone("the database could not go on with it"));
            }
            self.session.activity.begins();
            let done = work(&mut state);
            self.session.activity.ended();
            done
        })
    }

    pub fn execute(&self, statement: &Statement) -> Result<ExecResult, DbErr> {
        self.note(&statement.sql);
        self.with(|state| {
            let mut prepared = state.conn.prepare_cached(&statement.sql).map_err(failed)?;
            let writes = !prepared.readonly();
            bind(&mut prepared, statement)?;
            // Not `raw_execute`, which refuses RETURNING.
            let mut rows = prepared.raw_query();
            while rows.next().map_err(failed)?.is_some() {}
            drop(rows);
            count::prepared_again(prepared.reset_status(StatementStatus::RePrepare));
            drop(prepared);
            // A statement that changes nothing leaves the count of the one before it.
            let rows_affected = if writes { state.conn.changes() } else { 0 };
            let last_insert_id = u64::try_from(state.conn.last_insert_rowid()).unwrap_or_default();
            Ok(ProxyExecResult { last_insert_id, rows_affected }.into())
        })
    }

    /// Executes `sql` once with the values of each row; how many rows that changed.
    pub fn execute_each(&self, sql: &str, rows: impl Iterator<Item = Vec<Value>>) -> Result<u64, DbErr> {
        self.with(|state| {
            let mut prepared = state.conn.prepare_cached(sql).map_err(failed)?;
            let mut statement = Statement::from_string(DbBackend::Sqlite, sql);
            let mut changed = 0;
            for values in rows {
                self.note(sql);
                statement.values = Some(Values(values));
                bind(&mut prepared, &statement)?;
                changed += prepared.raw_execute().map_err(failed)?;
            }
            Ok(u64::try_from(changed).unwrap_or(u64::MAX))
        })
    }

    pub fn execute_batch(&self, sql: &str) -> Result<ExecResult, DbErr> {
        self.note(sql);
        self.with(|state| {
            state.conn.execute_batch(sql).map_err(failed)?;
            Ok(ProxyExecResult::default().into())
        })
    }

    /// The rows of `statement`, each with what does not fit in it.
    fn rows(&self, statement: &Statement, how: Reading) -> Result<Vec<(QueryResult, Option<Misfit>)>, DbErr> {
        self.note(&statement.sql);
        self.with(|state| {
            let State { conn, shapes, .. } = state;
            let mut prepared = conn.prepare_cached(&statement.sql).map_err(failed)?;
            let shape = shapes.get(&prepared, &statement.sql, how)?;
            bind(&mut prepared, statement)?;
            let (mut rows, mut found) = (prepared.raw_query(), Vec::new());
            while let Some(row) = rows.next().map_err(failed)? {
                found.push(shape.row(row)?);
            }
            drop(rows);
            count::prepared_again(prepared.reset_status(StatementStatus::RePrepare));
            Ok(found)
        })
    }

    /// The rows of `statement` with their values as they are stored.
    pub fn stored(&self, statement: &Statement) -> Result<Vec<QueryResult>, DbErr> {
        let rows = self.rows(statement, Reading::Stored)?;
        Ok(rows.into_iter().map(|(row, _)| row).collect())
    }

    /// The rows of `statement` with the types of their columns, each by itself.
    pub fn each(&self, statement: &Statement) -> Result<Vec<(QueryResult, Option<Misfit>)>, DbErr> {
        self.rows(statement, Reading::Typed)
    }

    /// As [`Lease::each`], when all of them fit.
    pub fn typed(&self, statement: &Statement) -> Result<Vec<QueryResult>, DbErr> {
        let fitting = |(row, misfit): (QueryResult, Option<Misfit>)| match misfit {
            None => Ok(row),
            Some(misfit) => Err(misfit.error()),
        };
        self.each(statement)?.into_iter().map(fitting).collect()
    }

    pub fn begin(&self, sql: &str) -> Result<(), DbErr> {
        self.with(|state| state.control(sql, true, &self.session.activity))
    }

    /// Writes everything to the disk.
    pub fn commit(self) -> Result<(), DbErr> {
        self.with(|state| {
            let done = state.control("COMMIT", false, &self.session.activity);
            count::commit();
            if done.is_err() {
                state.roll_back(&self.session.activity);
            }
            self.session.logged.store(LOGGED.get(), Ordering::Relaxed);
            done
        })
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // One without an end is a job of the writer's thread, which looks after the transaction itself.
        if let Some(end) = self.end.take() {
            blocking(|| {
                let mut state = self.session.state();
                if self.session.turn.load(Ordering::Acquire) == self.turn {
                    state.roll_back(&self.session.activity);
                }
            });
            // Before the next transaction begins.
            self.notes = None;
            end();
        }
    }
}
