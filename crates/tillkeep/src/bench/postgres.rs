//! What `PostgreSQL` does with the same rows: its logical replication, and `COPY`. On a server that is handed in, in databases
//! of its own that are dropped again.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use futures_util::TryStreamExt;
use reqwest::Url;
use rusqlite::types::ValueRef;
use rusqlite::{OpenFlags, Row};
use tillkeep_storage::raw::sqlx::postgres::PgConnectOptions;
use tillkeep_storage::raw::sqlx::{
    AssertSqlSafe, ConnectOptions, Connection, PgConnection, query_as, query_scalar, raw_sql,
};
use uuid::Uuid;

/// A replication that has not copied everything by then does not work.
const PATIENCE: Duration = Duration::from_mins(5);
/// Between two looks at a replication.
const PAUSE: Duration = Duration::from_millis(2);
/// A connection of `PostgreSQL` tells its statistics no more often than this.
const STATISTICS_AFTER: Duration = Duration::from_millis(1100);
/// Bytes that are sent at once.
const PIECE: usize = 256 << 10;

/// A server where databases may be made.
pub struct Server {
    url: Url,
}

/// A database of this run.
pub struct Database {
    pub url: String,
    name: String,
    server: Url,
}

/// By which way rows came from one database into another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Replication,
    /// The server does not have `wal_level = logical`.
    Copy,
}

impl Server {
    /// A server that answers.
    pub async fn find(url: &str) -> Result<Self> {
        let url: Url = url.parse().context("--postgres: write postgres://user:password@host:5432/name")?;
        connect(url.as_str()).await.context("--postgres")?.close().await?;
        Ok(Self { url })
    }

    /// An empty database.
    pub async fn database(&self, purpose: &str) -> Result<Database> {
        let name = format!("tillkeep_bench_{}_{purpose}", Uuid::now_v7().simple());
        execute(
            &mut connect(self.url.as_str()).await?,
            &format!("CREATE DATABASE {name} ENCODING 'UTF8' TEMPLATE template0"),
        )
        .await?;
        let mut url = self.url.clone();
        url.set_path(&name);
        Ok(Database { url: url.into(), name, server: self.url.clone() })
    }

    /// How long the rows of `tables` of the `SQLite` file `source` take from one database into another one with the same
    /// tables and indexes.
    pub async fn replicate(&self, source: &Path, tables: &[&str]) -> Result<(Way, Duration)> {
        let (from, to) = (self.database("from").await?, self.database("to").await?);
        let done = transfer(&from, &to, source, tables).await;
        to.drop().await?;
        from.drop().await?;
        done
    }
}

async fn transfer(from: &Database, to: &Database, source: &Path, tables: &[&str]) -> Result<(Way, Duration)> {
    let (mut here, mut there) = (connect(&from.url).await?, connect(&to.url).await?);
    fill(&mut here, source, tables).await?;
    execute(&mut there, &schema(source, tables)?).await?;
    let level: String = query_scalar("SHOW wal_level").fetch_one(&mut here).await?;
    if level == "logical" {
        return Ok((Way::Replication, replicated(&mut here, &mut there, from, tables).await?));
    }
    let rows = copy_out(&mut here, tables).await?;
    let targets: Vec<String> = tables.iter().map(|table| (*table).to_owned()).collect();
    Ok((Way::Copy, copy_in(&mut there, &targets, &rows).await?))
}

/// As many tables at once as this server copies at once, from the first sign of work until all rows are there: a table more
/// would wait for the next round of the server, as each subscription waits for its start, and neither is work.
async fn replicated(
    here: &mut PgConnection,
    there: &mut PgConnection,
    from: &Database,
    tables: &[&str],
) -> Result<Duration> {
    let workers: String = query_scalar("SHOW max_sync_workers_per_subscription").fetch_one(&mut *there).await?;
    let at_once = workers.parse::<usize>()?.max(1);
    let mut took = Duration::ZERO;
    for (number, some) in tables.chunks(at_once).enumerate() {
        let name = format!("{}_{number}", from.name);
        execute(here, &format!("CREATE PUBLICATION {name} FOR TABLE {}", some.join(", "))).await?;
        // Made by the subscription it would wait for this very server.
        execute(here, &format!("SELECT pg_create_logical_replication_slot('{name}', 'pgoutput')")).await?;
        let url = from.url.replace('\'', "''");
        let sql = format!(
            "CREATE SUBSCRIPTION {name} CONNECTION '{url}' PUBLICATION {name} \
             WITH (create_slot = false, slot_name = '{name}')"
        );
        execute(there, &sql).await?;
        // `i` is a table before its copy has begun.
        until(there, "SELECT BOOL_OR(srsubstate <> 'i') FROM pg_subscription_rel").await?;
        let begun = Instant::now();
        // From `s` on a table is in step; that it is said to be ready comes a second later.
        until(there, "SELECT BOOL_AND(srsubstate IN ('s', 'r')) FROM pg_subscription_rel").await?;
        took += begun.elapsed();
        execute(there, &format!("DROP SUBSCRIPTION {name}")).await?;
    }
    Ok(took)
}

/// Waits until `sql` answers yes.
async fn until(conn: &mut PgConnection, sql: &'static str) -> Result<()> {
    let begun = Instant::now();
    while query_scalar::<_, Option<bool>>(sql).fetch_one(&mut *conn).await? != Some(true) {
        if begun.elapsed() > PATIENCE {
            bail!("PostgreSQL did not replicate within {} s", PATIENCE.as_secs());
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(())
}

impl Database {
    /// How long the rows of `tables` take into tables like them by binary `COPY`, in one transaction.
    pub async fn copy_again(&self, tables: &[&str]) -> Result<Duration> {
        let mut conn = connect(&self.url).await?;
        let rows = copy_out(&mut conn, tables).await?;
        let targets: Vec<String> = tables.iter().map(|table| format!("copied_{table}")).collect();
        for (table, target) in tables.iter().zip(&targets) {
            execute(&mut conn, &format!("CREATE TABLE {target} (LIKE {table} INCLUDING ALL)")).await?;
        }
        let took = copy_in(&mut conn, &targets, &rows).await?;
        execute(&mut conn, &format!("DROP TABLE {}", targets.join(", "))).await?;
        Ok(took)
    }

    /// Takes figures of its tables, as it does by itself within minutes of work: plans without them are no chain's.
    pub async fn analyze(&self) -> Result<()> {
        execute(&mut connect(&self.url).await?, "ANALYZE").await
    }

    /// How long statements have run in it so far, all connections together.
    pub async fn busy(&self) -> Result<Duration> {
        let mut conn = connect(&self.url).await?;
        // A connection tells what it did once it has been idle for a second.
        tokio::time::sleep(STATISTICS_AFTER).await;
        let sql = "SELECT active_time FROM pg_stat_database WHERE datname = current_database()";
        let millis: f64 = query_scalar(sql).fetch_one(&mut conn).await?;
        Ok(Duration::from_secs_f64(millis / 1000.0))
    }

    /// So many stores as the first one, which do not run either; all of them, as id, code and version of the token.
    pub async fn more_stores(&self, count: usize) -> Result<Vec<(Uuid, String, i32)>> {
        let mut conn = connect(&self.url).await?;
        let more = format!(
            "BEGIN; \
             INSERT INTO stores SELECT (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid(), \
             'code', 'N' || lpad(i::text, 6, '0'), 'name', 'Store ' || i, \
             'sync_version', (SELECT value FROM sync_counters WHERE entity_type = 'stores') + i))).* \
             FROM stores s, generate_series(1, {count}) i WHERE s.code = 'S01'; \
             UPDATE sync_counters SET value = value + {count} WHERE entity_type = 'stores'; COMMIT"
        );
        execute(&mut conn, &more).await?;
        let sql = "SELECT id, code, sync_token_version FROM stores WHERE code LIKE 'N%'";
        Ok(query_as(sql).fetch_all(&mut conn).await?)
    }

    pub async fn drop(self) -> Result<()> {
        execute(&mut connect(self.server.as_str()).await?, &format!("DROP DATABASE {} WITH (FORCE)", self.name)).await
    }
}

async fn connect(url: &str) -> Result<PgConnection> {
    let options: PgConnectOptions = url.parse()?;
    // What takes long here is meant to, and what the server notes of it is no news.
    let options = options.disable_statement_logging().options([("client_min_messages", "warning")]);
    PgConnection::connect_with(&options).await.context("PostgreSQL does not answer, or refuses the connection")
}

/// The texts have nothing in them that anybody typed but the address of the server.
async fn execute(conn: &mut PgConnection, sql: &str) -> Result<()> {
    raw_sql(AssertSqlSafe(sql.to_owned())).execute(conn).await?;
    Ok(())
}

async fn copy_out(conn: &mut PgConnection, tables: &[&str]) -> Result<Vec<Vec<u8>>> {
    let mut all = Vec::new();
    for table in tables {
        let pieces = conn.copy_out_raw(&format!("COPY {table} TO STDOUT (FORMAT binary)")).await?;
        all.push(
            pieces
                .try_fold(Vec::new(), async |mut rows, piece| {
                    rows.extend_from_slice(&piece);
                    Ok(rows)
                })
                .await?,
        );
    }
    Ok(all)
}

async fn copy_in(conn: &mut PgConnection, tables: &[String], rows: &[Vec<u8>]) -> Result<Duration> {
    let begun = Instant::now();
    let mut tx = conn.begin().await?;
    for (table, rows) in tables.iter().zip(rows) {
        let mut copy = tx.copy_in_raw(&format!("COPY {table} FROM STDIN (FORMAT binary)")).await?;
        for piece in rows.chunks(PIECE) {
            copy.send(piece).await?;
        }
        copy.finish().await?;
    }
    tx.commit().await?;
    Ok(begun.elapsed())
}

/// The tables of a `SQLite` file with their indexes, as `PostgreSQL` has them.
fn schema(source: &Path, tables: &[&str]) -> Result<String> {
    let conn = rusqlite::Connection::open_with_flags(source, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut select = conn.prepare(
        "SELECT sql FROM sqlite_master WHERE tbl_name = ?1 AND sql IS NOT NULL ORDER BY type = 'table' DESC",
    )?;
    let mut text = String::new();
    for table in tables {
        for sql in select.query_map([table], |row| row.get::<_, String>(0))? {
            let sql = sql?.replace(" uuid_text", " uuid").replace(" timestamp_with_timezone_text", " timestamptz");
            text.extend([&sql.replace(" integer", " bigint"), ";\n"]);
        }
    }
    Ok(text)
}

/// Makes the tables and writes the rows of a `SQLite` file into them.
async fn fill(conn: &mut PgConnection, source: &Path, tables: &[&str]) -> Result<()> {
    execute(conn, &schema(source, tables)?).await?;
    for table in tables {
        // In memory: a connection to SQLite does not wait beside one to PostgreSQL.
        let text = copy_text(source, table)?;
        let mut copy = conn.copy_in_raw(&format!("COPY {table} FROM STDIN")).await?;
        for piece in text.as_bytes().chunks(PIECE) {
            copy.send(piece).await?;
        }
        copy.finish().await?;
    }
    Ok(())
}

/// The rows of a table in the text form of `COPY`.
fn copy_text(source: &Path, table: &str) -> Result<String> {
    let conn = rusqlite::Connection::open_with_flags(source, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut select = conn.prepare(&format!("SELECT * FROM {table}"))?;
    let columns = select.column_count();
    let mut text = String::new();
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        for column in 0..columns {
            text.push_str(if column > 0 { "\t" } else { "" });
            value(row, column, &mut text)?;
        }
        text.push('\n');
    }
    Ok(text)
}

fn value(row: &Row, column: usize, text: &mut String) -> Result<()> {
    match row.get_ref(column)? {
        ValueRef::Null => text.push_str("\\N"),
        ValueRef::Integer(number) => write!(text, "{number}")?,
        ValueRef::Real(number) => write!(text, "{number}")?,
        ValueRef::Blob(bytes) => write!(text, "{}", Uuid::from_slice(bytes)?)?,
        ValueRef::Text(bytes) => {
            let plain = std::str::from_utf8(bytes)?;
            text.push_str(&plain.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_rows_of_sqlite_are_written_in_the_words_of_postgres() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("source.db");
        let conn = rusqlite::Connection::open(&path).expect("a file");
        conn.execute_batch(
            "CREATE TABLE t (\"id\" uuid_text NOT NULL, \"at\" timestamp_with_timezone_text, \"n\" integer, PRIMARY KEY (\"id\")); \
             CREATE INDEX ix_t_n ON t (n);
             INSERT INTO t VALUES (x'000102030405060708090a0b0c0d0e0f', 'a\\b' || char(9) || 'c' || char(10), 7), \
             (x'00000000000000000000000000000000', NULL, NULL)",
        )
        .expect("rows");
        assert_eq!(
            schema(&path, &["t"]).expect("a schema"),
            "CREATE TABLE t (\"id\" uuid NOT NULL, \"at\" timestamptz, \"n\" bigint, PRIMARY KEY (\"id\"));\n\
             CREATE INDEX ix_t_n ON t (n);\n"
        );
        assert_eq!(
            copy_text(&path, "t").expect("a text"),
            "00010203-0405-0607-0809-0a0b0c0d0e0f\ta\\\\b\\tc\\n\t7\n00000000-0000-0000-0000-000000000000\t\\N\t\\N\n"
        );
    }
}
