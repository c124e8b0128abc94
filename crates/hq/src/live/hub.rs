//! The sockets of connected stores, and what they are still to be notified of. Specification, sections 2.8 and 6.
//!
//! Notifications of one type are merged: a store that reads slowly costs one entry for each type, never a growing
//! queue, and nothing here waits for a socket.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use tillkeep_model::Instant;
use tillkeep_model::wire::Heartbeat;
use tillkeep_storage::{Change, registry};
use tokio::sync::Notify;
use uuid::Uuid;

/// One connected store.
pub struct Connection {
    pub store_id: Uuid,
    pub store_code: String,
    /// Tells this connection from an older one of the same store.
    pub number: u64,
    pub connected_at: Instant,
    state: Mutex<State>,
    wake: Notify,
}

#[derive(Default)]
struct State {
    /// Types to be notified of, with their newest version.
    pending: BTreeMap<&'static str, i64>,
    close: Option<u16>,
    heartbeat: Option<(Instant, Heartbeat)>,
    /// The version of the token it was opened with.
    token_version: Option<i32>,
    /// When the token it was opened with ends, if that is known to be soon.
    until: Option<Instant>,
}

/// What a connection is to do next.
pub enum Next {
    Tell(Vec<(&'static str, i64)>),
    Close(u16),
}

impl Connection {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for something to tell. Safe to drop half-way.
    pub async fn next(&self) -> Next {
        loop {
            {
                let mut state = self.lock();
                if let Some(code) = state.close {
                    return Next::Close(code);
                }
                if !state.pending.is_empty() {
                    return Next::Tell(std::mem::take(&mut state.pending).into_iter().collect());
                }
            }
            self.wake.notified().await;
        }
    }

    fn tell(&self, entity_type: &'static str, version: i64) {
        let mut state = self.lock();
        let newest = state.pending.entry(entity_type).or_insert(version);
        *newest = version.max(*newest);
        drop(state);
        self.wake.notify_one();
    }

    pub fn close(&self, code: u16) {
        self.lock().close.get_or_insert(code);
        self.wake.notify_one();
    }

    /// Notes the version of the token that this connection was opened with, by which it is judged again.
    pub fn opened_with(&self, token_version: i32) {
        self.lock().token_version = Some(token_version);
    }

    pub fn token_version(&self) -> Option<i32> {
        self.lock().token_version
    }

    /// The token that this connection was opened with ends then; whether that is news.
    pub fn ends_at(&self, until: Instant) -> bool {
        // A later rotation lengthens nothing: this token is older still.
        let mut state = self.lock();
        let is_news = state.until.is_none();
        state.until = Some(state.until.map_or(until, |earlier| earlier.min(until)));
        is_news
    }

    fn close_if_over(&self, now: Instant, code: u16) {
        let over = self.lock().until.is_some_and(|until| until <= now);
        if over {
            self.close(code);
        }
    }

    /// Keeps the newest heartbeat; true when it is the first one.
    pub fn heard(&self, heartbeat: Heartbeat, now: Instant) -> bool {
        self.lock().heartbeat.replace((now, heartbeat)).is_none()
    }

    pub fn heartbeat(&self) -> Option<(Instant, Heartbeat)> {
        self.lock().heartbeat.clone()
    }
}

/// The connected stores of this node.
#[derive(Default)]
pub struct Hub(Mutex<Connections>);

#[derive(Default)]
struct Connections {
    made: u64,
    by_store: HashMap<Uuid, Arc<Connection>>,
}

impl Hub {
    fn lock(&self) -> std::sync::MutexGuard<'_, Connections> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a connection; an older one of the same store is closed with `replaced`.
    pub fn connect(&self, store_id: Uuid, store_code: &str, now: Instant, replaced: u16) -> Arc<Connection> {
        let mut connections = self.lock();
        connections.made += 1;
        let connection = Arc::new(Connection {
            store_id,
            store_code: store_code.to_owned(),
            number: connections.made,
            connected_at: now,
            state: Mutex::default(),
            wake: Notify::new(),
        });
        if let Some(older) = connections.by_store.insert(store_id, connection.clone()) {
            older.close(replaced);
        }
        connection
    }

    /// Removes `connection`, unless a newer one took its place.
    pub fn disconnect(&self, connection: &Connection) {
        let mut connections = self.lock();
        if connections.by_store.get(&connection.store_id).is_some_and(|current| current.number == connection.number) {
            connections.by_store.remove(&connection.store_id);
        }
    }

    /// Runs `during` while no other code gets at the hub.
    #[cfg(test)]
    pub(crate) fn blocked(&self, during: impl FnOnce()) {
        let held = self.lock();
        during();
        drop(held);
    }

    /// Tells the stores concerned; each pulls on its own.
    pub fn notify(&self, changes: &[Change]) {
        let connections = self.lock();
        for change in changes {
            // A type that cannot be pulled is never named.
            if registry::find(change.entity_type).is_none_or(|entity| !entity.is_pulled()) {
                continue;
            }
            match change.store {
                Some(store_id) => {
                    if let Some(connection) = connections.by_store.get(&store_id) {
                        connection.tell(change.entity_type, change.version);
                    }
                }
                None => {
                    for connection in connections.by_store.values() {
                        connection.tell(change.entity_type, change.version);
                    }
                }
            }
        }
    }

    /// Closes the socket of one store.
    pub fn close(&self, store_id: Uuid, code: u16) {
        if let Some(connection) = self.lock().by_store.get(&store_id) {
            connection.close(code);
        }
    }

    /// The token that the open socket of a store has used ends then: it was replaced with a grace.
    pub fn ends_at(&self, store_id: Uuid, until: Instant) {
        if let Some(connection) = self.lock().by_store.get(&store_id) {
            connection.ends_at(until);
        }
    }

    /// Closes the sockets with tokens that have ended since.
    pub fn close_over(&self, now: Instant, code: u16) {
        for connection in self.lock().by_store.values() {
            connection.close_if_over(now, code);
        }
    }

    /// Closes so many sockets, those that are open for the longest first: a store that has come again is not asked again.
    pub fn close_oldest(&self, most: usize, code: u16) {
        let connections = self.lock();
        let mut all: Vec<_> = connections.by_store.values().collect();
        all.sort_unstable_by_key(|connection| connection.number);
        all.iter().take(most).for_each(|connection| connection.close(code));
    }

    /// Closes every socket: the server goes down.
    pub fn close_all(&self, code: u16) {
        for connection in self.lock().by_store.values() {
            connection.close(code);
        }
    }

    pub fn get(&self, store_id: Uuid) -> Option<Arc<Connection>> {
        self.lock().by_store.get(&store_id).cloned()
    }

    /// The stores that are connected.
    pub fn stores(&self) -> Vec<Uuid> {
        self.lock().by_store.keys().copied().collect()
    }

    pub fn len(&self) -> usize {
        self.lock().by_store.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use tillkeep_model::wire::close::REPLACED;

    use super::*;

    fn connected(hub: &Hub) -> Arc<Connection> {
        hub.connect(Uuid::new_v4(), "S01", Instant::default(), REPLACED)
    }

    fn change(entity_type: &'static str, store: Option<Uuid>, version: i64) -> Change {
        Change { entity_type, store, version, tag: None }
    }

    /// What the connection is to tell now.
    fn notified(connection: &Connection) -> Vec<(&'static str, i64)> {
        match connection.next().now_or_never() {
            Some(Next::Tell(types)) => types,
            Some(Next::Close(_)) | None => Vec::new(),
        }
    }

    #[test]
    fn notifications_of_one_type_are_merged_and_the_newest_version_counts() {
        let hub = Hub::default();
        let one = connected(&hub);
        for version in [3, 5, 4] {
            hub.notify(&[change("products", None, version), change("tenders", None, 1)]);
        }
        assert_eq!(notified(&one), [("products", 5), ("tenders", 1)]);
        assert_eq!(notified(&one), []);
    }

    #[test]
    fn only_the_store_concerned_is_notified() {
        let hub = Hub::default();
        let (one, other) = (connected(&hub), connected(&hub));
        hub.notify(&[change("store_product_dynamic", Some(one.store_id), 2)]);
        assert_eq!((notified(&one), notified(&other)), (vec![("store_product_dynamic", 2)], Vec::new()));
        hub.notify(&[change("products", None, 9)]);
        assert_eq!((notified(&one), notified(&other)), (vec![("products", 9)], vec![("products", 9)]));
    }

    #[test]
    fn a_type_that_cannot_be_pulled_is_never_named() {
        let hub = Hub::default();
        let one = connected(&hub);
        for entity in registry::ALL {
            hub.notify(&[change(entity.name, None, 1)]);
        }
        hub.notify(&[change("spaceships", None, 1)]);
        let mut named: Vec<_> = notified(&one).into_iter().map(|(name, _)| name).collect();
        let mut pulled: Vec<_> = registry::pulled().map(|entity| entity.name).collect();
        named.sort_unstable();
        pulled.sort_unstable();
        assert_eq!(named, pulled);
    }
}
