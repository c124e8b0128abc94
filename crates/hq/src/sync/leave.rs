//! A server that leaves while others go on: balancers hear of it first, then its stores, one after another, to come
//! back. Where they come back is up to the balancer. The listener goes on meanwhile.

use std::sync::Arc;
use std::time::Duration;

use tillkeep_http::files;
use tillkeep_model::wire::close;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::Hq;

/// All stores at once would be a burst for the servers that stay.
const SPREAD: Duration = Duration::from_secs(10);

/// Leaves within this time, once that is `asked`.
pub fn when(hq: Arc<Hq>, asked: CancellationToken, within: Duration) {
    tokio::spawn(async move {
        asked.cancelled().await;
        // First, so that no socket is opened that is not seen below.
        hq.auth.leaving.cancel();
        let begun = Instant::now();
        let stores = hq.hub.stores();
        tracing::info!(seconds = within.as_secs(), sockets = stores.len(), "leaving: requests are answered until then");
        let unit = within.min(SPREAD) / u32::from(u16::MAX);
        let moment = || unit * u32::from(u16::from_be_bytes(files::random()));
        let mut moments: Vec<_> = stores.into_iter().map(|store| (moment(), store)).collect();
        moments.sort_unstable();
        for (moment, store) in moments {
            tokio::select! {
                () = sleep_until(begun + moment) => hq.hub.close(store, close::GOING_AWAY),
                // The stop closes those that are left.
                () = hq.stop.cancelled() => return,
            }
        }
    });
}
