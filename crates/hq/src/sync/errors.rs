//! Failed entries: shown, tried again, resolved. Specification, sections 3 and 4.3.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;
use tillkeep_http::describe::{Listing, Lists};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::extract::OptionalBody;
use tillkeep_http::resource::{self, ListSpec};
use tillkeep_http::{Answer, Caller, Id, List};
use tillkeep_model::permission::Requirement;
use tillkeep_model::permission::code::{StoresEdit, StoresView};
use tillkeep_model::wire::PushStatus;
use tillkeep_model::{ErrorCode, Instant};
use tillkeep_storage::entity::{store, sync_log};
use tillkeep_storage::push::{self, Sender};
use tillkeep_storage::sea_orm::sea_query::{Expr, ExprTrait};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Select};
use tillkeep_storage::sync_log::{FAILED, RESOLVED, RETRIED, count_pending};
use tillkeep_storage::{Db, DbErr, Tx, audit, nodes, registry, versions};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::Hq;

/// Stores that have something to learn in a handshake.
#[derive(Default)]
pub struct ToTell(Mutex<HashSet<Uuid>>);

impl ToTell {
    pub async fn load(db: &Db) -> Result<Self, DbErr> {
        Ok(Self(Mutex::new(nodes::stores_to_tell(db.reader()).await?.into_iter().collect())))
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

const LIST: ListSpec = ListSpec {
    search: &["error", "entity_id"],
    filters: &["storeId", "entityType", "status"],
    sort: &["-last_seen_at", "last_seen_at", "first_seen_at"],
};

/// A failed entry as the dashboard shows it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailedEntry {
    id: Uuid,
    store_id: Uuid,
    store_code: String,
    entity_type: String,
    entity_id: String,
    action: String,
    status: String,
    error: Option<String>,
    code: Option<String>,
    retry_count: i32,
    first_seen_at: Instant,
    last_seen_at: Instant,
    note: Option<String>,
    #[schema(value_type = Option<serde_json::Value>)]
    envelope: Option<Box<RawValue>>,
}

/// The list of entries.
pub struct Entries;

impl Listing for Entries {
    type Row = sync_log::Entity;
    const SPEC: ListSpec = LIST;
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
}

#[derive(Serialize, ToSchema)]
pub struct Resolved {
    id: Uuid,
    status: &'static str,
}

/// `GET /sync/errors`: the failed entries, or those of another `status`.
pub async fn list(caller: Caller<StoresView>, Lists { query, .. }: Lists<Entries>) -> Result<List<FailedEntry>> {
    let mut base = within(sync_log::Entity::find(), &caller);
    if !query.contains_key("status") {
        base = base.filter(sync_log::Column::Status.eq(FAILED));
    }
    if let Some(store_id) = query.get("storeId").and_then(|id| id.parse().ok()) {
        caller.at_store(store_id)?;
    }
    let page: List<sync_log::Model> = resource::list(caller.db().reader(), &LIST, &query, base).await?;
    let codes = codes(caller.db()).await?;
    let shown = |row: sync_log::Model| FailedEntry {
        store_code: codes.get(&row.store_id).cloned().unwrap_or_default(),
        id: row.id,
        store_id: row.store_id,
        entity_type: row.entity_type,
        entity_id: row.entity_id,
        action: row.action,
        status: row.status,
        error: row.error,
        code: row.code,
        retry_count: row.retry_count,
        first_seen_at: row.first_seen_at,
        last_seen_at: row.last_seen_at,
        note: row.note,
        envelope: row.envelope.and_then(|text| RawValue::from_string(text).ok()),
    };
    Ok(List { rows: page.rows.into_iter().map(shown).collect(), total: page.total, paging: page.paging })
}

/// The entries of the stores where the caller holds the permission of the route.
fn within<P: Requirement>(select: Select<sync_log::Entity>, caller: &Caller<P>) -> Select<sync_log::Entity> {
    match caller.stores() {
        None => select,
        Some(stores) => select.filter(sync_log::Column::StoreId.is_in(stores)),
    }
}

async fn codes(db: &Db) -> Result<HashMap<Uuid, String>> {
    let rows: Vec<(Uuid, String)> = store::Entity::find()
        .select_only()
        .columns([store::Column::Id, store::Column::Code])
        .into_tuple()
        .all(db.reader())
        .await?;
    Ok(rows.into_iter().collect())
}

async fn failed<P: Requirement>(caller: &Caller<P>, id: Uuid) -> Result<sync_log::Model> {
    let found = within(sync_log::Entity::find_by_id(id), caller).one(caller.db().reader()).await?;
    let row = found.ok_or_else(|| Error::not_found("entry"))?;
    if row.status != FAILED {
        return Err(Error::new(ErrorCode::NotFailed, format!("this entry is {} and needs nothing", row.status)));
    }
    Ok(row)
}

/// `POST /sync/retry/{id}`: the stored payload once more.
pub async fn retry(caller: Caller<StoresEdit>, State(hq): State<Arc<Hq>>, Id(id): Id) -> Result<Answer<Retried>> {
    let row = failed(&caller, id).await?;
    let outcome = again(&hq, &caller, vec![row]).await?;
    let error = outcome.into_iter().next().flatten();
    let status = if error.is_none() { RETRIED } else { FAILED };
    Ok(Answer(Retried { id, status, error }))
}

#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RetryAll {
    store_id: Option<Uuid>,
}

/// Entries tried again in one go.
const RETRY_AT_ONCE: u64 = 1000;

/// `POST /sync/retry-all`
pub async fn retry_all(
    caller: Caller<StoresEdit>,
    State(hq): State<Arc<Hq>>,
    OptionalBody(body): OptionalBody<RetryAll>,
) -> Result<Answer<RetriedAll>> {
    let mut select = within(sync_log::Entity::find(), &caller).filter(sync_log::Column::Status.eq(FAILED));
    if let Some(store_id) = body.store_id {
        caller.at_store(store_id)?;
        select = select.filter(sync_log::Column::StoreId.eq(store_id));
    }
    // Ids rise with time; each entry is tried once, however many of them fail again.
    let (mut attempted, mut failed, mut after) = (0, 0, Uuid::nil());
    loop {
        let batch = select.clone().filter(sync_log::Column::Id.gt(after)).order_by_asc(sync_log::Column::Id);
        let rows = batch.limit(RETRY_AT_ONCE).all(caller.db().reader()).await?;
        let Some(last) = rows.last() else { break };
        after = last.id;
        attempted += rows.len();
        failed += again(&hq, &caller, rows).await?.iter().filter(|error| error.is_some()).count();
    }
    Ok(Answer(RetriedAll { attempted, retried: attempted - failed, failed }))
}

/// Applies stored envelopes again, store by store; for each the error it met, if any.
async fn again(hq: &Hq, caller: &Caller<StoresEdit>, rows: Vec<sync_log::Model>) -> Result<Vec<Option<String>>> {
    let codes = codes(caller.db()).await?;
    let mut by_store: BTreeMap<Uuid, Vec<(usize, sync_log::Model)>> = BTreeMap::new();
    let mut outcomes: Vec<Option<String>> = vec![None; rows.len()];
    for (index, row) in rows.into_iter().enumerate() {
        by_store.entry(row.store_id).or_default().push((index, row));
    }
    for (store_id, rows) in by_store {
        let sender = Sender { store_id, store_code: codes.get(&store_id).cloned().unwrap_or_default() };
        let mut envelopes = Vec::new();
        let mut sent = Vec::new();
        for (index, row) in rows {
            match row.envelope.clone().map(RawValue::from_string) {
                Some(Ok(envelope)) => {
                    envelopes.push(envelope);
                    sent.push((index, row));
                }
                _ => outcomes[index] = Some("the payload of this entry is not kept".to_owned()),
            }
        }
        let now = hq.clock.now();
        let pushed = push::push(caller.db(), &sender, &envelopes, now).await;
        hq.announce(match &pushed {
            Ok(pushed) => &pushed.changes,
            Err(interrupted) => &interrupted.changes,
        });
        let pushed = pushed.map_err(|interrupted| interrupted.error)?;
        let mut done = Vec::new();
        for ((index, row), result) in sent.into_iter().zip(&pushed.results) {
            if result.status == PushStatus::Ok {
                done.push(row);
            } else {
                outcomes[index] = Some(result.error.clone().unwrap_or_default());
            }
        }
        settle(hq, caller, store_id, &done, RETRIED, None, "sync.retry").await?;
    }
    Ok(outcomes)
}

#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Resolve {
    #[schema(max_length = 1000)]
    note: Option<String>,
}

/// `POST /sync/resolve/{id}`: somebody took care of it; nothing is applied.
pub async fn resolve(
    caller: Caller<StoresEdit>,
    State(hq): State<Arc<Hq>>,
    Id(id): Id,
    OptionalBody(body): OptionalBody<Resolve>,
) -> Result<Answer<Resolved>> {
    if body.note.as_ref().is_some_and(|note| note.chars().count() > 1000 || note.contains('\0')) {
        return Err(Error::field("note", "must have at most 1000 characters"));
    }
    let row = failed(&caller, id).await?;
    settle(&hq, &caller, row.store_id, &[row], RESOLVED, body.note, "sync.resolve").await?;
    Ok(Answer(Resolved { id, status: RESOLVED }))
}

/// Marks entries as settled; their store learns of it in the next handshake and takes them out of its outbox.
async fn settle(
    hq: &Hq,
    caller: &Caller<StoresEdit>,
    store_id: Uuid,
    rows: &[sync_log::Model],
    status: &'static str,
    note: Option<String>,
    action: &'static str,
) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut tx = caller.db().begin().await?;
    let now = caller.now();
    if status == RESOLVED {
        send_back(&mut tx, rows).await?;
    }
    sync_log::Entity::update_many()
        .col_expr(sync_log::Column::Status, Expr::value(status))
        .col_expr(sync_log::Column::ResolvedBy, Expr::value(caller.user_id))
        .col_expr(sync_log::Column::ResolvedAt, Expr::value(now))
        .col_expr(sync_log::Column::Note, Expr::value(note))
        .col_expr(sync_log::Column::ToAcknowledge, Expr::col(sync_log::Column::Seq).is_not_null())
        .filter(sync_log::Column::Id.is_in(rows.iter().map(|row| row.id)))
        .exec(&tx)
        .await?;
    count_pending(&tx, store_id).await?;
    let entities: Vec<_> = rows.iter().map(|row| format!("{}/{}", row.entity_type, row.entity_id)).collect();
    let entry = audit::Entry {
        entity_type: Some("sync_log"),
        entity_id: (rows.len() == 1).then(|| rows[0].id.to_string()),
        details: json!({"storeId": store_id, "entities": entities}),
        ..caller.audit(action)
    };
    audit::record(&tx, entry, now).await?;
    hq.commit(tx).await?;
    if rows.iter().any(|row| row.seq.is_some()) {
        hq.to_tell.insert(store_id);
    }
    Ok(())
}

/// A refused row that nobody will try again must not stay at its store as if HQ had it: HQ's own row travels anew.
async fn send_back(tx: &mut Tx, rows: &[sync_log::Model]) -> Result<()> {
    for entity in registry::pulled() {
        let of_type = rows.iter().filter(|row| row.entity_type == entity.name);
        let ids: Vec<Uuid> = of_type.filter_map(|row| row.entity_id.parse().ok()).collect();
        if !ids.is_empty() {
            versions::unstamp(tx, entity, &ids).await?;
        }
    }
    Ok(())
}
