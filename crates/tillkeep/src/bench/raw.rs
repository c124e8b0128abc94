//! The limits of the database: what `SQLite` itself does with the settings of the servers, on the same disk, without any of
//! their code in between.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use rusqlite::Connection;

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
}
