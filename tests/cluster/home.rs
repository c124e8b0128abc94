//! Headquarters on its embedded database.

use std::fs;
use std::path::PathBuf;

use tillkeep_storage::Db;
use tillkeep_storage::raw::sea_orm::ConnectionTrait;

use crate::kit::Process;

/// Where a headquarters keeps its data besides its directory: nowhere.
pub struct Home {
    environment: [(&'static str, &'static str); 0],
}

impl Home {
    pub const fn make() -> Self {
        Self { environment: [] }
    }

    pub const fn empty() -> Self {
        Self::make()
    }

    /// What the environment of a headquarters says of it.
    pub const fn environment(&self) -> [(&str, &str); 0] {
        self.environment
    }
}

/// A database of headquarters that can lose its last moments: a copy takes its place.
pub struct LossyDatabase {
    copy: Option<PathBuf>,
}

impl LossyDatabase {
    pub const fn new() -> Self {
        Self { copy: None }
    }

    #[expect(clippy::unused_self, reason = "the other kind of database has an address")]
    pub const fn environment(&self) -> [(&str, &str); 0] {
        []
    }

    /// What comes from here on will be lost.
    pub async fn keep(&mut self, hq: &Process) {
        let copy = hq.dir.join("kept.db");
        drop(fs::remove_file(&copy));
        let conn = Db::open_to_read(&hq.database()).await.expect("the database");
        conn.execute_unprepared(&format!("VACUUM INTO '{}'", copy.display())).await.expect("a copy");
        conn.close().await.expect("closed");
        self.copy = Some(copy);
    }

    /// Headquarters is where it was when its database was kept.
    pub fn lose(&mut self, hq: &mut Process) {
        let copy = self.copy.take().expect("kept before");
        hq.kill();
        for file in ["tillkeep.db", "tillkeep.db-wal", "tillkeep.db-shm"] {
            drop(fs::remove_file(hq.dir.join(file)));
        }
        fs::rename(copy, hq.dir.join("tillkeep.db")).expect("the copy in its place");
        while !hq.try_restart() {}
    }

    /// What else may happen to this kind of database while headquarters runs: nothing.
    #[expect(clippy::unused_self, reason = "the other kind of database crashes")]
    pub const fn crash(&self) -> bool {
        false
    }
}
