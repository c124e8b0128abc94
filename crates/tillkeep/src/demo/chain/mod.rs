//! The demo chain "Harbor & Pine Market" as plain values: everything that headquarters owns before the first sale.
//!
//! The same arguments give the same bytes: no clock, no random device, no order that a hash map chose.

mod catalog;
mod columns;
mod names;
mod offers;
mod opening_stock;
mod people;
mod rng;
mod stores;
mod supply;
mod taxes;
mod tenders;
#[cfg(test)]
mod tests;
mod users;
mod whole;
mod write;

pub use opening_stock::opening_stock;
pub use rng::Stream;
pub use users::DemoUser;
pub use whole::{Chain, SEED, chain};
pub use write::write;
