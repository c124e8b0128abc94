//! What a server makes backups of, and what its database says of them.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use tillkeep_http::DatabaseUrl;
use tillkeep_model::Instant;
use tillkeep_storage::Db;
use tillkeep_storage::backup;
use tillkeep_storage::backup::shared::{self, Shared};
use tillkeep_storage::leases::Leases;

use super::failure::{Because, Outcome};
use super::write::{DATABASE, Server, aside};

/// What backups are made of.
pub enum Source {
    File(Server),
    /// Headquarters on `PostgreSQL`, which several servers may have.
    Shared {
        url: DatabaseUrl,
        data_dir: PathBuf,
        leases: Leases,
    },
}

/// What is known before one is made.
pub struct Known {
    /// When the last one was made.
    pub last: Option<Instant>,
    /// When the database was made, as far as that matters.
    pub since: Option<Instant>,
    /// What the database takes.
    pub bytes: u64,
    /// The version of a `PostgreSQL`.
    pub version: i32,
}

impl Source {
    /// The database in the data directory of a store.
    pub fn of_store(data_dir: PathBuf) -> Self {
        Self::File(Server { database: data_dir.join(DATABASE), data_dir })
    }

    /// The database of headquarters with these settings.
    pub fn of_hq(settings: &tillkeep_hq::Settings, leases: &Leases) -> Self {
        let data_dir = settings.data_dir.clone();
        let file = match &settings.database_url {
            None => Some(data_dir.join(DATABASE)),
            Some(url) => Db::file_of_url(url.expose()),
        };
        match (file, &settings.database_url) {
            (None, Some(url)) => Self::Shared { url: url.clone(), data_dir, leases: leases.clone() },
            (file, _) => {
                let database = file.unwrap_or_else(|| data_dir.join(DATABASE));
                Self::File(Server { database, data_dir })
            }
        }
    }

    /// What its database says, beside the newest backup that is `here`.
    pub async fn known(&self, here: Option<Instant>, every: i64, now: Instant) -> Outcome<Known> {
        match self {
            Self::File(server) => {
                let since = if here.is_some() { None } else { age(server).await.because("database")? };
                let sized = server.clone();
                let bytes = aside(move || Ok(sized.bytes()?)).await.because("database")?;
                Ok(Known { last: here, since, bytes, version: 0 })
            }
            Self::Shared { url, .. } => {
                let found = look(url).await.because("database")?;
                // Another server's clock may be a little ahead.
                let noted = found.last.filter(|last| last.millis_since(now) < every);
                let last = here.max(noted.map(|last| last.min(now)));
                Ok(Known { last, since: found.since, bytes: found.bytes, version: found.version })
            }
        }
    }
}

/// When the next backup is due: so long after the last one, or else after the database was made. What was made in the future
/// says only that a clock was wrong.
pub fn due(last: Option<Instant>, since: Option<Instant>, every: Duration, now: Instant) -> Instant {
    last.or(since).filter(|from| *from <= now).map_or(now, |from| from.plus_millis(millis(every)))
}

pub fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

/// When the database in a file was made.
async fn age(server: &Server) -> Result<Option<Instant>> {
    let conn = Db::open_to_read(&Db::url_of_file(&server.database)).await?;
    let made = backup::made_at(&conn).await;
    conn.close().await?;
    Ok(made?)
}

/// Asks `PostgreSQL`, on a connection that is there for this alone.
async fn look(url: &DatabaseUrl) -> Result<Shared> {
    let conn = Db::open_to_read(url.expose()).await?;
    let found = shared::look(&conn).await;
    conn.close().await?;
    Ok(found?)
}

/// Tells the other servers of a `PostgreSQL` of a backup.
pub async fn note(url: &DatabaseUrl, made: Instant) -> Result<()> {
    let conn = Db::open_to_read(url.expose()).await?;
    let noted = shared::note(&conn, made).await;
    conn.close().await?;
    Ok(noted?)
}
