//! Rows get what they are looked for by when they have none: those of an earlier release, and those that another program wrote.

use std::sync::Arc;
use std::time::Duration;

use tillkeep_storage::{DbErr, db, sought};
use uuid::Uuid;

use crate::Hq;

/// Between two parts of it, for whoever waits for the writer.
const PAUSE: Duration = Duration::from_millis(20);
/// Until it is tried again.
const AGAIN: Duration = Duration::from_secs(10);
/// Another program, or a server of the release before, may write rows at any time; while one has no text, searches read every row.
const LOOK_EVERY: Duration = Duration::from_mins(10);

/// Does it at once, and then every ten minutes.
pub(crate) fn start(hq: Arc<Hq>) {
    tokio::spawn(async move {
        loop {
            let wait = match fill(&hq).await {
                Ok(()) => LOOK_EVERY,
                Err(error) => {
                    tracing::warn!(%error, "what products and customers are looked for by could not be written; it is tried again");
                    AGAIN
                }
            };
            if !pause(&hq, wait).await {
                return;
            }
        }
    });
}

async fn fill(hq: &Hq) -> Result<(), DbErr> {
    for sought in &sought::ALL {
        let mut next = Some(Uuid::nil());
        while let Some(after) = next {
            next = db::retry_serialization(|| sought.fill(hq.db(), after)).await?;
            if next.is_some() && !pause(hq, PAUSE).await {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// False when the server stops.
async fn pause(hq: &Hq, pause: Duration) -> bool {
    tokio::select! {
        () = tokio::time::sleep(pause) => true,
        () = hq.stop.cancelled() => false,
    }
}
