//! Setting somebody's PIN. Hashing is slow on purpose and happens outside of the transaction.

use std::sync::Arc;

use axum::extract::State;
use serde::Deserialize;
use tillkeep_http::auth::new_pin::{self, pin_not_allowed};
use tillkeep_http::auth::people::of_caller;
use tillkeep_http::auth::{Revocation, Sessions};
use tillkeep_http::describe;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::pins::{self, Hashed};
use tillkeep_http::{Auth, Body, Caller, Id, NoContent};
use tillkeep_model::ErrorCode;
use tillkeep_model::permission::code::UsersEdit;
use tillkeep_storage::Tx;
use tillkeep_storage::db::{Turn, take_turn};
use tillkeep_storage::entity::user::{Column, Entity, Model};
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, PaginatorTrait, QueryFilter};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{KIND, grants};
use crate::Hq;
use crate::backoffice::rows;

/// Random PINs tried before giving up: one in a hundred is taken in a chain of ten thousand people.
const TRIES: usize = 10;

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewPin {
    #[schema(schema_with = describe::new_pin)]
    pin: String,
    #[serde(default)]
    must_change_pin: bool,
}

/// `POST /users/{id}/pin`: the user's sessions end with the old PIN.
pub async fn set_pin(
    caller: Caller<UsersEdit>,
    State(hq): State<Arc<Hq>>,
    Id(id): Id,
    Body(body): Body<NewPin>,
) -> Result<NoContent> {
    of_caller(&caller, id).await?;
    let unknown = || Error::not_found(KIND.singular);
    let person = hq.auth.access.of(hq.db(), id).await?.ok_or_else(unknown)?;
    grants::refuse_impersonation(&caller, &person)?;
    if id == caller.user_id {
        // A borrowed session must not become somebody's account.
        let text = "your own PIN is changed with POST /api/v1/auth/change-pin, which asks for the present one";
        return Err(Error::new(ErrorCode::SelfDeactivation, text));
    }
    let (attempt, hashed) = new_pin::propose(&caller, &body.pin).await?;
    let now = caller.now();
    let which = Revocation::AllOf(id);
    let mut tx = caller.db().begin().await?;
    let done = new_pin::set_pin(&hq.auth, &mut tx, id, hashed, body.must_change_pin, now).await;
    if let Err(error) = done {
        drop(tx);
        return Err(new_pin::taken(&caller, error).await?);
    }
    attempt.succeeded(&tx, now).await?;
    Sessions::revoke(&*tx, which, "the PIN was changed", now).await?;
    rows::record(&tx, &caller, "user.pin", KIND.name(), id, serde_json::Value::Null).await?;
    hq.commit(tx).await?;
    hq.auth.sessions.ended(which);
    Ok(NoContent)
}

/// A random PIN that nobody has, with its hash.
pub(super) async fn generate(auth: &Auth) -> Result<(String, Hashed)> {
    for _ in 0..TRIES {
        let pin = pins::generate(auth.pin_min_length);
        let hashed = auth.pins.hash(&pin).await?;
        if !is_taken(auth.db.reader(), Uuid::nil(), &hashed.lookup).await? {
            return Ok((pin, hashed));
        }
    }
    Err(pin_not_allowed(auth))
}

async fn is_taken(conn: &impl ConnectionTrait, user_id: Uuid, lookup: &str) -> Result<bool> {
    let others = Entity::find()
        .filter(Column::PinLookup.eq(lookup))
        .filter(Column::Id.ne(user_id))
        .filter(Column::IsActive.eq(true))
        .filter(Column::DeletedAt.is_null());
    Ok(others.count(conn).await? > 0)
}

/// Refuses to activate a user whose PIN somebody else has taken in the meantime: a PIN names one person.
pub(super) async fn refuse_taken(auth: &Auth, tx: &Tx, user: &Model) -> Result<()> {
    take_turn(tx, Turn::Pin).await?;
    match &user.pin_lookup {
        Some(lookup) if is_taken(tx, user.id, lookup).await? => Err(pin_not_allowed(auth)),
        _ => Ok(()),
    }
}
