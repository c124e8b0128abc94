//! The limits of the database: what `SQLite` itself does with the settings of the servers, on the same disk, without any of
//! their code in between.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, params_from_iter};

use super::statistics::per_second;

/// Opens a file as the servers do: what is committed is on disk.
pub fn open(path: &Path) -> Result<Connection> {
    let conn = Connection::open(path)?;
    conn.pragma_update(None, "journal_mode", "WAL")?;
    conn.pragma_update(None, "synchronous", "FULL")?;
    conn.pragma_update(None, "cache_size", -16_000)?;
    conn.pragma_update(None, "foreign_keys", true)?;
    Ok(conn)
}

/// Durable commits of one row a second, one after the other, for so long.
pub fn commits(dir: &Path, time: Duration) -> Result<f64> {
    let conn = open(&dir.join("commits.db"))?;
    conn.execute_batch("CREATE TABLE IF NOT EXISTS commits (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")?;
    let mut insert = conn.prepare("INSERT INTO commits (text) VALUES (?1)")?;
    let begun = Instant::now();
    let mut count = 0;
    while begun.elapsed() < time {
        insert.execute(["a row of the size of a short line on a receipt"])?;
        count += 1;
    }
    Ok(per_second(count, begun.elapsed()))
}

/// Bytes of the pages of a database that hold something; what was deleted from leaves pages free.
pub fn held(path: &Path) -> Result<u64> {
    let conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let number = |name| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let pages = number("page_count")? - number("freelist_count")?;
    Ok(u64::try_from(pages * number("page_size")?)?)
}

/// Rows of one table that wait to be inserted.
struct Part {
    insert: String,
    rows: Vec<Vec<Value>>,
}

/// How long the rows of `tables` of the file `source` take into a new file with the same tables and indexes, one by one by
/// prepared statements, in so many transactions, each with its share of every table. Reading them does not count.
pub fn insert_again(source: &Path, tables: &[&str], target: &Path, transactions: usize) -> Result<Duration> {
    let from = Connection::open_with_flags(source, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut to = open(target)?;
    let schema = "SELECT sql FROM sqlite_master WHERE tbl_name = ?1 AND sql IS NOT NULL ORDER BY type = 'table' DESC";
    let mut schema = from.prepare(schema)?;
    let mut at = Vec::new();
    for table in tables {
        let texts: Vec<String> = schema.query_map([table], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        to.execute_batch(&texts.join(";"))?;
        let count: i64 = from.query_row(&format!("SELECT COUNT(*) FROM {table}"), [], |row| row.get(0))?;
        at.push((*table, 0_i64, usize::try_from(count)?.div_ceil(transactions)));
    }
    let mut took = Duration::ZERO;
    for _ in 0..transactions {
        let parts: Vec<Part> =
            at.iter_mut().map(|(table, last, rows)| part(&from, table, last, *rows)).collect::<Result<_>>()?;
        let begun = Instant::now();
        let tx = to.transaction()?;
        for part in &parts {
            let mut insert = tx.prepare_cached(&part.insert)?;
            for row in &part.rows {
                insert.execute(params_from_iter(row))?;
            }
        }
        tx.commit()?;
        took += begun.elapsed();
    }
    Ok(took)
}

/// The next rows of a table after the row `last`.
fn part(from: &Connection, table: &str, last: &mut i64, most: usize) -> Result<Part> {
    let mut select =
        from.prepare_cached(&format!("SELECT rowid, * FROM {table} WHERE rowid > ?1 ORDER BY rowid LIMIT ?2"))?;
    let columns = select.column_count();
    let read = select.query_map((*last, i64::try_from(most)?), |row| {
        let values = (1..columns).map(|column| row.get(column)).collect::<rusqlite::Result<Vec<Value>>>()?;
        Ok((row.get::<_, i64>(0)?, values))
    })?;
    let mut rows = Vec::with_capacity(most);
    for row in read {
        let (id, values) = row?;
        *last = id;
        rows.push(values);
    }
    let holes = vec!["?"; columns - 1].join(", ");
    Ok(Part { insert: format!("INSERT INTO {table} VALUES ({holes})"), rows })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_of_commits_that_are_on_disk() {
        let dir = tempfile::tempdir().expect("a directory");
        assert!(commits(dir.path(), Duration::from_millis(5)).expect("commits") > 0.0);
        let conn = open(&dir.path().join("commits.db")).expect("the file");
        let pragma = |name| conn.pragma_query_value(None, name, |row| row.get::<_, String>(0)).expect("a setting");
        assert_eq!(pragma("journal_mode"), "wal");
        let synchronous: i64 = conn.pragma_query_value(None, "synchronous", |row| row.get(0)).expect("a setting");
        assert_eq!(synchronous, 2);
        let rows: i64 = conn.query_row("SELECT COUNT(*) FROM commits", [], |row| row.get(0)).expect("a count");
        assert!(rows > 0);
    }

    #[test]
    fn what_is_deleted_holds_nothing_and_what_is_written_is_counted_before_it_is_in_the_file() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("held.db");
        let conn = open(&path).expect("the file");
        conn.execute_batch("CREATE TABLE t (b BLOB)").expect("a table");
        let empty = held(&path).expect("bytes");
        conn.execute_batch("INSERT INTO t VALUES (zeroblob(1000000))").expect("a row");
        let full = held(&path).expect("bytes");
        assert!((990_000..1_100_000).contains(&(full - empty)), "{empty} {full}");
        conn.execute_batch("DELETE FROM t").expect("deleted");
        assert_eq!(held(&path).expect("bytes"), empty);
    }

    #[test]
    fn rows_are_inserted_again_with_their_indexes_in_as_many_transactions() {
        let dir = tempfile::tempdir().expect("a directory");
        let (source, target) = (dir.path().join("source.db"), dir.path().join("target.db"));
        let from = open(&source).expect("a file");
        from.execute_batch(
            "CREATE TABLE parents (id BLOB PRIMARY KEY, name TEXT); CREATE INDEX names ON parents (name); \
             CREATE TABLE children (id INTEGER PRIMARY KEY, parent BLOB REFERENCES parents (id), price REAL); \
             WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) \
             INSERT INTO parents SELECT CAST(printf('%02d', i) AS BLOB), NULL FROM n; \
             INSERT INTO children SELECT NULL, id, p FROM parents JOIN (SELECT 1.5 AS p UNION SELECT 2) ORDER BY id",
        )
        .expect("rows");
        assert!(insert_again(&source, &["parents", "children"], &target, 3).expect("inserted") > Duration::ZERO);
        let to = open(&target).expect("a file");
        let all = "SELECT group_concat(quote(p.id) || quote(p.name) || quote(c.id) || quote(c.price), ',') \
                   FROM (SELECT * FROM parents ORDER BY id) p JOIN children c ON c.parent = p.id";
        let text = |conn: &Connection| conn.query_row(all, [], |row| row.get::<_, String>(0)).expect("a text");
        assert_eq!(text(&to), text(&from));
        let indexes: i64 =
            to.query_row("SELECT COUNT(*) FROM sqlite_master WHERE name = 'names'", [], |row| row.get(0)).expect("one");
        assert_eq!(indexes, 1);
    }
}
