//! One connection, which several may have, one after the other.

use std::cell::Cell;
use std::path::Path;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use sea_orm::DbErr;

use super::errors::failed;
use super::limits::{Activity, limit_statements};
use super::values::Shapes;
use super::written::Written;
use crate::count;

/// What another program on the same file may make this one wait.
const BUSY: Duration = Duration::from_secs(10);
/// Bytes of the write-ahead log that are kept when it starts over.
const LONGEST_LOG: i64 = 64 << 20;
/// Prepared statements that a connection keeps.
const KEPT: usize = 300;
/// KiB of pages that the connection that writes keeps in memory.
const WRITER_CACHE: i64 = 16_000;
/// The same of one that reads. There are up to fourteen of them, each of which keeps what it has read until it is idle for long,
/// and what one does not find is still in the memory of the kernel.
const READER_CACHE: i64 = 2_000;
/// The same of one that only folds the write-ahead log, past what it keeps.
const FOLDER_CACHE: i64 = 1_000;

thread_local! {
    /// Pages in the write-ahead log, when the last commit of this thread wrote any.
    static LOGGED: Cell<Option<i32>> = const { Cell::new(None) };
}

/// A connection that several may have, one after the other.
pub(crate) struct Session {
    state: Mutex<State>,
    /// Whether it may write.
    pub(super) writes: bool,
    /// Which transaction it is that has the connection. Who was given an earlier one is refused.
    pub(super) turn: AtomicU64,
    pub(super) activity: Arc<Activity>,
    /// Pages in the write-ahead log after the last commit.
    pub(super) logged: AtomicI32,
}

pub(super) struct State {
    pub conn: Connection,
    pub shapes: Shapes,
    pub written: Written,
    /// `SQLite` ends a transaction by itself on some errors (disk full): what came after would be committed one by one.
    pub in_transaction: bool,
}

impl Session {
    /// Opens the file at `path`; the one that writes makes it when it is missing.
    pub(crate) fn open(path: &Path, writes: bool) -> Result<Arc<Self>, DbErr> {
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
                // What the log grew by while readers held it up is given back.
                conn.pragma_update(None, "journal_size_limit", LONGEST_LOG)?;
            }
            conn.execute_batch("PRAGMA foreign_keys = ON")?;
            // A negative number is KiB instead of pages.
            conn.pragma_update(None, "cache_size", if writes { -WRITER_CACHE } else { -READER_CACHE })?;
            // Without it a statement is planned again when another value is bound.
            conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
            conn.set_prepared_statement_cache_capacity(KEPT);
            Ok(conn)
        };
        let (conn, written) = (opened().map_err(failed)?, Written::default());
        if writes {
            written.watch(&conn).map_err(failed)?;
        }
        let state = State { conn, shapes: Shapes::default(), written, in_transaction: false };
        Ok(Arc::new(Self {
            state: Mutex::new(state),
            writes,
            turn: AtomicU64::new(0),
            activity: Arc::default(),
            logged: AtomicI32::new(0),
        }))
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // What panicked while it had the connection has not left a transaction: that is looked at below.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on a statement that takes longer than `limit` is broken off.
    pub(crate) fn limit(&self, limit: Duration) -> Result<(), DbErr> {
        limit_statements(&self.state().conn, &self.activity, limit).map_err(failed)
    }

    /// From now on journals of savepoints stay in memory. Not where the schema is changed: an index of millions of rows
    /// is sorted in memory as well then.
    pub(crate) fn keep_journals_in_memory(&self) -> Result<(), DbErr> {
        self.state().conn.execute_batch("PRAGMA temp_store = MEMORY").map_err(failed)
    }

    /// From now on it keeps hardly any pages.
    pub(crate) fn keep_few_pages(&self) -> Result<(), DbErr> {
        self.state().conn.pragma_update(None, "cache_size", -FOLDER_CACHE).map_err(failed)
    }

    /// Gives back what it keeps of the file and nobody uses now.
    pub(crate) fn release_memory(&self) {
        if let Err(error) = self.state().conn.release_memory() {
            tracing::debug!(%error, "an idle connection keeps its memory");
        }
    }

    /// From now on whoever commits says how long the write-ahead log is, and `SQLite` folds nothing of it by itself.
    pub(crate) fn watch_log(&self) {
        self.state().conn.wal_hook(Some(|_, pages| {
            LOGGED.set(Some(pages));
            Ok(())
        }));
    }

    /// Runs `BEGIN`, `COMMIT` or one of their like.
    pub(crate) fn control(&self, sql: &str, in_transaction: bool) -> Result<(), DbErr> {
        self.state().control(sql, in_transaction, &self.activity)
    }

    /// Takes the connection from whoever has it, and rolls back what was not committed.
    pub(crate) fn take_back(&self) {
        self.turn.fetch_add(1, Ordering::AcqRel);
        self.state().roll_back(&self.activity);
    }

    /// Whether the transaction that was begun is still there.
    pub(crate) fn is_in_transaction(&self) -> bool {
        !self.state().conn.is_autocommit()
    }

    /// Pages in the write-ahead log after the last commit, when the writer [watches it](Session::watch_log).
    pub(crate) fn logged(&self) -> i32 {
        self.logged.load(Ordering::Relaxed)
    }

    /// Folds what it can of the write-ahead log into the file, and waits for no reader; how many pages of the log are folded then.
    pub(crate) fn checkpoint(&self) -> Result<i32, DbErr> {
        self.state().conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get(2)).map_err(failed)
    }

    /// Folds all of the write-ahead log into the file, and has it start over if its readers let it. Waits for them
    /// up to `patience`.
    pub(crate) fn restart_log(&self, patience: Duration) -> Result<(), DbErr> {
        let state = self.state();
        let restarted = || -> rusqlite::Result<()> {
            state.conn.busy_timeout(patience)?;
            // Whether readers were in the way is of no use to anybody: it is tried again.
            state.conn.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(()))
        };
        let restarted = restarted();
        state.conn.busy_timeout(BUSY).map_err(failed)?;
        restarted.map_err(failed)
    }
}

impl State {
    pub(super) fn control(&mut self, sql: &str, in_transaction: bool, activity: &Activity) -> Result<(), DbErr> {
        activity.begins();
        let done = self.conn.prepare_cached(sql).and_then(|mut prepared| prepared.raw_execute());
        activity.ended();
        self.in_transaction = in_transaction;
        done.map(drop).map_err(failed)
    }

    /// Writes everything to the disk; with the pages that the write-ahead log has then, when this wrote any.
    pub(super) fn commit(&mut self, activity: &Activity) -> (Result<(), DbErr>, Option<i32>) {
        LOGGED.set(None);
        let done = self.control("COMMIT", false, activity);
        count::commit();
        if done.is_err() {
            self.roll_back(activity);
        }
        (done, LOGGED.take())
    }

    pub(super) fn roll_back(&mut self, activity: &Activity) {
        if !self.conn.is_autocommit() {
            // An error of it says that SQLite has rolled back by itself.
            drop(self.control("ROLLBACK", false, activity));
        }
        self.in_transaction = false;
    }
}
