//! How long statements and transactions may take, as the other database has it for its connections.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Steps of `SQLite`'s machine between two looks at the clock: some milliseconds.
const STEPS: i32 = 100_000;

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

fn now() -> u64 {
    u64::try_from(START.elapsed().as_millis()).unwrap_or(u64::MAX).max(1)
}

/// When a connection last did something, shared with whoever watches it.
#[derive(Default)]
pub(super) struct Activity {
    /// When the statement began that runs; 0 when none does.
    began: AtomicU64,
    last: AtomicU64,
}

impl Activity {
    pub(super) fn begins(&self) {
        self.began.store(now(), Ordering::Release);
    }

    pub(super) fn ended(&self) {
        self.last.store(now(), Ordering::Release);
        self.began.store(0, Ordering::Release);
    }

    /// How long nothing has been asked of the connection.
    pub(super) fn idle(&self) -> Duration {
        if self.began.load(Ordering::Acquire) != 0 {
            return Duration::ZERO;
        }
        Duration::from_millis(now().saturating_sub(self.last.load(Ordering::Acquire)))
    }

    fn runs_longer_than(&self, limit: Duration) -> bool {
        let began = self.began.load(Ordering::Acquire);
        began != 0 && u128::from(now().saturating_sub(began)) > limit.as_millis()
    }
}

/// Breaks a statement off that runs for longer than `limit`.
pub(super) fn limit_statements(
    conn: &rusqlite::Connection,
    activity: &std::sync::Arc<Activity>,
    limit: Duration,
) -> rusqlite::Result<()> {
    let activity = activity.clone();
    conn.progress_handler(STEPS, Some(move || activity.runs_longer_than(limit)))
}
