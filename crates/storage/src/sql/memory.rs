//! Which commits change what a store server keeps in memory. `docs/sync.md`, "What a store keeps in memory".
//!
//! Every statement of a write transaction passes [`Writes::note`], whoever makes it: a pull, a reload, what came back from
//! headquarters, a person who edits a till. One that writes a table of [`TABLES`] raises the version of the database when
//! its transaction is over, and nothing that was read under an older version is used again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

pub use crate::entity::KEPT_IN_MEMORY as TABLES;

/// Counts the transactions of one database that wrote a table of [`TABLES`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Version(Arc<AtomicU64>);

impl Version {
    pub(crate) fn read(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// To be kept by a transaction until it is committed or undone.
    pub(crate) fn writes(&self) -> Arc<Writes> {
        Arc::new(Writes { version: self.clone(), some: AtomicBool::new(false) })
    }
}

/// Whether one transaction wrote a table of [`TABLES`]. Raises the version when the last of its owners drops it, after the end
/// of the transaction, whatever that was: an error may have come after the commit.
#[derive(Debug)]
pub(crate) struct Writes {
    version: Version,
    some: AtomicBool,
}

impl Writes {
    /// Looks at a statement of the transaction.
    pub(crate) fn note(&self, sql: &str) {
        let some = match Target::new(sql) {
            Target::Nothing => false,
            Target::Table(table) => TABLES.contains(&table),
            Target::Unknown => true,
        };
        if some {
            self.some.store(true, Ordering::Relaxed);
        }
    }
}

impl Drop for Writes {
    fn drop(&mut self) {
        if *self.some.get_mut() {
            self.version.0.fetch_add(1, Ordering::Release);
        }
    }
}

/// What a statement writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target<'sql> {
    Nothing,
    Table(&'sql str),
    /// It has a form that nobody uses here, or there is more than one statement.
    Unknown,
}

impl<'sql> Target<'sql> {
    pub(crate) fn new(sql: &'sql str) -> Self {
        let mut words = words(sql);
        let table = match words.next() {
            Some("SELECT") => return Self::Nothing,
            Some("INSERT") => words.next().filter(|word| *word == "INTO").and_then(|_| words.next()),
            Some("DELETE") => words.next().filter(|word| *word == "FROM").and_then(|_| words.next()),
            Some("UPDATE") => words.next().filter(|word| *word != "OR"),
            _ => None,
        };
        match table {
            Some(table) if !sql.contains(';') => Self::Table(table),
            _ => Self::Unknown,
        }
    }
}

/// The words of a statement, names without their quotes.
pub(crate) fn words(sql: &str) -> impl Iterator<Item = &str> {
    sql.split([' ', '\n', '"', '(']).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_writes_a_table_that_is_kept_in_memory_raises_the_version_and_nothing_else_does() {
        let version = Version::default();
        for (sql, raises) in [
            ("INSERT INTO \"products\" (\"id\") VALUES ($1)", true),
            ("INSERT INTO products(id) VALUES ($1)", true),
            ("UPDATE \"tax_rates\" SET \"rate_ppm\" = $1", true),
            ("UPDATE stores SET sync_version = -1", true),
            ("DELETE FROM \"tenders\" WHERE id = $1", true),
            ("REPLACE INTO products VALUES ($1)", true),
            ("WITH w AS (SELECT 1) UPDATE products SET price = 1", true),
            ("INSERT OR REPLACE INTO products VALUES ($1)", true),
            ("UPDATE OR IGNORE products SET price = 1", true),
            ("DELETE FROM sync_outbox; DELETE FROM products", true),
            ("SELECT * FROM products", false),
            ("INSERT INTO \"sales\" (\"id\") SELECT id FROM products", false),
            ("UPDATE store_product_dynamic SET quantity = 1", false),
            ("DELETE FROM sync_outbox WHERE entity_type = 'products'", false),
        ] {
            let before = version.read();
            let writes = version.writes();
            writes.note(sql);
            assert_eq!(version.read(), before, "not before the end: {sql}");
            drop(writes);
            assert_eq!(version.read() > before, raises, "{sql}");
        }
    }
}
