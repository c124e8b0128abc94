//! The drawer of a register, open or closed.

use tillkeep_http::error::Error;
use tillkeep_model::ErrorCode;
use tillkeep_model::state::SessionStatus;
use tillkeep_storage::DbErr;
use tillkeep_storage::entity::register_session::{self, Model};
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};
use uuid::Uuid;

use crate::act::record_of_row;

/// The session of a register that is not closed yet.
pub(crate) async fn open_at(conn: &impl ConnectionTrait, register_id: Uuid) -> Result<Option<Model>, DbErr> {
    use register_session::Column;
    register_session::Entity::find()
        .filter(Column::RegisterId.eq(register_id))
        .filter(Column::Status.ne(SessionStatus::Closed.word()))
        .one(conn)
        .await
}

record_of_row!(register_session, "a register session");

/// 409: the drawer takes nothing more.
pub(super) fn closed() -> Error {
    Error::new(ErrorCode::SessionClosed, "this drawer is closed; open it with POST /registers/{id}/open")
}
