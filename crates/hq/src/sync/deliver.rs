//! The sockets of this server are notified of what was committed, and what other servers say is heeded, whichever
//! backend the queue has.

use std::sync::Arc;

use tillkeep_storage::{Change, registry};

use crate::Hq;
use crate::notify::{Heard, is_for_every_store};

/// Delivers until the server stops.
pub(crate) fn start(hq: &Arc<Hq>) {
    tell_sockets(hq.clone());
    if let Some(heard) = hq.notifications.listen(&hq.stop) {
        heed_others(hq.clone(), heard);
    }
}

/// The worker that tells the sockets of this server.
fn tell_sockets(hq: Arc<Hq>) {
    tokio::spawn(async move {
        loop {
            let due = tokio::select! {
                due = hq.notifications.sockets().next() => due,
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
                    version: hq.heads.get(entity, id).version,
                    ..job
                }));
            }
            _ => addressed.push(job),
        }
    }
    addressed
}

/// Heeds what other servers say, until the server stops.
fn heed_others(hq: Arc<Hq>, heard: Heard) {
    let Heard { mut hints, signals } = heard;
    tokio::spawn(async move {
        let hints = async {
            while let Some(hints) = hints.recv().await {
                heed(&hq, hints).await;
            }
        };
        let signals = async {
            loop {
                tokio::select! {
                    () = signals.nothing_before.notified() => hq.note_uncertain_commit(),
                    () = signals.sessions_ended.notified() => hq.auth.sessions.forget(),
                }
            }
        };
        tokio::select! {
            () = hints => {}
            () = signals => {}
            () = hq.stop.cancelled() => {}
        }
    });
}

/// Tells the sockets what other servers changed. A hint is believed only as far as the database bears it out: a store
/// that is notified of a version that does not exist would ask for it for ever.
async fn heed(hq: &Hq, hints: Vec<Change>) {
    let beyond = |hint: &Change| {
        let known =
            registry::find(hint.entity_type).map(|entity| hq.heads.get(entity, hint.store.unwrap_or_default()).version);
        known.is_some_and(|known| hint.version > known)
    };
    let looked_for: Vec<Change> =
        hints.iter().filter(|hint| beyond(hint) || is_for_every_store(hint)).copied().collect();
    if !looked_for.is_empty() {
        match hq.heads.missed_of(hq.sync_db(), &looked_for).await {
            Ok(missed) => {
                hq.learn(&missed);
                hq.notifications.tell_sockets(&missed);
            }
            // Compared in a second, with all the rest.
            Err(_) => hq.note_uncertain_commit(),
        }
    }
    // What a hint says may be known here and not heeded yet, so that it counts whether or not it is new.
    let known: Vec<Change> = hints.into_iter().filter(|hint| !beyond(hint)).collect();
    hq.learn(&known);
    hq.notifications.tell_sockets(&known);
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use futures_util::FutureExt;
    use tillkeep_http::Clock;
    use tillkeep_http::auth::SignInSettings;
    use tillkeep_model::wire::close::REPLACED;
    use tillkeep_storage::Opening;
    use tillkeep_storage::entity::role;
    use tokio::time::timeout;
    use tokio_util::sync::CancellationToken;
    use uuid::Uuid;

    use super::*;
    use crate::Settings;
    use crate::live::{Connection, Next};

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
            new_customers_per_hour: 1000,
        };
        Hq::open(&settings, Clock::default(), CancellationToken::new()).await.expect("headquarters")
    }

    async fn notified(connection: &Connection) -> Vec<(&'static str, i64)> {
        match timeout(Duration::from_mins(1), connection.next()).await.expect("notified in time") {
            Next::Tell(types) => types,
            Next::Close(code) => panic!("closed with {code}"),
        }
    }

    /// With threads to spare: what asks the hub waits, and nothing else does.
    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn a_hub_that_is_blocked_delays_no_commit_and_its_stores_are_notified_in_the_end() {
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
            tx.update::<role::Entity>(|all| all).await.expect("an edit");
            // In a task of its own: its thread may be held without holding up this one.
            let (hq, limit) = (hq.clone(), Duration::from_secs(5));
            let committed = timeout(limit, tokio::spawn(async move { hq.commit(tx).await }));
            let changes = committed.await.expect("at once").expect("a task").expect("a commit");
            version = changes.iter().map(|change| change.version).max().expect("a version");
        }
        assert!(connection.next().now_or_never().is_none(), "no store can be notified yet");
        drop(release);
        holder.join().expect("the holder");
        // The worker may have taken the first of them before the others came.
        while !notified(&connection).await.contains(&("roles", version)) {}
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
            assert_eq!(notified(connection).await, [(name, version)]);
        }
    }
}
