//! The time of day, handed in, so that tests move it instead of waiting.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use tillkeep_model::Instant;

/// The system's clock, or one that a test moves by an offset.
#[derive(Clone, Default)]
pub struct Clock {
    offset_ms: Arc<AtomicI64>,
}

impl Clock {
    pub fn now(&self) -> Instant {
        Instant::from_millis(system_millis()).plus_millis(self.offset_ms.load(Ordering::Relaxed))
    }

    /// Moves this clock; real time goes on from there.
    pub fn advance(&self, millis: i64) {
        self.offset_ms.fetch_add(millis, Ordering::Relaxed);
    }
}

/// The one place that asks the machine for the time.
fn system_millis() -> i64 {
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX)
}
