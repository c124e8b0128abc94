//! The sync server. Specification, sections 3 to 6; the rules are in `docs/sync.md`.

mod heads;
mod hub;
pub mod tracker;

pub use heads::Heads;
pub use hub::Hub;
pub use tracker::Tracker;
