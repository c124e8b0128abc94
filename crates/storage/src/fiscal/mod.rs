//! The chains of documents: what is hashed of each, where a store goes on, what headquarters has of it. `docs/chain.md`.

mod check;
mod content;
mod documents;
pub mod heads;
mod next;
pub mod period;
pub mod signatures;

pub(crate) use check::check_by;
pub use check::{Break, Checked, Fault, check};
pub use content::{CHAIN_BROKEN, Rows, hash, line};
pub(crate) use content::{fits, is_known};
pub use next::{Register, next};
