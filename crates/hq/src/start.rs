//! How a server of headquarters starts.

use std::io;
use std::sync::{Arc, OnceLock};

use tillkeep_http::auth::{SignInSettings, housekeeping};
use tillkeep_http::pins::Pins;
use tillkeep_http::tokens::Tokens;
use tillkeep_http::{Auth, Clock, Home};
use tillkeep_storage::entity::user;
use tillkeep_storage::leases::Leases;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};
use tillkeep_storage::{Db, DbErr, Purpose, Side, db, hq_nodes, seed, settings};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::live::alerting::Alerting;
use crate::live::board::Board;
use crate::live::copies::Copies;
use crate::live::overview::Overview;
use crate::live::store_metrics::StoreMetrics;
use crate::live::{
    DatabaseRun, Databases, Heads, Hub, Nodes, Pages, PushQueue, StoreCache, StoresToNotify, Streams, Times, Totals,
    Tracker, Turns, Unreadable,
};
use crate::state::{Hq, Settings};
use crate::{background, notify};

/// Which root the PINs in the database are made with.
const PIN_ROOT: &str = "pin_root";
/// Hashes that HQ computes at once.
const PARALLEL_HASHES: usize = 2;

impl Hq {
    /// Opens the database alone, and migrates.
    pub async fn database(settings: &Settings) -> Result<Db, DbErr> {
        match &settings.database_url {
            Some(url) => Db::open_with(url.expose(), Side::Hq, settings.database).await,
            None => Db::open_file(&settings.data_dir.join("tillkeep.db"), Side::Hq).await,
        }
    }

    /// Opens the database and the keys, migrates, seeds, and starts the background work.
    pub async fn open(settings: &Settings, clock: Clock, stop: CancellationToken) -> io::Result<Arc<Self>> {
        Self::open_with(settings, clock, Times::default(), stop).await
    }

    /// As [`Hq::open`], waiting for stores as long as a test wants it.
    pub async fn open_with(
        settings: &Settings,
        clock: Clock,
        times: Times,
        stop: CancellationToken,
    ) -> io::Result<Arc<Self>> {
        let hq = Self::opened(settings, clock, times, stop, true).await?;
        hq.auth.end_sessions_without_factor().await.map_err(io::Error::other)?;
        background::start(&hq).await.map_err(io::Error::other)?;
        Ok(hq)
    }

    /// As [`Hq::open`], for a command beside the servers: what those have in their settings is not decided anew by its
    /// own.
    pub async fn for_command(settings: &Settings, clock: Clock, stop: CancellationToken) -> io::Result<Arc<Self>> {
        let hq = Self::opened(settings, clock, Times::default(), stop, false).await?;
        background::start(&hq).await.map_err(io::Error::other)?;
        Ok(hq)
    }

    async fn opened(
        settings: &Settings,
        clock: Clock,
        times: Times,
        stop: CancellationToken,
        decides: bool,
    ) -> io::Result<Arc<Self>> {
        let db = Self::database(settings).await.map_err(io::Error::other)?;
        db::retry_serialization(|| seed::ensure(&db, clock.now())).await.map_err(io::Error::other)?;
        let epoch = epoch(&db).await.map_err(io::Error::other)?;
        let keys = keys(&db, settings, &clock).await?;
        if decides {
            db::retry_serialization(|| decide(&db, settings)).await.map_err(io::Error::other)?;
        }
        let hq = Arc::new(Self::new(settings, db, epoch, keys, clock, times, stop).await?);
        housekeeping::follow_factor_uses(&hq.auth).await.map_err(io::Error::other)?;
        Ok(hq)
    }

    async fn new(
        settings: &Settings,
        db: Db,
        epoch: String,
        (tokens, pins): (Tokens, Pins),
        clock: Clock,
        times: Times,
        stop: CancellationToken,
    ) -> io::Result<Self> {
        let embedded = db.is_embedded();
        let sign_in = SignInSettings {
            public_url: settings.public_url.clone().or_else(|| settings.sign_in.public_url.clone()),
            factor_uses: Some(settings.data_dir.join("second-factor.uses")),
            ..settings.sign_in.clone()
        };
        // Before anything is read that is kept: a database that falls back in between has another run than what was read.
        let database_run = DatabaseRun::load(&db).await.map_err(io::Error::other)?;
        let started_at = hq_nodes::time(db.reader(), clock.now()).await.map_err(io::Error::other)?;
        Ok(Self {
            heads: Heads::load(&db).await.map_err(io::Error::other)?,
            pages: Pages::default(),
            totals: Totals::default(),
            hub: Arc::new(Hub::default()),
            notifications: notify::open(settings.broker.as_ref(), &epoch, &clock).await?,
            judge: Notify::new(),
            tracker: Tracker::default(),
            board: Board::default(),
            alerting: Alerting::new(&settings.data_dir),
            store_metrics: StoreMetrics::default(),
            overview: Overview::default(),
            database_run,
            unreadable: Unreadable::load(&db, &clock).await.map_err(io::Error::other)?,
            stores: StoreCache::default(),
            stores_to_notify: StoresToNotify::load(&db).await.map_err(io::Error::other)?,
            copies: Copies::load(&db).await.map_err(io::Error::other)?,
            settling: tokio::sync::Mutex::default(),
            nodes: Nodes::new(&settings.node, started_at),
            leases: Leases::new(db.with_pool(Purpose::Sync)),
            sync_log_days: settings.sync_log_days,
            new_customers: Some(settings.new_customers_per_hour).filter(|most| *most > 0),
            public_url: settings.public_url.clone(),
            own_url: OnceLock::new(),
            allow_insecure: settings.allow_insecure,
            streams: Streams::beside(settings.database.sync_readers(embedded)),
            times,
            pushes: PushQueue::new(embedded),
            turns: Turns::default(),
            replica: OnceLock::new(),
            stop,
            left: CancellationToken::new(),
            epoch,
            databases: Databases::new(db.clone()),
            auth: Auth::new(db, Home::Hq, tokens, pins, clock.clone(), &sign_in),
            clock,
        })
    }
}

/// The random id of this database, made at the first start.
async fn epoch(db: &Db) -> Result<String, DbErr> {
    let tx = db.begin().await?;
    let epoch = settings::get_or_set(&tx, settings::EPOCH, || Uuid::new_v4().to_string()).await?;
    tx.commit().await?;
    Ok(epoch)
}

/// The keys of tokens and PINs, which must be those that the database was used with before.
async fn keys(db: &Db, settings: &Settings, clock: &Clock) -> io::Result<(Tokens, Pins)> {
    let tokens = Tokens::open(&settings.data_dir.join("token.key"), settings.sign_in.keys.clone(), clock.now())?;
    let pins = Pins::open(&settings.sign_in.pin_key(&settings.data_dir), PARALLEL_HASHES)?;
    if pins.key_id().is_none() && has_pins(db).await.map_err(io::Error::other)? {
        // A new key would lock everybody out, here and in every store that takes it over.
        return Err(io::Error::other(
            "pin.key is missing, but the database has PINs that were made with it; restore it from the backup",
        ));
    }
    let tx = db.begin().await.map_err(io::Error::other)?;
    let root = pins.root();
    // Of two servers that start for the first time at once the first one decides, before either writes its file.
    if settings::get_or_set(&tx, PIN_ROOT, || root.id.clone()).await.map_err(io::Error::other)? != root.id {
        return Err(io::Error::other(
            "pin.key is not the one that the PINs in the database were made with; restore it from the backup, or copy it \
             from the other servers of headquarters",
        ));
    }
    pins.keep_root(root)?;
    tx.commit().await.map_err(io::Error::other)?;
    Ok((tokens, pins))
}

async fn has_pins(db: &Db) -> Result<bool, DbErr> {
    Ok(user::Entity::find().filter(user::Column::PinHash.is_not_null()).count(db.reader()).await? > 0)
}

/// Takes over what the operator decided about people with roles in every store.
async fn decide(db: &Db, settings: &Settings) -> Result<(), DbErr> {
    let mut tx = db.begin().await?;
    settings.global_people.decide(&mut tx).await?;
    tx.commit().await?;
    Ok(())
}
