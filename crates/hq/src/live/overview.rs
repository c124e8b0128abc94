//! How the stores of a large chain stand, kept for a moment: read once for all who ask at the same time.

use std::sync::Arc;
use std::time::Duration;

use tillkeep_http::Clock;
use tillkeep_storage::DbErr;
use tokio::sync::Mutex;

use super::store_state::StoreState;

/// Whoever asks sooner is answered what was read last.
const READ_EVERY: Duration = Duration::from_secs(2);

/// The states as they were read last, and when. As many as there are stores, and of each the few types that somebody should look at.
#[derive(Default)]
pub struct Overview(Mutex<Option<(Duration, Arc<Vec<StoreState>>)>>);

impl Overview {
    /// The states as they are, or were a moment ago.
    pub(crate) async fn get(
        &self,
        clock: &Clock,
        read: impl AsyncFnOnce() -> Result<Vec<StoreState>, DbErr>,
    ) -> Result<Arc<Vec<StoreState>>, DbErr> {
        // Held while they are read: a hundred who ask at once are one who reads.
        let mut kept = self.0.lock().await;
        let now = clock.uptime();
        if let Some((at, states)) = kept.as_ref()
            && now.saturating_sub(*at) < READ_EVERY
        {
            return Ok(states.clone());
        }
        let states = Arc::new(read().await?);
        *kept = Some((now, states.clone()));
        Ok(states)
    }
}
