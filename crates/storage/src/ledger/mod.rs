//! What documents move: stock, its average cost, what customers owe, and what is in the safe.

pub mod accounts;
pub(crate) mod averages;
mod levels;
pub mod safe;
pub mod stock;
