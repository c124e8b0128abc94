//! Who gets a handle of the databases: requests of stores and background tasks, which live in this room, and whoever has the
//! machine. What people ask for reads and writes through its `Caller`.

use tillkeep_storage::sea_orm::{EntityTrait, PaginatorTrait};
use tillkeep_storage::{Change, Db, DbErr, Tx, audit, entity};

use crate::{Hq, testing};

impl Hq {
    /// The database for people, and for what the server does by itself.
    pub(in crate::sync) const fn db(&self) -> &Db {
        self.databases.people()
    }

    /// The database for stores.
    pub(in crate::sync) const fn sync_db(&self) -> &Db {
        self.databases.sync()
    }

    /// Commits, and lets everybody know: the heads in memory, the permissions cache, the queue for the stores' sockets and
    /// for other servers. Nothing here waits for the network.
    pub(in crate::sync) async fn commit(&self, tx: Tx) -> Result<Vec<Change>, DbErr> {
        let changes = tx.commit().await.inspect_err(|_| self.note_uncertain_commit())?;
        self.announce(&changes);
        Ok(changes)
    }

    /// A commit was answered with an error, and may be done all the same.
    pub(crate) fn note_uncertain_commit(&self) {
        self.databases.note_uncertain_commit();
    }

    /// Compares what is known of the database with what it has: an uncertain commit may be done after all, and stores would
    /// wait for it until the next change.
    pub(in crate::sync) async fn resolve_uncertain_commit(&self) {
        if self.databases.take_uncertain_commit() {
            match self.heads.follow(self.db()).await {
                Ok(changes) => self.announce(&changes),
                // The database is still away.
                Err(_) => self.note_uncertain_commit(),
            }
        }
    }

    /// True while no user can sign in yet.
    pub async fn has_no_users(&self) -> Result<bool, DbErr> {
        Ok(entity::user::Entity::find().count(self.db().reader()).await? == 0)
    }

    /// What an operator does at the machine of headquarters, from the command line; no request leads here. When `work`
    /// gives no line for the audit log, nothing is committed.
    pub async fn from_the_machine<T, E: From<DbErr>>(
        &self,
        work: impl AsyncFnOnce(&mut Tx) -> Result<(T, Option<audit::Entry>), E>,
    ) -> Result<T, E> {
        let mut tx = self.db().begin().await?;
        let (done, entry) = work(&mut tx).await?;
        if let Some(entry) = entry {
            audit::record(&tx, entry, self.clock.now()).await?;
            self.commit(tx).await?;
        }
        Ok(done)
    }

    /// Closes the database, once nothing of this server uses it any more.
    pub async fn close(&self) -> Result<(), DbErr> {
        self.db().clone().close().await
    }
}

impl testing::Databases for Hq {
    fn db(&self) -> &Db {
        Self::db(self)
    }

    fn sync_db(&self) -> &Db {
        Self::sync_db(self)
    }

    async fn commit(&self, tx: Tx) -> Result<Vec<Change>, DbErr> {
        Self::commit(self, tx).await
    }
}
