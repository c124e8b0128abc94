//! The right to use a connection for one transaction.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rusqlite::{CachedStatement, Connection, StatementStatus};
use sea_orm::sea_query::Values;
use sea_orm::{DbBackend, DbErr, ExecResult, ProxyExecResult, QueryResult, Statement, Value};

use super::blocking::blocking;
use super::errors::{failed, undone};
use super::places::counted;
use super::session::{Session, State};
use super::values::{Found, Reading, bind, is_kept};
use super::written::Written;
use crate::count;
use crate::memory::Writes;

/// The right to use a connection for one transaction. Dropped without [`Lease::commit`], nothing happened.
pub(crate) struct Lease {
    session: Arc<Session>,
    turn: u64,
    /// Hears of statements that write what is kept in memory, and is let go when the transaction is over.
    notes: Option<Arc<Writes>>,
    end: Option<Box<dyn FnOnce() + Send + Sync>>,
}

impl Lease {
    /// Of the connection of `session`, until another caller is given it.
    pub(crate) fn new(session: &Arc<Session>) -> Self {
        let turn = session.turn.fetch_add(1, Ordering::AcqRel) + 1;
        Self { session: session.clone(), turn, notes: None, end: None }
    }

    /// Has `end` called when the connection is free again.
    pub(crate) fn ending(mut self, end: impl FnOnce() + Send + Sync + 'static) -> Self {
        self.end = Some(Box::new(end));
        self
    }

    /// Has `notes` hear of statements that write what is kept in memory.
    pub(crate) fn noting(mut self, notes: Arc<Writes>) -> Self {
        self.notes = Some(notes);
        self
    }

    /// A statement, of which `notes` hears. Every one passes here, but for those of [`Lease::execute_batch`].
    fn prepared<'conn>(
        &self,
        written: &mut Written,
        conn: &'conn Connection,
        sql: &str,
    ) -> Result<CachedStatement<'conn>, DbErr> {
        let Some(notes) = &self.notes else { return conn.prepare_cached(sql).map_err(failed) };
        let (prepared, kept) = written.prepare(conn, sql).map_err(failed)?;
        notes.note(kept);
        Ok(prepared)
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> Result<T, DbErr>) -> Result<T, DbErr> {
        blocking(|| self.here(work))
    }

    /// As [`Lease::with`], where a transaction begins or ends. One that reads has nothing to wait for then, and to let other tasks
    /// go on elsewhere would cost more than it takes.
    fn at_an_end<T>(&self, work: impl FnOnce(&mut State) -> Result<T, DbErr>) -> Result<T, DbErr> {
        if self.session.writes { self.with(work) } else { self.here(work) }
    }

    fn here<T>(&self, work: impl FnOnce(&mut State) -> Result<T, DbErr>) -> Result<T, DbErr> {
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
    }

    pub(crate) fn execute(&self, statement: &Statement) -> Result<ExecResult, DbErr> {
        count::statement();
        self.with(|state| {
            let State { conn, written, .. } = state;
            let sql = counted(&statement.sql);
            let mut prepared = self.prepared(written, conn, &sql)?;
            let writes = !prepared.readonly();
            bind(&mut prepared, statement)?;
            // Not `raw_execute`, which refuses RETURNING.
            let mut rows = prepared.raw_query();
            while rows.next().map_err(failed)?.is_some() {}
            drop(rows);
            done_with(prepared, &sql);
            // A statement that changes nothing leaves the count of the one before it.
            let rows_affected = if writes { conn.changes() } else { 0 };
            let last_insert_id = u64::try_from(conn.last_insert_rowid()).unwrap_or_default();
            Ok(ProxyExecResult { last_insert_id, rows_affected }.into())
        })
    }

    /// Executes `sql` once with the values of each row; how many rows that changed.
    pub(crate) fn execute_each(&self, sql: &str, rows: impl Iterator<Item = Vec<Value>>) -> Result<u64, DbErr> {
        self.with(|state| {
            let State { conn, written, .. } = state;
            // One text, however many rows: what it writes is looked for once.
            let mut prepared = self.prepared(written, conn, &counted(sql))?;
            let mut statement = Statement::from_string(DbBackend::Sqlite, sql);
            let mut changed = 0;
            for values in rows {
                count::statement();
                statement.values = Some(Values(values));
                bind(&mut prepared, &statement)?;
                changed += prepared.raw_execute().map_err(failed)?;
            }
            Ok(u64::try_from(changed).unwrap_or(u64::MAX))
        })
    }

    pub(crate) fn execute_batch(&self, sql: &str) -> Result<ExecResult, DbErr> {
        count::statement();
        self.with(|state| {
            let (done, kept) = state.written.noting(|| state.conn.execute_batch(sql));
            if let Some(notes) = &self.notes {
                notes.note(kept);
            }
            done.map_err(failed)?;
            Ok(ProxyExecResult::default().into())
        })
    }

    /// Gives `take` the rows of `statement`, one by one, until it has enough.
    fn visit(
        &self,
        statement: &Statement,
        how: Reading,
        mut take: impl FnMut(&Found<'_>) -> Result<ControlFlow<()>, DbErr>,
    ) -> Result<(), DbErr> {
        count::statement();
        self.with(|state| {
            let State { conn, shapes, written, .. } = state;
            let sql = counted(&statement.sql);
            let mut prepared = self.prepared(written, conn, &sql)?;
            let shape = shapes.get(&prepared, &sql, how)?;
            bind(&mut prepared, statement)?;
            let (mut rows, mut found) = (prepared.raw_query(), 0);
            while let Some(row) = rows.next().map_err(failed)? {
                found += 1;
                if take(&Found::new(&shape, row))?.is_break() {
                    break;
                }
            }
            drop(rows);
            done_with(prepared, &sql);
            count::rows(found);
            Ok(())
        })
    }

    /// The rows of `statement`; an error when something in one of them does not fit.
    fn fitting(&self, statement: &Statement, how: Reading) -> Result<Vec<QueryResult>, DbErr> {
        let mut found = Vec::new();
        self.visit(statement, how, |row| {
            let (row, misfit) = row.whole()?;
            found.push(misfit.map_or(Ok(row), Err)?);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(found)
    }

    /// Gives `take` the rows of `statement` with the types of their columns, one by one, until it has enough.
    pub(crate) fn scan(
        &self,
        statement: &Statement,
        take: impl FnMut(&Found<'_>) -> Result<ControlFlow<()>, DbErr>,
    ) -> Result<(), DbErr> {
        self.visit(statement, Reading::Typed, take)
    }

    /// The rows of `statement` with the types of their columns; an error when one does not fit.
    pub(crate) fn typed(&self, statement: &Statement) -> Result<Vec<QueryResult>, DbErr> {
        self.fitting(statement, Reading::Typed)
    }

    /// The rows of `statement` with their values as they are stored; an error when one can be of no type.
    pub(crate) fn stored(&self, statement: &Statement) -> Result<Vec<QueryResult>, DbErr> {
        self.fitting(statement, Reading::Stored)
    }

    pub(crate) fn begin(&self, sql: &str) -> Result<(), DbErr> {
        self.at_an_end(|state| state.control(sql, true, &self.session.activity))
    }

    /// Writes everything to the disk.
    pub(crate) fn commit(self) -> Result<(), DbErr> {
        self.at_an_end(|state| {
            let (done, logged) = state.commit(&self.session.activity);
            if let Some(pages) = logged {
                self.session.logged.store(pages, Ordering::Relaxed);
            }
            done
        })
    }
}

/// Keeps the statement for the next time, unless it is long.
fn done_with(prepared: CachedStatement<'_>, sql: &str) {
    count::prepared_again(prepared.reset_status(StatementStatus::RePrepare));
    if !is_kept(&prepared, sql) {
        prepared.discard();
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // One without an end is a job of the writer's thread, which looks after the transaction itself.
        if let Some(end) = self.end.take() {
            let roll_back = || {
                let mut state = self.session.state();
                if self.session.turn.load(Ordering::Acquire) == self.turn {
                    state.roll_back(&self.session.activity);
                }
            };
            if self.session.writes {
                blocking(roll_back);
            } else {
                roll_back();
            }
            // Before the next transaction begins.
            self.notes = None;
            end();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_more_values_than_a_list_of_two_thousand_is_prepared_each_time() {
        let conn = Connection::open_in_memory().expect("a database");
        for (values, kept) in [(1, true), (2_050, true), (4_096, false)] {
            let sql = format!("SELECT 1 WHERE 1 IN ({})", vec!["?"; values].join(", "));
            let mut prepared = conn.prepare_cached(&sql).expect("a statement");
            assert!(prepared.raw_query().next().expect("no rows").is_none());
            done_with(prepared, &sql);
            let again = conn.prepare_cached(&sql).expect("a statement");
            assert_eq!(again.get_status(StatementStatus::Run) > 0, kept, "{values} values");
        }
    }
}
