//! The connections of a database: how many there are for what, and what holds on each of them.
//!
//! `SQLite` has one writing connection, so that writers queue in the program and never fail with "busy", and readers for
//! each purpose. `PostgreSQL` has writers and readers for each purpose.

#![expect(clippy::disallowed_methods, reason = "asks PostgreSQL alone")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, DbErr, Statement};

use super::hosts::{self, Hosts, Settings};
use crate::db::query;
use crate::sql::connection::Connection;
use crate::sql::opening::SQLITE_SYNC_READERS;
use crate::sql::sqlite::{self, Writer};
use crate::{Opening, Side, migration, upgrade};

/// Oldest `SQLite` without the WAL-reset corruption.
const OLDEST_SQLITE: (u32, u32, u32) = (3, 51, 3);
/// Read connections of each purpose to an embedded database.
const SQLITE_READERS: u32 = 4;
/// Oldest `PostgreSQL` that the tests run on.
const OLDEST_POSTGRES: i32 = 15;

/// The connections for one purpose.
#[derive(Clone)]
pub(crate) struct Pool {
    pub writer: Writers,
    pub reader: Connection,
}

/// What writes.
#[derive(Clone)]
pub(crate) enum Writers {
    Postgres(DatabaseConnection),
    Sqlite(Writer),
}

/// Opens the pools for people and for the sync, in this order, of a database with a schema that is up to date then.
pub(crate) async fn open(url: &str, side: Side, opening: Opening) -> Result<(Pool, Pool), DbErr> {
    if let Some(path) = file_of(url) {
        let alone = sqlite::Pool::open(&path, true, 1, None)?;
        let conn = Connection::from(alone.clone());
        assert_sqlite_is_durable(&conn).await?;
        upgrade::run(&conn, side, migration::STEPS).await?;
        drop(conn);
        let writer = Writers::Sqlite(Writer::start(alone.into_session()?, &path, opening)?);
        let readers =
            |most| sqlite::Pool::open(&path, false, most, Some(opening.longest_statement)).map(Connection::from);
        let people = Pool { writer: writer.clone(), reader: readers(SQLITE_READERS)? };
        let sync = match side {
            Side::Hq => Pool { writer, reader: readers(SQLITE_SYNC_READERS)? },
            // A store serves people alone; its own cycle makes one request at a time.
            Side::Store => people.clone(),
        };
        return Ok((people, sync));
    }
    let (hosts, each) = (Hosts::find(url).await?, opening.in_each());
    let pool = async |purpose: &str| {
        Ok::<_, DbErr>(Pool {
            writer: Writers::Postgres(postgres(&hosts, each, &format!("tillkeep {purpose} write"), WRITING).await?),
            reader: postgres(&hosts, each, &format!("tillkeep {purpose} read"), READING).await?.into(),
        })
    };
    let people = pool("people").await?;
    if let Writers::Postgres(conn) = &people.writer {
        assert_postgres_is_durable(conn, opening.accept_unsafe).await?;
    }
    let sync = pool("sync").await?;
    hosts.follow();
    let patient = Connection::from(open_to_migrate(url).await?);
    upgrade::run(&patient, side, migration::STEPS).await?;
    patient.close().await?;
    Ok((people, sync))
}

/// Waits for a `PostgreSQL` that starts; nothing else is waited for.
pub(crate) async fn wait_for(url: &str, patience: Duration) -> Result<(), DbErr> {
    if file_of(url).is_some() { Ok(()) } else { Hosts::at(url)?.wait(patience).await }
}

/// One connection that only looks: nothing is made or written, beside a running server or without one.
pub(crate) async fn open_to_read(url: &str) -> Result<Connection, DbErr> {
    match file_of(url) {
        Some(path) => Ok(sqlite::Pool::open(&path, false, 1, None)?.into()),
        None => Ok(postgres(&*Hosts::find(url).await?, 1, "tillkeep look", &[]).await?.into()),
    }
}

/// As [`open_to_read`], for one who looks at what may be damaged: a statement that takes longer than `limit` is broken off.
pub(crate) async fn open_to_diagnose(url: &str, limit: Duration) -> Result<Connection, DbErr> {
    match file_of(url) {
        Some(path) => Ok(sqlite::Pool::open(&path, false, 1, Some(limit))?.into()),
        None => Ok(postgres(&*Hosts::find(url).await?, 1, "tillkeep doctor", DIAGNOSING).await?.into()),
    }
}

/// One connection that writes, to a file that no other program uses.
pub(crate) fn open_alone(path: &Path) -> Result<Connection, DbErr> {
    Ok(sqlite::Pool::open(path, true, 1, None)?.into())
}

/// The connection that changes the schema. It may take as long as it needs, but not wait: whoever asks for a table waits
/// behind a change of that table which waits for another transaction.
async fn open_to_migrate(url: &str) -> Result<DatabaseConnection, DbErr> {
    let patient = &[
        ("synchronous_commit", "on"),
        // Who waited for another server to make a step has to see that step.
        ("default_transaction_isolation", "read committed"),
        ("statement_timeout", "0"),
        ("lock_timeout", "1s"),
        ("idle_in_transaction_session_timeout", "0"),
    ];
    postgres(&*Hosts::find(url).await?, 1, "tillkeep migration", patient).await
}

/// The address of the file at `path`.
pub(crate) fn url_of(path: &Path) -> String {
    // What follows a question mark is no part of the path.
    format!("sqlite://{}", path.display().to_string().replace('%', "%25").replace('?', "%3f"))
}

/// The file that `url` names, when it is one of `SQLite`. The other way round: [`url_of`].
pub(crate) fn file_of(url: &str) -> Option<PathBuf> {
    let rest = url.strip_prefix("sqlite:")?;
    let path = rest.strip_prefix("//").unwrap_or(rest);
    let path = path.split_once('?').map_or(path, |(path, _)| path);
    Some(path.replace("%3f", "?").replace("%25", "%").into())
}

/// What holds on a connection that writes, whatever the server's configuration or the role says.
const WRITING: Settings = &[
    // An answered sale is on disk.
    ("synchronous_commit", "on"),
    // Writers wait for a version counter instead of failing on it.
    ("default_transaction_isolation", "read committed"),
    // Far beyond the slowest statement of a full push, and as long as a request lives.
    ("statement_timeout", "30s"),
    // The counters are held for milliseconds: who waits this long stands behind something that hangs. The wait ends
    // before that of a statement, so that the log says which of the two it was.
    ("lock_timeout", "10s"),
    // A server that froze or lost its line in the middle of a write holds counters that everybody else needs.
    ("idle_in_transaction_session_timeout", "15s"),
];

/// As [`WRITING`], for connections that only read.
const READING: Settings = &[
    ("synchronous_commit", "on"),
    ("default_transaction_isolation", "read committed"),
    ("statement_timeout", "30s"),
    ("lock_timeout", "10s"),
    // A streamed pull waits between two pages until its client has taken one, piece by piece on a slow line. Its
    // snapshot holds no lock.
    ("idle_in_transaction_session_timeout", "2min"),
];

/// As [`READING`], for one who must not be in the way.
const DIAGNOSING: Settings = &[
    ("default_transaction_read_only", "on"),
    ("default_transaction_isolation", "read committed"),
    ("statement_timeout", "6s"),
    ("lock_timeout", "2s"),
];

/// Connections that read from a replica, which are made when they are needed.
pub(crate) fn open_replica(url: &str, connections: u32) -> Result<Connection, DbErr> {
    let (hosts, name) = (Hosts::at(url)?, "tillkeep replica read");
    let pool = hosts.pool(connections).connect_lazy_with(hosts.options(name, READING));
    hosts.feed(pool.clone(), name, READING);
    hosts.follow();
    Ok(DatabaseConnection::from(pool).into())
}

async fn postgres(
    hosts: &Hosts,
    connections: u32,
    name: &str,
    settings: Settings,
) -> Result<DatabaseConnection, DbErr> {
    let made = hosts.pool(connections).connect_with(hosts.options(name, settings)).await;
    let pool = made.map_err(hosts::of_connection)?;
    hosts.feed(pool.clone(), name, settings);
    Ok(pool.into())
}

/// Refuses to run where an answered sale could be lost.
async fn assert_sqlite_is_durable(conn: &Connection) -> Result<(), DbErr> {
    let sql = "SELECT sqlite_version(), journal_mode, synchronous FROM pragma_journal_mode, pragma_synchronous";
    let rows = query(conn, sql, []).await?;
    let row = rows.first().ok_or_else(|| DbErr::Custom("SQLite does not say how it is set".to_owned()))?;
    let (version, journal): (String, String) = (row.try_get_by_index(0)?, row.try_get_by_index(1)?);
    let synchronous: i32 = row.try_get_by_index(2)?;
    let mut parts = version.split('.').filter_map(|part| part.parse().ok());
    let found = (parts.next().unwrap_or(0), parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    if found < OLDEST_SQLITE || journal != "wal" || synchronous != 2 {
        return Err(DbErr::Custom(format!(
            "the database is not durable: SQLite {version} (3.51.3 or newer is needed), journal_mode {journal} \
             (wal is needed), synchronous {synchronous} (2, FULL, is needed)"
        )));
    }
    Ok(())
}

/// As [`assert_sqlite_is_durable`]; `accepted` lets a server with unsafe settings pass, with a warning.
async fn assert_postgres_is_durable(conn: &DatabaseConnection, accepted: bool) -> Result<(), DbErr> {
    let sql = "SELECT current_setting('server_version_num')::int / 10000, current_setting('server_encoding'), \
               current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit')";
    let row = conn.query_one_raw(Statement::from_string(DbBackend::Postgres, sql)).await?;
    let row = row.ok_or_else(|| DbErr::Custom("PostgreSQL does not say how it is set".to_owned()))?;
    let text = |index| row.try_get_by_index::<String>(index);
    let settings = [("fsync", text(2)?), ("full_page_writes", text(3)?), ("synchronous_commit", text(4)?)];
    let off: Vec<_> = settings.iter().filter(|(_, value)| value != "on").map(|(name, _)| *name).collect();
    if let Some(refusal) = refusal(row.try_get_by_index(0)?, &text(1)?, if accepted { &[] } else { &off }) {
        return Err(DbErr::Custom(refusal));
    }
    if !off.is_empty() {
        let off = off.join(", ");
        tracing::warn!(
            off,
            "UNSAFE DATABASE: PostgreSQL forgets answered sales in a crash; the environment accepts it"
        );
    }
    Ok(())
}

/// Why a server of this version, with this encoding and these settings off, is not worked with.
pub(crate) fn refusal(version: i32, encoding: &str, off: &[&str]) -> Option<String> {
    if version < OLDEST_POSTGRES {
        return Some(format!("PostgreSQL {version} is too old: {OLDEST_POSTGRES} or newer is needed"));
    }
    if encoding != "UTF8" {
        return Some(format!("the database has the encoding {encoding}: UTF8 is needed"));
    }
    (!off.is_empty()).then(|| {
        format!(
            "the database is not durable: PostgreSQL has {} off and would forget answered sales in a crash; set it on. \
             A test may accept that with TILLKEEP_ACCEPT_UNSAFE_DATABASE=1",
            off.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_file_names_that_file() {
        for path in ["/var/lib/tillkeep/tillkeep.db", "/srv/100%/a?b.db", "/srv/%3f%25.db"] {
            let path = Path::new(path);
            assert_eq!(file_of(&url_of(path)).as_deref(), Some(path));
        }
        assert_eq!(file_of("postgres://localhost/tillkeep"), None);
    }

    #[test]
    fn an_old_server_another_encoding_and_each_unsafe_setting_are_refused_by_name() {
        assert_eq!(refusal(15, "UTF8", &[]), None);
        for (version, encoding, off, named) in [
            (14, "UTF8", &[][..], "PostgreSQL 14"),
            (15, "LATIN1", &[], "LATIN1"),
            (17, "UTF8", &["fsync"], "fsync"),
            (17, "UTF8", &["full_page_writes"], "full_page_writes"),
        ] {
            assert!(refusal(version, encoding, off).is_some_and(|text| text.contains(named)), "{named}");
        }
    }
}
