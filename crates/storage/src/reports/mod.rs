//! Read models: what pages and reports of headquarters show, each in a few statements over many rows. Nothing here writes.

pub mod figures;
pub mod history;
pub mod names;
pub(crate) mod sums;
