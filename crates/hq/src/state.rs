//! What the headquarters server is made of.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tillkeep_http::auth::SignInSettings;
use tillkeep_http::{Auth, Clock, DatabaseUrl, HasAuth, routes};
use tillkeep_model::Instant;
use tillkeep_model::wire::close;
use tillkeep_storage::leases::Leases;
use tillkeep_storage::nodes::Heard;
use tillkeep_storage::registry::{self, Caches};
use tillkeep_storage::staff::GlobalPeople;
use tillkeep_storage::{Change, Opening};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::live::alerting::Alerting;
use crate::live::board::Board;
use crate::live::copies::Copies;
use crate::live::followed::Followed;
use crate::live::overview::Overview;
use crate::live::store_metrics::StoreMetrics;
use crate::live::{
    DatabaseRun, Databases, Heads, Hub, Nodes, Pages, PushQueue, StoreCache, StoresToNotify, Streams, Times, Totals,
    Tracker, Turns, Unreadable,
};
use crate::notify::{Broker, NotificationQueue};

/// Routes of headquarters, being collected.
pub(crate) type Routes = routes::Routes<Arc<Hq>>;

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
    /// Where the PINs of people with roles in every store can be verified.
    pub global_people: GlobalPeople,
    /// What this server is called among those of headquarters; empty: by the name of its machine.
    pub node: String,
    /// Between several servers of one headquarters; without one, notifications stay within the process.
    pub broker: Option<Broker>,
    /// After so many days a success leaves the log of entries; 0 is never.
    pub sync_log_days: u32,
    /// Customers that one store may make in an hour; 0 is any number.
    pub new_customers_per_hour: u32,
}

/// A running headquarters server.
pub struct Hq {
    pub auth: Arc<Auth>,
    pub databases: Databases,
    pub clock: Clock,
    /// Random id of this database. `docs/sync.md`, rule D8.
    pub epoch: String,
    pub heads: Heads,
    pub pages: Pages,
    pub totals: Totals,
    pub hub: Arc<Hub>,
    /// Between a commit and the sockets.
    pub notifications: Box<dyn NotificationQueue>,
    /// Sockets are to be judged again: something of a store has changed.
    pub judge: Notify,
    pub tracker: Tracker,
    pub board: Board,
    /// What telling of alerts shares among its parts.
    pub(crate) alerting: Alerting,
    pub store_metrics: StoreMetrics,
    pub overview: Overview,
    pub database_run: DatabaseRun,
    /// Rows that stores go without.
    pub unreadable: Unreadable,
    pub stores: StoreCache,
    /// Stores with a settled dead letter they do not know of yet.
    pub stores_to_notify: StoresToNotify,
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
    /// Customers that one store may make in an hour.
    pub new_customers: Option<u32>,
    pub public_url: Option<String>,
    /// Where this server listens, when it does so on this machine alone.
    pub(crate) own_url: OnceLock<String>,
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

impl Caches for Hq {
    fn forget_permissions(&self) {
        self.auth.invalidate();
    }

    /// Whoever ends sessions here says so itself.
    fn forget_people(&self) {}

    fn forget_stores(&self) {
        self.stores.clear();
        self.judge.notify_one();
        self.board.mark_all();
        self.overview.forget();
    }
}

impl Hq {
    /// Whether the operator says that all who come from elsewhere come over TLS, which ends in front of this server.
    pub fn is_behind_tls(&self) -> bool {
        self.public_url.as_deref().is_some_and(|url| url.starts_with("https://"))
    }

    /// Makes committed changes known: here at once, to sockets and other servers by the queue.
    pub fn announce(&self, changes: &[Change]) {
        self.learn(changes);
        self.notifications.enqueue(changes);
    }

    /// Takes note of committed changes, this server's or another one's.
    pub(crate) fn learn(&self, changes: &[Change]) {
        self.heads.raise(changes);
        for entity in changes.iter().filter_map(|change| registry::find(change.entity_type)) {
            entity.arrival.forgets.iter().for_each(|forget| forget(self));
        }
    }

    /// Says once where this server listens, when only this machine reaches it there.
    pub fn listens_here(&self, url: &str) {
        if self.own_url.set(url.to_owned()).is_err() {
            tracing::error!("where this server listens was said twice; the first one holds");
        }
    }

    /// Says once where this server makes backups by itself, and how often. Of servers of one database any may make the next one, so
    /// that none misses its own.
    pub fn makes_backups(&self, directory: &Path, every: Duration) {
        let is_alone = self.databases.is_embedded();
        self.alerting.backups_are(is_alone.then(|| (directory.to_owned(), every)));
    }

    /// The time by the clock that all servers of this headquarters share: that of the database.
    pub(crate) fn shared_now(&self) -> Instant {
        self.nodes.shared(self.clock.now())
    }

    /// Whether no other server can be there: on a file, and no setting says where others would be notified.
    pub fn is_alone(&self) -> bool {
        self.databases.is_embedded() && !self.notifications.has_broker()
    }

    /// Whether a store has a socket here, or at another server that runs by what was `heard`.
    pub(crate) fn is_connected(&self, store_id: Uuid, heard: &Heard) -> bool {
        let node = heard.connection.and_then(|(_, line)| line.node());
        self.hub.get(store_id).is_some() || node.is_some_and(|node| self.nodes.name_of(node).is_some())
    }

    /// Somebody changed what is shown of a store, and looks at it next.
    pub(crate) fn changed_by_hand(&self, store_id: Uuid) {
        self.board.mark([store_id]);
        self.overview.forget();
    }

    /// Closes the socket of a store with a token that is good no more. Of one that has no socket it is noted why it
    /// stays away.
    pub(crate) fn shut_out(&self, store_id: Uuid) {
        self.hub.close(store_id, close::REVOKED);
        if self.hub.get(store_id).is_none() {
            self.tracker.shut_out(store_id, self.clock.now());
            self.changed_by_hand(store_id);
        }
    }
}
