//! The store server: sells without a line, keeps a copy of the master data, pushes what happened.

#![warn(unreachable_pub)]

mod act;
mod approvals;
mod bounds;
mod chance;
mod customers;
mod day;
mod devices;
pub mod headquarters;
mod inventory;
mod memory;
mod pos;
mod registers;
mod replica;
pub mod routes;
mod sessions;
mod state;
pub mod sync;
mod terminal;

pub use chance::Chance;
pub use state::{Settings, Store, World};
