//! `GET /sync/pull`: rows above a version, in one snapshot. Without `limit` all of them, streamed.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use tillkeep_http::describe::{Operation, Reply};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::representation::accepts;
use tillkeep_http::{Params, server};
use tillkeep_model::ErrorCode;
use tillkeep_model::wire::{MAX_PULL_LIMIT, PullAnswer};
use tillkeep_storage::pull::{self, Page};
use tillkeep_storage::registry::{self, Row, Scope, SyncType, Unread};
use tillkeep_storage::tags::{self, Head};
use tillkeep_storage::{Change, DbErr, Transaction};
use tokio::sync::mpsc;
use tokio::time::timeout;
use utoipa::ToSchema;
use uuid::Uuid;

use super::pages::{Held, Key};
use super::streams::Place;
use super::{Machine, StoreCaller, ignored, unreadable};
use crate::Hq;

/// Rows read at a time for an unlimited pull.
const STREAM_PAGE: u64 = 500;
/// Bytes that are given to a client at a time: any line that is not dead carries so many within the patience.
const PIECE: usize = 16 << 10;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PullQuery)]
pub struct Query {
    #[schema(required)]
    entity_type: Option<String>,
    #[schema(value_type = Option<i64>, minimum = 0)]
    since_version: Option<String>,
    #[schema(value_type = Option<i32>, minimum = 1, maximum = 10_000)]
    limit: Option<String>,
    /// The epoch that the cursor is from.
    epoch: Option<String>,
    /// The `tag` of the answer that the cursor is from.
    #[schema(value_type = Option<Uuid>)]
    since_tag: Option<String>,
    /// Up to which version the caller has the type, where it asks ahead of that; else it has what is up to `since_version`.
    #[schema(value_type = Option<i64>, minimum = 0)]
    has_version: Option<String>,
}

pub async fn pull(
    caller: StoreCaller,
    State(hq): State<Arc<Hq>>,
    headers: HeaderMap,
    Params(query): Params<Query>,
) -> Result<Pulled> {
    let name = query.entity_type.as_deref().unwrap_or_default();
    let entity = registry::find(name).filter(|entity| entity.is_pulled()).ok_or_else(|| {
        ignored("pull_type");
        Error::new(ErrorCode::UnknownEntityType, format!("{name:?} is not a type that stores pull")).at("entity_type")
    })?;
    let bad = |field: &str, text: &str| Error::new(ErrorCode::BadRequest, format!("{field} {text}")).at(field);
    let version = |field: &str, text: &str| {
        let version = text.parse::<i64>().ok().filter(|version| *version >= 0);
        version.ok_or_else(|| bad(field, "must be a whole number, 0 or more"))
    };
    let since = version("since_version", query.since_version.as_deref().unwrap_or("0"))?;
    let has = query.has_version.as_deref().map_or(Ok(since), |text| version("has_version", text))?;
    let limit = match query.limit.as_deref().map(str::parse::<u64>) {
        None => None,
        Some(Ok(limit)) if (1..=MAX_PULL_LIMIT).contains(&limit) => Some(limit),
        Some(_) => return Err(bad("limit", "must be a whole number between 1 and 10000")),
    };
    if query.epoch.as_deref().is_some_and(|epoch| epoch != hq.epoch) {
        let text = "this database is not the one the cursor is from; reload";
        return Err(Error::new(ErrorCode::EpochChanged, text).with("epoch", &hq.epoch));
    }
    let since_tag = match query.since_tag.as_deref().map(str::parse::<Uuid>) {
        None => None,
        Some(Ok(tag)) => Some(tag),
        Some(Err(_)) => return Err(bad("since_tag", "must be the tag of the answer that since_version is from")),
    };
    if let Some(limit) = limit
        && is_shared(entity)
        && since <= hq.heads.of(entity, caller.id()).version
    {
        let held = shared(&hq, entity, since, limit).await?;
        // The head in memory may be from before a standby took over that has less: then the cursor is ahead after all.
        if since <= held.head.version {
            same_history(&hq, entity, since_tag, held.since_tag)?;
            asked(&hq, caller.id(), entity, has);
            hq.tracker.handed(caller.id(), entity.name, since, held.latest, held.rows);
            return Ok(Pulled(held.answer(accepts(&headers, "zstd"))));
        }
    }
    // A reader connection stays taken as long as a slow client reads.
    let stream = match limit {
        Some(_) => None,
        None => Some(hq.streams.place(caller.id(), hq.times.place_within, hq.times.take_within).await?),
    };
    let conn = hq.sync_db().snapshot().await?;
    // The head in memory may be a moment behind the database: only that can say whether a cursor is ahead.
    if !entity.whole && since > 0 {
        let head = pull::head(&conn, entity, caller.id()).await?;
        if since > head {
            if query.epoch.is_some() {
                let text = format!("the cursor {since} is ahead of version {head}; reload");
                return Err(Error::new(ErrorCode::CursorAhead, text).with("epoch", &hq.epoch));
            }
            let page = Page { rows: Vec::new(), latest: head, has_more: false, left_out: Vec::new() };
            return Ok(Pulled(json(Body::from(whole(&hq, entity, since, &page, None, None)))));
        }
    }
    if since_tag.is_some() {
        same_history(&hq, entity, since_tag, tags::of(&conn, entity, caller.id(), since).await?)?;
    }
    asked(&hq, caller.id(), entity, has);
    let Some(limit) = limit else {
        return Ok(Pulled(streamed(hq, (conn, stream), entity, caller.id(), since)));
    };
    let mut page = read(&hq, &conn, entity, caller.id(), since, limit).await?;
    if entity.scope == Scope::Parties && !page.has_more && query.epoch.is_some() {
        // One counter for all stores: what was counted for others must not be asked for again and again.
        page.latest = pull::head(&conn, entity, caller.id()).await?;
    }
    let tag = tags::of(&conn, entity, caller.id(), page.latest).await?;
    hq.tracker.handed(caller.id(), entity.name, since, page.latest, page.rows.len());
    Ok(Pulled(json(Body::from(whole(&hq, entity, since, &page, tag, None)))))
}

/// Who asks says what it has.
fn asked(hq: &Hq, store_id: Uuid, entity: &'static SyncType, has: i64) {
    hq.tracker.asked(store_id, entity.name, has, hq.heads.of(entity, store_id).version, hq.clock.now());
}

/// Refuses a cursor that is from another history than this database has. `docs/sync.md`, rule D8.
fn same_history(hq: &Hq, entity: &SyncType, presented: Option<Uuid>, known: Option<Uuid>) -> Result<()> {
    let differs = tags::differ(presented, known, hq.clock.now());
    // What comes whole needs no cursor.
    if differs && !entity.whole {
        let text = "what the cursor is from is not in this database, which lost its last commits; reload this type";
        return Err(Error::new(ErrorCode::HistoryChanged, text).with("epoch", &hq.epoch));
    }
    Ok(())
}

/// Whether the pages of `entity` are equal for all stores.
fn is_shared(entity: &SyncType) -> bool {
    entity.scope == Scope::Everyone && entity.withheld.is_empty()
}

/// A page, once what it leaves out is noted.
async fn read(
    hq: &Hq,
    conn: &Transaction,
    entity: &'static SyncType,
    store: Uuid,
    since: i64,
    limit: u64,
) -> std::result::Result<Page, DbErr> {
    let fit = |row: &mut dyn Row| verifiers(hq, store, row);
    let page = pull::page(conn, entity, store, since, limit, &fit).await?;
    unreadable::note(hq, entity, &page.left_out).await?;
    match page.flaw(entity) {
        Some(unread) => Err(unread.clone().into()),
        None => Ok(page),
    }
}

/// What verifies a PIN at headquarters becomes what verifies it in one store, by that store's own key.
fn verifiers(hq: &Hq, store: Uuid, row: &mut dyn Row) {
    let Some((hash, lookup)) = row.text("pin_hash").and_then(|hash| hq.auth.pins.derived(store, &hash)) else { return };
    row.set("pin_hash", Some(hash).into());
    row.set("pin_lookup", Some(lookup).into());
}

/// A page that is equal for all stores, from one snapshot with its head.
async fn shared(hq: &Hq, entity: &'static SyncType, since: i64, limit: u64) -> Result<Arc<Held>> {
    let everyone = Uuid::nil();
    let limit = limit.min(pull::ROWS);
    let key = Key { entity_type: entity.name, since, limit, head: hq.heads.of(entity, everyone) };
    let read = async || {
        let conn = hq.sync_db().snapshot().await?;
        let head = tags::head(&conn, entity, everyone).await?;
        let page = read(hq, &conn, entity, everyone, since, limit).await?;
        let since_tag = tags::of(&conn, entity, everyone, since).await?;
        let tag = tags::of(&conn, entity, everyone, page.latest).await?;
        let total = if page.has_more { Some(hq.totals.of(&conn, entity, hq.clock.now()).await?) } else { None };
        // What was committed and not announced yet, or by another server, is known from now on, and to all that heed it:
        // the permissions cache, the sockets.
        if head.version > hq.heads.of(entity, everyone).version {
            let Head { version, tag } = head;
            hq.announce(&[Change { entity_type: entity.name, store: None, version, tag }]);
        }
        let text = whole(hq, entity, since, &page, tag, total);
        let said = (page.latest, page.rows.len());
        // The rows go before their text is packed.
        drop((page, conn));
        Ok(Held::new(head, since_tag, said, text).await)
    };
    Ok(hq.pages.get(key, read).await?)
}

/// Rows, written as they are read.
pub struct Pulled(Response);

impl IntoResponse for Pulled {
    fn into_response(self) -> Response {
        self.0
    }
}

impl Reply for Pulled {
    fn describe(operation: &mut Operation) {
        Machine::<PullAnswer>::describe(operation);
    }
}

fn head(entity: &SyncType, since: i64) -> String {
    format!("{{\"entity_type\":\"{}\",\"since_version\":{since},\"rows\":[", entity.name)
}

fn tail(page: &Page, epoch: &str, tag: Option<Uuid>, total: Option<i64>, left_out: &[Uuid]) -> String {
    let tag = tag.map(|tag| format!(",\"tag\":\"{tag}\"")).unwrap_or_default();
    let total = total.map(|total| format!(",\"total\":{total}")).unwrap_or_default();
    let ids: Vec<String> = left_out.iter().map(|id| format!("\"{id}\"")).collect();
    let left_out = if ids.is_empty() { String::new() } else { format!(",\"left_out\":[{}]", ids.join(",")) };
    let Page { latest, has_more, .. } = page;
    format!("],\"latest_version\":{latest},\"has_more\":{has_more},\"epoch\":\"{epoch}\"{tag}{total}{left_out}}}")
}

fn ids(left_out: &[Unread]) -> impl Iterator<Item = Uuid> {
    left_out.iter().filter_map(|row| row.id)
}

fn json(body: Body) -> Response {
    let kind = (header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    ([kind], body).into_response()
}

fn whole(hq: &Hq, entity: &SyncType, since: i64, page: &Page, tag: Option<Uuid>, total: Option<i64>) -> String {
    let mut text = head(entity, since);
    text.push_str(&page.rows.join(","));
    text.push_str(&tail(page, &hq.epoch, tag, total, &ids(&page.left_out).collect::<Vec<_>>()));
    text
}

/// All rows of one snapshot, page after page. A failure half-way breaks the answer off, so that nobody takes a part for
/// the whole.
fn streamed(
    hq: Arc<Hq>,
    (conn, place): (Transaction, Option<Place>),
    entity: &'static SyncType,
    store: Uuid,
    since: i64,
) -> Response {
    let (send, mut receive) = mpsc::channel::<std::io::Result<Bytes>>(2);
    tokio::spawn(async move {
        let mut text = head(entity, since);
        let (mut cursor, mut first, mut count) = (since, true, 0);
        let mut left_out = Vec::new();
        loop {
            let next = async {
                let page = read(&hq, &conn, entity, store, cursor, STREAM_PAGE).await?;
                let tag = if page.has_more { None } else { tags::of(&conn, entity, store, page.latest).await? };
                Ok::<_, DbErr>((page, tag))
            };
            let (page, tag) = match next.await {
                Ok(next) => next,
                Err(error) => {
                    tracing::warn!(%error, entity_type = entity.name, "a pull broke off");
                    // Whoever listens is gone when this fails; there is nobody left to tell.
                    drop(send.send(Err(std::io::Error::other("the pull broke off"))).await);
                    return;
                }
            };
            for row in &page.rows {
                if !std::mem::take(&mut first) {
                    text.push(',');
                }
                text.push_str(row);
            }
            cursor = page.latest;
            count += page.rows.len();
            left_out.extend(ids(&page.left_out));
            if !page.has_more {
                text.push_str(&tail(&page, &hq.epoch, tag, None, &left_out));
            }
            let mut rest = Bytes::from(std::mem::take(&mut text));
            while !rest.is_empty() {
                let piece = rest.split_to(PIECE.min(rest.len()));
                let taken = tokio::select! {
                    taken = timeout(hq.times.take_within, send.send(Ok(piece))) => taken,
                    () = closing(&hq) => return,
                };
                if !matches!(taken, Ok(Ok(()))) {
                    // The place is somebody else's from now on; whoever reads on after all is told.
                    drop((conn, place, page, rest));
                    // Dropping the channel half-way would look like an end.
                    let error = std::io::Error::other("the client does not read");
                    tokio::select! {
                        _ = send.send(Err(error)) => return,
                        () = closing(&hq) => return,
                    }
                }
            }
            if !page.has_more {
                break;
            }
        }
        drop((conn, place));
        hq.tracker.handed(store, entity.name, since, cursor, count);
    });
    json(Body::from_stream(futures_util::stream::poll_fn(move |context| receive.poll_recv(context))))
}

/// Waits until the server has stopped and running requests have had their time: the database is to be closed.
async fn closing(hq: &Hq) {
    hq.stop.cancelled().await;
    tokio::time::sleep(server::DRAIN).await;
}
