//! A server of `PostgreSQL`, and its read replica.

use sea_orm::{ConnectionTrait, DbErr};

use crate::database::pools::refusal;
use crate::db::query;
use crate::replica::Replica;
use crate::settings;

/// How the server is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    pub version: i32,
    /// Why headquarters does not work with it, if it does not.
    pub refusal: Option<String>,
    pub checksums: bool,
    pub is_standby: bool,
    /// Connections that it gives to such a role, and those that there are now, of whomever.
    pub connections: i64,
    pub used: i64,
}

pub async fn server(conn: &impl ConnectionTrait) -> Result<Server, DbErr> {
    // A setting that an older release does not have is nothing.
    let sql = "SELECT CAST(current_setting('server_version_num') AS INTEGER) / 10000 AS version, \
               current_setting('server_encoding') AS encoding, current_setting('fsync') AS fsync, \
               current_setting('full_page_writes') AS full_page_writes, current_setting('data_checksums') AS checksums, \
               pg_is_in_recovery() AS standby, CAST(current_setting('max_connections') AS BIGINT) \
               - CAST(current_setting('superuser_reserved_connections') AS BIGINT) \
               - CAST(COALESCE(current_setting('reserved_connections', TRUE), '0') AS BIGINT) AS connections, \
               (SELECT CAST(COALESCE(SUM(numbackends), 0) AS BIGINT) FROM pg_stat_database) AS used";
    let rows = query(conn, sql, []).await?;
    let row = rows.first().ok_or_else(|| DbErr::Custom("PostgreSQL does not say how it is set".to_owned()))?;
    let text = |name: &str| row.try_get::<String>("", name);
    // What a commit waits for the servers say on each of their connections, whatever is set here.
    let settings = [("fsync", text("fsync")?), ("full_page_writes", text("full_page_writes")?)];
    let off: Vec<&str> = settings.iter().filter(|(_, value)| value != "on").map(|(name, _)| *name).collect();
    let version = row.try_get("", "version")?;
    Ok(Server {
        version,
        refusal: refusal(version, &text("encoding")?, &off),
        checksums: text("checksums")? == "on",
        is_standby: row.try_get("", "standby")?,
        connections: row.try_get("", "connections")?,
        used: row.try_get("", "used")?,
    })
}

/// How a read replica stands to its database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lag {
    /// No server has used a replica of this database yet: there is nothing to compare.
    Unused,
    /// It has nothing of what servers noted in this database: it is the replica of another one, or has not followed since.
    Stranger,
    /// Milliseconds of the notes of time that it does not have yet.
    Behind(i64),
}

/// How the read replica at `url` stands to the database.
pub async fn behind(conn: &impl ConnectionTrait, url: &str) -> Result<Lag, DbErr> {
    let epoch = settings::epoch(conn).await?;
    let replica = Replica::at(url, 1, &epoch)?;
    // First here: what is noted between the two looks is not what the replica lacks.
    let here = replica.noted(conn).await?;
    let there = replica.has_until().await;
    replica.close().await?;
    Ok(match (here, there?) {
        (None, _) => Lag::Unused,
        (Some(_), None) => Lag::Stranger,
        (Some(here), Some(there)) => Lag::Behind(here.millis_since(there).max(0)),
    })
}
