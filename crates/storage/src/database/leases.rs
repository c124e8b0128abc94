//! Leases: work of headquarters that one of its servers does at a time, and another one when that dies.
//!
//! A lease is a row with the moment at which it ends, by the clock of the database, as those of the servers differ. It is taken
//! and renewed by one statement. Whoever holds one does a piece of the work and takes it again before the next piece; work
//! that outlives its lease must do no harm beside whoever has it then. With `SQLite` there is one server, which always has it.

use std::time::Duration;

use sea_orm::DbErr;
use uuid::Uuid;

use crate::Db;
use crate::db::execute;

/// So long a lease lasts from when it was taken last: a server that dies is replaced after it.
const LASTS: Duration = Duration::from_mins(1);

/// The leases of one run of a server.
#[derive(Clone)]
pub struct Leases {
    db: Db,
    holder: Uuid,
    lasts: Duration,
}

impl Leases {
    pub fn new(db: Db) -> Self {
        Self::lasting(db, LASTS)
    }

    /// As [`Leases::new`], for as long as a test wants it.
    pub fn lasting(db: Db, lasts: Duration) -> Self {
        Self { db, holder: Uuid::new_v4(), lasts }
    }

    /// Takes the lease of `work`, or renews it: whether this server is the one that does it from now on.
    pub async fn take(&self, work: &str) -> Result<bool, DbErr> {
        if self.db.is_embedded() {
            return Ok(true);
        }
        let sql = "INSERT INTO leases (name, holder, expires_at) \
                   VALUES ($1, $2, CURRENT_TIMESTAMP + $3 * INTERVAL '1 millisecond') ON CONFLICT (name) DO UPDATE \
                   SET holder = excluded.holder, expires_at = excluded.expires_at \
                   WHERE leases.holder = excluded.holder OR leases.expires_at <= CURRENT_TIMESTAMP";
        let millis = i64::try_from(self.lasts.as_millis()).unwrap_or(i64::MAX);
        let tx = self.db.begin_aside().await?;
        let taken = execute(&tx, sql, [work.into(), self.holder.into(), millis.into()]).await?;
        tx.commit().await?;
        Ok(taken == 1)
    }

    /// Gives back whatever this server has, so that no other one waits for the end of it.
    pub async fn give_back(&self) -> Result<(), DbErr> {
        if self.db.is_embedded() {
            return Ok(());
        }
        let tx = self.db.begin_aside().await?;
        execute(&tx, "DELETE FROM leases WHERE holder = $1", [self.holder.into()]).await?;
        tx.commit().await?;
        Ok(())
    }
}
