//! A database with its connections, and the beginning of what is written.

pub mod address;
mod hosts;
pub mod hq_nodes;
pub mod idempotency;
pub(crate) mod keyed_request;
pub mod leases;
pub(crate) mod pools;
pub mod replica;
pub mod series;
pub mod settings;
pub mod sought;
pub mod tags;
pub(crate) mod tx;
pub mod upgrade;
pub mod versions;
pub(crate) mod write;
pub(crate) mod writes;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sea_orm::{DbErr, TransactionTrait};

use self::keyed_request::KeyedRequest;
use self::pools::{Pool, Writers};
use self::tx::Tx;
use crate::db::query;
use crate::memory::Version;
use crate::sql::connection::{Connection, Transaction};
use crate::sql::sqlite::Rank;
use crate::{Opening, Purpose, Side, fault};

/// One database, seen with the connections of one [`Purpose`]: writers and readers.
#[derive(Clone)]
pub struct Db {
    people: Pool,
    sync: Pool,
    purpose: Purpose,
    side: Side,
    memory: Version,
}

impl Db {
    /// Opens the database at `url` (`sqlite://path` or `postgres://…`) and brings its schema up to date.
    pub async fn open(url: &str, side: Side) -> Result<Self, DbErr> {
        Self::open_with(url, side, Opening::default()).await
    }

    /// As [`Db::open`], otherwise than by default.
    pub async fn open_with(url: &str, side: Side, opening: Opening) -> Result<Self, DbErr> {
        let (people, sync) = pools::open(url, side, opening).await?;
        Ok(Self { people, sync, purpose: Purpose::People, side, memory: Version::default() })
    }

    /// The same database with the connections for `purpose`.
    #[must_use]
    pub fn with_pool(&self, purpose: Purpose) -> Self {
        Self { purpose, ..self.clone() }
    }

    const fn pool(&self) -> &Pool {
        match self.purpose {
            Purpose::People => &self.people,
            Purpose::Sync => &self.sync,
        }
    }

    /// Opens the `SQLite` file at `path`.
    pub async fn open_file(path: &Path, side: Side) -> Result<Self, DbErr> {
        Self::open(&Self::url_of_file(path), side).await
    }

    /// Waits for a `PostgreSQL` at `url` that does not take connections yet, and for nothing else: a wrong password or name is an
    /// error at once.
    pub async fn wait_for(url: &str, patience: Duration) -> Result<(), DbErr> {
        pools::wait_for(url, patience).await
    }

    /// Opens the database at `url` only to look at it: nothing is made, migrated or written, beside a running server or
    /// without one.
    pub async fn open_to_read(url: &str) -> Result<Connection, DbErr> {
        pools::open_to_read(url).await
    }

    /// As [`Db::open_to_read`], for one who looks at what may be damaged or slow: a statement takes six seconds at the most.
    pub async fn open_to_diagnose(url: &str) -> Result<Connection, DbErr> {
        pools::open_to_diagnose(url, Self::DIAGNOSED_WITHIN).await
    }

    /// For a statement of [`Db::open_to_diagnose`].
    pub const DIAGNOSED_WITHIN: Duration = Duration::from_secs(6);

    /// Opens the `SQLite` file at `path` as it is, to write, while no server uses it.
    pub fn open_alone(path: &Path) -> Result<Connection, DbErr> {
        pools::open_alone(path)
    }

    /// The address of the `SQLite` file at `path`.
    pub fn url_of_file(path: &Path) -> String {
        pools::url_of(path)
    }

    /// The file of a database at `url`, when it is one of `SQLite`.
    pub fn file_of_url(url: &str) -> Option<PathBuf> {
        pools::file_of(url)
    }

    pub const fn side(&self) -> Side {
        self.side
    }

    /// Whether it is a file of this server, with one writer.
    pub fn is_embedded(&self) -> bool {
        matches!(self.people.writer, Writers::Sqlite(_))
    }

    /// Whether people wait for the one connection that writes to a file.
    pub fn is_waited_for(&self) -> bool {
        matches!(self.writers(), Writers::Sqlite(writer) if writer.is_waited_for())
    }

    /// For a single statement that needs no snapshot with others.
    pub const fn reader(&self) -> &Connection {
        &self.pool().reader
    }

    /// Several reads of one moment.
    pub async fn snapshot(&self) -> Result<Transaction, DbErr> {
        self.reader().begin().await
    }

    /// Begins a write. Dropped without [`Tx::commit`], nothing happened.
    pub async fn begin(&self) -> Result<Tx, DbErr> {
        self.begin_for(keyed_request::current()).await
    }

    /// As [`Db::begin`], for what is noted beside the thing that a request asks for (an attempt that is counted, a refusal
    /// in the audit log): the key of the request does not go with it.
    pub async fn begin_aside(&self) -> Result<Tx, DbErr> {
        self.begin_for(None).await
    }

    async fn begin_for(&self, keyed: Option<Arc<KeyedRequest>>) -> Result<Tx, DbErr> {
        fault::point("tx.begin")?;
        let inner = match self.writers() {
            Writers::Postgres(conn) => conn.begin().await?.into(),
            Writers::Sqlite(writer) => writer.lend(self.rank()).await?.noting(self.memory.writes()).into(),
        };
        Ok(Tx::new(inner, self.side, keyed))
    }

    pub(crate) const fn writers(&self) -> &Writers {
        &self.pool().writer
    }

    pub(crate) const fn memory(&self) -> &Version {
        &self.memory
    }

    /// Counts the commits that changed what a store keeps in memory ([`crate::memory`]): what was read under another
    /// number may be old.
    pub fn memory_version(&self) -> u64 {
        self.memory.read()
    }

    /// The same of the specials, which are kept apart.
    pub fn specials_version(&self) -> u64 {
        self.memory.of_specials()
    }

    pub(crate) const fn rank(&self) -> Rank {
        match self.purpose {
            Purpose::People => Rank::First,
            Purpose::Sync => Rank::Bulk,
        }
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Result<(), DbErr> {
        self.reader().ping().await
    }

    /// Which run of its server this is: another one may have lost what was committed last, as a standby that was promoted.
    /// `None` for a file, which is restored under no running server.
    pub async fn run(&self) -> Result<Option<String>, DbErr> {
        if self.is_embedded() {
            return Ok(None);
        }
        let rows = query(self.reader(), "SELECT CAST(pg_postmaster_start_time() AS TEXT) AS run", []).await?;
        rows.first().map(|row| row.try_get("", "run")).transpose()
    }

    /// Closes every connection; on `SQLite` this folds the write-ahead log into the file.
    pub async fn close(self) -> Result<(), DbErr> {
        // The last connection to close folds the log, and one that only reads cannot.
        self.sync.reader.close().await?;
        self.people.reader.close().await?;
        for writer in [self.sync.writer, self.people.writer] {
            match writer {
                Writers::Postgres(conn) => conn.close().await?,
                Writers::Sqlite(writer) => writer.close().await,
            }
        }
        Ok(())
    }
}
