//! The sync client of a store: pulls what moved, pushes what happened, hears when to pull. The rules are in
//! `docs/sync.md`.

mod back_off;
mod cycle;
mod elsewhere;
mod first_load;
pub(crate) mod handlers;
mod handshake;
mod in_between;
mod moved;
mod page;
pub(crate) mod people;
mod progress;
mod pull;
mod report;
mod restore;
mod sender;
mod socket;
mod specification;
mod start;
mod suspects;
mod together;
mod token;
mod verdicts;
pub mod watchdog;

pub use cycle::Cycle;
pub use sender::{Round, Sender};
pub use start::start;
use tillkeep_storage::Db;

use crate::Store;

impl Store {
    /// The database, for what the sync client writes. Only this room has it: people write through [`Store::act`].
    const fn sync_db(&self) -> &Db {
        &self.sync.db
    }
}
