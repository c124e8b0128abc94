//! What whoever backs a headquarters on `PostgreSQL` up has to know of it, and what its servers let each other know.

use sea_orm::DbErr;
use tillkeep_model::Instant;

use super::made_at;
use crate::db::query;
use crate::{Connection, settings};

/// When a backup was made last, by whichever server.
const LAST: &str = "backup_made_at";

/// A `PostgreSQL` that is to be backed up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    /// The version of its server, such as 15: a dump is made by programs of that version or a newer one.
    pub version: i32,
    pub bytes: u64,
    /// The database was made then.
    pub since: Option<Instant>,
    /// A server has made a backup then.
    pub last: Option<Instant>,
}

pub async fn look(conn: &Connection) -> Result<Shared, DbErr> {
    let sql = "SELECT current_setting('server_version_num')::int / 10000 AS version, \
               pg_database_size(current_database()) AS bytes";
    let rows = query(conn, sql, []).await?;
    let row = rows.first().ok_or_else(|| DbErr::Custom("PostgreSQL does not say which version it is".to_owned()))?;
    let last = settings::get(conn, LAST).await?;
    Ok(Shared {
        version: row.try_get("", "version")?,
        bytes: row.try_get::<i64>("", "bytes")?.try_into().unwrap_or_default(),
        since: made_at(conn).await?,
        last: last.and_then(|text| Instant::parse(&text)),
    })
}

/// Lets the other servers know of a backup.
pub async fn note(conn: &Connection, made: Instant) -> Result<(), DbErr> {
    let tx = conn.begin_to_write().await?;
    settings::set(&tx, LAST, &made.to_string()).await?;
    tx.commit().await
}
