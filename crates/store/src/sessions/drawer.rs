//! The drawer of a register, open or closed.

use tillkeep_http::error::{Error, Result};
use tillkeep_model::ErrorCode;
use tillkeep_model::state::SessionStatus;
use tillkeep_storage::DbErr;
use tillkeep_storage::entity::register_session::{self, Model};
use tillkeep_storage::entity::user;
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder};
use uuid::Uuid;

use crate::act::record_of_row;

/// The session of a register that is not closed yet. Where one came back after another was opened it is the newer one.
pub(crate) async fn open_at(conn: &impl ConnectionTrait, register_id: Uuid) -> Result<Option<Model>, DbErr> {
    use register_session::Column;
    register_session::Entity::find()
        .filter(Column::RegisterId.eq(register_id))
        .filter(Column::Status.ne(SessionStatus::Closed.word()))
        .order_by_desc(Column::OpenedAt)
        .one(conn)
        .await
}

record_of_row!(register_session, "a register session");

/// The session `id` as it is inside a transaction.
pub(super) async fn find(conn: &impl ConnectionTrait, id: Uuid) -> Result<Model> {
    let session = register_session::Entity::find_by_id(id).one(conn).await?;
    session.ok_or_else(|| Error::not_found("register session"))
}

/// 422 at `field` unless the drawer can be that of `user_id`.
pub(super) async fn require_user(conn: &impl ConnectionTrait, user_id: Uuid, field: &str) -> Result<()> {
    let user = user::Entity::find_by_id(user_id).one(conn).await?;
    if user.is_some_and(|user| user.is_active && user.deleted_at.is_none()) {
        return Ok(());
    }
    Err(Error::field(field, "is no active user of this store"))
}

/// 409: the drawer takes nothing more.
pub(super) fn closed() -> Error {
    Error::new(ErrorCode::SessionClosed, "this drawer is closed; open it with POST /registers/{id}/open")
}

/// 409 unless a drawer with this status sells and moves cash: while it is counted it does neither.
pub(super) fn require_open(status: &str) -> Result<()> {
    if status == SessionStatus::Open {
        return Ok(());
    }
    if status != SessionStatus::Counting {
        return Err(closed());
    }
    let text = "this drawer is being counted; close it, or have who counted it go back to selling with reopen: true";
    Err(Error::new(ErrorCode::SessionClosed, text))
}
