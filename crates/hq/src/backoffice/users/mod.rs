//! Writing users. They are shown as `tillkeep_http::directory::users` shows them, without what verifies a PIN.

mod assignments;
mod create;
mod factors;
mod fields;
pub mod grants;
mod pin;
pub mod rescue;
mod sessions;

use std::borrow::Cow;

use serde_json::{Map, Value as Json};
use tillkeep_http::auth::found::{self, Ended};
use tillkeep_http::auth::people::person_of;
use tillkeep_http::auth::{Revocation, Sessions};
use tillkeep_http::describe::{Change, Write};
use tillkeep_http::directory::users::{UserDetail, detail};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::{Expected, Fields};
use tillkeep_http::{Answer, Body, Caller, Id, NoContent, Params};
use tillkeep_model::ErrorCode;
use tillkeep_model::permission::Fresh;
use tillkeep_model::permission::code::UsersEdit;
use tillkeep_storage::db::{Turn, take_turn};
use tillkeep_storage::entity::user::{Entity, Model};
use tillkeep_storage::{Tx, audit};
use uuid::Uuid;

use super::rows;
use crate::state::Routes;
use fields::{KIND, check};

/// A user as they are changed.
pub struct Person;

impl Write for Person {
    type Row = Entity;
    const FIELDS: Fields = KIND.fields();
    type More = ();

    fn name() -> Cow<'static, str> {
        "User".into()
    }
}

pub async fn edit(
    caller: Caller<Fresh<UsersEdit>>,
    Id(id): Id,
    Body(body): Body<Change<Person>>,
) -> Result<Answer<UserDetail>> {
    change(&caller, id, body.keys).await.map(Answer)
}

/// `POST /users/{id}/activate`
pub async fn activate(caller: Caller<Fresh<UsersEdit>>, Id(id): Id) -> Result<Answer<UserDetail>> {
    set_active(&caller, id, true).await
}

/// `POST /users/{id}/deactivate`: the user's sessions end with it.
pub async fn deactivate(caller: Caller<Fresh<UsersEdit>>, Id(id): Id) -> Result<Answer<UserDetail>> {
    set_active(&caller, id, false).await
}

async fn set_active(caller: &Caller<Fresh<UsersEdit>>, id: Uuid, active: bool) -> Result<Answer<UserDetail>> {
    let body = Map::from_iter([("isActive".to_owned(), active.into())]);
    change(caller, id, body).await.map(Answer)
}

/// `DELETE /users/{id}`: the name and the PIN are free again; the row stays, as receipts have the name.
pub async fn delete(
    caller: Caller<Fresh<UsersEdit>>,
    Id(id): Id,
    Params(Expected { expected_version }): Params<Expected>,
) -> Result<NoContent> {
    let person = person_of(&caller, id).await?;
    grants::refuse_impersonation(&caller, &person)?;
    let now = caller.now();
    let check = async |tx: &mut Tx, _: &Model| {
        refuse_leaving(tx, &caller, id).await?;
        Sessions::revoke(&**tx, Revocation::AllOf(id), "the user was deleted", now).await?;
        assignments::end_all(tx, id, now).await
    };
    rows::delete::<Entity, _>(&caller, &KIND, (id, expected_version), check).await?;
    caller.auth().ended(Revocation::AllOf(id));
    Ok(NoContent)
}

/// Refuses to let a user go without whom the chain has no administrator, or by their own hand.
async fn refuse_leaving(tx: &Tx, caller: &Caller<Fresh<UsersEdit>>, id: Uuid) -> Result<()> {
    if grants::is_administrator(tx, id).await? {
        grants::keep_an_administrator(tx, id).await?;
    }
    if id == caller.user_id {
        return Err(Error::new(ErrorCode::SelfDeactivation, "no user deactivates or deletes themselves"));
    }
    Ok(())
}

async fn change(caller: &Caller<Fresh<UsersEdit>>, id: Uuid, body: Map<String, Json>) -> Result<UserDetail> {
    // A user is one row for all stores: who holds more, or holds it elsewhere, is not the caller's to change.
    let person = person_of(caller, id).await?;
    grants::refuse_impersonation(caller, &person)?;
    let now = caller.now();
    let check = async |tx: &mut Tx, old: &Model, new: &mut Model| {
        check(tx, new).await?;
        match (old.is_active, new.is_active) {
            (true, false) => {
                refuse_leaving(tx, caller, id).await?;
                new.sessions_valid_from = Some(now);
                Sessions::revoke(&**tx, Revocation::AllOf(id), "the user was deactivated", now).await?;
            }
            (false, true) => pin::end_former(new),
            _ => {}
        }
        Ok(())
    };
    let mut ended = Ended::default();
    let after = async |tx: &mut Tx, old: &Model, new: &Model| {
        if new.is_active && !old.is_active {
            ended = found::part(caller.auth(), tx, id, &caller.audit("pin.shared"), now).await?;
            audit::record_all(tx, std::mem::take(&mut ended.lines), now).await?;
        }
        Ok(())
    };
    let act = caller.begin().await?;
    if body.get("isActive") == Some(&Json::Bool(true)) {
        // Before any person is locked: whoever ends PINs locks others.
        take_turn(&*act, Turn::Pin).await?;
    }
    let row = rows::change_in::<Entity, _>(act, caller, &KIND, id, body, check, after).await?;
    ended.tell(caller.auth());
    if !row.is_active {
        caller.auth().ended(Revocation::AllOf(id));
    }
    detail(caller, row).await
}

/// The routes that write users; those that read them are in `tillkeep_http::directory`.
pub fn routes(routes: Routes) -> Routes {
    use ErrorCode::{
        Escalation, IdReused, LastAdmin, PinIsGenerated, PinNotAllowed, SelfDeactivation, TooManyRequests,
        UsernameTaken, Validation, VersionConflict,
    };
    routes
        .post("/users", create::create)
        .about("Make a user with a PIN and roles.")
        .fails(&[IdReused, UsernameTaken, PinIsGenerated, PinNotAllowed, Escalation, TooManyRequests])
        .patch("/users/{id}", edit)
        .about("Change some fields of a user.")
        .fails(&[VersionConflict, UsernameTaken, LastAdmin, SelfDeactivation, Escalation])
        .post("/users/{id}/pin", pin::set_pin)
        .about("Make a new PIN for a user, which is shown once and to be changed at the first sign-in; their sessions end.")
        .fails(&[PinIsGenerated, PinNotAllowed, Escalation, TooManyRequests, SelfDeactivation])
        .post("/users/{id}/activate", activate)
        .about("Let a user sign in again.")
        .fails(&[Validation, UsernameTaken, Escalation])
        .post("/users/{id}/deactivate", deactivate)
        .about("Keep a user from signing in; their sessions end.")
        .fails(&[LastAdmin, SelfDeactivation, Validation, UsernameTaken, Escalation])
        .delete("/users/{id}/sessions", sessions::end_all)
        .about("End all sessions of a user, at every server of the chain.")
        .fails(&[Escalation])
        .delete("/users/{id}/factors", factors::reset)
        .about("Remove the second factors of a user who has lost them; their sessions end.")
        .fails(&[Escalation, SelfDeactivation])
        .delete("/users/{id}", delete)
        .about("Delete a user: roles and sessions end, the name is free again.")
        .fails(&[VersionConflict, LastAdmin, SelfDeactivation, Escalation])
        .post("/users/{id}/roles", assignments::assign)
        .about("Give a user a role.")
        .fails(&[Escalation])
        .delete("/users/{id}/roles/{assignmentId}", assignments::unassign)
        .about("Take a role away from a user.")
        .fails(&[LastAdmin, Escalation])
}
