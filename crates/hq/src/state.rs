//! What the headquarters server is made of.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use serde_json::json;
use tillkeep_http::auth::new_pin::hash_new_pin;
use tillkeep_http::auth::{SignInSettings, housekeeping};
use tillkeep_http::pins::{Hashed, Pins};
use tillkeep_http::tokens::Tokens;
use tillkeep_http::{Auth, Clock, DatabaseUrl, HasAuth, Home, Secret};
use tillkeep_model::ids;
use tillkeep_model::wire::close;
use tillkeep_storage::entity::{user, user_store_role};
use tillkeep_storage::leases::Leases;
use tillkeep_storage::nodes::Heard;
use tillkeep_storage::registry::fold;
use tillkeep_storage::sea_orm::{
    ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, PaginatorTrait, QueryFilter,
};
use tillkeep_storage::staff::GlobalPeople;
use tillkeep_storage::{Change, Db, DbErr, Opening, Purpose, Side, Tx, audit, db, seed, settings};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::replica::Followed;
use crate::sync::copies::Copies;
use crate::sync::dashboard::{self, Board, StoreMetrics};
use crate::sync::{
    Broker, DatabaseRun, Heads, Hub, Nodes, NotificationQueue, Pages, PushQueue, StoreCache, Streams, Times, ToTell,
    Totals, Tracker, Turns, Unreadable,
};
use crate::sync::{nodes, notify};

/// Which root the PINs in the database are made with.
const PIN_ROOT: &str = "pin_root";
/// Hashes that HQ computes at once.
const PARALLEL_HASHES: usize = 2;

/// How a headquarters server is started.
#[derive(Clone, Debug)]
pub struct Settings {
    pub data_dir: PathBuf,
    /// `sqlite://…` or `postgres://…`; by default a file in the data directory.
    pub database_url: Option<DatabaseUrl>,
    pub database: Opening,
    /// How stores reach this server, for the environment snippet of a provisioned store.
    pub public_url: Option<String>,
    /// Hands the PIN secrets to stores over plain HTTP too, not only over loopback.
    pub allow_insecure: bool,
    pub sign_in: SignInSettings,
    /// Where the PINs of people can be verified whose roles count in every store.
    pub global_people: GlobalPeople,
    /// What this server is called among those of headquarters; empty: by the name of its machine.
    pub node: String,
    /// Between several servers of one headquarters; without one, notifications stay within the process.
    pub broker: Option<Broker>,
    /// After so many days a success leaves the log of entries; 0 is never.
    pub sync_log_days: u32,
}

/// A running headquarters server.
pub struct Hq {
    pub auth: Arc<Auth>,
    sync_db: Db,
    pub clock: Clock,
    /// Random id of this database. `docs/sync.md`, rule D8.
    pub epoch: String,
    pub heads: Heads,
    pub pages: Pages,
    pub totals: Totals,
    /// A commit was answered with an error and may be done.
    in_doubt: AtomicBool,
    pub hub: Arc<Hub>,
    /// Between a commit and the sockets.
    pub notifications: Box<dyn NotificationQueue>,
    /// Sockets are to be judged again: something of a store has changed.
    pub judge: Notify,
    pub tracker: Tracker,
    pub board: Board,
    pub store_metrics: StoreMetrics,
    pub database_run: DatabaseRun,
    /// Rows that stores go without.
    pub unreadable: Unreadable,
    pub stores: StoreCache,
    /// Stores with a settled dead letter they do not know of yet.
    pub to_tell: ToTell,
    /// Processes of each store, and whether two run at once.
    pub copies: Copies,
    /// One retry or settlement of a failed entry at a time: what one of them decides, the next one sees.
    pub settling: tokio::sync::Mutex<()>,
    /// Which server of headquarters this is, and which others run.
    pub nodes: Nodes,
    /// What this server does in place of the others.
    pub leases: Leases,
    /// After so many days a success leaves the log of entries; 0 is never.
    pub sync_log_days: u32,
    pub public_url: Option<String>,
    pub allow_insecure: bool,
    /// Places for pulls without a limit.
    pub streams: Streams,
    pub times: Times,
    /// Pushes in front of the writer.
    pub pushes: PushQueue,
    pub turns: Turns,
    /// Where lists and figures are read that may be somewhat behind.
    pub replica: OnceLock<Followed>,
    pub stop: CancellationToken,
    /// After a stop: everything was noted, and the other servers know.
    pub left: CancellationToken,
}

impl HasAuth for Hq {
    fn auth(&self) -> &Arc<Auth> {
        &self.auth
    }
}

/// Somebody who can sign in after the first start.
#[derive(Clone, Debug)]
pub struct Account {
    pub username: String,
    pub pin: Secret,
    pub role: &'static str,
}

impl Hq {
    /// Opens the database alone, and migrates.
    pub async fn database(settings: &Settings) -> Result<Db, DbErr> {
        match &settings.database_url {
            Some(url) => Db::open_with(url.expose(), Side::Hq, settings.database).await,
            None => Db::open_file(&settings.data_dir.join("tillkeep.db"), Side::Hq).await,
        }
    }

    /// Opens the database and the keys, migrates, seeds, and starts the background work.
    pub async fn open(settings: &Settings, clock: Clock, stop: CancellationToken) -> std::io::Result<Arc<Self>> {
        Self::open_with(settings, clock, Times::default(), stop).await
    }

    /// As [`Hq::open`], waiting for stores as long as a test wants it.
    pub async fn open_with(
        settings: &Settings,
        clock: Clock,
        times: Times,
        stop: CancellationToken,
    ) -> std::io::Result<Arc<Self>> {
        let other = std::io::Error::other::<DbErr>;
        let db = Self::database(settings).await.map_err(other)?;
        let embedded = db.is_embedded();
        db::again(|| seed::ensure(&db, clock.now())).await.map_err(other)?;
        let tx = db.begin().await.map_err(other)?;
        let epoch = settings::get_or_set(&tx, settings::EPOCH, || Uuid::new_v4().to_string()).await.map_err(other)?;
        tx.commit().await.map_err(other)?;
        let tokens = Tokens::open(&settings.data_dir.join("token.key"), settings.sign_in.keys.clone(), clock.now())?;
        let pins = Pins::open(&settings.sign_in.pin_key(&settings.data_dir), PARALLEL_HASHES)?;
        if pins.key_id().is_none() && has_pins(&db).await.map_err(other)? {
            // A new key would lock everybody out, here and in every store that takes it over.
            return Err(std::io::Error::other(
                "pin.key is missing, but the database has PINs that were made with it; put it back from the backup",
            ));
        }
        let tx = db.begin().await.map_err(other)?;
        let root = pins.root();
        // Of two servers that start for the first time at once the first one decides, before either writes its file.
        if settings::get_or_set(&tx, PIN_ROOT, || root.id.clone()).await.map_err(other)? != root.id {
            return Err(std::io::Error::other(
                "pin.key is not the one that the PINs in the database were made with; put it back from the backup, or copy \
                 it from the other servers of headquarters",
            ));
        }
        pins.keep_root(root)?;
        tx.commit().await.map_err(other)?;
        let mut tx = db.begin().await.map_err(other)?;
        settings.global_people.decide(&mut tx).await.map_err(other)?;
        tx.commit().await.map_err(other)?;
        let database_run = DatabaseRun::load(&db).await.map_err(other)?;
        let heads = Heads::load(&db).await.map_err(other)?;
        let unreadable = Unreadable::load(&db, &clock).await.map_err(other)?;
        let to_tell = ToTell::load(&db).await.map_err(other)?;
        let copies = Copies::load(&db).await.map_err(other)?;
        let sync_db = db.of(Purpose::Sync);
        let auth = Auth::new(db, Home::Hq, tokens, pins, clock.clone(), &settings.sign_in);
        let (hub, now) = (Arc::new(Hub::default()), clock.now());
        let notifications = notify::open(settings.broker.as_ref(), &epoch, &clock).await?;
        let hq = Arc::new(Self {
            auth,
            clock,
            epoch,
            heads,
            pages: Pages::default(),
            totals: Totals::default(),
            in_doubt: false.into(),
            hub,
            notifications,
            judge: Notify::new(),
            tracker: Tracker::default(),
            board: Board::default(),
            store_metrics: StoreMetrics::default(),
            database_run,
            unreadable,
            stores: StoreCache::default(),
            to_tell,
            copies,
            settling: tokio::sync::Mutex::default(),
            nodes: Nodes::new(&settings.node, now),
            leases: Leases::new(sync_db.clone()),
            sync_log_days: settings.sync_log_days,
            sync_db,
            public_url: settings.public_url.clone(),
            allow_insecure: settings.allow_insecure,
            streams: Streams::beside(settings.database.sync_readers(embedded)),
            times,
            pushes: PushQueue::new(embedded),
            turns: Turns::default(),
            replica: OnceLock::new(),
            stop,
            left: CancellationToken::new(),
        });
        // Weak: what the server is made of must not keep the server.
        let weak = Arc::downgrade(&hq);
        hq.auth.when_committed(move |changes| {
            if let Some(hq) = weak.upgrade() {
                hq.announce(changes);
            }
        });
        let weak = Arc::downgrade(&hq);
        hq.auth.when_sessions_end(move || {
            if let Some(hq) = weak.upgrade() {
                hq.notifications.sessions_ended();
            }
        });
        let weak = Arc::downgrade(&hq);
        hq.auth
            .when_others_are_followed(move || weak.upgrade().is_none_or(|hq| hq.is_alone() || hq.nodes.are_followed()));
        nodes::join(&hq).await.map_err(other)?;
        hq.notifications.start(&hq);
        crate::sync::judge::start(hq.clone());
        crate::sync::tracker::start(hq.clone());
        nodes::start(hq.clone());
        crate::sync::pruning::start(hq.clone());
        dashboard::start(hq.clone());
        housekeeping::start(hq.auth.clone(), hq.leases.clone(), hq.stop.clone());
        Ok(hq)
    }

    /// The database for people, and for what the server does by itself.
    pub fn db(&self) -> &Db {
        &self.auth.db
    }

    /// The database for stores: connections of their own, so that neither keeps the other from working.
    pub fn sync_db(&self) -> &Db {
        &self.sync_db
    }

    /// Commits, and lets everybody know: the heads in memory, the permissions cache, the queue for the stores' sockets and
    /// for other servers. Nothing here waits for the network.
    pub async fn commit(&self, tx: Tx) -> Result<Vec<Change>, DbErr> {
        let changes = tx.commit().await.inspect_err(|_| self.doubt())?;
        self.announce(&changes);
        Ok(changes)
    }

    /// A commit was answered with an error, and may be done all the same.
    pub fn doubt(&self) {
        self.in_doubt.store(true, Ordering::Release);
    }

    /// Compares what is known of the database with what it has: a commit in doubt may be done after all, and stores would
    /// wait for it until the next change.
    pub async fn settle_doubt(&self) {
        if self.in_doubt.swap(false, Ordering::AcqRel) {
            match self.heads.follow(self.db()).await {
                Ok(changes) => self.announce(&changes),
                // The database is still away.
                Err(_) => self.doubt(),
            }
        }
    }

    /// Makes committed changes known: here at once, to sockets and other servers by the queue.
    pub fn announce(&self, changes: &[Change]) {
        self.learn(changes);
        self.notifications.enqueue(changes);
    }

    /// Takes note of committed changes, this server's or another one's.
    pub(crate) fn learn(&self, changes: &[Change]) {
        self.heads.raise(changes);
        let people = ["users", "roles", "permissions", "role_permissions", "user_store_roles"];
        if changes.iter().any(|change| people.contains(&change.entity_type)) {
            self.auth.invalidate();
        }
        if changes.iter().any(|change| change.entity_type == "stores") {
            self.stores.clear();
            self.judge.notify_one();
            self.board.mark_all();
        }
    }

    /// Whether no other server can be there: on a file, and nobody said where others would be told.
    pub fn is_alone(&self) -> bool {
        self.db().is_embedded() && !self.notifications.has_broker()
    }

    /// Whether a store has a socket here, or at another server that runs by what was `heard`.
    pub(crate) fn is_connected(&self, store_id: Uuid, heard: &Heard) -> bool {
        let node = heard.connection.and_then(|(_, line)| line.node());
        self.hub.of(store_id).is_some() || node.is_some_and(|node| self.nodes.name_of(node).is_some())
    }

    /// Closes the socket of a store whose token is good no more. Of one that has no socket it is noted why it stays away.
    pub(crate) fn shut_out(&self, store_id: Uuid) {
        self.hub.close(store_id, close::REVOKED);
        if self.hub.of(store_id).is_none() {
            self.tracker.shut_out(store_id, self.clock.now());
            self.board.mark([store_id]);
        }
    }

    /// True while nobody can sign in yet.
    pub async fn has_no_users(&self) -> Result<bool, DbErr> {
        Ok(user::Entity::find().count(self.db().reader()).await? == 0)
    }

    /// Makes an account with one of the default roles, everywhere. An operator's PIN is only checked for its form.
    /// `by` is who makes it, for the audit log.
    pub async fn make_account(
        &self,
        account: &Account,
        must_change_pin: bool,
        by: &str,
    ) -> tillkeep_http::error::Result<()> {
        let hashed: Hashed = match hash_new_pin(&self.auth, account.pin.expose()).await {
            Ok(hashed) => hashed,
            Err(_) if is_plain_pin(account.pin.expose()) => {
                tracing::warn!(username = account.username, "this PIN is easy to guess; change it");
                self.auth.pins.hash(account.pin.expose()).await?
            }
            Err(error) => return Err(error),
        };
        let now = self.clock.now();
        let row = user::Model {
            id: Uuid::now_v7(),
            username: account.username.clone(),
            username_folded: fold(&account.username),
            display_name: account.username.clone(),
            pin_hash: Some(hashed.hash),
            pin_lookup: Some(hashed.lookup),
            must_change_pin,
            is_active: true,
            created_at: now,
            updated_at: now,
            ..user::Model::default()
        };
        let role = user_store_role::Model {
            id: Uuid::now_v7(),
            user_id: row.id,
            role_id: ids::role(account.role),
            created_at: now,
            updated_at: now,
            ..user_store_role::Model::default()
        };
        let mut tx = self.db().begin().await?;
        let entry = audit::Entry {
            action: "user.create",
            entity_type: Some("users"),
            entity_id: Some(row.id.to_string()),
            details: json!({"username": row.username, "role": account.role, "by": by}),
            ..audit::Entry::default()
        };
        row.into_active_model().insert(&tx).await?;
        role.into_active_model().insert(&tx).await?;
        tx.touch("users");
        tx.touch("user_store_roles");
        audit::record(&tx, entry, now).await?;
        self.commit(tx).await?;
        Ok(())
    }
}

async fn has_pins(db: &Db) -> Result<bool, DbErr> {
    Ok(user::Entity::find().filter(user::Column::PinHash.is_not_null()).count(db.reader()).await? > 0)
}

fn is_plain_pin(pin: &str) -> bool {
    (4..=12).contains(&pin.len()) && pin.bytes().all(|byte| byte.is_ascii_digit())
}
