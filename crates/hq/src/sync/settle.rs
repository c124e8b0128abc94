//! Failed entries settled: by hand, or because they were tried again. Specification, section 4.3.

use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use serde_json::json;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::extract::OptionalBody;
use tillkeep_http::sent::Sent;
use tillkeep_http::{Answer, Caller, Id, sent};
use tillkeep_model::ErrorCode;
use tillkeep_model::fields::sync::RESOLUTION;
use tillkeep_model::permission::Requirement;
use tillkeep_model::permission::code::StoresEdit;
use tillkeep_storage::db::{self, Turn};
use tillkeep_storage::entity::sync_log;
use tillkeep_storage::sea_orm::sea_query::{Expr, ExprTrait};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use tillkeep_storage::sync_log::{FAILED, PULL, RESOLVED, RETRIED, count_pending, unapplied, warnings};
use tillkeep_storage::{Tx, audit, registry};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::Hq;
use crate::scope::in_scope;

#[derive(Serialize, ToSchema)]
pub(super) struct Resolved {
    id: Uuid,
    /// `resolved`; of an entry that was taken with a warning the one that it has.
    status: String,
}

async fn entry<P: Requirement>(caller: &Caller<P>, id: Uuid) -> Result<sync_log::Model> {
    let found =
        in_scope(caller, sync_log::Entity::find_by_id(id), sync_log::Column::StoreId).one(caller.reader()).await?;
    found.ok_or_else(|| Error::not_found("entry"))
}

pub(super) async fn failed<P: Requirement>(caller: &Caller<P>, id: Uuid) -> Result<sync_log::Model> {
    let row = entry(caller, id).await?;
    if row.status == FAILED { Ok(row) } else { Err(not_failed(&row.status)) }
}

pub(super) fn not_failed(status: &str) -> Error {
    Error::new(ErrorCode::NotFailed, format!("this entry is {status} and needs nothing"))
}

sent! {
    #[derive(Default)]
    pub(super) struct Resolve as "Resolve" by RESOLUTION {
        note: Option<String>,
    }
}

/// `POST /sync/resolve/{id}`: an operator took care of a failed entry, or of the warning of one that was taken; nothing
/// is applied.
pub(super) async fn resolve(
    caller: Caller<StoresEdit>,
    State(hq): State<Arc<Hq>>,
    Id(id): Id,
    OptionalBody(body): OptionalBody<Resolve>,
) -> Result<Answer<Resolved>> {
    body.check_fields(caller.now())?;
    let _turn = hq.settling.lock().await;
    let row = entry(&caller, id).await?;
    if row.status != FAILED {
        return settle_warning(&hq, &caller, row, body.note.as_deref()).await;
    }
    let store_id = row.store_id;
    let settled = Settled { rows: &[row], refused: &[], status: RESOLVED, note: body.note };
    settle(&hq, &caller, store_id, &settled).await?;
    Ok(Answer(Resolved { id, status: RESOLVED.to_owned() }))
}

/// An entry with a warning stays as it was taken; its store has nothing to learn.
async fn settle_warning(
    hq: &Hq,
    caller: &Caller<StoresEdit>,
    row: sync_log::Model,
    note: Option<&str>,
) -> Result<Answer<Resolved>> {
    let act = caller.begin().await?;
    if !warnings::settle(&act, row.id, caller.now()).await? {
        return Err(not_failed(&row.status));
    }
    let entry = audit::Entry {
        entity_type: Some("sync_log"),
        entity_id: Some(row.id.to_string()),
        details: json!({
            "storeId": row.store_id, "entity": format!("{}/{}", row.entity_type, row.entity_id),
            "warning": row.warning, "note": note,
        }),
        ..caller.audit("sync.resolve")
    };
    act.done(entry).await?;
    hq.changed_by_hand(row.store_id);
    Ok(Answer(Resolved { id: row.id, status: row.status }))
}

/// What was done with entries of one store.
pub(super) struct Settled<'a> {
    pub rows: &'a [sync_log::Model],
    /// Tried in vain.
    pub refused: &'a [sync_log::Model],
    pub status: &'static str,
    pub note: Option<String>,
}

/// Marks entries as settled, with one audit row for all of them; their store learns of it in the next handshake and
/// takes them out of its outbox.
pub(super) async fn settle(hq: &Hq, caller: &Caller<StoresEdit>, store_id: Uuid, settled: &Settled<'_>) -> Result<()> {
    let Settled { rows, refused, status, note } = settled;
    let mut act = caller.begin().await?;
    let now = caller.now();
    // Whoever takes one of these just now is done first or waits, at whichever server.
    db::take_turn_of(&*act, Turn::Push, store_id).await?;
    send_back(&mut act, rows).await?;
    if *status == RESOLVED {
        unapplied::leave(&mut act, rows, now).await?;
    }
    let ids = |rows: &[sync_log::Model]| rows.iter().map(|row| row.id).collect::<Vec<_>>();
    // A type is loaded again when an operator tries again what its store could not keep.
    let is_numbered = sync_log::Column::Seq.is_not_null();
    let learns = if *status == RETRIED { is_numbered.or(sync_log::Column::Direction.eq(PULL)) } else { is_numbered };
    #[expect(clippy::disallowed_methods, reason = "the log of entries does not travel")]
    let update = sync_log::Entity::update_many()
        .col_expr(sync_log::Column::Status, Expr::value(*status))
        .col_expr(sync_log::Column::ResolvedBy, Expr::value(caller.user_id))
        .col_expr(sync_log::Column::ResolvedAt, Expr::value(now))
        .col_expr(sync_log::Column::Note, Expr::value(note.as_deref()))
        .col_expr(sync_log::Column::ToAcknowledge, learns)
        .filter(sync_log::Column::Id.is_in(ids(rows)));
    // Another server of headquarters may have been asked before; it has notified the store. What was taken just now is
    // closed by its own success.
    let update = if *status == RESOLVED {
        update.filter(sync_log::Column::Status.eq(FAILED))
    } else {
        update.filter(sync_log::Column::ResolvedBy.is_null())
    };
    if update.exec(&*act).await?.rows_affected == 0 && *status == RESOLVED {
        return Err(not_failed(RESOLVED));
    }
    count_pending(&*act, store_id).await?;
    let all: Vec<&sync_log::Model> = rows.iter().chain(*refused).collect();
    let mut details = json!({"storeId": store_id, "entries": ids(rows), "refused": ids(refused)});
    if let [one] = all.as_slice() {
        details["entity"] = format!("{}/{}", one.entity_type, one.entity_id).trim_end_matches('/').into();
    }
    let entry = audit::Entry {
        entity_type: Some("sync_log"),
        entity_id: if let [one] = all.as_slice() { Some(one.id.to_string()) } else { None },
        details,
        ..caller.audit(if *status == RESOLVED { "sync.resolve" } else { "sync.retry" })
    };
    // Before the rows are announced, or the store would pull them while its dead letter guards its own; and after the
    // commit, since a handshake in between has found nothing to tell.
    let learns = rows.iter().any(|row| row.seq.is_some() || (row.direction == PULL && *status == RETRIED));
    if learns {
        hq.stores_to_notify.insert(store_id);
    }
    act.done(entry).await?;
    if learns {
        hq.stores_to_notify.insert(store_id);
    }
    hq.changed_by_hand(store_id);
    Ok(())
}

/// A refused row that is not tried again must not stay at its store as if HQ had it, and one that was taken at the
/// second try may have been pulled in vain while the entry was still dead: HQ's own row travels again. A type that no
/// store pushes was refused for that alone, and not each of them has rows with versions.
async fn send_back(tx: &mut Tx, rows: &[sync_log::Model]) -> Result<()> {
    for entity in registry::pulled().filter(|entity| entity.is_pushed()) {
        let of_type = rows.iter().filter(|row| row.entity_type == entity.name);
        let ids: Vec<Uuid> = of_type.filter_map(|row| row.entity_id.parse().ok()).collect();
        if !ids.is_empty() {
            tx.restamp(entity, &ids).await?;
        }
    }
    Ok(())
}
