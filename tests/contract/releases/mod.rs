//! Releases that are kept: this program records the day of a chain, and understands the days of those before. What is kept
//! lies in `tests/releases`; `docs/development.md` says how a release is closed.

mod day;
mod found;
mod hand;
#[path = "../../releases/kept.rs"]
pub mod kept;
mod record;
mod replay;
mod servers;
mod tape;
