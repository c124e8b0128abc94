//! What documents move: stock, its average cost, and what customers owe.

pub mod accounts;
pub(crate) mod averages;
mod levels;
pub mod stock;
