//! What a statement writes of what is kept in memory ([`crate::memory`]), as `SQLite` says it itself: it names each table
//! that a statement writes when it prepares it, triggers and what follows from keys included.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::{CachedStatement, Connection, Result};

use super::values::is_kept;
use crate::memory::Parts;

/// Something was prepared; beside it the [`Parts`] that it writes.
const PREPARED: u8 = 1 << 7;
/// Texts that are known; forgotten together when there are more.
const MOST: usize = 600;

/// What is known of the statements of one connection.
#[derive(Default)]
pub(super) struct Written {
    /// What the connection said last.
    said: Arc<AtomicU8>,
    known: HashMap<String, Parts>,
}

impl Written {
    /// From now on `conn` says what it prepares.
    pub(super) fn watch(&self, conn: &Connection) -> Result<()> {
        let said = self.said.clone();
        conn.authorizer(Some(move |about: AuthContext<'_>| {
            said.fetch_or(PREPARED | kept(about.action).bits(), Ordering::Relaxed);
            Authorization::Allow
        }))
    }

    /// A prepared statement, and what it writes of what is kept.
    pub(super) fn prepare<'conn>(
        &mut self,
        conn: &'conn Connection,
        sql: &str,
    ) -> Result<(CachedStatement<'conn>, Parts)> {
        if let Some(kept) = self.known.get(sql) {
            return Ok((conn.prepare_cached(sql)?, *kept));
        }
        let (prepared, kept) = self.noting(|| conn.prepare_cached(sql));
        let prepared = prepared?;
        if is_kept(&prepared, sql) {
            if self.known.len() >= MOST {
                self.known.clear();
            }
            self.known.insert(sql.to_owned(), kept);
        }
        Ok((prepared, kept))
    }

    /// Does `work`, which prepares statements; what they write of what is kept. Of one that was prepared before, nothing is
    /// said: it may write all of it.
    pub(super) fn noting<T>(&self, work: impl FnOnce() -> T) -> (T, Parts) {
        self.said.store(0, Ordering::Relaxed);
        let done = work();
        let said = self.said.load(Ordering::Relaxed);
        (done, if said & PREPARED == 0 { Parts::ALL } else { Parts::from_bits(said) })
    }
}

fn kept(action: AuthAction<'_>) -> Parts {
    match action {
        AuthAction::Insert { table_name }
        | AuthAction::Update { table_name, .. }
        | AuthAction::Delete { table_name }
        | AuthAction::DropTable { table_name }
        | AuthAction::AlterTable { table_name, .. } => Parts::of(table_name),
        _ => Parts::NONE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection() -> (Connection, Written) {
        let conn = Connection::open_in_memory().expect("a database");
        let tables = "CREATE TABLE products (id, price); CREATE TABLE stores (id, sync_version); CREATE TABLE tenders (id);
            CREATE TABLE product_specials (id);
            CREATE TABLE sales (id); CREATE TABLE store_product_dynamic (quantity); CREATE TABLE sync_outbox (entity_type);
            CREATE TABLE deeds (id); CREATE TRIGGER t AFTER INSERT ON deeds BEGIN UPDATE products SET price = 1; END;";
        conn.execute_batch(tables).expect("tables");
        let written = Written::default();
        written.watch(&conn).expect("a hook");
        (conn, written)
    }

    #[test]
    fn whatever_writes_a_table_that_is_kept_in_memory_is_known_from_all_else() {
        let (conn, mut written) = connection();
        for (sql, kept) in [
            ("INSERT INTO \"products\" (\"id\") VALUES ($1)", true),
            ("INSERT INTO products(id) VALUES ($1)", true),
            ("/* from elsewhere */ insert into main.products(id) VALUES ($1)", true),
            ("UPDATE stores SET sync_version = -1", true),
            ("DELETE FROM \"tenders\" WHERE id = $1", true),
            ("DELETE FROM tenders", true),
            ("REPLACE INTO products VALUES ($1, $2)", true),
            ("WITH w AS (SELECT 1) UPDATE products SET price = 1", true),
            ("INSERT OR REPLACE INTO products VALUES ($1, $2)", true),
            ("UPDATE OR IGNORE products SET price = 1", true),
            ("INSERT INTO products (id) VALUES ($1) ON CONFLICT DO NOTHING RETURNING id", true),
            ("INSERT INTO deeds VALUES ($1)", true),
            ("SELECT * FROM products", false),
            ("INSERT INTO \"sales\" (\"id\") SELECT id FROM products", false),
            ("UPDATE store_product_dynamic SET quantity = 1", false),
            ("DELETE FROM sync_outbox WHERE entity_type = 'products'", false),
        ] {
            let kept = if kept { Parts::SHELF } else { Parts::NONE };
            for time in ["first", "second"] {
                let (_, said) = written.prepare(&conn, sql).expect("a statement");
                assert_eq!(said, kept, "the {time} time: {sql}");
            }
        }
        for (sql, kept) in [
            ("DELETE FROM sync_outbox; DELETE FROM products", Parts::SHELF),
            ("DELETE FROM sync_outbox; DELETE FROM product_specials", Parts::SPECIALS),
            ("DELETE FROM product_specials; DELETE FROM products", Parts::ALL),
            ("ALTER TABLE products RENAME TO goods", Parts::SHELF),
            ("DROP TABLE tenders", Parts::SHELF),
            ("DELETE FROM sync_outbox; DELETE FROM sales", Parts::NONE),
        ] {
            let (done, said) = written.noting(|| conn.execute_batch(sql));
            done.expect("statements");
            assert_eq!(said, kept, "{sql}");
        }
    }

    #[test]
    fn a_statement_of_which_nothing_is_known_counts_as_one_that_writes() {
        let (conn, mut written) = connection();
        drop(conn.prepare_cached("SELECT * FROM sales").expect("a statement"));
        let (_, said) = written.prepare(&conn, "SELECT * FROM sales").expect("a statement");
        assert_eq!(said, Parts::ALL, "it was prepared before, so that the database says nothing of it");
    }
}
