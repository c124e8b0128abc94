//! The store server: sells without a line, keeps a copy of the master data, pushes what happened.

pub mod approvals;
pub mod bounds;
pub mod chance;
pub mod customers;
pub mod day;
pub mod devices;
pub mod inventory;
pub mod memory;
pub mod pos;
pub mod registers;
pub mod replica;
pub mod routes;
pub mod sessions;
pub mod state;
pub mod sync;

pub use chance::Chance;
pub use state::{Settings, Store, World};
