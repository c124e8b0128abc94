//! How many statements a database was asked: what tests hold a request to. Beginnings and ends of transactions are none.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The statements of one database since it was opened, by whatever connection they went.
#[derive(Clone, Debug, Default)]
pub(crate) struct Count(Arc<AtomicU64>);

impl Count {
    /// One more: to be called where all statements pass.
    pub fn statement(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub fn read(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
