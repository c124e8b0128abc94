//! At headquarters: what was given back of a sale, by documents and by claims of stores that are about to give something back.
//! `docs/sync.md`, rule U17.

mod at_hq;
mod claim;
pub mod claims;
mod given;

pub use at_hq::{by_id, by_number};
pub use claim::{Claimed, claim};
pub(crate) use given::{Given, given, original};
