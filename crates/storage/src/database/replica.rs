//! A read replica of headquarters' `PostgreSQL`, and how far it is behind: the database notes the time once a second, and what
//! the replica has of that note is the moment up to which it has everything. A replica that is cut off, and a primary at which
//! nothing else happens, are told apart by it.

use sea_orm::{ConnectionTrait, DbErr};
use tillkeep_model::Instant;

use super::pools;
use crate::db::execute;
use crate::{Connection, Db, settings};

/// The replica of one database.
#[derive(Clone)]
pub struct Replica {
    conn: Connection,
    /// Where the note is. A database of another epoch is no replica of this one, however new it is.
    key: String,
}

impl Replica {
    /// The replica at `url` of the database with this `epoch`. Nothing connects yet: it may be away.
    pub fn at(url: &str, connections: u32, epoch: &str) -> Result<Self, DbErr> {
        let conn = pools::open_replica(url, connections)?;
        Ok(Self { conn, key: format!("beat.{epoch}") })
    }

    /// For reads that may be somewhat behind.
    pub const fn reader(&self) -> &Connection {
        &self.conn
    }

    /// Notes the time in the database that this is the replica of, by its own clock; the time.
    pub async fn beat(&self, db: &Db) -> Result<Instant, DbErr> {
        let tx = db.begin_aside().await?;
        let now = "CAST(CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS TEXT)";
        let upsert = format!(
            "INSERT INTO sync_state (key, value) VALUES ($1, {now}) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
        );
        execute(&tx, &upsert, [self.key.clone().into()]).await?;
        let noted = self.noted(&*tx).await?;
        tx.commit().await?;
        noted.ok_or_else(|| DbErr::Custom("the database did not note the time".to_owned()))
    }

    /// Up to when the replica has everything; `None` when it has no such note, and so is no replica of that database.
    pub async fn has_until(&self) -> Result<Option<Instant>, DbErr> {
        self.noted(&self.conn).await
    }

    /// The note of the time that `conn` has, the database or its replica.
    pub(crate) async fn noted(&self, conn: &impl ConnectionTrait) -> Result<Option<Instant>, DbErr> {
        let noted = settings::get(conn, &self.key).await?;
        Ok(noted.and_then(|text| text.parse().ok()).map(Instant::from_millis))
    }

    pub async fn close(self) -> Result<(), DbErr> {
        self.conn.close().await
    }
}
