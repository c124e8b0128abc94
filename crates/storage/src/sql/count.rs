//! How many statements were made, for tests that hold a limit on them.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU64, Ordering};

use sea_orm::Statement;

static STATEMENTS: AtomicU64 = AtomicU64::new(0);
static COMMITS: AtomicU64 = AtomicU64::new(0);
static PREPARED_AGAIN: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static MOST_ROWS: Cell<usize> = const { Cell::new(0) };
    static HEARD: RefCell<Option<Vec<Statement>>> = const { RefCell::new(None) };
}

/// Notes how many rows a statement of `SQLite` gave.
#[inline]
pub(crate) fn rows(count: usize) {
    MOST_ROWS.with(|most| most.set(most.get().max(count)));
}

/// The most rows that one statement of `SQLite` gave on this thread since it was asked before.
pub fn most_rows() -> usize {
    MOST_ROWS.take()
}

/// Keeps a statement that asks for rows, while somebody listens.
#[inline]
pub(crate) fn hear(statement: impl FnOnce() -> Statement) {
    HEARD.with_borrow_mut(|heard| {
        if let Some(heard) = heard {
            heard.push(statement());
        }
    });
}

/// What was asked for rows on this thread since it was listened to before; nothing the first time.
pub fn heard() -> Vec<Statement> {
    HEARD.replace(Some(Vec::new())).unwrap_or_default()
}

/// Counts one.
#[inline]
pub(crate) fn statement() {
    STATEMENTS.fetch_add(1, Ordering::Relaxed);
}

/// Counts what a statement had to be prepared again for by itself.
#[inline]
pub(crate) fn prepared_again(times: i32) {
    PREPARED_AGAIN.fetch_add(u64::try_from(times).unwrap_or_default(), Ordering::Relaxed);
}

/// How often `SQLite` planned a statement of this process again while it ran: for a value that it found bound, or for
/// another schema.
pub fn replanned() -> u64 {
    PREPARED_AGAIN.load(Ordering::Relaxed)
}

/// Statements of this process so far, of all its databases. Those that begin and end transactions are not among them.
pub fn statements() -> u64 {
    STATEMENTS.load(Ordering::Relaxed)
}

/// Counts a commit.
#[inline]
pub(crate) fn commit() {
    COMMITS.fetch_add(1, Ordering::Relaxed);
}

/// Commits to `SQLite` of this process so far, of all its databases. Several transactions may share one.
pub fn commits() -> u64 {
    COMMITS.load(Ordering::Relaxed)
}
