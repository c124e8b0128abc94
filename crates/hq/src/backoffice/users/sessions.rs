//! Ending all sessions of a user, at every server of the chain.

use serde_json::Value as Json;
use tillkeep_http::auth::people::person_of;
use tillkeep_http::auth::{Revocation, Sessions};
use tillkeep_http::error::Result;
use tillkeep_http::{Caller, Id, NoContent};
use tillkeep_model::permission::Fresh;
use tillkeep_model::permission::code::UsersEdit;
use tillkeep_storage::entity::user::{Column, Entity};
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{ColumnTrait, QueryFilter};

use super::fields::KIND;
use super::grants;
use crate::backoffice::rows;

/// `DELETE /users/{id}/sessions`: here at once, at a store with the pull of the row.
pub(super) async fn end_all(caller: Caller<Fresh<UsersEdit>>, Id(id): Id) -> Result<NoContent> {
    let person = person_of(&caller, id).await?;
    grants::refuse_impersonation(&caller, &person)?;
    let (now, which) = (caller.now(), Revocation::AllOf(id));
    let mut act = caller.begin().await?;
    act.update::<Entity>(|people| {
        people.col_expr(Column::SessionsValidFrom, Expr::value(now)).filter(Column::Id.eq(id))
    })
    .await?;
    Sessions::revoke(&**act, which, "all sessions were ended", now).await?;
    act.done(rows::entry(&caller, "user.sessions.end", KIND.name(), id, Json::Null)).await?;
    caller.auth().ended(which);
    Ok(NoContent)
}
