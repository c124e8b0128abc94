//! Failed entries tried again. Specification, sections 3 and 4.3.
//!
//! One at a time: two people who press at once find out one after the other, and the second one hears that nothing is
//! left to do. What is tried again goes the way of every push, so it has its effect once, whoever else pushes it. A type that a
//! store could not keep is loaded again by that store.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::extract::OptionalBody;
use tillkeep_http::{Answer, Caller, Id, Params};
use tillkeep_model::ErrorCode;
use tillkeep_model::permission::code::StoresEdit;
use tillkeep_model::wire::PushStatus;
use tillkeep_storage::entity::sync_log;
use tillkeep_storage::envelope::{ByHand, Sender};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use tillkeep_storage::sync_log::{FAILED, PULL, RETRIED};
use tillkeep_storage::{idempotency, push};
use utoipa::ToSchema;
use uuid::Uuid;

use super::errors::codes;
use super::push::PendingAnnouncement;
use super::settle::{Settled, failed, settle};
use crate::Hq;
use crate::scope::in_scope;

/// How a second try went.
#[derive(Serialize, ToSchema)]
pub(super) struct Retried {
    id: Uuid,
    status: &'static str,
    error: Option<String>,
}

/// How many second tries went how.
#[derive(Serialize, ToSchema)]
pub(super) struct RetriedAll {
    attempted: usize,
    retried: usize,
    failed: usize,
    /// The `after` of the next batch; null when nothing more is left to try.
    next: Option<Uuid>,
}

/// Why an entry cannot be tried again here.
pub(super) const NOT_KEPT: &str =
    "what was sent is not kept here, as it cannot be taken as it is; its store has it: mend it there and send it again";

/// `POST /sync/retry/{id}`: the stored payload once more.
pub(super) async fn retry(
    caller: Caller<StoresEdit>,
    State(hq): State<Arc<Hq>>,
    Id(id): Id,
) -> Result<Answer<Retried>> {
    let _turn = hq.settling.lock().await;
    let row = failed(&caller, id).await?;
    if row.envelope.is_none() && row.direction != PULL {
        return Err(Error::new(ErrorCode::PayloadNotKept, NOT_KEPT));
    }
    let outcome = idempotency::aside(apply_again(&hq, &caller, vec![row], &ByHand::default())).await?;
    caller.finish().await?;
    let error = outcome.into_iter().next().flatten();
    let status = if error.is_none() { RETRIED } else { FAILED };
    Ok(Answer(Retried { id, status, error }))
}

#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct RetryAll {
    store_id: Option<Uuid>,
    /// Only entries with a higher id: the `next` of the batch before.
    after: Option<Uuid>,
    /// One batch of so many entries at the most, in place of all.
    #[schema(minimum = 1, maximum = 200)]
    limit: Option<u64>,
}

/// Entries tried again in one go, by number and by the bytes of what was sent.
const RETRY_AT_ONCE: u64 = 200;
const BYTES_AT_ONCE: i64 = 4 << 20;

/// As the list of what failed has it, with the filter that one would send along.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = RetryAllQuery)]
pub(super) struct Query {
    /// The same as in the body.
    store_id: Option<Uuid>,
}

/// `POST /sync/retry-all`
pub(super) async fn retry_all(
    caller: Caller<StoresEdit>,
    State(hq): State<Arc<Hq>>,
    Params(query): Params<Query>,
    OptionalBody(body): OptionalBody<RetryAll>,
) -> Result<Answer<RetriedAll>> {
    let select = in_scope(&caller, sync_log::Entity::find(), sync_log::Column::StoreId);
    let mut select = select.filter(sync_log::Column::Status.eq(FAILED));
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
            .expr_as(sync_log::envelope_bytes(), "num_items")
            .filter(sync_log::Column::Id.gt(after))
            .order_by_asc(sync_log::Column::Id)
            // One more than is tried tells whether that is the end.
            .limit(limit + 1)
            .into_tuple()
            .all(caller.reader())
            .await?;
        let ids = fitting(&sizes, limit);
        let Some(last) = ids.last() else { break None };
        after = *last;
        let more = ids.len() < sizes.len();
        let batch = select.clone().filter(sync_log::Column::Id.is_in(ids)).order_by_asc(sync_log::Column::Id);
        let rows = batch.all(caller.reader()).await?;
        attempted += rows.len();
        failed += idempotency::aside(apply_again(&hq, &caller, rows, &ByHand::default()))
            .await?
            .iter()
            .filter(|error| error.is_some())
            .count();
        if !more || body.limit.is_some() {
            break more.then_some(after);
        }
    };
    caller.finish().await?;
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

/// Applies stored envelopes again, store by store, and has types loaded again that could not be kept; for each the error it
/// met, if any.
pub(super) async fn apply_again(
    hq: &Hq,
    caller: &Caller<StoresEdit>,
    rows: Vec<sync_log::Model>,
    by_hand: &ByHand,
) -> Result<Vec<Option<String>>> {
    let codes = codes(caller.reader()).await?;
    let mut by_store: BTreeMap<Uuid, Vec<(usize, sync_log::Model)>> = BTreeMap::new();
    let mut outcomes: Vec<Option<String>> = vec![None; rows.len()];
    for (index, row) in rows.into_iter().enumerate() {
        by_store.entry(row.store_id).or_default().push((index, row));
    }
    for (store_id, rows) in by_store {
        let store_code = codes.get(&store_id).cloned().unwrap_or_default();
        let sender = Sender { by_hand: Some(by_hand.clone()), ..Sender::of_store(store_id, store_code) };
        let (mut envelopes, mut sent) = (Vec::new(), Vec::new());
        let (mut done, mut refused) = (Vec::new(), Vec::new());
        for (index, mut row) in rows {
            if row.direction == PULL {
                // Its store loads the type again.
                done.push(row);
            } else if let Some(envelope) = row.envelope.take() {
                envelopes.push(envelope);
                sent.push((index, row));
            } else {
                outcomes[index] = Some(NOT_KEPT.to_owned());
                refused.push(row);
            }
        }
        let announcement = PendingAnnouncement::new(hq, store_id);
        let borrowed: Vec<&str> = envelopes.iter().map(String::as_str).collect();
        let pushed = Box::pin(push::push(hq.sync_db(), &sender, &borrowed, hq.clock.now())).await;
        // What is taken here settles an entry that guards the row at its store: it learns of that before it pulls.
        hq.stores_to_notify.insert(store_id);
        announcement.make(&pushed);
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
