//! `GET /sync/pull`: rows above a version, in one snapshot. Without `limit` all of them, streamed.

mod page;
mod query;
mod stream;
mod text;

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use tillkeep_http::Params;
use tillkeep_http::describe::{Operation, Reply};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::representation::accepts;
use tillkeep_model::ErrorCode;
use tillkeep_model::wire::PullAnswer;
use tillkeep_storage::pull::{self, Page};
use tillkeep_storage::registry::{self, Scope, SyncType};
use tillkeep_storage::tags;
use uuid::Uuid;

use self::page::read;
use self::query::Asked;
pub(super) use self::query::Query;
use self::stream::Reading;
use self::text::{json, whole};
use super::lookups;
use super::protocol::Machine;
use super::store_caller::StoreCaller;
use crate::Hq;
use crate::live::pages::{KeptPage, Key};

pub(super) async fn pull(
    caller: StoreCaller,
    State(hq): State<Arc<Hq>>,
    headers: HeaderMap,
    Params(query): Params<Query>,
) -> Result<Pulled> {
    let asked = query.understood(&hq.epoch)?;
    let (entity, since, store) = (asked.entity, asked.since, caller.id());
    if let Some(page) = kept(&hq, &asked, store).await? {
        return Ok(Pulled(page.answer(accepts(&headers, "zstd"))));
    }
    if !entity.withheld.is_empty() {
        lookups::prepare(&hq, store, since, asked.limit).await?;
    }
    // A reader connection stays taken as long as a slow client reads.
    let place = match asked.limit {
        Some(_) => None,
        None => Some(hq.streams.place(store, hq.times.place_within, hq.times.take_within).await?),
    };
    let conn = hq.sync_db().snapshot().await?;
    // The head in memory may be a moment behind the database: only that can say whether a cursor is ahead.
    if !entity.replace_all && since > 0 {
        let head = pull::head(&conn, entity, store).await?;
        if since > head {
            return ahead(&hq, &asked, head);
        }
    }
    if asked.since_tag.is_some() {
        same_history(&hq, entity, asked.since_tag, tags::tag_of(&conn, entity, store, since).await?)?;
    }
    note(&hq, store, &asked);
    let Some(limit) = asked.limit else {
        return Ok(Pulled(stream::answer(hq, Reading { conn, place, entity, store, since })));
    };
    let mut page = read(&hq, &conn, entity, store, since, limit).await?;
    if entity.scope == Scope::Parties && !page.has_more && asked.same_epoch {
        // One counter for all stores: what was counted for others must not be asked for again and again.
        page.latest = pull::head(&conn, entity, store).await?;
    }
    let tag = tags::tag_of(&conn, entity, store, page.latest).await?;
    hq.tracker.handed(store, entity.name, since, page.latest, page.rows.len());
    Ok(Pulled(json(Body::from(whole(&hq, entity, since, &page, tag, None)))))
}

/// The page in memory that answers this, where it is one for all stores.
async fn kept(hq: &Hq, asked: &Asked, store: Uuid) -> Result<Option<Arc<KeptPage>>> {
    let Asked { entity, since, since_tag, .. } = *asked;
    let Some(limit) = asked.limit else { return Ok(None) };
    if !is_shared(entity) || since > hq.heads.get(entity, store).version {
        return Ok(None);
    }
    let page = shared(hq, entity, since, limit).await?;
    // The head in memory may be from before a standby took over that has less: then the cursor is ahead after all.
    if since > page.head.version {
        return Ok(None);
    }
    same_history(hq, entity, since_tag, page.since_tag)?;
    note(hq, store, asked);
    hq.tracker.handed(store, entity.name, since, page.latest, page.rows);
    Ok(Some(page))
}

/// The answer to a cursor beyond the database: who says what database it is from is refused, anybody else gets no rows.
fn ahead(hq: &Hq, asked: &Asked, head: i64) -> Result<Pulled> {
    if asked.same_epoch {
        let text = format!("the cursor {} is ahead of version {head}; reload", asked.since);
        return Err(Error::new(ErrorCode::CursorAhead, text).with("epoch", &hq.epoch));
    }
    let page = Page { rows: Vec::new(), latest: head, has_more: false, left_out: Vec::new() };
    Ok(Pulled(json(Body::from(whole(hq, asked.entity, asked.since, &page, None, None)))))
}

/// Notes what a store says it has.
fn note(hq: &Hq, store_id: Uuid, asked: &Asked) {
    let head = hq.heads.get(asked.entity, store_id).version;
    hq.tracker.asked(store_id, asked.entity.name, asked.has, head, hq.clock.now());
}

/// Refuses a cursor that is from another history than this database has. `docs/sync.md`, rule D8.
fn same_history(hq: &Hq, entity: &SyncType, presented: Option<Uuid>, known: Option<Uuid>) -> Result<()> {
    let differs = tags::differ(presented, known, hq.clock.now());
    // What comes whole needs no cursor.
    if differs && !entity.replace_all {
        let text = "what the cursor is from is not in this database, which lost its last commits; reload this type";
        return Err(Error::new(ErrorCode::HistoryChanged, text).with("epoch", &hq.epoch));
    }
    Ok(())
}

/// Whether the pages of `entity` are equal for all stores.
fn is_shared(entity: &SyncType) -> bool {
    entity.scope == Scope::Everyone && entity.withheld.is_empty()
}

/// A page that is equal for all stores, from one snapshot with its head.
async fn shared(hq: &Hq, entity: &'static SyncType, since: i64, limit: u64) -> Result<Arc<KeptPage>> {
    let everyone = Uuid::nil();
    let limit = limit.min(pull::ROWS);
    let key = Key { entity_type: entity.name, since, limit, head: hq.heads.get(entity, everyone) };
    let read = async || {
        let conn = hq.sync_db().snapshot().await?;
        // With those of the types that stores show together with this one: no part of a commit may be known without the rest.
        let types = registry::with_those_together([entity.name]);
        let there = tags::heads_of(&conn, &types, Some(&BTreeSet::from([everyone]))).await?;
        let head = there.get(&(entity.name.to_owned(), everyone)).copied().unwrap_or_default();
        let page = read(hq, &conn, entity, everyone, since, limit).await?;
        let since_tag = tags::tag_of(&conn, entity, everyone, since).await?;
        let tag = tags::tag_of(&conn, entity, everyone, page.latest).await?;
        let total = if page.has_more { Some(hq.totals.get(&conn, entity, hq.clock.now()).await?) } else { None };
        // What was committed and not announced yet, or by another server, is known from now on, and to all that heed it:
        // the permissions cache, the sockets.
        let beyond = hq.heads.beyond(there);
        if !beyond.is_empty() {
            hq.announce(&beyond);
        }
        let text = whole(hq, entity, since, &page, tag, total);
        let said = (page.latest, page.rows.len());
        // The rows go before their text is packed.
        drop((page, conn));
        Ok(KeptPage::new(head, since_tag, said, text).await)
    };
    Ok(hq.pages.get(key, read).await?)
}

/// Rows, written as they are read.
pub(super) struct Pulled(Response);

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
