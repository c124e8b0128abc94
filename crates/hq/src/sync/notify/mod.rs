//! The notification queue: after a commit it takes jobs "type T (for store S) is at version V", and a worker tells the
//! sockets. Nobody who commits waits for it. Specification, sections 4.3 and 6; `docs/sync.md`, rule D10.
//!
//! Two backends: [`Local`] within this process, and [`Nats`], which also tells the other servers of headquarters.

mod broker;
mod jobs;
mod line;
mod local;
mod nats;

use std::sync::Arc;

pub use broker::{Broker, BrokerUrl};
use jobs::Jobs;
pub use line::{Queue, Standing};
use local::Local;
use nats::Nats;
use tillkeep_http::Clock;
use tillkeep_storage::Change;
use tillkeep_storage::registry::{self, Scope};
use tokio::sync::watch;

use crate::Hq;

/// Takes what was committed, and has it delivered.
pub trait NotificationQueue: Send + Sync {
    /// Takes note of committed changes and returns at once, in whatever state the backend is.
    fn enqueue(&self, changes: &[Change]);

    /// Tells the sockets of this server alone: another one has told the rest.
    fn tell_sockets(&self, changes: &[Change]);

    /// Sessions have ended: the other servers are to read them again.
    fn sessions_ended(&self);

    /// Whether other servers run on the same database.
    fn beside(&self, others: bool);

    /// Whether it has a broker, which may be away.
    fn has_broker(&self) -> bool;

    /// Whether the other servers hear of changes at once.
    fn reaches_others(&self) -> bool;

    /// Begins to deliver to the sockets of `hq`, until that stops.
    fn start(&self, hq: &Arc<Hq>);

    /// Whether it is degraded, and when that changes.
    fn standing(&self) -> watch::Receiver<Standing>;

    /// Sets the gauges, for somebody who asks for `/metrics`.
    fn measure(&self);
}

/// The queue of this server; `epoch` keeps the headquarters apart that share a broker.
pub(crate) async fn open(
    broker: Option<&Broker>,
    epoch: &str,
    clock: &Clock,
) -> std::io::Result<Box<dyn NotificationQueue>> {
    Ok(match broker {
        Some(broker) => Box::new(Nats::open(broker, epoch, clock).await?),
        None => Box::new(Local::new(clock)),
    })
}

/// The worker that tells the sockets of this server, whichever backend it is.
fn deliver(hq: &Arc<Hq>, jobs: Arc<Jobs>) {
    let hq = hq.clone();
    tokio::spawn(async move {
        loop {
            let due = tokio::select! {
                due = jobs.next() => due,
                () = hq.stop.cancelled() => return,
            };
            metrics::counter!("tillkeep_notifications_delivered_total").increment(due.len().try_into().unwrap_or(0));
            hq.hub.notify(&addressed(&hq, due));
        }
    });
}

/// A job for every store of a type that each store has for itself becomes one for each connected store.
fn addressed(hq: &Hq, jobs: Vec<Change>) -> Vec<Change> {
    let mut addressed = Vec::with_capacity(jobs.len());
    for job in jobs {
        match registry::find(job.entity_type) {
            Some(entity) if is_for_every_store(&job) => {
                let each = hq.hub.stores().into_iter();
                addressed.extend(each.map(|id| Change {
                    store: Some(id),
                    version: hq.heads.of(entity, id).version,
                    ..job
                }));
            }
            _ => addressed.push(job),
        }
    }
    addressed
}

/// Whether a job stands for all stores of a type whose versions each store has for itself: what did not fit one by one.
fn is_for_every_store(job: &Change) -> bool {
    job.store.is_none() && registry::find(job.entity_type).is_some_and(|entity| entity.scope == Scope::Store)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use futures_util::FutureExt;
    use tillkeep_http::auth::SignInSettings;
    use tillkeep_model::wire::close::REPLACED;
    use tillkeep_storage::{Opening, db};
    use tokio::time::timeout;
    use tokio_util::sync::CancellationToken;
    use uuid::Uuid;

    use super::*;
    use crate::Settings;
    use crate::sync::{Connection, Next};

    async fn hq(dir: &tempfile::TempDir) -> Arc<Hq> {
        let settings = Settings {
            data_dir: dir.path().to_owned(),
            database_url: None,
            database: Opening::default(),
            public_url: None,
            allow_insecure: false,
            sign_in: SignInSettings::default(),
            global_people: tillkeep_storage::staff::GlobalPeople::default(),
            node: String::new(),
            broker: None,
            sync_log_days: 90,
        };
        Hq::open(&settings, Clock::default(), CancellationToken::new()).await.expect("headquarters")
    }

    async fn told(connection: &Connection) -> Vec<(&'static str, i64)> {
        match timeout(Duration::from_secs(10), connection.next()).await.expect("told in time") {
            Next::Tell(types) => types,
            Next::Close(code) => panic!("closed with {code}"),
        }
    }

    /// With threads to spare: what asks the hub waits, and nothing else does.
    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn a_hub_that_is_blocked_delays_no_commit_and_its_stores_are_told_in_the_end() {
        let dir = tempfile::tempdir().expect("a directory");
        let hq = hq(&dir).await;
        let connection = hq.hub.connect(Uuid::new_v4(), "S01", hq.clock.now(), REPLACED);
        let (release, released) = mpsc::channel::<()>();
        let (block, blocked) = tokio::sync::oneshot::channel();
        let hub = hq.hub.clone();
        let holder = std::thread::spawn(move || {
            hub.blocked(|| {
                block.send(()).expect("the test waits");
                // Until the test is done with it, or has failed.
                released.recv().unwrap_or_default();
            });
        });
        blocked.await.expect("the hub is held");
        let mut version = 0;
        for _ in 0..20 {
            let mut tx = hq.db().begin().await.expect("a transaction");
            db::execute(&tx, "UPDATE roles SET sync_version = 0", []).await.expect("an edit");
            tx.touch("roles");
            // In a task of its own, whose thread may be held without holding up this one.
            let (hq, limit) = (hq.clone(), Duration::from_secs(5));
            let committed = timeout(limit, tokio::spawn(async move { hq.commit(tx).await }));
            let changes = committed.await.expect("at once").expect("a task").expect("a commit");
            version = changes.iter().map(|change| change.version).max().expect("a version");
        }
        assert!(connection.next().now_or_never().is_none(), "nobody can be told yet");
        drop(release);
        holder.join().expect("the holder");
        // The worker may have taken the first of them before the others came.
        while !told(&connection).await.contains(&("roles", version)) {}
    }

    #[tokio::test]
    async fn a_job_for_every_store_tells_each_its_own_version() {
        let dir = tempfile::tempdir().expect("a directory");
        let hq = hq(&dir).await;
        let (one, other) = (Uuid::new_v4(), Uuid::new_v4());
        let name = "store_product_dynamic";
        hq.learn(&[3, 8].map(|version| Change {
            entity_type: name,
            store: Some(if version == 3 { one } else { other }),
            version,
            tag: None,
        }));
        let connections = [one, other].map(|id| hq.hub.connect(id, "S", hq.clock.now(), REPLACED));
        hq.notifications.enqueue(&[Change { entity_type: name, store: None, version: 0, tag: None }]);
        for (connection, version) in connections.iter().zip([3, 8]) {
            assert_eq!(told(connection).await, [(name, version)]);
        }
    }
}
