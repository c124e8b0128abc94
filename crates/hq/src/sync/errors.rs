//! Entries that were not applied, and those that were and need a look. Specification, section 4.3.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::value::RawValue;
use tillkeep_http::costs;
use tillkeep_http::describe::{Listing, Lists, More};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::{self, ListSpec};
use tillkeep_http::{Caller, List};
use tillkeep_model::Instant;
use tillkeep_model::permission::code::StoresView;
use tillkeep_storage::Connection;
use tillkeep_storage::entity::{store, sync_log};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, Iterable, QueryFilter, QuerySelect, Select};
use tillkeep_storage::sync_log::FAILED;
use utoipa::ToSchema;
use uuid::Uuid;

use super::collisions::{self, Collision};
use crate::scope::{in_scope, named_store};

const LIST: ListSpec = ListSpec {
    search: &["error", "entityId"],
    filters: &["storeId", "entityType", "status"],
    sort: &["-last_seen_at", "last_seen_at", "first_seen_at"],
};

/// An entry of the log as the dashboard shows it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct FailedEntry {
    id: Uuid,
    store_id: Uuid,
    store_code: String,
    /// `push` is what the store sent; `pull` a type that it was sent and could not keep, which has no entity and no envelope.
    direction: String,
    entity_type: String,
    entity_id: String,
    action: String,
    status: String,
    error: Option<String>,
    code: Option<String>,
    /// What an operator should look at in an entry that was taken.
    warning: Option<String>,
    warning_settled_at: Option<Instant>,
    /// Tries, as its store counts them: those that an operator makes here are none.
    retry_count: i32,
    first_seen_at: Instant,
    last_seen_at: Instant,
    note: Option<String>,
    /// The row that has its number already, where that is why it was refused.
    collides_with: Option<Collision>,
    /// As it came. Null when it is no longer kept, and above 64 KiB: that one is tried again and settled all the same.
    #[schema(value_type = Option<serde_json::Value>)]
    envelope: Option<Box<RawValue>>,
    /// Of what can never be taken: its first 16 KiB, in place of the envelope. Null for whoever may see no costs.
    beginning: Option<String>,
    /// Bytes of the envelope as it came; null for entries of earlier releases.
    length: Option<i64>,
    /// Of the envelope as it came, where only its beginning is kept.
    sha256: Option<String>,
}

impl FailedEntry {
    pub(super) fn new(row: sync_log::Model, store_code: String, collides_with: Option<Collision>) -> Self {
        Self {
            store_code,
            id: row.id,
            store_id: row.store_id,
            direction: row.direction,
            entity_type: row.entity_type,
            entity_id: row.entity_id,
            action: row.action,
            status: row.status,
            error: row.error,
            code: row.code,
            warning: row.warning,
            warning_settled_at: row.warning_settled_at,
            // The first refusal is a try too.
            retry_count: row.retry_count.saturating_add(1),
            collides_with,
            first_seen_at: row.first_seen_at,
            last_seen_at: row.last_seen_at,
            note: row.note,
            sha256: row.beginning.is_some().then_some(row.hash),
            beginning: costs::seen_whole(row.beginning),
            length: row.length,
            envelope: row.envelope.and_then(costs::stored_document),
        }
    }
}

/// The list of entries.
pub(super) struct Entries;

impl Listing for Entries {
    type Row = sync_log::Entity;
    const SPEC: ListSpec = LIST;
    const MORE: &'static [(&'static str, More)] =
        &[("warning", More::Flag), ("settled", More::Flag), ("since", More::Instant)];
}

/// `GET /sync/errors`: the failed entries; those of another `status`; or with `warning` those that were taken and that
/// an operator should look at, without those that were settled, or with `settled` those alone.
pub(super) async fn list(
    caller: Caller<StoresView>,
    Lists { mut query, .. }: Lists<Entries>,
) -> Result<List<FailedEntry>> {
    let mut base = in_scope(&caller, shown(), sync_log::Column::StoreId);
    let (warning, settled) = (resource::take_flag(&mut query, "warning")?, resource::take_flag(&mut query, "settled")?);
    if settled && !warning {
        return Err(Error::field("settled", "goes with warning=true; of failed entries use status=resolved"));
    }
    if warning {
        let settled_at = sync_log::Column::WarningSettledAt;
        base = base.filter(sync_log::Column::Warning.is_not_null());
        base = base.filter(if settled { settled_at.is_not_null() } else { settled_at.is_null() });
    } else if !query.contains_key("status") {
        base = base.filter(sync_log::Column::Status.eq(FAILED));
    }
    if let Some(since) = query.remove("since") {
        let since = Instant::parse(&since);
        let since = since.ok_or_else(|| Error::field("since", "must be an instant like 2026-11-20T12:34:56.789Z"))?;
        base = base.filter(sync_log::Column::LastSeenAt.gte(since));
    }
    named_store(&caller, &query)?;
    let page: List<sync_log::Model> = resource::list(caller.reader(), &LIST, &query, base).await?;
    let codes = codes(caller.reader()).await?;
    let mut collisions = collisions::find(caller.reader(), &page.rows).await?;
    let mut room = PAGE;
    Ok(page.map(|mut row| {
        for text in [&mut row.envelope, &mut row.beginning] {
            let bytes = text.as_ref().map_or(0, String::len);
            // The first ones of the page: whoever wants the others asks for fewer.
            *text = text.take().filter(|_| bytes <= room);
            room = room.saturating_sub(bytes);
        }
        let code = codes.get(&row.store_id).cloned().unwrap_or_default();
        let collision = collisions.remove(&row.id);
        FailedEntry::new(row, code, collision)
    }))
}

/// Bytes of an envelope that is listed: a page of the largest ones that a store may send would be gigabytes.
const LISTED: usize = 64 << 10;
/// Bytes of all envelopes of one page.
const PAGE: usize = 2 << 20;

/// The entries without envelopes that are too large to be listed.
fn shown() -> Select<sync_log::Entity> {
    sync_log::Entity::find()
        .select_only()
        .columns(sync_log::Column::iter().filter(|column| !matches!(column, sync_log::Column::Envelope)))
        .expr_as(sync_log::envelope_within(LISTED), "envelope")
}

/// The codes of all stores.
pub(super) async fn codes(conn: &Connection) -> Result<HashMap<Uuid, String>> {
    let rows: Vec<(Uuid, String)> = store::Entity::find()
        .select_only()
        .columns([store::Column::Id, store::Column::Code])
        .into_tuple()
        .all(conn)
        .await?;
    Ok(rows.into_iter().collect())
}
