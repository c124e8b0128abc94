//! One file for each table; its name here is that of its file whatever folder it is in. What travels between servers is declared
//! in [`crate::registry`].

#![expect(clippy::struct_excessive_bools, reason = "a row has the flags its table has")]

mod chain;
mod documents;
mod people;
mod sync;

pub use chain::*;
pub use documents::*;
pub use people::*;
pub use sync::*;
