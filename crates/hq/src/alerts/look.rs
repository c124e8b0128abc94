//! What is wrong now is looked for, and compared with what was.

use std::sync::Arc;
use std::time::Duration;

use tillkeep_model::Instant;
use tillkeep_storage::alerts::{self, Found, Noted};
use tillkeep_storage::entity::alert;
use tillkeep_storage::{DbErr, db};
use uuid::Uuid;

use super::kinds::{AlertKind, Find, KINDS, Read};
use super::of_server::OfServer;
use super::{WORK, event};
use crate::Hq;
use crate::live::alerting::Gaps;
use crate::sync::dashboard::states::{self, Which};

/// Between two looks, and from the start of a server to its first one: stores have come back by then.
const LOOK_EVERY: Duration = Duration::from_secs(30);
/// Looks between two times that what is long over is forgotten: an hour.
const FORGET_EVERY: u32 = 120;

/// Drawers of the last days that are looked into, and how long after a close all of one should be here.
const GAPS_OF_DAYS_MS: i64 = 7 * DAY_MS;
const ARRIVES_WITHIN_MS: i64 = 3600 * 1000;
/// A document that broke its chain counts so long, unless somebody looks at it.
const CHAINS_OF_MS: i64 = 7 * DAY_MS;
/// Who waits for less has mistyped.
const LOCKED_FOR_MS: i64 = 60_000;
/// A receiver that has not taken sales for so long is behind.
const BEHIND_AFTER_MS: i64 = 3600 * 1000;
/// So long sales are kept for one that is switched off until somebody is told.
const KEPT_FOR_MS: i64 = 7 * DAY_MS;
/// So long alerts are kept that ended.
const KEPT_MS: i64 = 90 * DAY_MS;
const DAY_MS: i64 = 24 * 3600 * 1000;

/// What is said of headquarters as a whole.
const HEADQUARTERS: &str = "headquarters";

/// Looks until the server stops.
pub(super) fn start(hq: Arc<Hq>) {
    tokio::spawn(async move {
        let mut looks = 0_u32;
        loop {
            tokio::select! {
                () = tokio::time::sleep(LOOK_EVERY) => {}
                () = hq.stop.cancelled() => return,
            }
            if let Err(error) = look(&hq).await {
                tracing::warn!(%error, "what is wrong could not be looked for; it is tried again");
            }
            looks = (looks + 1) % FORGET_EVERY;
            if looks == 0
                && let Err(error) = forget(&hq).await
            {
                tracing::warn!(%error, "old alerts could not be removed; it is tried again");
            }
            // What another server left, and what waits for its next try.
            hq.alerting.wake.notify_one();
        }
    });
}

/// Looks once: opens alerts for what is wrong now, ends those of what is over, and has both told.
pub async fn look(hq: &Hq) -> Result<Noted, DbErr> {
    let now = hq.clock.now();
    // Each server looks at itself; one of them at everything else.
    let leads = hq.leases.take(WORK).await?;
    let mut measured = OfServer::measure(hq).await;
    if measured.wavers() {
        let kind = AlertKind::DiskNearlyFull.word();
        measured.was_nearly_full = alerts::is_firing(hq.db_of_alerts().reader(), kind, &hq.nodes.name).await?;
    }
    let mut found = of_server(hq, &measured, now);
    if leads {
        found.extend(of_stores(hq, now).await?);
    }
    let servers = hq.nodes.names();
    let is_judged = |kind: &str, subject: &str| {
        let is_of_server = AlertKind::parse(kind).is_some_and(AlertKind::is_of_server);
        // Of a server that is gone nobody else would say that it is over.
        let is_gone = || !servers.iter().any(|name| name == subject);
        if is_of_server { subject == hq.nodes.name || (leads && is_gone()) } else { leads }
    };
    let db = hq.db_of_alerts();
    if !alerts::is_news(db.reader(), &found, &is_judged, now).await? {
        return Ok(Noted::default());
    }
    let body = |alert: &alert::Model, id: Uuid| event::body(alert, id, hq.public_url.as_deref());
    let noted = db::retry_serialization(async || {
        let tx = db.begin_aside().await?;
        let noted = alerts::note(&tx, &found, &is_judged, body, now).await?;
        tx.commit().await?;
        Ok(noted)
    })
    .await?;
    if noted.begun + noted.ended > 0 {
        tracing::info!(begun = noted.begun, ended = noted.ended, posts = noted.posts, "alerts began or ended");
    }
    if noted.posts > 0 {
        hq.alerting.wake.notify_one();
    }
    Ok(noted)
}

fn of_server(hq: &Hq, measured: &OfServer, now: Instant) -> Vec<Found> {
    let found = KINDS.iter().filter_map(|kind| {
        let Find::Server(find) = kind.find else { return None };
        let (since, text) = find(measured, now)?;
        Some(Found {
            kind: kind.kind.word(),
            subject: hq.nodes.name.clone(),
            store_id: None,
            severity: kind.severity.word(),
            text,
            since,
        })
    });
    found.collect()
}

/// What is wrong with stores and with headquarters as a whole, in as many queries for a thousand stores as for one.
async fn of_stores(hq: &Hq, now: Instant) -> Result<Vec<Found>, DbErr> {
    let conn = hq.db_of_alerts().reader();
    let read = Read {
        gaps: gaps(hq, now).await?,
        chains: alerts::found::broken_chains(conn, now.plus_millis(-CHAINS_OF_MS)).await?,
        locked: alerts::found::locked(conn, now.plus_millis(LOCKED_FOR_MS)).await?,
        behind: alerts::sales::behind(conn, now.plus_millis(-BEHIND_AFTER_MS), now.plus_millis(-KEPT_FOR_MS)).await?,
    };
    let mut stores = states::overview(hq, conn, Which::All).await?.states;
    stores.retain(|store| store.active);
    let mut found = Vec::new();
    for kind in &KINDS {
        let one = |subject: &str, store_id: Option<Uuid>, (since, text): (Instant, String)| Found {
            kind: kind.kind.word(),
            subject: subject.to_owned(),
            store_id,
            severity: kind.severity.word(),
            text,
            since,
        };
        match kind.find {
            Find::Store(find) => found.extend(
                stores
                    .iter()
                    .filter_map(|store| Some(one(&store.store_code, Some(store.store_id), find(store, &read, now)?))),
            ),
            Find::Chain(find) => found.extend(find(&read, now).map(|said| one(HEADQUARTERS, None, said))),
            Find::Server(_) => {}
        }
    }
    Ok(found)
}

async fn gaps(hq: &Hq, now: Instant) -> Result<Gaps, DbErr> {
    if let Some(known) = hq.alerting.gaps(now) {
        return Ok(known);
    }
    let from = now.plus_millis(-GAPS_OF_DAYS_MS).utc().date_naive().to_string();
    let until = now.plus_millis(-ARRIVES_WITHIN_MS);
    let gaps = alerts::found::gaps(hq.db_of_alerts().reader(), &from, until).await?;
    hq.alerting.keep_gaps(now, gaps.clone());
    Ok(gaps)
}

/// Forgets what ended long ago, unless another server does it.
async fn forget(hq: &Hq) -> Result<(), DbErr> {
    if !hq.leases.take(WORK).await? {
        return Ok(());
    }
    let before = hq.clock.now().plus_millis(-KEPT_MS);
    db::retry_serialization(async || {
        let tx = hq.db_of_alerts().begin_aside().await?;
        alerts::forget(&tx, before).await?;
        tx.commit().await?;
        Ok(())
    })
    .await
}
