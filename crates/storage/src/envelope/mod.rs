//! What a store sends, before anything is done with it: who sends it, what can be read of it, within which limits, how far its
//! times and ids are believed, and the word on it. Log, numbers and pushes stand on this.

mod columns;
pub(crate) mod dated;
mod incoming;
pub mod kept_ids;
mod keys;
pub(crate) mod limits;
mod members;
mod rejection;
mod sender;
mod verdict;
mod weight;

pub(crate) use columns::{Columns, Had, Ignored};
pub use incoming::Incoming;
pub(crate) use incoming::{Decoded, UNREAD, read};
pub(crate) use keys::Keys;
pub(crate) use members::Shape;
pub use rejection::{LoggedEnvelope, Rejection};
pub(crate) use rejection::{clip, tidy};
pub use sender::{ByHand, Sender};
pub use verdict::Verdict;
