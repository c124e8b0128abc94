//! Failed entries tried again or settled by hand. Specification, sections 3 and 4.3.
//!
//! One at a time: two people who press at once find out one after the other, and the second one is told that nothing is
//! left to do. What is tried again goes the way of every push, so it has its effect once, whoever else pushes it.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::extract::OptionalBody;
use tillkeep_http::{Answer, Caller, Id, Params};
use tillkeep_model::ErrorCode;
use tillkeep_model::permission::Requirement;
use tillkeep_model::permission::code::StoresEdit;
use tillkeep_model::wire::PushStatus;
use tillkeep_storage::entity::sync_log;
use tillkeep_storage::push::{self, ByHand, Sender};
use tillkeep_storage::sea_orm::sea_query::{Expr, ExprTrait};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use tillkeep_storage::sync_log::{FAILED, RESOLVED, RETRIED, count_pending, warnings};
use tillkeep_storage::{Db, DbErr, Tx, audit, idempotency, nodes, registry, versions};
use utoipa::ToSchema;
use uuid::Uuid;

use super::errors::{codes, within};
use super::push::Unannounced;
use crate::Hq;

/// Stores that have something to learn in a handshake.
#[derive(Default)]
pub struct ToTell(Mutex<HashSet<Uuid>>);

impl ToTell {
    pub async fn load(db: &Db) -> Result<Self, DbErr> {
        let to_tell = Self::default();
        to_tell.everyone(db).await?;
        Ok(to_tell)
    }

    /// Each store shakes hands once: besides what was settled, only a handshake shows that this database lacks what a store
    /// has sent.
    pub async fn everyone(&self, db: &Db) -> Result<(), DbErr> {
        let stores = nodes::stores(db.reader()).await?;
        self.lock().extend(stores);
        Ok(())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashSet<Uuid>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn contains(&self, store: Uuid) -> bool {
        self.lock().contains(&store)
    }

    pub fn insert(&self, store: Uuid) {
        self.lock().insert(store);
    }

    pub fn remove(&self, store: Uuid) {
        self.lock().remove(&store);
    }
}

/// How a second try went.
#[derive(Serialize, ToSchema)]
pub struct Retried {
    id: Uuid,
    status: &'static str,
    error: Option<String>,
}

/// How many second tries went how.
#[derive(Serialize, ToSchema)]
pub struct RetriedAll {
    attempted: usize,
    retried: usize,
    failed: usize,
    /// The `after` of the next batch; null when nothing more is left to try.
    next: Option<Uuid>,
}

#[derive(Serialize, ToSchema)]
pub struct Resolved {
    id: Uuid,
    /// `resolved`; of an entry that was taken with a warning the one that it has.
    status: String,
}

async fn entry<P: Requirement>(caller: &Caller<P>, id: Uuid) -> Result<sync_log::Model> {
    let found = within(sync_log::Entity::find_by_id(id), caller).one(caller.db().reader()).await?;
    found.ok_or_else(|| Error::not_found("entry"))
}

pub(super) async fn failed<P: Requirement>(caller: &Caller<P>, id: Uuid) -> Result<sync_log::Model> {
    let row = entry(caller, id).await?;
    if row.status == FAILED { Ok(row) } else { Err(not_failed(&row.status)) }
}

pub(super) fn not_failed(status: &str) -> Error {
    Error::new(ErrorCode::NotFailed, format!("this entry is {status} and needs nothing"))
}

/// Why an entry cannot be tried again here.
pub(super) const NOT_KEPT: &str =
    "what was sent is not kept here, as it cannot be taken as it is; its store has it: mend it there and send it again";

/// `POST /sync/retry/{id}`: the stored payload once more.
pub async fn retry(caller: Caller<StoresEdit>, State(hq): State<Arc<Hq>>, Id(id): Id) -> Result<Answer<Retried>> {
    let _turn = hq.settling.lock().await;
    let row = failed(&caller, id).await?;
    if row.envelope.is_none() {
        return Err(Error::new(ErrorCode::PayloadNotKept, NOT_KEPT));
    }
    let outcome = idempotency::aside(again(&hq, &caller, vec![row], &ByHand::default())).await?;
    idempotency::done(caller.db()).await?;
    let error = outcome.into_iter().next().flatten();
    let status = if error.is_none() { RETRIED } else { FAILED };
    Ok(Answer(Retried { id, status, error }))
}

#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RetryAll {
    store_id: Option<Uuid>,
    /// Only entries with a higher id: the `next` of the batch before.
    after: Option<Uuid>,
    /// One batch of so many entries at the most, in place of all.
    #[schema(minimum = 1, maximum = 200)]
    limit: Option<u64>,
}

/// Entries tried again in one go, by number and by the bytes of what was sent.
const RETRY_AT_ONCE: u64 = 200;
const BYTES_AT_ONCE: i64 = 16 << 20;

/// As the list of what failed has it, whose filter one would send along.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = RetryAllQuery)]
pub struct Query {
    /// The same as in the body.
    store_id: Option<Uuid>,
}

/// `POST /sync/retry-all`
pub async fn retry_all(
    caller: Caller<StoresEdit>,
    State(hq): State<Arc<Hq>>,
    Params(query): Params<Query>,
    OptionalBody(body): OptionalBody<RetryAll>,
) -> Result<Answer<RetriedAll>> {
    let mut select = within(sync_log::Entity::find(), &caller).filter(sync_log::Column::Status.eq(FAILED));
    if body.store_id.is_some_and(|id| query.store_id.is_some_and(|other| other != id)) {
        return Err(Error::field("storeId", "is one store in the query and another one in the body; send it once"));
    }
    if let Some(store_id) = body.store_id.or(query.store_id) {
        caller.at_store(store_id)?;
        select = select.filter(sync_log::Column::StoreId.eq(store_id));
    }
    if body.limit.is_some_and(|limit| !(1..=RETRY_AT_ONCE).contains(&limit)) {
        return Err(Error::field("limit", format!("must be from 1 to {RETRY_AT_ONCE}")));
    }
    let limit = body.limit.unwrap_or(RETRY_AT_ONCE);
    // Ids rise with time; each entry is tried once, however many of them fail again.
    let (mut attempted, mut failed, mut after) = (0, 0, body.after.unwrap_or_default());
    let next = loop {
        // Between two batches others get their turn.
        let _turn = hq.settling.lock().await;
        let sizes: Vec<(Uuid, i64)> = select
            .clone()
            .select_only()
            .column(sync_log::Column::Id)
            .expr_as(Expr::cust("CAST(OCTET_LENGTH(COALESCE(envelope, '')) AS BIGINT)"), "num_items")
            .filter(sync_log::Column::Id.gt(after))
            .order_by_asc(sync_log::Column::Id)
            // One more than is tried tells whether that is the end.
            .limit(limit + 1)
            .into_tuple()
            .all(caller.db().reader())
            .await?;
        let ids = fitting(&sizes, limit);
        let Some(last) = ids.last() else { break None };
        after = *last;
        let more = ids.len() < sizes.len();
        let batch = select.clone().filter(sync_log::Column::Id.is_in(ids)).order_by_asc(sync_log::Column::Id);
        let rows = batch.all(caller.db().reader()).await?;
        attempted += rows.len();
        failed += idempotency::aside(again(&hq, &caller, rows, &ByHand::default()))
            .await?
            .iter()
            .filter(|error| error.is_some())
            .count();
        if !more || body.limit.is_some() {
            break more.then_some(after);
        }
    };
    idempotency::done(caller.db()).await?;
    Ok(Answer(RetriedAll { attempted, retried: attempted - failed, failed, next }))
}

/// As many of the first entries as may be in memory together, and at least one.
fn fitting(sizes: &[(Uuid, i64)], limit: u64) -> Vec<Uuid> {
    let mut bytes = 0;
    let fits = |(_, size): &&(Uuid, i64)| {
        let first = bytes == 0;
        bytes += size + 1;
        first || bytes <= BYTES_AT_ONCE
    };
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    sizes.iter().take(most).take_while(fits).map(|(id, _)| *id).collect()
}

/// Applies stored envelopes again, store by store; for each the error it met, if any.
pub(super) async fn again(
    hq: &Hq,
    caller: &Caller<StoresEdit>,
    rows: Vec<sync_log::Model>,
    by_hand: &ByHand,
) -> Result<Vec<Option<String>>> {
    let codes = codes(caller.db()).await?;
    let mut by_store: BTreeMap<Uuid, Vec<(usize, sync_log::Model)>> = BTreeMap::new();
    let mut outcomes: Vec<Option<String>> = vec![None; rows.len()];
    for (index, row) in rows.into_iter().enumerate() {
        by_store.entry(row.store_id).or_default().push((index, row));
    }
    for (store_id, rows) in by_store {
        let store_code = codes.get(&store_id).cloned().unwrap_or_default();
        let sender = Sender { store_id, store_code, by_hand: Some(by_hand.clone()) };
        let (mut envelopes, mut sent) = (Vec::new(), Vec::new());
        let (mut done, mut refused) = (Vec::new(), Vec::new());
        for (index, mut row) in rows {
            if let Some(envelope) = row.envelope.take() {
                envelopes.push(envelope);
                sent.push((index, row));
            } else {
                outcomes[index] = Some(NOT_KEPT.to_owned());
                refused.push(row);
            }
        }
        let unannounced = Unannounced::of(hq, store_id);
        let borrowed: Vec<&str> = envelopes.iter().map(String::as_str).collect();
        let pushed = Box::pin(push::push(hq.sync_db(), &sender, &borrowed, hq.clock.now())).await;
        // What is taken here settles an entry that guards the row at its store: it learns of that before it pulls.
        hq.to_tell.insert(store_id);
        unannounced.announce(&pushed);
        let pushed = pushed.map_err(|interrupted| interrupted.error)?;
        for ((index, row), result) in sent.into_iter().zip(&pushed.results) {
            if result.status == PushStatus::Ok {
                done.push(row);
            } else {
                outcomes[index] = Some(result.error.clone().unwrap_or_default());
                refused.push(row);
            }
        }
        settle(hq, caller, store_id, &Settled { rows: &done, refused: &refused, status: RETRIED, note: None }).await?;
    }
    Ok(outcomes)
}

#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Resolve {
    #[schema(max_length = 1000)]
    note: Option<String>,
}

/// `POST /sync/resolve/{id}`: somebody took care of a failed entry, or of the warning of one that was taken; nothing is applied.
pub async fn resolve(
    caller: Caller<StoresEdit>,
    State(hq): State<Arc<Hq>>,
    Id(id): Id,
    OptionalBody(body): OptionalBody<Resolve>,
) -> Result<Answer<Resolved>> {
    if body.note.as_ref().is_some_and(|note| note.chars().count() > 1000 || note.contains('\0')) {
        return Err(Error::field("note", "must have at most 1000 characters"));
    }
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
    let tx = hq.sync_db().begin().await?;
    if !warnings::settle(&tx, row.id, caller.now()).await? {
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
    audit::record(&tx, entry, caller.now()).await?;
    hq.commit(tx).await?;
    hq.board.mark([row.store_id]);
    Ok(Answer(Resolved { id: row.id, status: row.status }))
}

/// What was done with entries of one store.
struct Settled<'a> {
    rows: &'a [sync_log::Model],
    /// Tried in vain.
    refused: &'a [sync_log::Model],
    status: &'static str,
    note: Option<String>,
}

/// Marks entries as settled, with one audit row for all of them; their store learns of it in the next handshake and
/// takes them out of its outbox.
async fn settle(hq: &Hq, caller: &Caller<StoresEdit>, store_id: Uuid, settled: &Settled<'_>) -> Result<()> {
    let Settled { rows, refused, status, note } = settled;
    let mut tx = hq.sync_db().begin().await?;
    let now = caller.now();
    send_back(&mut tx, rows).await?;
    let ids = |rows: &[sync_log::Model]| rows.iter().map(|row| row.id).collect::<Vec<_>>();
    let update = sync_log::Entity::update_many()
        .col_expr(sync_log::Column::Status, Expr::value(*status))
        .col_expr(sync_log::Column::ResolvedBy, Expr::value(caller.user_id))
        .col_expr(sync_log::Column::ResolvedAt, Expr::value(now))
        .col_expr(sync_log::Column::Note, Expr::value(note.as_deref()))
        .col_expr(sync_log::Column::ToAcknowledge, Expr::col(sync_log::Column::Seq).is_not_null())
        .filter(sync_log::Column::Id.is_in(ids(rows)));
    // Somebody at another server of headquarters may have been here; the store was told by them. What was taken just now is
    // closed by its own success.
    let update = if *status == RESOLVED {
        update.filter(sync_log::Column::Status.eq(FAILED))
    } else {
        update.filter(sync_log::Column::ResolvedBy.is_null())
    };
    if update.exec(&tx).await?.rows_affected == 0 && *status == RESOLVED {
        return Err(not_failed(RESOLVED));
    }
    count_pending(&tx, store_id).await?;
    let all: Vec<&sync_log::Model> = rows.iter().chain(*refused).collect();
    let mut details = json!({"storeId": store_id, "entries": ids(rows), "refused": ids(refused)});
    if let [one] = all.as_slice() {
        details["entity"] = format!("{}/{}", one.entity_type, one.entity_id).into();
    }
    let entry = audit::Entry {
        entity_type: Some("sync_log"),
        entity_id: if let [one] = all.as_slice() { Some(one.id.to_string()) } else { None },
        details,
        ..caller.audit(if *status == RESOLVED { "sync.resolve" } else { "sync.retry" })
    };
    audit::record(&tx, entry, now).await?;
    // Before the rows are announced, or the store would pull them while its dead letter guards its own; and after the
    // commit, since a handshake in between has found nothing to tell.
    let learns = rows.iter().any(|row| row.seq.is_some());
    if learns {
        hq.to_tell.insert(store_id);
    }
    hq.commit(tx).await?;
    if learns {
        hq.to_tell.insert(store_id);
    }
    hq.board.mark([store_id]);
    Ok(())
}

/// A refused row that nobody will try again must not stay at its store as if HQ had it, and one that was taken at the
/// second try may have been pulled in vain while the entry was still dead: HQ's own row travels anew. A type that no
/// store pushes was refused for that alone, and not each of them has rows with versions.
async fn send_back(tx: &mut Tx, rows: &[sync_log::Model]) -> Result<()> {
    for entity in registry::pulled().filter(|entity| entity.is_pushed()) {
        let of_type = rows.iter().filter(|row| row.entity_type == entity.name);
        let ids: Vec<Uuid> = of_type.filter_map(|row| row.entity_id.parse().ok()).collect();
        if !ids.is_empty() {
            versions::unstamp(tx, entity, &ids).await?;
        }
    }
    Ok(())
}
