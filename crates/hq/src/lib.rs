//! The headquarters server: source of truth for master data, collector of sales, dashboard.

#![warn(unreachable_pub)]

mod accounts;
mod address;
pub mod alerts;
mod background;
pub mod backoffice;
mod customer_numbers;
pub mod live;
pub mod notify;
pub mod replica;
mod reports;
pub mod routes;
mod scope;
mod security;
mod start;
mod state;
pub mod sync;
pub mod testing;

pub use accounts::Account;
pub use state::{Hq, Settings};
