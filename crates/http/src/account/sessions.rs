//! Who is signed in at this server, and ending that. Each server lists its own sessions.

use serde::Serialize;
use serde_json::json;
use tillkeep_model::permission::code::{UsersEdit, UsersView};
use tillkeep_model::permission::{Fresh, Requirement, SignedIn};
use tillkeep_model::{Instant, fields};
use tillkeep_storage::audit;
use tillkeep_storage::entity::session::{Column, Entity, Model};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Select};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::answer::{List, NoContent, PageOnly};
use crate::auth::{Access, Caller, Revocation, Sessions, people};
use crate::error::{Error, Result};
use crate::extract::{Id, Params, TwoIds};

/// A sign-in that is still good.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionView {
    id: Uuid,
    store_id: Option<Uuid>,
    terminal_id: Option<String>,
    issued_at: Instant,
    expires_at: Instant,
    /// Whether it is the session of this request.
    current: bool,
}

/// The sessions of a person that a request would still be let through with.
fn alive(person: &Access, now: Instant) -> Select<Entity> {
    // As a request is judged: the clocks of the servers say nothing.
    let same = |column: Column, at: Option<Instant>| at.map_or_else(|| column.is_null(), |at| column.eq(at));
    Entity::find()
        .filter(Column::UserId.eq(person.user.id))
        .filter(Column::RevokedAt.is_null())
        .filter(Column::ExpiresAt.gt(now))
        .filter(same(Column::PinChangedAt, person.user.pin_changed_at))
        .filter(same(Column::SessionsValidFrom, person.user.sessions_valid_from))
}

async fn list<P: Requirement>(caller: &Caller<P>, person: &Access, page: &PageOnly) -> Result<List<SessionView>> {
    use tillkeep_storage::sea_orm::PaginatorTrait;
    let paging = page.paging()?;
    let conn = caller.snapshot().await?;
    let select = alive(person, caller.now());
    let total = select.clone().count(&conn).await?;
    let rows = select.order_by_desc(Column::IssuedAt).order_by_desc(Column::Id);
    let rows: Vec<Model> = rows.offset(paging.offset()).limit(paging.size).all(&conn).await?;
    let shown = |row: Model| SessionView {
        current: row.id == caller.session_id,
        id: row.id,
        store_id: row.store_id,
        terminal_id: row.terminal_id,
        issued_at: row.issued_at,
        expires_at: row.expires_at,
    };
    Ok(List::new(rows.into_iter().map(shown).collect(), total, paging))
}

async fn end<P: Requirement>(caller: &Caller<P>, person: &Access, session_id: Uuid) -> Result<NoContent> {
    let now = caller.now();
    let which = Revocation::One(session_id);
    let act = caller.begin().await?;
    let found = alive(person, now).filter(Column::Id.eq(session_id)).lock_exclusive().one(&**act).await?;
    let session = found.ok_or_else(|| Error::not_found("session"))?;
    Sessions::revoke(&**act, which, "ended", now).await?;
    let entry = audit::Entry {
        entity_type: Some(fields::user::BOOK.table),
        entity_id: Some(person.user.id.to_string()),
        details: json!({
            "sessionId": session.id, "sessionTerminalId": session.terminal_id,
        }),
        ..caller.audit("session.end")
    };
    act.done(entry).await?;
    caller.auth().ended(which);
    Ok(NoContent)
}

/// `GET /auth/sessions`
pub async fn own(caller: Caller<SignedIn>, Params(page): Params<PageOnly>) -> Result<List<SessionView>> {
    list(&caller, &caller.access, &page).await
}

/// `DELETE /auth/sessions/{id}`
pub async fn end_own(caller: Caller<SignedIn>, Id(id): Id) -> Result<NoContent> {
    end(&caller, &caller.access, id).await
}

/// `GET /users/{id}/sessions`
pub async fn of_user(
    caller: Caller<UsersView>,
    Id(id): Id,
    Params(page): Params<PageOnly>,
) -> Result<List<SessionView>> {
    let person = people::person_of(&caller, id).await?;
    list(&caller, &person, &page).await
}

/// `DELETE /users/{id}/sessions/{sessionId}`: not of a user who holds more than the caller.
pub async fn end_of_user(caller: Caller<Fresh<UsersEdit>>, TwoIds(user_id, session_id): TwoIds) -> Result<NoContent> {
    let person = people::person_of(&caller, user_id).await?;
    people::refuse_impersonation(&caller, &person)?;
    end(&caller, &person, session_id).await
}
