//! The headquarters server: source of truth for master data, collector of sales, dashboard.

pub mod backoffice;
pub mod replica;
pub mod routes;
pub mod state;
pub mod sync;

pub use state::{Hq, Settings};
