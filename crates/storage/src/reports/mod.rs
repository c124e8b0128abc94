//! Read models: what pages of headquarters and reports show, each in a few statements over many rows. Nothing here writes.

pub mod best_sellers;
pub mod bought;
pub mod closed_drawers;
pub mod drawer;
pub mod figures;
pub mod found;
pub mod history;
pub mod journal;
pub mod listed;
pub mod names;
pub(crate) mod sums;
pub mod taken;
pub mod trend;
