//! Sales go out to their receivers, off the way of every request: each receiver at its own pace, one message after the other.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use metrics::counter;
use tillkeep_storage::alerts::deliveries::Answer;
use tillkeep_storage::alerts::{receivers, sales};
use tillkeep_storage::entity::alert_hook::Model;
use tillkeep_storage::{DbErr, db};

use super::WORK;
use super::post::post;
use super::sales_message::Message;
use crate::Hq;

/// Sales of a moment go together.
const GATHER: Duration = Duration::from_millis(250);
/// Between two looks for what other servers have stored, and for what is due next.
const POLL: Duration = Duration::from_secs(2);
const SHORTEST: Duration = Duration::from_millis(200);
/// After a failure of the database.
const AGAIN: Duration = Duration::from_secs(10);

/// Tells until the server stops. What is under way then is posted again by the server that goes on.
pub(super) fn start(hq: Arc<Hq>) {
    tokio::spawn(async move {
        loop {
            let told = tokio::select! {
                told = tell(&hq) => told,
                () = hq.stop.cancelled() => return,
            };
            let wait = told.unwrap_or_else(|error| {
                tracing::warn!(%error, "sales could not be told to their receivers; it is tried again");
                AGAIN
            });
            tokio::select! {
                () = hq.alerting.sales.notified() => {}
                () = tokio::time::sleep(wait) => {}
                () = hq.stop.cancelled() => return,
            }
            tokio::select! {
                () = tokio::time::sleep(GATHER) => {}
                () = hq.stop.cancelled() => return,
            }
        }
    });
}

/// Tells receivers of whatever they have not been told, if this server is the one that does it; how long it is until the next look.
pub async fn tell(hq: &Hq) -> Result<Duration, DbErr> {
    let mut under_way = FuturesUnordered::new();
    loop {
        let (due, wait) = due(hq).await?;
        under_way.extend(due.into_iter().map(|hook| tried(hq, hook)));
        if under_way.is_empty() {
            return Ok(wait);
        }
        // Who answers late holds nobody else up.
        tokio::select! {
            Some(done) = under_way.next() => {
                if let Err(error) = done {
                    // It is due again by itself, and the others go on.
                    tracing::warn!(%error, "what came of a post of sales could not be noted; it is tried again");
                }
            }
            () = tokio::time::sleep(GATHER) => {}
        }
    }
}

/// The receivers that may be told of something now, which this server has in hand from here on; where there is none, how long it is
/// until the next look.
async fn due(hq: &Hq) -> Result<(Vec<Model>, Duration), DbErr> {
    let conn = hq.db_of_alerts().reader();
    if !sales::is_anything(conn).await? {
        return Ok((Vec::new(), POLL));
    }
    let now = hq.clock.now();
    let is_news = sales::is_unnumbered(conn).await?;
    let next = receivers::next_due(conn, sales::head(conn).await?).await?;
    let is_due = next.is_some_and(|next| next <= now);
    let is_spent = sales::is_spent(conn).await?;
    if !is_news && !is_due && !is_spent {
        let millis = next.map(|next| u64::try_from(next.millis_since(now)).unwrap_or_default());
        let wait = millis.map_or(POLL, |millis| Duration::from_millis(millis).clamp(SHORTEST, POLL));
        return Ok((Vec::new(), wait));
    }
    if !hq.leases.take(WORK).await? {
        return Ok((Vec::new(), POLL));
    }
    while is_news && number(hq).await? > 0 {}
    while is_spent && forget(hq).await? > 0 {}
    Ok((take(hq).await?, POLL))
}

async fn number(hq: &Hq) -> Result<u64, DbErr> {
    db::retry_serialization(async || {
        let tx = hq.db_of_alerts().begin_aside().await?;
        let numbered = sales::number(&tx).await?;
        tx.commit().await?;
        Ok(numbered)
    })
    .await
}

async fn take(hq: &Hq) -> Result<Vec<Model>, DbErr> {
    db::retry_serialization(async || {
        let tx = hq.db_of_alerts().begin_aside().await?;
        let head = sales::head(&tx).await?;
        let due = receivers::take(&tx, head, hq.clock.now()).await?;
        tx.commit().await?;
        Ok(due)
    })
    .await
}

async fn forget(hq: &Hq) -> Result<u64, DbErr> {
    db::retry_serialization(async || {
        let tx = hq.db_of_alerts().begin_aside().await?;
        let forgotten = sales::forget(&tx).await?;
        tx.commit().await?;
        Ok(forgotten)
    })
    .await
}

/// One message to one receiver, and what came of it.
async fn tried(hq: &Hq, hook: Model) -> Result<(), DbErr> {
    let message = match Message::next(hq, &hook).await {
        Ok(message) => message,
        Err(error) => {
            tracing::warn!(%error, hook = %hook.id, "sales could not be read for their receiver; it is tried again");
            let text = "headquarters could not read its sales: its log says why".to_owned();
            return noted(hq, &hook, None, &Answer { status: None, text }).await;
        }
    };
    let Some(body) = &message.body else { return passed(hq, &hook, message.up_to).await };
    if hook.event_id.is_none() && !begun(hq, &hook, &message).await? {
        // Somebody has changed it meanwhile, who has it tried anew.
        return Ok(());
    }
    let answer = post(hq, &hook, message.event_id, body).await;
    noted(hq, &hook, Some(&message), &answer).await
}

async fn begun(hq: &Hq, hook: &Model, message: &Message) -> Result<bool, DbErr> {
    db::retry_serialization(async || {
        let tx = hq.db_of_alerts().begin_aside().await?;
        let is_begun = receivers::begin(&tx, hook, message.event_id, message.up_to).await?;
        tx.commit().await?;
        Ok(is_begun)
    })
    .await
}

async fn passed(hq: &Hq, hook: &Model, up_to: i64) -> Result<(), DbErr> {
    db::retry_serialization(async || {
        let tx = hq.db_of_alerts().begin_aside().await?;
        receivers::pass(&tx, hook, up_to, hq.clock.now()).await?;
        tx.commit().await?;
        Ok(())
    })
    .await
}

async fn noted(hq: &Hq, hook: &Model, message: Option<&Message>, answer: &Answer) -> Result<(), DbErr> {
    let event_id = message.map(|message| message.event_id);
    db::retry_serialization(async || {
        let tx = hq.db_of_alerts().begin_aside().await?;
        receivers::settle(&tx, hook, event_id, answer, hq.clock.now()).await?;
        tx.commit().await?;
        Ok(())
    })
    .await?;
    if answer.is_good() {
        counter!("tillkeep_sale_posts_total", "result" => "sent").increment(1);
    } else {
        counter!("tillkeep_sale_posts_total", "result" => "failed").increment(1);
        tracing::info!(hook = %hook.id, answer = answer.text, "sales could not be posted; it is tried again");
    }
    Ok(())
}
