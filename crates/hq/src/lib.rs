//! The headquarters server: source of truth for master data, collector of sales, dashboard.

pub mod backoffice;
pub mod replica;
mod reports;
pub mod routes;
pub mod state;
pub mod sync;

pub use state::{Hq, Settings};
