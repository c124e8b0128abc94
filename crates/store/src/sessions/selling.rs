//! Whether a terminal may sell now.

use tillkeep_http::error::{Error, Result};
use tillkeep_model::state::SessionStatus;
use tillkeep_model::{ErrorCode, Instant};
use tillkeep_storage::entity::register_session;
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect};
use uuid::Uuid;

use super::drawer;
use crate::memory::Shop;

/// The open drawer of `terminal`.
pub(crate) fn session<'a>(shop: &'a Shop, terminal: Option<&str>, now: Instant) -> Result<&'a register_session::Model> {
    let store = shop.own()?;
    let terminal = terminal.ok_or_else(|| Error::field("terminalId", "is required: which till sells?"))?;
    let refused = |text| Error::new(ErrorCode::SessionClosed, text).at("terminalId");
    let Some(register) = shop.at_terminal(terminal) else {
        let text = format!("no register has the terminal {terminal}; make one with POST /registers and open it");
        return Err(refused(text));
    };
    if !register.is_active {
        return Err(refused(format!("register {} is not active; choose another till", register.code)));
    }
    let Some(session) = shop.open_at(register.id) else {
        let text =
            format!("the drawer of register {} is not open; open it with POST /registers/{{id}}/open", register.code);
        return Err(refused(text));
    };
    if session.status != SessionStatus::Open {
        let text = format!(
            "the drawer of register {} is being counted; close it, or have who counted it go back to selling with \
             reopen: true",
            register.code
        );
        return Err(refused(text));
    }
    let hours = now.millis_since(session.opened_at) / 3_600_000;
    if hours >= i64::from(store.max_session_hours) {
        let text = format!(
            "the drawer of register {} has been open for {hours} hours, {} are allowed; close it and open it again",
            register.code, store.max_session_hours
        );
        return Err(Error::new(ErrorCode::SessionTooOld, text).at("terminalId"));
    }
    Ok(session)
}

/// The drawer is still open, inside the transaction that sells.
pub(crate) async fn require_open(conn: &impl ConnectionTrait, session_id: Uuid) -> Result<()> {
    use register_session::Column;
    let status: Option<String> = register_session::Entity::find()
        .select_only()
        .column(Column::Status)
        .filter(Column::Id.eq(session_id))
        .into_tuple()
        .one(conn)
        .await?;
    drawer::require_open(status.as_deref().unwrap_or_default())
}
