//! Drawers from their opening to their close.

pub mod close;
pub mod counts;
pub mod open;
pub mod read;
pub mod selling;
pub mod totals;
mod view;

use crate::routes::Routes;
pub use tillkeep_http::documents::drawers::{MAY_CLOSE, shown};
use tillkeep_http::error::Error;
use tillkeep_model::ErrorCode;
use tillkeep_storage::entity::register_session::{self, Model};
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};
use tillkeep_storage::{DbErr, outbox};
use uuid::Uuid;
pub use view::knows;

/// The session of a register that is not closed yet.
pub async fn open_at(conn: &impl ConnectionTrait, register_id: Uuid) -> Result<Option<Model>, DbErr> {
    use register_session::Column;
    register_session::Entity::find()
        .filter(Column::RegisterId.eq(register_id))
        .filter(Column::Status.ne("closed"))
        .one(conn)
        .await
}

/// The session as it is now, for the outbox.
const fn entry<'a>(session: &'a Model, action: &'a str) -> outbox::Entry<'a, Model> {
    outbox::Entry {
        entity_type: "register_sessions",
        entity_id: session.id,
        action,
        data: session,
        created_at: session.created_at,
        depends_on: None,
    }
}

fn closed() -> Error {
    Error::new(ErrorCode::SessionClosed, "this drawer is closed; open it with POST /registers/{id}/open")
}

/// The routes of drawers.
pub fn routes(routes: Routes) -> Routes {
    use ErrorCode::{
        ApprovalRequired, Conflict, DocumentTooLarge, FloatNotDefault, NoOpenSession, SessionAlreadyOpen,
        SessionClosed, StoreNotReady, VarianceNotAccepted, WrongTerminal,
    };
    routes
        .post("/registers/{id}/open", open::open)
        .about("Open the drawer of a register.")
        .fails(&[
            SessionAlreadyOpen,
            FloatNotDefault,
            ApprovalRequired,
            Conflict,
            DocumentTooLarge,
            StoreNotReady,
            WrongTerminal,
        ])
        .get("/register-sessions", read::list)
        .about("List drawers, open and closed.")
        .get("/register-sessions/current", read::current)
        .about("The open drawer of a terminal.")
        .fails(&[NoOpenSession])
        .get("/register-sessions/{id}", read::get)
        .about("One drawer.")
        .post("/register-sessions/{id}/close", close::close)
        .about("Close a drawer: its figures are taken and end its selling.")
        .fails(&[SessionClosed, VarianceNotAccepted, ApprovalRequired, DocumentTooLarge, StoreNotReady, WrongTerminal])
}
