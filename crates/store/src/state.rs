//! What a store server is made of.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tillkeep_http::auth::{SignInSettings, housekeeping};
use tillkeep_http::pins::Pins;
use tillkeep_http::tokens::{Tokens, read_sync_token};
use tillkeep_http::{Auth, Clock, HasAuth, Home, Secret};
use tillkeep_model::ErrorCode;
use tillkeep_storage::leases::Leases;
use tillkeep_storage::numbers::{Numbers, Unknown};
use tillkeep_storage::{Db, DbErr, Purpose, Side, Tx, Working, outbox, settings};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::chance::Chance;
use crate::memory::{Known, Memory, Shop, Sold};
use crate::sync::{HqClient, Http, SyncState, Transport, elsewhere};

/// Hashes that a store computes at once.
const PARALLEL_HASHES: usize = 1;

/// How a store server is started: everything else it learns from HQ.
#[derive(Clone, Debug)]
pub struct Settings {
    pub data_dir: PathBuf,
    pub sync_token: Secret,
    pub hq_url: String,
    /// PEM file with certificates that HQ may show besides those the operating system trusts.
    pub hq_ca_file: Option<PathBuf>,
    pub sync_interval: Duration,
    pub sign_in: SignInSettings,
    /// Where the last numbers are kept instead of beside the database.
    pub numbers_file: Option<PathBuf>,
}

/// What a store gets from outside of itself, and a simulation gives it.
pub struct World {
    /// Carries requests to HQ.
    pub hq: Arc<dyn Transport>,
    pub clock: Clock,
    pub chance: Chance,
}

/// A running store server.
pub struct Store {
    pub auth: Arc<Auth>,
    pub clock: Clock,
    /// This store, from its sync token.
    pub id: Uuid,
    pub code: String,
    /// Rung when the outbox has something new.
    pub outbox_bell: Notify,
    pub hq: HqClient,
    /// Where the socket goes, and whom it trusts.
    pub line: Http,
    pub chance: Chance,
    pub sync: SyncState,
    /// The series of what is printed.
    pub numbers: Numbers,
    memory: Memory,
    sync_db: Db,
    pub settings: Settings,
    pub stop: CancellationToken,
}

impl HasAuth for Store {
    fn auth(&self) -> &Arc<Auth> {
        &self.auth
    }
}

impl Store {
    /// Opens the database and the keys and migrates; needs no line to HQ.
    pub async fn open(settings: Settings, clock: Clock, stop: CancellationToken) -> std::io::Result<Arc<Self>> {
        let line = Http::new(&settings.hq_url, &settings.sync_token, settings.hq_ca_file.as_deref())?;
        let world = World { hq: Arc::new(line.clone()), clock, chance: Chance::default() };
        Self::open_in(settings, line, world, stop).await
    }

    /// As [`Store::open`], with a line, a clock and chances of the caller's.
    pub async fn open_in(
        settings: Settings,
        line: Http,
        World { hq, clock, chance }: World,
        stop: CancellationToken,
    ) -> std::io::Result<Arc<Self>> {
        let other = std::io::Error::other::<DbErr>;
        let claims = read_sync_token(settings.sync_token.expose())
            .ok_or_else(|| std::io::Error::other("SYNC_TOKEN is no store sync token; provision the store at HQ"))?;
        let id = claims.store_id.filter(|id| !id.is_nil());
        let id = id.ok_or_else(|| std::io::Error::other("SYNC_TOKEN names no store; provision the store at HQ"))?;
        let db = Db::open_file(&settings.data_dir.join("tillkeep.db"), Side::Store).await.map_err(other)?;
        let tx = db.begin().await.map_err(other)?;
        outbox::node_epoch(&tx).await.map_err(other)?;
        let owner = settings::get_or_set(&tx, "store_id", || id.to_string()).await.map_err(other)?;
        tx.commit().await.map_err(other)?;
        if owner != id.to_string() {
            return Err(std::io::Error::other(format!(
                "this data directory belongs to store {owner}, SYNC_TOKEN to store {id}; use a directory of its own"
            )));
        }
        let beside = || settings.data_dir.join("numbers");
        let path = settings.numbers_file.clone().unwrap_or_else(beside);
        let numbers = Numbers::open(&path, &db, id, clock.now()).await.map_err(other)?;
        let standing = elsewhere::standing(&db).await.map_err(other)?;
        let tokens = Tokens::open(&settings.data_dir.join("token.key"), settings.sign_in.keys.clone(), clock.now())?;
        let pins = Pins::open(&settings.sign_in.pin_key(&settings.data_dir), PARALLEL_HASHES)?;
        let sync_db = db.of(Purpose::Sync);
        let auth = Auth::new(db, Home::Store(id), tokens, pins, clock.clone(), &settings.sign_in);
        housekeeping::start(auth.clone(), Leases::new(auth.db.clone()), stop.clone());
        Ok(Arc::new(Self {
            auth,
            clock,
            id,
            code: claims.store_code,
            outbox_bell: Notify::new(),
            hq: HqClient::new(hq, standing.instance),
            line,
            chance,
            sync: SyncState::new(standing),
            numbers,
            memory: Memory::default(),
            sync_db,
            settings,
            stop,
        }))
    }

    pub fn db(&self) -> &Db {
        &self.auth.db
    }

    /// The same database for what the sync client writes: people go first.
    pub const fn sync_db(&self) -> &Db {
        &self.sync_db
    }

    /// Commits a document with its outbox entry, and wakes the sender. The numbers that it took are in their file before
    /// anybody is told of them.
    pub async fn commit(&self, tx: Tx) -> Result<(), DbErr> {
        let taken = tx.taken();
        tx.commit().await?;
        self.outbox_bell.notify_one();
        self.numbers.keep(taken).await
    }

    /// Runs `work` as one transaction with a document and its outbox entry, which shares its commit with others that wait, and
    /// does what [`Store::commit`] does.
    pub async fn write<T, E, W>(&self, work: W) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<DbErr> + Send + 'static,
        W: for<'tx> FnOnce(&'tx mut Tx) -> Working<'tx, T, E> + Send + 'static,
    {
        let written = self.db().write(work).await?;
        self.outbox_bell.notify_one();
        self.numbers.keep(written.taken).await?;
        Ok(written.value)
    }

    /// Waits until a number may be given, or refuses it.
    pub async fn may_number(&self) -> tillkeep_http::error::Result<()> {
        if self.sync.is_refused() {
            let text = "another copy of this store is running and headquarters heard it before this one, so nothing is sold \
                        here; stop one of the two, or run tillkeep store take-over on this machine if this is the one to go on";
            return Err(tillkeep_http::Error::new(ErrorCode::StoreRunsElsewhere, text));
        }
        self.numbers.ready().await.map_err(|Unknown| {
            let text = "the file of this store's last numbers is gone, and headquarters is being asked for them; try again \
                        in a moment";
            tillkeep_http::Error::new(ErrorCode::NumbersUnknown, text).retry_after(2)
        })
    }

    /// What was pulled and is in memory, as the database has it now.
    pub fn known(&self) -> Arc<Known> {
        self.memory.of(self.db(), self.id)
    }

    /// The settings of this store and those products of `ids` that are here, of one moment: what was read on both sides of a pull
    /// is read again, once. May take a connection of its own: none may be held meanwhile.
    pub async fn goods(&self, ids: &[Uuid]) -> Result<(Arc<Shop>, HashMap<Uuid, Arc<Sold>>), DbErr> {
        let known = self.known();
        let read = (known.shop().await?, known.products(ids).await?);
        let now = self.known();
        if Arc::ptr_eq(&known, &now) {
            return Ok(read);
        }
        Ok((now.shop().await?, now.products(ids).await?))
    }

    /// The settings of this store and its tills. May take a connection of its own: none may be held meanwhile.
    pub async fn shop(&self) -> Result<Arc<Shop>, DbErr> {
        self.known().shop().await
    }
}
