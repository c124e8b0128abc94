//! The time of day, handed in, so that tests move it instead of waiting.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant as Stopwatch};

use tillkeep_model::Instant;

/// The system's clock, or one that stands still until a test moves it.
#[derive(Clone, Default)]
pub struct Clock {
    offset_ms: Arc<AtomicI64>,
    /// Milliseconds that a simulation has let pass; `None` follows the machine.
    passed_ms: Option<Arc<AtomicI64>>,
}

static STARTED: LazyLock<Stopwatch> = LazyLock::new(Stopwatch::now);

impl Clock {
    /// A clock that stands at `now` and moves by [`Clock::pass`] alone.
    pub fn standing_at(now: Instant) -> Self {
        Self { offset_ms: Arc::new(AtomicI64::new(now.millis())), passed_ms: Some(Arc::default()) }
    }

    /// The same passing of time with a time of day of its own, as on another machine.
    #[must_use]
    pub fn of_another_machine(&self) -> Self {
        let offset_ms = Arc::new(AtomicI64::new(self.offset_ms.load(Ordering::Relaxed)));
        Self { offset_ms, passed_ms: self.passed_ms.clone() }
    }

    pub fn now(&self) -> Instant {
        let base = self.passed_ms.as_ref().map_or_else(system_millis, |passed| passed.load(Ordering::Relaxed));
        Instant::from_millis(base).plus_millis(self.offset_ms.load(Ordering::Relaxed))
    }

    /// Time since an arbitrary moment, which never goes back, however the time of day is set.
    pub fn uptime(&self) -> Duration {
        match &self.passed_ms {
            Some(passed) => Duration::from_millis(passed.load(Ordering::Relaxed).unsigned_abs()),
            None => STARTED.elapsed(),
        }
    }

    /// Sets the time of day on or back; time goes on from there.
    pub fn advance(&self, millis: i64) {
        self.offset_ms.fetch_add(millis, Ordering::Relaxed);
    }

    /// Lets time pass on a standing clock and all that share it.
    pub fn pass(&self, millis: i64) {
        if let Some(passed) = &self.passed_ms {
            passed.fetch_add(millis.max(0), Ordering::Relaxed);
        }
    }
}

/// The one place that asks the machine for the time.
#[expect(clippy::disallowed_methods, reason = "the clock of the program")]
fn system_millis() -> i64 {
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX)
}
