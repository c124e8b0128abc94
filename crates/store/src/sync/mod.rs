//! The sync client of a store: pulls what moved, pushes what happened, hears when to pull. The rules are in
//! `docs/sync.md`.

mod client;
mod cycle;
pub mod elsewhere;
pub mod handlers;
mod handshake;
mod people;
mod progress;
mod pull;
mod report;
mod restore;
mod sender;
mod settle;
mod socket;
mod state;
mod tls;
mod told;
mod transport;
pub mod watchdog;

use std::sync::Arc;

pub use client::HqClient;
pub use cycle::Cycle;
pub use progress::Loading;
pub use sender::{Round, Sender};
pub use state::{Gate, Line, SyncState};
use tokio_util::task::TaskTracker;
pub use transport::{Http, Reply, Request, Transport};

use crate::Store;

/// Starts the background work; it ends when the store stops.
pub fn start(store: &Arc<Store>, tasks: &TaskTracker) {
    store.numbers.ask();
    people::connect(store);
    let (cycles, sockets) = (store.clone(), store.clone());
    tasks.spawn(watchdog::supervised("the cycle", move || cycle::run(cycles.clone())));
    tasks.spawn(watchdog::run(store.clone(), watchdog::PATIENCE));
    tasks.spawn(watchdog::supervised("the socket", move || socket::run(sockets.clone())));
}
