//! What is looked at: one server's configuration, its directory, and its database as far as that can be opened.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use tillkeep_http::{Clock, Secret};
use tillkeep_storage::migration::STEPS;
use tillkeep_storage::upgrade::{self, Release};
use tillkeep_storage::{Connection, Db, DbErr, Side};
use tokio::sync::OnceCell;
use tokio::time::timeout;

use super::DoctorArgs;
use super::asking::{self, Heard};
use super::finding::{Secrets, Unchecked};
use super::unit::Unit;
use crate::configuration::{self, Configuration, secret_of};
use crate::lock::Holder;
use crate::run;

/// One installation, and what was asked for.
pub struct Installation {
    pub side: Side,
    pub configuration: Configuration,
    pub data_dir: PathBuf,
    /// The file of variables of its unit, by which it is looked at.
    pub settings: Option<PathBuf>,
    pub listen: String,
    /// Where backups are: as said, or where the server makes them by itself.
    pub backups: Option<PathBuf>,
    pub makes_backups: bool,
    /// The settings say that somebody else makes them.
    pub is_backed_up_elsewhere: bool,
    /// Bytes.
    pub least_free: u64,
    pub clock: Clock,
    /// Who has the directory.
    pub holder: Option<Holder>,
    pub database: Database,
    /// The token of a store, where the environment here has it.
    pub token: Result<Option<Secret>, String>,
    pub secrets: Secrets,
    headquarters: OnceCell<Result<Heard, String>>,
    /// The server was asked, and does not answer: nobody waits for it again.
    is_silent: AtomicBool,
}

/// The database of an installation.
pub enum Database {
    /// There is none yet.
    Missing(PathBuf),
    /// Why it cannot be opened.
    Unreadable(String),
    Open {
        conn: Connection,
        release: Release,
    },
}

impl Installation {
    /// Reads the configuration, and opens what it names to be read.
    pub async fn open(
        side: Side,
        args: DoctorArgs,
        unit: Unit,
        file: Option<&Path>,
        patience: Duration,
    ) -> Result<Self> {
        let Unit { settings, configuration: beside, data_dir: data_of_unit } = unit;
        let DoctorArgs { data_dir, listen, backups, least_free_mib, .. } = args;
        let configuration = configuration::load(file.or(beside.as_deref()))?;
        let (hq, store) = (&configuration.hq, &configuration.store);
        let (configured_dir, configured_listen, is_backed_up_elsewhere) = match side {
            Side::Hq => (&hq.data_dir, &hq.listen, hq.backup.elsewhere),
            Side::Store => (&store.data_dir, &store.listen, store.backup.elsewhere),
        };
        let data_dir = data_dir.or(data_of_unit).unwrap_or_else(|| configured_dir.clone());
        let data_dir = std::path::absolute(&data_dir).unwrap_or(data_dir);
        if let Some(listen) = &listen {
            configuration::address_to_listen_on(listen).context("--listen")?;
        }
        let listen = listen.unwrap_or_else(|| configured_listen.clone());
        let plan = match side {
            Side::Hq => configuration::backups_of_hq(hq, &data_dir)?,
            Side::Store => configuration::backups_of_store(store, &data_dir)?,
        };
        let makes_backups = plan.is_some();
        let backups = backups.or_else(|| plan.map(|plan| plan.directory));
        let token = secret_of("SYNC_TOKEN").map_err(|error| format!("{error:#}"));
        let mut secrets = Secrets::of_environment();
        for url in [&hq.database_url, &hq.database_read_url] {
            secrets.add_url(url.expose());
        }
        let database = match timeout(patience, Database::look(side, hq.database_url.expose(), &data_dir)).await {
            Ok(database) => database,
            Err(_) => Database::Unreadable(format!("it does not answer within {} s", patience.as_secs())),
        };
        // What cannot be read is said of the files.
        let holder = Holder::of(&data_dir).ok().flatten();
        Ok(Self {
            side,
            data_dir,
            settings,
            listen,
            backups,
            makes_backups,
            is_backed_up_elsewhere,
            least_free: least_free_mib << 20,
            clock: run::clock(),
            holder,
            database,
            token,
            secrets,
            headquarters: OnceCell::new(),
            is_silent: AtomicBool::new(false),
            configuration,
        })
    }

    /// Whether its server runs.
    pub fn is_running(&self) -> bool {
        self.url().is_some()
    }

    /// Where its server listens, while it runs.
    pub fn url(&self) -> Option<&str> {
        self.holder.as_ref()?.url.as_deref()
    }

    /// The same, unless it did not answer before.
    pub fn url_that_answers(&self) -> Option<&str> {
        self.url().filter(|_| !self.is_silent.load(Ordering::Relaxed))
    }

    /// Keeps others from waiting for a server that does not answer.
    pub fn wait_no_more(&self) {
        self.is_silent.store(true, Ordering::Relaxed);
    }

    /// The file of its database, when that is one.
    pub fn file(&self) -> Option<PathBuf> {
        let url = match self.side {
            Side::Hq => self.configuration.hq.database_url.expose(),
            Side::Store => "",
        };
        if url.is_empty() { Some(self.data_dir.join("tillkeep.db")) } else { Db::file_of_url(url) }
    }

    /// The file of the last numbers of a store.
    pub fn numbers_file(&self) -> PathBuf {
        let configured = &self.configuration.store.numbers_file;
        if configured.as_os_str().is_empty() { self.data_dir.join("numbers") } else { configured.clone() }
    }

    /// Certificate and key, each empty when there is none.
    pub fn tls(&self) -> (&Path, &Path) {
        let (hq, store) = (&self.configuration.hq, &self.configuration.store);
        match self.side {
            Side::Hq => (&hq.tls_cert, &hq.tls_key),
            Side::Store => (&store.tls_cert, &store.tls_key),
        }
    }

    pub fn metrics_listen(&self) -> &str {
        match self.side {
            Side::Hq => &self.configuration.hq.metrics_listen,
            Side::Store => &self.configuration.store.metrics_listen,
        }
    }

    /// The database, whatever release it is of.
    pub fn conn(&self) -> Result<&Connection, Unchecked> {
        match &self.database {
            Database::Open { conn, .. } => Ok(conn),
            Database::Missing(_) => Err(Unchecked::Because("there is no database yet".to_owned())),
            Database::Unreadable(_) => Err(Unchecked::Because("the database cannot be opened".to_owned())),
        }
    }

    /// The database, when its tables are those of this program.
    pub fn tables(&self) -> Result<&Connection, Unchecked> {
        let conn = self.conn()?;
        match &self.database {
            Database::Open { release, .. } if release.is_readable() => Ok(conn),
            _ => Err(Unchecked::Because("the schema of the database is not that of this program".to_owned())),
        }
    }

    /// What headquarters of a store answers to whoever asks; asked once.
    pub async fn headquarters(&self) -> Result<&Result<Heard, String>, Unchecked> {
        if self.configuration.store.hq_url.is_empty() {
            return Err(Unchecked::Unset { name: "HQ_URL", settings: self.settings.clone() });
        }
        Ok(self.headquarters.get_or_init(|| self.ask_headquarters()).await)
    }

    async fn ask_headquarters(&self) -> Result<Heard, String> {
        let store = &self.configuration.store;
        let ca_file = Some(&*store.hq_ca_file).filter(|path| !path.as_os_str().is_empty());
        let client = asking::client_of_store(ca_file)?;
        asking::ask(&client, &store.hq_url, "/health", &self.clock).await
    }
}

impl Database {
    async fn look(side: Side, url: &str, data_dir: &Path) -> Self {
        let file = data_dir.join("tillkeep.db");
        let url = if side == Side::Store || url.is_empty() { Db::url_of_file(&file) } else { url.to_owned() };
        // One that this user may not look for is not missing: opening it says why.
        if let Some(file) = Db::file_of_url(&url)
            && matches!(file.try_exists(), Ok(false))
        {
            return Self::Missing(file);
        }
        match Self::open(side, &url).await {
            Ok((conn, release)) => Self::Open { conn, release },
            Err(error) => Self::Unreadable(error.to_string()),
        }
    }

    async fn open(side: Side, url: &str) -> Result<(Connection, Release), DbErr> {
        let conn = Db::open_to_diagnose(url).await?;
        upgrade::refuse_other(&conn, side).await?;
        let release = upgrade::release(&conn, side, STEPS).await?;
        Ok((conn, release))
    }
}
