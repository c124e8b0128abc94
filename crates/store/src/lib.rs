//! The store server: sells without a line, keeps a copy of the master data, pushes what happened.

#![warn(unreachable_pub)]

mod act;
mod approvals;
mod bounds;
mod chain;
mod chance;
mod customers;
mod day;
mod devices;
pub mod headquarters;
mod inventory;
mod memory;
mod paper;
mod pos;
mod printers;
mod reasons;
mod registers;
mod replica;
mod reports;
pub mod routes;
mod safe;
mod sessions;
pub mod signer;
mod state;
pub mod sync;
mod terminal;

pub use chance::Chance;
pub use paper::worker::{Patience, run_with as print};
pub use state::{Settings, Store, World};
