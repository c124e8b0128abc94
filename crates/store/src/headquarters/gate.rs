//! One at a time, and how many wait.

use std::sync::atomic::{AtomicUsize, Ordering};

/// A lock that can be asked how many wait for it: in virtual time it must be known who waits for whom.
#[derive(Default)]
pub struct Gate {
    lock: tokio::sync::Mutex<()>,
    waiting: AtomicUsize,
}

/// Counts one who waits.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Gate {
    pub async fn enter(&self) -> tokio::sync::MutexGuard<'_, ()> {
        if let Ok(inside) = self.lock.try_lock() {
            return inside;
        }
        self.waiting.fetch_add(1, Ordering::AcqRel);
        let _counted = Waiting(&self.waiting);
        self.lock.lock().await
    }

    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Acquire)
    }
}
