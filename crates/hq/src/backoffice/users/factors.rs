//! The second factors of another user, for whoever has lost theirs.

use serde_json::{Value as Json, json};
use tillkeep_http::auth::people::person_of;
use tillkeep_http::auth::{Revocation, Sessions, found};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::{Caller, Id, NoContent};
use tillkeep_model::permission::Fresh;
use tillkeep_model::permission::code::UsersEdit;
use tillkeep_model::{ErrorCode, Instant};
use tillkeep_storage::db::{Turn, take_turn};
use tillkeep_storage::entity::user::{Column, Entity};
use tillkeep_storage::sea_orm::{ColumnTrait, QueryFilter};
use tillkeep_storage::{DbErr, Tx, factors};
use uuid::Uuid;

use super::fields::KIND;
use super::grants;
use crate::backoffice::rows;

/// `DELETE /users/{id}/factors`: their sessions end, and the next sign-in asks for the PIN alone, or for a new one where another one
/// knows it.
pub(super) async fn reset(caller: Caller<Fresh<UsersEdit>>, Id(id): Id) -> Result<NoContent> {
    let person = person_of(&caller, id).await?;
    grants::refuse_impersonation(&caller, &person)?;
    if id == caller.user_id {
        let text = "your own second factors are removed with DELETE /api/v1/auth/factors/{id}";
        return Err(Error::new(ErrorCode::SelfDeactivation, text));
    }
    let mut act = caller.begin().await?;
    let removed = remove_all(&mut act, id, caller.now()).await?;
    act.done(rows::entry(&caller, "factor.reset", KIND.name(), id, removed.details())).await?;
    caller.auth().ended(Revocation::AllOf(id));
    Ok(NoContent)
}

/// What was taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removed {
    pub factors: u64,
    /// Whether the PIN ended too, since another one knows it.
    pub pin: bool,
}

impl Removed {
    /// As the audit log has it.
    pub(super) fn details(self) -> Json {
        json!({"factors": self.factors, "pinEnded": self.pin})
    }
}

/// Removes all factors of a user and ends their sessions. Every server hears of it by their row.
pub(super) async fn remove_all(tx: &mut Tx, id: Uuid, now: Instant) -> Result<Removed, DbErr> {
    take_turn(&*tx, Turn::Pin).await?;
    tx.update::<Entity>(|people| people.filter(Column::Id.eq(id))).await?;
    let factors = factors::forget(tx, id).await?;
    let pin = found::end_known(tx, id, now).await?;
    Sessions::revoke(&**tx, Revocation::AllOf(id), "the second factors were removed", now).await?;
    Ok(Removed { factors, pin })
}
