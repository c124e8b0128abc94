//! Pruning of `sync_log`: successes of long ago leave it, a batch at a time, by one server of headquarters. What stays of them is
//! in `storage::sync_log::kept`. `docs/sync.md`, rule U13.

use std::sync::Arc;
use std::time::Duration;

use metrics::counter;
use tillkeep_model::Instant;
use tillkeep_storage::sync_log::kept;
use tillkeep_storage::{DbErr, db};

use crate::Hq;

/// From the start of the server to the first look.
const FIRST: Duration = Duration::from_secs(5);
/// From one look to the next.
const LOOK_EVERY: Duration = Duration::from_mins(10);
/// Between two batches, for whoever waits for the writer.
const PAUSE: Duration = Duration::from_millis(100);
/// What other servers of headquarters leave to the one that does it.
const WORK: &str = "pruning of sync_log";

/// Prunes until the server stops.
pub(crate) fn start(hq: Arc<Hq>) {
    if hq.sync_log_days == 0 {
        return;
    }
    tokio::spawn(async move {
        let mut wait = FIRST;
        while pause(&hq, wait).await {
            let (pruned, ended) = run(&hq).await;
            if pruned > 0 {
                tracing::info!(rows = pruned, days = hq.sync_log_days, "successes of long ago left the log of entries");
            }
            if let Err(error) = ended {
                tracing::warn!(%error, "the log of entries could not be pruned; it is tried again");
            }
            wait = LOOK_EVERY;
        }
    });
}

/// False when the server stops.
async fn pause(hq: &Hq, pause: Duration) -> bool {
    tokio::select! {
        () = tokio::time::sleep(pause) => true,
        () = hq.stop.cancelled() => false,
    }
}

/// Prunes whatever is old enough, as long as this server is the one that does it. How many rows left the log, and what ended it.
async fn run(hq: &Hq) -> (u64, Result<(), DbErr>) {
    let mut pruned = 0;
    let ended = prune(hq, &mut pruned).await;
    (pruned, ended)
}

async fn prune(hq: &Hq, pruned: &mut u64) -> Result<(), DbErr> {
    let db = hq.sync_db();
    let before = hq.clock.now().plus_millis(-i64::from(hq.sync_log_days) * 24 * 3600 * 1000);
    if !hq.leases.take(WORK).await? {
        return Ok(());
    }
    for store in kept::stores_before(db.reader(), before).await? {
        let mut next = Some(Instant::default());
        while let Some(from) = next {
            let batch = db::retry_serialization(|| kept::prune(db, store, from, before)).await?;
            *pruned += batch.rows;
            counter!("tillkeep_sync_log_pruned_total").increment(batch.rows);
            next = batch.next;
            if !pause(hq, PAUSE).await || !hq.leases.take(WORK).await? {
                return Ok(());
            }
        }
    }
    Ok(())
}
