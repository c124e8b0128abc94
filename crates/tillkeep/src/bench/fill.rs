//! Large tables within seconds: one row that the server itself has made, copied many times inside of the database while no
//! server runs. It asks the database for the columns, so that it fits every release.

use std::path::Path;

use anyhow::{Context, Result};
use rusqlite::Connection;

/// Copies of one row.
pub struct Copies {
    pub table: &'static str,
    /// Which row, such as `sku = 'SKU-000000'`.
    pub row: &'static str,
    /// What differs, as SQL over the row `t` and the number `n.i`, from 1 on.
    pub but: &'static [(&'static str, &'static str)],
}

/// A new id, rising with the number as the ids of new rows do, for `but`.
pub const ID: (&str, &str) =
    ("id", "CAST(substr(t.id, 1, 8) || unhex(printf('80%014x', n.i + (SELECT MAX(rowid) FROM {table}))) AS BLOB)");
/// An id that is like no other one.
pub const RANDOM: &str = "randomblob(16)";
/// The sale that was copied last but so many.
pub const SALE: (&str, &str) =
    ("sale_id", "(SELECT s.id FROM sales s WHERE s.rowid = (SELECT MAX(rowid) FROM sales) + 1 - n.i)");
/// The next versions of the type, see [`count_versions`].
pub const VERSION: (&str, &str) = ("sync_version", "n.i + (SELECT MAX(m.sync_version) FROM {table} m)");

impl Copies {
    /// Writes so many into the database at `path`.
    pub fn write(&self, path: &Path, count: usize) -> Result<()> {
        let conn = Connection::open(path)?;
        let table = self.table;
        let columns = columns(&conn, table)?;
        let values: Vec<String> = columns
            .iter()
            .map(|column| {
                let other = self.but.iter().find(|(name, _)| name == column);
                other.map_or_else(|| format!("t.\"{column}\""), |(_, sql)| sql.replace("{table}", table))
            })
            .collect();
        let sql = format!(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) \
             INSERT INTO {table} (\"{}\") SELECT {} FROM n CROSS JOIN {table} t WHERE t.rowid = \
             (SELECT rowid FROM {table} WHERE {} LIMIT 1)",
            columns.join("\", \""),
            values.join(", "),
            self.row
        );
        conn.execute(&sql, [i64::try_from(count)?]).with_context(|| format!("copies of a row of {table}"))?;
        Ok(())
    }
}

/// Gives every store that has no rows in `table` those of the first one, which are as many as a store has that does its work.
pub fn of_every_store(path: &Path, table: &str) -> Result<()> {
    let conn = Connection::open(path)?;
    let others = columns(&conn, table)?.into_iter().filter(|column| column != "store_id").collect::<Vec<_>>();
    let sql = format!(
        "INSERT INTO {table} (store_id, \"{0}\") SELECT s.id, t.\"{1}\" FROM stores s CROSS JOIN {table} t \
         WHERE t.store_id = (SELECT id FROM stores WHERE code = 'S01') \
         AND NOT EXISTS (SELECT 1 FROM {table} o WHERE o.store_id = s.id)",
        others.join("\", \""),
        others.join("\", t.\"")
    );
    conn.execute(&sql, []).with_context(|| format!("rows of {table} for each store"))?;
    Ok(())
}

fn columns(conn: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    conn.prepare("SELECT name FROM pragma_table_info(?1)")?.query_map([table], |row| row.get(0))?.collect()
}

/// Sets the counter of a type to the highest version of its rows; that version.
pub fn count_versions(path: &Path, table: &str) -> Result<i64> {
    let conn = Connection::open(path)?;
    let head = format!("SELECT MAX(sync_version) FROM {table}");
    let version: i64 = conn.query_row(&head, [], |row| row.get(0))?;
    conn.execute("UPDATE sync_counters SET value = ?1 WHERE entity_type = ?2", (version, table))?;
    Ok(version)
}
