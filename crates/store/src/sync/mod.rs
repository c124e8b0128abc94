//! The sync client of a store: pulls what moved, pushes what happened, hears when to pull. The rules are in
//! `docs/sync.md`.

mod back_off;
mod client;
mod cycle;
mod elsewhere;
mod gate;
pub(crate) mod handlers;
mod handshake;
mod in_between;
mod line;
mod page_size;
pub(crate) mod people;
mod progress;
mod pull;
mod report;
mod restore;
mod sender;
mod socket;
mod specification;
pub mod standing;
mod start;
mod state;
mod suspects;
mod tls;
mod together;
mod told;
mod transport;
mod verdicts;
pub mod watchdog;

pub use client::HqClient;
pub use cycle::Cycle;
pub use gate::Gate;
pub use line::{Line, Loading};
pub use sender::{Round, Sender};
pub use start::start;
pub use state::SyncState;
use tillkeep_storage::Db;
pub use transport::{Http, Reply, Request, Transport};

use crate::Store;

impl Store {
    /// The database, for what the sync client writes. Only this room has it: people write through [`Store::act`].
    const fn sync_db(&self) -> &Db {
        &self.sync.db
    }
}
