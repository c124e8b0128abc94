//! What a store server is made of.

mod alarms;
mod door;
mod events;
mod moments;
mod news;
mod printers;
mod withdrawn;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tillkeep_http::auth::{SignInSettings, housekeeping};
use tillkeep_http::pins::Pins;
use tillkeep_http::tokens::{Tokens, read_sync_token};
use tillkeep_http::{Auth, Clock, HasAuth, Home, Secret};
use tillkeep_model::{Alarm, ErrorCode};
use tillkeep_storage::leases::Leases;
use tillkeep_storage::numbers::{Numbering, Numbers, Unknown};
use tillkeep_storage::{Connection, Db, DbErr, Purpose, Side, Transaction, outbox, parked_carts, settings};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::chance::Chance;
use crate::headquarters::{HqClient, Http, SyncState, Transport, standing, token};
use crate::memory::{Memory, Shop, Sold, Specials, SpecialsCache, VersionCache};
use crate::signer::Signing;
pub(crate) use alarms::Alarms;
pub(crate) use door::Door;
pub(crate) use events::{Events, Place};
pub(crate) use moments::{Moment, Moments};
pub(crate) use news::{DrawerNews, LineNews, News, ParkedNews, PrinterNews, Written};
pub(crate) use printers::{PrinterState, Printers, Standing};
pub(crate) use withdrawn::Withdrawn;

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

/// Routes of a store, being collected.
pub(crate) type Routes = tillkeep_http::routes::Routes<Arc<Store>>;

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
    pub alarms: Alarms,
    /// The device that signs its documents, where it has one.
    pub(crate) signing: Signing,
    /// What tills that listen are told.
    pub(crate) events: Arc<Events>,
    /// How the printers of the registers are.
    pub(crate) printers: Printers,
    pub(crate) moments: Arc<Moments>,
    /// Ids of sales whose carts were parked.
    pub(crate) withdrawn: Arc<Withdrawn>,
    memory: Memory,
    db: Db,
    pub(crate) door: Door,
    pub settings: Settings,
    pub stop: CancellationToken,
}

impl HasAuth for Store {
    fn auth(&self) -> &Arc<Auth> {
        &self.auth
    }

    fn alarms(&self) -> Vec<Alarm> {
        self.alarms.all()
    }
}

/// What a cart is priced with, of one moment.
pub(crate) type Goods = (Arc<Shop>, HashMap<Uuid, Arc<Sold>>, Arc<Specials>);

impl Store {
    /// Opens the database and the keys and migrates; needs no line to HQ.
    pub async fn open(settings: Settings, clock: Clock, stop: CancellationToken) -> std::io::Result<Arc<Self>> {
        let sync_token = token::newest(&settings.data_dir, &settings.sync_token);
        let settings = Settings { sync_token, ..settings };
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
        let last = outbox::last_made(db.reader()).await.map_err(other)?;
        let moments = Arc::new(Moments::new(clock.clone(), last.unwrap_or_default()));
        let parked = parked_carts::earlier(db.reader()).await.map_err(other)?;
        let standing = standing::standing(&db).await.map_err(other)?;
        let tokens = Tokens::open(&settings.data_dir.join("token.key"), settings.sign_in.keys.clone(), clock.now())?;
        let pins = Pins::open(&settings.sign_in.pin_key(&settings.data_dir), PARALLEL_HASHES)?;
        let instance = standing.instance;
        let events = Arc::new(Events::default());
        let sync = SyncState::new(standing, db.with_pool(Purpose::Sync));
        let auth = Auth::new(db.clone(), Home::Store(id), tokens, pins, clock.clone(), &settings.sign_in);
        housekeeping::start(auth.clone(), Leases::new(db.clone()), stop.clone());
        let store = Self {
            auth,
            clock,
            id,
            code: claims.store_code,
            outbox_bell: Notify::new(),
            hq: HqClient::new(hq, instance),
            line,
            chance,
            sync,
            numbers,
            alarms: Alarms::default(),
            signing: Signing::default(),
            printers: Printers::new(events.clone()),
            events,
            moments,
            withdrawn: Arc::new(Withdrawn::new(&parked)),
            memory: Memory::default(),
            door: Door::new(db.clone()),
            db,
            settings,
            stop,
        };
        store.opened_numbers();
        Ok(Arc::new(store))
    }

    /// For a single statement that needs no snapshot with others. Routes read with what their caller hands out.
    pub(crate) const fn reader(&self) -> &Connection {
        self.db.reader()
    }

    /// Several reads of one moment, as [`Store::reader`].
    pub(crate) async fn snapshot(&self) -> Result<Transaction, DbErr> {
        self.db.snapshot().await
    }

    /// Closes the database, when the server has ended.
    pub async fn close(&self) -> Result<(), DbErr> {
        self.db.clone().close().await
    }

    /// The database of the running server, for tests, which prepare it and look into it. `tests/till/door.rs` sees to it that
    /// the program never asks for it.
    pub const fn test_db(&self) -> &Db {
        &self.db
    }

    /// What gives numbers of the series that are printed. Waits until one may be given, or refuses it.
    pub async fn numbering(&self) -> tillkeep_http::error::Result<Numbering> {
        if self.sync.is_refused() {
            let text = "another copy of this store is running and goes on in place of this one, so nothing is sold here; \
                        stop one of the two, or run tillkeep store take-over on this machine if this is the one to go on";
            return Err(tillkeep_http::Error::new(ErrorCode::StoreRunsElsewhere, text));
        }
        self.numbers.ready().await.map_err(|Unknown| {
            let text = "the file of this store's last numbers is gone, and headquarters is being asked for them; try again \
                        in a moment";
            tillkeep_http::Error::new(ErrorCode::NumbersUnknown, text).retry_after(2)
        })
    }

    /// What was pulled and is in memory, as the database has it now.
    pub fn cache(&self) -> Arc<VersionCache> {
        self.memory.cache(&self.db, self.id)
    }

    /// The same of the specials.
    pub fn specials_cache(&self) -> Arc<SpecialsCache> {
        self.memory.specials(&self.db, self.id)
    }

    /// The settings of this store, those products of `ids` that are here and all specials, of one moment: what was read on both
    /// sides of a pull is read again, once. May take a connection of its own: none may be held meanwhile.
    pub async fn goods(&self, ids: &[Uuid]) -> Result<Goods, DbErr> {
        let (cache, specials) = (self.cache(), self.specials_cache());
        let read = (cache.shop().await?, cache.products(ids).await?, specials.load().await?);
        let now = (self.cache(), self.specials_cache());
        if Arc::ptr_eq(&cache, &now.0) && Arc::ptr_eq(&specials, &now.1) {
            return Ok(read);
        }
        Ok((now.0.shop().await?, now.0.products(ids).await?, now.1.load().await?))
    }

    /// The specials that may be in force here. May take a connection of its own: none may be held meanwhile.
    pub async fn specials(&self) -> Result<Arc<Specials>, DbErr> {
        self.specials_cache().load().await
    }

    /// The settings of this store and its tills. May take a connection of its own: none may be held meanwhile.
    pub async fn shop(&self) -> Result<Arc<Shop>, DbErr> {
        self.cache().shop().await
    }
}
