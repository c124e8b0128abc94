//! The lines of all stores for `GET /metrics`, kept for a moment.

use std::time::Duration;

use tillkeep_http::Clock;
use tillkeep_storage::DbErr;
use tokio::sync::Mutex;

/// Whoever asks more often is answered what was read last: the page needs no token.
const READ_EVERY: Duration = Duration::from_secs(2);

/// The lines as they were read last, and when.
#[derive(Default)]
pub struct StoreMetrics(Mutex<Option<(Duration, String)>>);

impl StoreMetrics {
    /// The lines as they are, or were a moment ago; none while the database does not answer.
    pub(crate) async fn lines(&self, clock: &Clock, read: impl AsyncFnOnce() -> Result<String, DbErr>) -> String {
        // Held while they are read: a hundred who ask at once are one who reads.
        let mut kept = self.0.lock().await;
        let now = clock.uptime();
        if let Some((at, lines)) = kept.as_ref()
            && now.saturating_sub(*at) < READ_EVERY
        {
            return lines.clone();
        }
        match read().await {
            Ok(lines) => kept.insert((now, lines)).1.clone(),
            Err(error) => {
                tracing::warn!(%error, "how the stores stand could not be read for the metrics");
                String::new()
            }
        }
    }
}
