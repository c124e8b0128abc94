//! What this store asks of headquarters and what a failure of that means, and how the line stands. Nothing here knows the store.

mod announced;
mod client;
mod gate;
mod line;
mod page_size;
mod pictures;
mod refunds;
pub mod standing;
mod state;
mod tls;
pub mod token;
mod transport;
mod under_way;
mod verdict;

pub use client::{HqClient, HqError, Refused};
pub use gate::Gate;
pub use line::{Line, Loading};
pub(crate) use page_size::PageSize;
pub use refunds::{Asked, Waits};
pub use state::SyncState;
pub use tls::trusting;
pub use transport::{Http, Reply, Request, Transport};
pub use under_way::UnderWay;
pub use verdict::Verdict;
