//! `POST /sync/errors/{id}/renumber`: a customer that headquarters refused because another one has its number gets another
//! number, and is tried again. Their store has it with the next pull.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::extract::OptionalBody;
use tillkeep_http::{Answer, Caller, Id};
use tillkeep_model::ErrorCode;
use tillkeep_model::permission::code::StoresEdit;
use tillkeep_storage::entity::{customer, store, sync_log};
use tillkeep_storage::envelope::{ByHand, Sender};
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityName, EntityTrait, PaginatorTrait, QueryFilter};
use tillkeep_storage::sync_log::{FAILED, RETRIED};
use tillkeep_storage::{audit, idempotency, push};
use utoipa::ToSchema;
use uuid::Uuid;

use super::collisions;
use super::retry::{NOT_KEPT, apply_again};
use super::settle::{failed, not_failed};
use crate::Hq;
use crate::customer_numbers::{HQ, next_number};

/// Letters of a number.
const LONGEST: usize = 50;

#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct Renumber {
    /// Without one it gets the next number of headquarters.
    #[schema(min_length = 1, max_length = 50)]
    number: Option<String>,
}

/// How the try with another number went.
#[derive(Serialize, ToSchema)]
pub(super) struct Renumbered {
    id: Uuid,
    status: &'static str,
    error: Option<String>,
    number: String,
}

pub(super) async fn renumber(
    caller: Caller<StoresEdit>,
    State(hq): State<Arc<Hq>>,
    Id(id): Id,
    OptionalBody(body): OptionalBody<Renumber>,
) -> Result<Answer<Renumbered>> {
    let _turn = hq.settling.lock().await;
    let mut row = failed(&caller, id).await?;
    let taken = collided(&caller, &row).await?;
    let number = give(&caller, &mut row, &taken, body.number).await?;
    let entity_id: Uuid = row.entity_id.parse().unwrap_or_default();
    let by_hand = ByHand { number: Some(number.clone()) };
    let outcome = idempotency::aside(apply_again(&hq, &caller, vec![row], &by_hand)).await?;
    caller.finish().await?;
    let error = outcome.into_iter().next().flatten();
    if error.is_some() {
        return Ok(Answer(Renumbered { id, status: FAILED, error, number }));
    }
    let has = customer::Entity::find_by_id(entity_id).one(hq.sync_db().reader()).await?;
    if has.is_some_and(|customer| customer.customer_number != number) {
        // Another server of headquarters was quicker, with another number.
        return Err(not_failed(RETRIED));
    }
    Ok(Answer(Renumbered { id, status: RETRIED, error, number }))
}

/// The number of a refused customer that another one has.
async fn collided(caller: &Caller<StoresEdit>, row: &sync_log::Model) -> Result<String> {
    let no = |text: &str| Err(Error::new(ErrorCode::NotANumber, text));
    if row.entity_type != customer::Entity.table_name() {
        return no("only a customer can get another number here");
    }
    if row.envelope.is_none() {
        return Err(Error::new(ErrorCode::PayloadNotKept, NOT_KEPT));
    }
    let taken = collisions::find(caller.reader(), std::slice::from_ref(row)).await?;
    match collisions::number_of(row).filter(|_| !taken.is_empty()) {
        Some((_, number)) => Ok(number),
        None => no("no other customer has the number of this one; its error names another reason"),
    }
}

/// Writes another number into the kept envelope of an entry, unless it was settled meanwhile.
async fn give(
    caller: &Caller<StoresEdit>,
    row: &mut sync_log::Model,
    taken: &str,
    wanted: Option<String>,
) -> Result<String> {
    let act = caller.begin_aside().await?;
    let number = match wanted {
        Some(number) => {
            refuse_unfit(&*act, row.store_id, &number).await?;
            number
        }
        None => next_number(&act).await?,
    };
    let sender = Sender::of_store(row.store_id, String::new());
    let envelope = row.envelope.as_deref().and_then(|text| numbered(text, &number));
    let hash = envelope.as_deref().and_then(|envelope| push::hash_of(envelope, &sender));
    let (Some(envelope), Some(hash)) = (envelope, hash) else {
        return Err(Error::new(ErrorCode::NotANumber, "what was sent of this customer cannot be read"));
    };
    #[expect(clippy::disallowed_methods, reason = "the log of entries does not travel")]
    let written = sync_log::Entity::update_many()
        .col_expr(sync_log::Column::Envelope, Expr::value(envelope.as_str()))
        .col_expr(sync_log::Column::Hash, Expr::value(hash.as_str()))
        .filter(sync_log::Column::Id.eq(row.id))
        .filter(sync_log::Column::Status.eq(FAILED))
        .exec(&*act)
        .await?;
    if written.rows_affected == 0 {
        return Err(not_failed(RETRIED));
    }
    let entry = audit::Entry {
        entity_type: Some("sync_log"),
        entity_id: Some(row.id.to_string()),
        details: json!({
            "storeId": row.store_id, "entity": format!("{}/{}", row.entity_type, row.entity_id),
            "from": {"customerNumber": taken}, "to": {"customerNumber": number},
        }),
        ..caller.audit("sync.renumber")
    };
    act.done(entry).await?;
    (row.envelope, row.hash) = (Some(envelope), hash);
    Ok(number)
}

/// The envelope with this number, in the spelling that it has.
fn numbered(envelope: &str, number: &str) -> Option<String> {
    let mut envelope: Json = serde_json::from_str(envelope).ok()?;
    let data = envelope.get_mut("data")?.as_object_mut()?;
    let key = if data.contains_key("customer_number") { "customer_number" } else { "customerNumber" };
    data.insert(key.to_owned(), number.into());
    Some(envelope.to_string())
}

/// Refuses a number that is none, or that is another store's to give, or that a customer has.
async fn refuse_unfit(conn: &impl ConnectionTrait, store_id: Uuid, number: &str) -> Result<()> {
    if number.trim() != number || number.is_empty() || number.chars().count() > LONGEST || number.contains('\0') {
        return Err(Error::field("number", format!("must have 1 to {LONGEST} characters, no space around them")));
    }
    let code = number.split_once('-').map_or("", |(code, _)| code);
    let others = store::Entity::find().filter(store::Column::Code.eq(code)).filter(store::Column::Id.ne(store_id));
    if code == HQ || others.count(conn).await? > 0 {
        let text = "begins with the code of another store, or as headquarters' own; leave it out for the next of those";
        return Err(Error::field("number", text));
    }
    let having = customer::Entity::find()
        .filter(customer::Column::CustomerNumber.eq(number))
        .filter(customer::Column::DeletedAt.is_null());
    if having.count(conn).await? > 0 {
        return Err(Error::new(ErrorCode::Duplicate, "another customer has this number").at("number"));
    }
    Ok(())
}
