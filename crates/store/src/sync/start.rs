//! The background work of a store, begun.

use std::sync::Arc;

use tokio_util::task::TaskTracker;

use super::{cycle, socket, watchdog};
use crate::Store;

/// Starts the background work; it ends when the store stops.
pub fn start(store: &Arc<Store>, tasks: &TaskTracker) {
    store.numbers.ask();
    let (cycles, sockets) = (store.clone(), store.clone());
    tasks.spawn(watchdog::supervised("the cycle", move || cycle::run(cycles.clone())));
    tasks.spawn(watchdog::run(store.clone(), watchdog::PATIENCE));
    tasks.spawn(watchdog::supervised("the socket", move || socket::run(sockets.clone())));
}
