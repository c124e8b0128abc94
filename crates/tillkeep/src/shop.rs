//! `tillkeep store install | status | outbox | resync | take-over | set-series | certificate`: what waits in a store's database and
//! how far it was pulled, beside the running server or without it. What they change the server finds in its next cycle.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use serde_json::json;
use tillkeep_http::Clock;
use tillkeep_model::wire::MAX_ATTEMPTS;
use tillkeep_storage::entity::outbox as entry;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use tillkeep_storage::{Connection, Db, Side, apply, audit, outbox, registry, settings, staged, upgrade};
use tillkeep_store::headquarters::standing;

use crate::certificate;
use crate::install;
use crate::lock::Lock;
use crate::output::say;
use crate::series;

#[derive(Subcommand)]
pub enum StoreCommand {
    /// Installs a store on this machine from the token of provisioning: looks at everything first, writes its settings, and
    /// starts it with the machine.
    ///
    /// The token comes from --token-file or from the standard input.
    Install(Box<install::InstallArgs>),
    /// Shows what waits, and how far each type was pulled.
    Status(DataDir),
    /// Lists entries that headquarters has not taken, or gives them another ten attempts.
    Outbox {
        #[command(subcommand)]
        what: OutboxCommand,
    },
    /// Makes this copy the store when headquarters heard another one before it: that one is refused from then on.
    TakeOver(DataDir),
    /// Reloads master data from headquarters: one type, or all of them. Unsent work stays.
    Resync {
        /// A pulled type, such as `products`.
        entity_type: Option<String>,
        #[command(flatten)]
        dir: DataDir,
    },
    /// Sets a series of numbers right: the next document goes on after it. The store must not be running.
    SetSeries {
        #[command(flatten)]
        series: series::SetSeries,
        /// The file of the last numbers, when it is not in the data directory.
        #[arg(long, value_name = "FILE", env = "NUMBERS_FILE")]
        numbers_file: Option<PathBuf>,
        #[command(flatten)]
        dir: DataDir,
    },
    /// Makes a certificate for HTTPS that the tills of this shop can be told to trust, under an authority of this store.
    ///
    /// Browsers give the camera and a page that is there without its server over HTTPS alone. Run it again to renew the
    /// certificate: it stays under the same authority, which is good for ten years.
    Certificate {
        /// A name or an address by which tills reach the store; several times for several. Without it those of the last time, at
        /// first the name of this machine and its addresses.
        #[arg(long = "name", value_name = "NAME")]
        names: Vec<String>,
        #[command(flatten)]
        dir: DataDir,
    },
}

#[derive(Subcommand)]
pub enum OutboxCommand {
    /// Lists the oldest entries.
    List {
        /// Only those that headquarters refused ten times.
        #[arg(long)]
        dead: bool,
        #[arg(long, default_value_t = 50)]
        limit: u64,
        #[command(flatten)]
        dir: DataDir,
    },
    /// Gives entries that were refused another ten attempts.
    Requeue {
        /// Its number, as `outbox list` shows it; all of them without one.
        seq: Option<i64>,
        #[command(flatten)]
        dir: DataDir,
    },
}

#[derive(Args)]
pub struct DataDir {
    /// The data directory of the store.
    #[arg(long = "data-dir", id = "dir", value_name = "DIR", env = "DATA_DIR")]
    path: PathBuf,
}

impl DataDir {
    fn database(&self) -> Result<PathBuf> {
        let path = self.path.join("tillkeep.db");
        if !path.exists() {
            bail!("{} is not there; name the data directory of the store", path.display());
        }
        Ok(path)
    }

    async fn open(&self) -> Result<Db> {
        open(&self.database()?).await
    }

    async fn read(&self) -> Result<Connection> {
        let path = self.database()?;
        let conn = Db::open_to_read(&Db::url_of_file(&path)).await.context("the database cannot be opened")?;
        upgrade::refuse_other(&conn, Side::Store).await.with_context(|| path.display().to_string())?;
        Ok(conn)
    }
}

async fn open(path: &Path) -> Result<Db> {
    Db::open_file(path, Side::Store).await.context("the database cannot be opened")
}

pub async fn run(command: StoreCommand) -> Result<()> {
    match command {
        StoreCommand::Install(args) => install::run(&args).await,
        StoreCommand::Status(dir) => status(&dir).await,
        StoreCommand::Outbox { what: OutboxCommand::List { dead, limit, dir } } => list(&dir, dead, limit).await,
        StoreCommand::Outbox { what: OutboxCommand::Requeue { seq, dir } } => requeue(&dir, seq).await,
        StoreCommand::TakeOver(dir) => take_over(&dir).await,
        StoreCommand::Resync { entity_type, dir } => resync(&dir, entity_type.as_deref()).await,
        StoreCommand::Certificate { names, dir } => certificate::make(&dir.path, names),
        StoreCommand::SetSeries { series, numbers_file, dir } => {
            // Before the lock, which would make the directory.
            dir.database()?;
            let _lock = Lock::take(&dir.path, "tillkeep store set-series")?;
            let file = numbers_file.unwrap_or_else(|| dir.path.join("numbers"));
            series::at_store(dir.open().await?, &file, &series).await
        }
    }
}

async fn status(dir: &DataDir) -> Result<()> {
    let conn = dir.read().await?;
    let state = outbox::state(&conn).await?;
    let store = settings::get(&conn, "store_id").await?.unwrap_or_default();
    say!("store {store}");
    say!("outbox: {} pending, {} dead", state.pending, state.dead_lettered);
    if let Some(oldest) = state.oldest {
        say!("oldest entry: {oldest}");
    }
    let stuck = outbox::stuck(&conn, Clock::default().now()).await?;
    if stuck > 0 {
        say!("stuck: {stuck}, on which headquarters gives no verdict; see outbox list");
    }
    let cursors = apply::cursors(&conn).await?;
    for entity in registry::pulled() {
        let cursor = cursors.get(entity.name).copied().unwrap_or_default();
        let reloading = if cursor.reloading { "  reloading" } else { "" };
        let here = staged::cursor(&conn, entity).await?;
        let staged = if here == cursor { String::new() } else { format!("  staged up to {}", here.version) };
        say!("{:<24} version {}{reloading}{staged}", entity.name, cursor.version);
    }
    Ok(())
}

async fn list(dir: &DataDir, dead: bool, limit: u64) -> Result<()> {
    let conn = dir.read().await?;
    let least = if dead { MAX_ATTEMPTS } else { 0 };
    let rows = entry::Entity::find()
        .filter(entry::Column::Attempts.gte(least))
        .order_by_asc(entry::Column::Seq)
        .limit(limit)
        .all(&conn)
        .await?;
    for row in rows {
        let alone = row.waits_alone_since.map(|since| format!("  alone since {since}")).unwrap_or_default();
        let error = row.last_error.map(|error| format!("  {error}")).unwrap_or_default();
        say!(
            "{:>8}  {}  {:<20} {}  {:<6}  {} of {MAX_ATTEMPTS} attempts{alone}{error}",
            row.seq,
            row.timestamp,
            row.entity_type,
            row.entity_id,
            row.action,
            row.attempts
        );
    }
    Ok(())
}

async fn requeue(dir: &DataDir, seq: Option<i64>) -> Result<()> {
    let db = dir.open().await?;
    let tx = db.begin().await?;
    if let Some(seq) = seq
        && outbox::find(&tx, seq).await?.is_none()
    {
        bail!("there is no entry {seq} in the outbox");
    }
    let requeued = outbox::requeue(&tx, seq).await?;
    note(&tx, "outbox.requeue", seq.map(|seq| seq.to_string()), json!({"requeued": requeued, "by": "command line"}))
        .await?;
    tx.commit().await?;
    db.close().await?;
    say!("{requeued} entries have ten attempts again.");
    Ok(())
}

async fn resync(dir: &DataDir, entity_type: Option<&str>) -> Result<()> {
    if let Some(name) = entity_type
        && !registry::find(name).is_some_and(registry::SyncType::is_pulled)
    {
        let names: Vec<&str> = registry::pulled().map(|entity| entity.name).collect();
        bail!("{name:?} is not a type that stores pull; one of {}", names.join(", "));
    }
    let db = dir.open().await?;
    let tx = db.begin().await?;
    for entity in registry::pulled().filter(|entity| entity_type.is_none_or(|name| name == entity.name)) {
        apply::begin_reload(&tx, entity).await?;
    }
    note(&tx, "store.resync", entity_type.map(str::to_owned), json!({"by": "command line"})).await?;
    tx.commit().await?;
    db.close().await?;
    say!("{} will be reloaded in the next cycle.", entity_type.unwrap_or("All master data"));
    Ok(())
}

async fn take_over(dir: &DataDir) -> Result<()> {
    let db = dir.open().await?;
    if !standing::take_over(&db).await? {
        bail!("headquarters does not refuse this copy of the store; there is nothing to take over");
    }
    let tx = db.begin().await?;
    note(&tx, "store.take_over", None, json!({"by": "command line"})).await?;
    tx.commit().await?;
    db.close().await?;
    say!("This copy is the store with its next handshake, and the other one is refused.");
    Ok(())
}

async fn note(
    tx: &tillkeep_storage::Tx,
    action: &'static str,
    entity_id: Option<String>,
    details: serde_json::Value,
) -> Result<()> {
    let entry =
        audit::Entry { action, entity_type: Some("sync_outbox"), entity_id, details, ..audit::Entry::default() };
    audit::record(tx, entry, Clock::default().now()).await?;
    Ok(())
}
