//! What `tillkeep doctor` reads of a database: how it is set, whether it is damaged, how its stores stand. Reads only.

mod embedded;
mod server;
mod stores;

pub use embedded::{Damage, Embedded, damage, embedded};
pub use server::{Lag, Server, behind, server};
pub use stores::{Seen, seen};
