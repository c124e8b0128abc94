//! Of work that a server does one at a time.

use std::sync::Arc;

use tokio::sync::Semaphore;

/// The turns of those who send a file.
pub(crate) struct Turns(pub(crate) Arc<Semaphore>);

impl Default for Turns {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(1)))
    }
}
