//! What is done every second: what stores did and said is written, and what went wrong with the database is looked after.

use std::sync::Arc;
use std::time::Duration;

use tillkeep_model::wire::close;
use tillkeep_storage::{DbErr, db, tags};

use super::{left_out, lost};
use crate::Hq;

/// Between two rounds.
const ROUND_EVERY: Duration = Duration::from_secs(1);
/// Rounds between two times that old tags are forgotten: an hour.
const FORGET_EVERY: u32 = 3600;

/// Writes until the server stops, and once more then.
pub fn start(hq: Arc<Hq>) {
    tokio::spawn(async move {
        let mut rounds = 0_u32;
        loop {
            let stopping = tokio::select! {
                () = tokio::time::sleep(ROUND_EVERY) => false,
                () = hq.stop.cancelled() => true,
            };
            lost::look(&hq).await;
            hq.resolve_uncertain_commit().await;
            note(&hq).await;
            rounds += 1;
            if rounds.is_multiple_of(FORGET_EVERY)
                && let Err(error) = forget_tags(&hq).await
            {
                tracing::warn!(%error, "old tags could not be removed; it is tried again");
            }
            if stopping {
                return;
            }
        }
    });
}

/// One round of the background work.
pub async fn note(hq: &Hq) {
    // A token in its grace ends by the clock alone, and the socket opened with it must not outlive it.
    hq.hub.close_over(hq.clock.now(), close::REVOKED);
    if let Err(error) = left_out::follow(hq).await {
        tracing::warn!(%error, "whether unreadable rows were mended could not be seen; it is tried again");
    }
    if let Err(error) = flush(hq).await {
        tracing::warn!(%error, "what stores said could not be written; it is tried again");
    }
}

/// Writes what stores did and said; what is asked of it next has the last second too.
pub async fn flush(hq: &Hq) -> Result<(), DbErr> {
    hq.board.mark(hq.tracker.flush(hq.sync_db(), hq.nodes.id).await?);
    Ok(())
}

/// Forgets old tags, unless another server does it.
async fn forget_tags(hq: &Hq) -> Result<(), DbErr> {
    if hq.leases.take("forgetting of tags").await? {
        let now = hq.clock.now();
        db::retry_serialization(async || {
            let tx = hq.sync_db().begin().await?;
            tags::forget(&tx, now).await?;
            tx.commit().await
        })
        .await?;
    }
    Ok(())
}
