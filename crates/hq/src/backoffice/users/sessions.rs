//! Ending all sessions of somebody, at every server of the chain.

use std::sync::Arc;

use axum::extract::State;
use serde_json::Value as Json;
use tillkeep_http::auth::people::person_of;
use tillkeep_http::auth::{Revocation, Sessions};
use tillkeep_http::error::Result;
use tillkeep_http::{Caller, Id, NoContent};
use tillkeep_model::permission::code::UsersEdit;
use tillkeep_storage::entity::user::{Column, Entity};
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use tillkeep_storage::versions;

use super::{KIND, grants};
use crate::Hq;
use crate::backoffice::rows;

/// `DELETE /users/{id}/sessions`: here at once, at a store with the pull of the row.
pub async fn end_all(caller: Caller<UsersEdit>, State(hq): State<Arc<Hq>>, Id(id): Id) -> Result<NoContent> {
    let person = person_of(&caller, id).await?;
    grants::refuse_impersonation(&caller, &person)?;
    let (now, which) = (caller.now(), Revocation::AllOf(id));
    let mut tx = caller.db().begin().await?;
    Entity::update_many()
        .col_expr(Column::SessionsValidFrom, Expr::value(now))
        .col_expr(Column::SyncVersion, Expr::value(versions::UNSTAMPED))
        .filter(Column::Id.eq(id))
        .exec(&tx)
        .await?;
    tx.touch(KIND.name());
    Sessions::revoke(&*tx, which, "all sessions were ended", now).await?;
    rows::record(&tx, &caller, "user.sessions.end", KIND.name(), id, Json::Null).await?;
    hq.commit(tx).await?;
    hq.auth.ended(which);
    Ok(NoContent)
}
