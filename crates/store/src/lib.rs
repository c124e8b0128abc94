//! The store server: sells without a line, keeps a copy of the master data, pushes what happened.

pub mod pos;
pub mod routes;
pub mod state;

pub use state::{Settings, Store};
