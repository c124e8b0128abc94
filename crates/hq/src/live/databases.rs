//! The databases of headquarters. Who gets a handle is said in `handles.rs`.

use std::sync::atomic::{AtomicBool, Ordering};

use tillkeep_model::Instant;
use tillkeep_storage::replica::Replica;
use tillkeep_storage::{Connection, Db, DbErr, Purpose};

/// One database, with connections for people and others for stores: neither keeps the other from working.
pub struct Databases {
    people: Db,
    sync: Db,
    /// A commit was answered with an error and may be done.
    uncertain_commit: AtomicBool,
}

impl Databases {
    pub(crate) fn new(people: Db) -> Self {
        Self { sync: people.with_pool(Purpose::Sync), people, uncertain_commit: AtomicBool::default() }
    }

    /// Whether it is a file of this server.
    pub(crate) fn is_embedded(&self) -> bool {
        self.people.is_embedded()
    }

    /// To read for people, where there is no caller to ask.
    pub(crate) const fn reader(&self) -> &Connection {
        self.people.reader()
    }

    /// As [`Replica::beat`].
    pub(crate) async fn beat(&self, replica: &Replica) -> Result<Instant, DbErr> {
        replica.beat(&self.people).await
    }

    /// The database for people, and for what the server does by itself.
    pub(crate) const fn people(&self) -> &Db {
        &self.people
    }

    /// The database for stores.
    pub(crate) const fn sync(&self) -> &Db {
        &self.sync
    }

    pub(crate) fn note_uncertain_commit(&self) {
        self.uncertain_commit.store(true, Ordering::Release);
    }

    /// Whether a commit was uncertain since this was last asked.
    pub(crate) fn take_uncertain_commit(&self) -> bool {
        self.uncertain_commit.swap(false, Ordering::AcqRel)
    }
}
