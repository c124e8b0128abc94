//! How the stores of a large chain stand, kept for a moment: read once for all who ask at the same time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tillkeep_http::Clock;
use tillkeep_model::Instant;
use tillkeep_storage::DbErr;
use tokio::sync::Mutex;

use super::store_state::StoreState;

/// Whoever asks sooner is answered what was read last.
const READ_EVERY: Duration = Duration::from_secs(2);

/// How stores stood at one moment.
pub(crate) struct Reading {
    /// When that was read: what became so before it is in it.
    pub at: Instant,
    pub states: Vec<StoreState>,
}

/// The states as they were read last. As many as there are stores, and of each the few types that somebody should look at.
#[derive(Default)]
pub struct Overview {
    kept: Mutex<Option<Kept>>,
    /// How often somebody changed what is shown.
    forgotten: AtomicU64,
}

struct Kept {
    begun: Duration,
    forgotten: u64,
    reading: Arc<Reading>,
}

impl Overview {
    /// The states as they are, or were a moment ago.
    pub(crate) async fn get(
        &self,
        clock: &Clock,
        read: impl AsyncFnOnce() -> Result<Vec<StoreState>, DbErr>,
    ) -> Result<Arc<Reading>, DbErr> {
        // Held while they are read: a hundred who ask at once are one who reads.
        let mut kept = self.kept.lock().await;
        let begun = clock.uptime();
        // Before the reading: what is forgotten while it goes on may be missing in it.
        let forgotten = self.forgotten.load(Ordering::Acquire);
        if let Some(kept) = kept.as_ref()
            && kept.forgotten == forgotten
            && begun.saturating_sub(kept.begun) < READ_EVERY
        {
            return Ok(kept.reading.clone());
        }
        let at = clock.now();
        let reading = Arc::new(Reading { at, states: read().await? });
        *kept = Some(Kept { begun, forgotten, reading: reading.clone() });
        Ok(reading)
    }

    /// Whoever asks next reads anew: somebody changed a store or settled something, and looks at what came of it.
    pub(crate) fn forget(&self) {
        self.forgotten.fetch_add(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::super::store_state::testing::store;
    use super::*;

    #[tokio::test]
    async fn what_was_read_is_kept_for_a_moment_with_the_time_of_its_reading_unless_it_is_forgotten() {
        let clock = Clock::standing_at(Instant::default());
        let overview = Overview::default();
        let read = async |seconds| overview.get(&clock, async || Ok(vec![store(seconds)])).await.expect("states");
        let first = read(1).await;
        clock.pass(1000);
        let kept = read(2).await;
        assert!(Arc::ptr_eq(&first, &kept) && kept.at == Instant::default());
        overview.forget();
        let second = read(3).await;
        assert_eq!((second.at, second.states[0].data_age_seconds), (clock.now(), Some(3)));
        assert!(Arc::ptr_eq(&second, &read(4).await));
        clock.pass(2000);
        assert_eq!(read(5).await.states[0].data_age_seconds, Some(5));
        // Forgotten while it is read.
        overview.forget();
        let during = overview.get(&clock, async || {
            overview.forget();
            Ok(Vec::new())
        });
        during.await.expect("states");
        assert_eq!(read(6).await.states.len(), 1);
    }
}
