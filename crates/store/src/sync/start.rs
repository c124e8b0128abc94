//! The background work of a store, begun.

use std::sync::Arc;

use tokio_util::task::TaskTracker;

use super::{cycle, socket, watchdog};
use crate::Store;
use crate::chain::signing;
use crate::paper::worker;

/// Starts the background work; it ends when the store stops.
pub fn start(store: &Arc<Store>, tasks: &TaskTracker) {
    store.numbers.ask();
    let (cycles, sockets) = (store.clone(), store.clone());
    let (signed, papers) = (store.clone(), store.clone());
    tasks.spawn(watchdog::supervised("the cycle", move || cycle::run(cycles.clone())));
    tasks.spawn(watchdog::run(store.clone(), watchdog::PATIENCE));
    tasks.spawn(watchdog::supervised("the socket", move || socket::run(sockets.clone())));
    tasks.spawn(watchdog::supervised("the signing", move || signing::run(signed.clone())));
    tasks.spawn(watchdog::supervised("the printing", move || worker::run(papers.clone())));
}
