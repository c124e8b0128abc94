//! Posts that are due go out, a few at a time, off the way of every request.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use metrics::counter;
use tillkeep_storage::alerts::deliveries::{self, Due, GIVEN_UP, SENT};
use tillkeep_storage::{DbErr, db};

use super::WORK;
use super::post::post;
use crate::Hq;

/// Posts that are under way at once: a receiver that gives no answer holds up the others for ten seconds at the most.
const AT_ONCE: u64 = 8;
/// The longest and the shortest wait for what is due next, as far as this server knows.
const LONGEST: Duration = Duration::from_mins(1);
const SHORTEST: Duration = Duration::from_millis(200);
/// After a failure of the database.
const AGAIN: Duration = Duration::from_secs(10);

/// Posts until the server stops. What is under way then is posted again by the server that goes on.
pub(super) fn start(hq: Arc<Hq>) {
    tokio::spawn(async move {
        hq.alerting.wake.notified().await;
        loop {
            let done = tokio::select! {
                done = deliver(&hq) => done,
                () = hq.stop.cancelled() => return,
            };
            let wait = match done {
                Ok(wait) => wait,
                Err(error) => {
                    tracing::warn!(%error, "alerts could not be posted; it is tried again");
                    Some(AGAIN)
                }
            };
            tokio::select! {
                () = hq.alerting.wake.notified() => {}
                () = tokio::time::sleep(wait.unwrap_or(LONGEST)), if wait.is_some() => {}
                () = hq.stop.cancelled() => return,
            }
        }
    });
}

/// Posts whatever is due, if this server is the one that does it; how long it is until more is.
pub async fn deliver(hq: &Hq) -> Result<Option<Duration>, DbErr> {
    let conn = hq.db_of_alerts().reader();
    loop {
        let now = hq.clock.now();
        let Some(next) = deliveries::next_due(conn).await? else { return Ok(None) };
        if next > now {
            let millis = u64::try_from(next.millis_since(now)).unwrap_or_default();
            return Ok(Some(Duration::from_millis(millis).clamp(SHORTEST, LONGEST)));
        }
        if !hq.leases.take(WORK).await? {
            return Ok(None);
        }
        let due = take(hq).await?;
        if due.is_empty() {
            // Somebody else has them, or their hook was switched off just now.
            return Ok(Some(AGAIN));
        }
        for done in join_all(due.into_iter().map(|due| tried(hq, due))).await {
            done?;
        }
    }
}

async fn take(hq: &Hq) -> Result<Vec<Due>, DbErr> {
    db::retry_serialization(async || {
        let tx = hq.db_of_alerts().begin_aside().await?;
        let due = deliveries::take(&tx, AT_ONCE, hq.clock.now()).await?;
        tx.commit().await?;
        Ok(due)
    })
    .await
}

/// One try, and what came of it.
async fn tried(hq: &Hq, due: Due) -> Result<(), DbErr> {
    let Due { post: delivery, hook } = due;
    let answer = post(hq, &hook, delivery.event_id, &delivery.body).await;
    let state = db::retry_serialization(async || {
        let tx = hq.db_of_alerts().begin_aside().await?;
        let state = deliveries::settle(&tx, &delivery, &answer, hq.clock.now()).await?;
        tx.commit().await?;
        Ok(state)
    })
    .await?;
    match state {
        SENT => counter!("tillkeep_alert_posts_total", "result" => "sent").increment(1),
        GIVEN_UP => {
            counter!("tillkeep_alert_posts_total", "result" => "given_up").increment(1);
            tracing::warn!(hook = %hook.id, answer = answer.text, "an alert was posted in vain for an hour and is given up");
        }
        _ => {
            counter!("tillkeep_alert_posts_total", "result" => "failed").increment(1);
            tracing::info!(hook = %hook.id, answer = answer.text, "an alert could not be posted; it is tried again");
        }
    }
    Ok(())
}
