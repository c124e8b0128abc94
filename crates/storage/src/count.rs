//! How many statements were made, for tests that hold a limit on them.

use std::sync::atomic::{AtomicU64, Ordering};

static STATEMENTS: AtomicU64 = AtomicU64::new(0);

/// Counts one.
#[inline]
pub(crate) fn statement() {
    STATEMENTS.fetch_add(1, Ordering::Relaxed);
}

/// Statements of this process so far, of all its databases. Those that begin and end transactions are not among them.
pub fn statements() -> u64 {
    STATEMENTS.load(Ordering::Relaxed)
}
