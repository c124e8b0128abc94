//! The log of entity operations and the counters per store, type and direction. Specification, section 2.7.

mod beyond;
pub mod kept;
mod pending;
mod priors;
mod pulled;
mod quota;
mod refused;
mod standing;
mod taken;
pub mod unapplied;
mod unkept;
pub mod warnings;
mod words;

pub use beyond::{CountersTurn, counters_turn, room_again};
pub use pending::{count_pending, failed_since};
pub use priors::{Prior, Priors, priors};
pub use pulled::{Has, Pulled, record_pulls, record_quiet, versions_of_stores};
pub use quota::is_full;
pub use refused::{put_off, reject};
pub use standing::{Standing, standing};
pub use taken::record;
pub use unkept::{note_unkept, to_reload, unkept};
pub(crate) use words::nothing_taken;
pub use words::{FAILED, PULL, PUSH, RESOLVED, RETRIED, SKIPPED, SUCCESS, UNKNOWN};
