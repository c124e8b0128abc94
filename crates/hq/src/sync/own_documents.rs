//! `GET /sync/own-documents`: a store that lost its database gets back what HQ has of its own: recent documents, which
//! refunds need, and its levels. An extension; `docs/sync.md`, rule D8.

use std::sync::Arc;

use axum::extract::State;
use serde::Deserialize;
use serde_json::value::RawValue;
use tillkeep_http::Params;
use tillkeep_http::error::{Error, Result};
use tillkeep_model::ErrorCode;
use tillkeep_model::wire::{MAX_PULL_LIMIT, OwnDocumentsAnswer};
use tillkeep_storage::own_documents;
use utoipa::ToSchema;
use uuid::Uuid;

use super::left_out;
use super::protocol::Machine;
use super::store_caller::StoreCaller;
use crate::Hq;

/// How old a document may be to be given back, in days.
const RECENT_DAYS: i64 = 90;
const DAY_MS: i64 = 24 * 3600 * 1000;
/// Rows of one page, unless the store asks for fewer.
const PAGE: u64 = 500;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = OwnDocumentsQuery)]
pub(super) struct Query {
    /// `register_sessions`, `sales`, `inventory_adjustments` or `store_product_dynamic`.
    #[schema(required)]
    entity_type: Option<String>,
    /// The last id of the page before.
    #[schema(value_type = Option<Uuid>)]
    after: Option<String>,
    #[schema(value_type = Option<i32>, minimum = 1, maximum = 10_000)]
    limit: Option<String>,
}

pub(super) async fn own_documents(
    caller: StoreCaller,
    State(hq): State<Arc<Hq>>,
    Params(query): Params<Query>,
) -> Result<Machine<OwnDocumentsAnswer>> {
    let name = query.entity_type.as_deref().unwrap_or_default();
    let entity = own_documents::find(name).ok_or_else(|| {
        let text = format!("{name:?} is not one of {}", own_documents::TYPES.join(", "));
        Error::new(ErrorCode::UnknownEntityType, text).at("entity_type")
    })?;
    let bad = |field: &str, text: &str| Error::new(ErrorCode::BadRequest, format!("{field} {text}")).at(field);
    let after = match query.after.as_deref().map(str::parse::<Uuid>) {
        None => Uuid::nil(),
        Some(Ok(after)) => after,
        Some(Err(_)) => return Err(bad("after", "must be the last id of the page before")),
    };
    let limit = match query.limit.as_deref().map(str::parse::<u64>) {
        None => PAGE,
        Some(Ok(limit)) if (1..=MAX_PULL_LIMIT).contains(&limit) => limit,
        Some(_) => return Err(bad("limit", "must be a whole number between 1 and 10000")),
    };
    let since = hq.clock.now().plus_millis(-RECENT_DAYS * DAY_MS);
    let conn = hq.sync_db().snapshot().await?;
    let page = own_documents::page(&conn, entity, caller.id(), after, since, limit).await?;
    left_out::note(&hq, entity, &page.left_out).await?;
    let rows = page.rows.into_iter().map(RawValue::from_string).collect::<std::result::Result<_, _>>()?;
    Ok(Machine(OwnDocumentsAnswer {
        entity_type: entity.name.to_owned(),
        rows,
        last_id: page.last_id,
        has_more: page.has_more,
    }))
}
