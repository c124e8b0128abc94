//! Writing users. They are shown as `tillkeep_http::directory::users` shows them, without what verifies a PIN.

mod assignments;
mod create;
pub mod grants;
mod pin;
pub mod rescue;
mod sessions;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::State;
use serde_json::{Map, Value as Json};
use tillkeep_http::auth::people::person_of;
use tillkeep_http::auth::{Revocation, Sessions};
use tillkeep_http::describe::{Change, Write};
use tillkeep_http::directory::users::{UserDetail, detail};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::names;
use tillkeep_http::resource::{self, Expected, Fields};
use tillkeep_http::{Answer, Body, Caller, Id, NoContent, Params};
use tillkeep_model::permission::Requirement;
use tillkeep_model::permission::code::UsersEdit;
use tillkeep_model::{ErrorCode, fields};
use tillkeep_storage::Tx;
use tillkeep_storage::entity::user::{Entity, Model};
use tillkeep_storage::registry::fold;
use uuid::Uuid;

use super::rows::{self, Kind};
use crate::Hq;
use crate::routes::Routes;

const KIND: Kind = Kind {
    book: &fields::user::BOOK,
    singular: "user",
    unique: &[("username_folded", ErrorCode::UsernameTaken), ("employeeCode", ErrorCode::Duplicate)],
    hidden: &["pinHash", "pinLookup", "usernameFolded"],
};

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
    caller: Caller<UsersEdit>,
    State(hq): State<Arc<Hq>>,
    Id(id): Id,
    Body(body): Body<Change<Person>>,
) -> Result<Answer<UserDetail>> {
    change(&hq, &caller, id, body.keys).await.map(Answer)
}

/// `POST /users/{id}/activate`
pub async fn activate(caller: Caller<UsersEdit>, State(hq): State<Arc<Hq>>, Id(id): Id) -> Result<Answer<UserDetail>> {
    set_active(&hq, &caller, id, true).await
}

/// `POST /users/{id}/deactivate`: the user's sessions end with it.
pub async fn deactivate(
    caller: Caller<UsersEdit>,
    State(hq): State<Arc<Hq>>,
    Id(id): Id,
) -> Result<Answer<UserDetail>> {
    set_active(&hq, &caller, id, false).await
}

async fn set_active(hq: &Hq, caller: &Caller<UsersEdit>, id: Uuid, active: bool) -> Result<Answer<UserDetail>> {
    let body = Map::from_iter([("isActive".to_owned(), active.into())]);
    change(hq, caller, id, body).await.map(Answer)
}

/// `DELETE /users/{id}`: the name and the PIN are free again; the row stays, as receipts have the name.
pub async fn delete(
    caller: Caller<UsersEdit>,
    State(hq): State<Arc<Hq>>,
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
    rows::delete::<Entity, _>(&hq, &caller, &KIND, (id, expected_version), check).await?;
    hq.auth.ended(Revocation::AllOf(id));
    Ok(NoContent)
}

/// Refuses to let somebody go without whom the chain has no administrator, or by their own hand.
async fn refuse_leaving(tx: &Tx, caller: &Caller<UsersEdit>, id: Uuid) -> Result<()> {
    if grants::is_administrator(tx, id).await? {
        grants::keep_an_administrator(tx, id).await?;
    }
    if id == caller.user_id {
        return Err(Error::new(ErrorCode::SelfDeactivation, "nobody deactivates or deletes themselves"));
    }
    Ok(())
}

async fn change(hq: &Hq, caller: &Caller<UsersEdit>, id: Uuid, body: Map<String, Json>) -> Result<UserDetail> {
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
            (false, true) => pin::refuse_taken(&hq.auth, tx, new).await?,
            _ => {}
        }
        Ok(())
    };
    let after = async |_: &mut Tx, _: &Model, _: &Model| Ok(());
    let row = rows::change::<Entity, _>(hq, caller, &KIND, id, body, check, after).await?;
    if !row.is_active {
        hq.auth.ended(Revocation::AllOf(id));
    }
    detail(caller, row).await
}

/// Completes or refuses a user about to be written.
async fn check(tx: &Tx, row: &mut Model) -> Result<()> {
    let name = names::normal(&row.username);
    // A name from before stays good until it is changed.
    if row.username_folded != fold(&row.username) {
        if let Some(flaw) = names::flaw(&name) {
            return Err(Error::field("username", flaw));
        }
        row.username_folded = fold(&name);
        row.username = name;
    }
    if resource::taken::<Entity>(tx, row.id, "username_folded", row.username_folded.as_str()).await? {
        return Err(Error::new(ErrorCode::UsernameTaken, "another user has this name").at("username"));
    }
    Ok(())
}

/// The stores where the caller may give roles away; `None` is all of them.
fn granting_stores<P: Requirement>(caller: &Caller<P>) -> Option<BTreeSet<Uuid>> {
    caller.access.stores(&["users.manage_roles"], caller.store_id)
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
        .about("Change a user.")
        .fails(&[VersionConflict, UsernameTaken, LastAdmin, SelfDeactivation, PinNotAllowed, Escalation])
        .post("/users/{id}/pin", pin::set_pin)
        .about("Make a new PIN for a user, which is shown once and to be changed at the first sign-in; their sessions end.")
        .fails(&[PinIsGenerated, PinNotAllowed, Escalation, TooManyRequests, SelfDeactivation])
        .post("/users/{id}/activate", activate)
        .about("Let a user sign in again.")
        .fails(&[PinNotAllowed, Validation, UsernameTaken, Escalation])
        .post("/users/{id}/deactivate", deactivate)
        .about("Keep a user from signing in; their sessions end.")
        .fails(&[LastAdmin, SelfDeactivation, Validation, UsernameTaken, Escalation])
        .delete("/users/{id}/sessions", sessions::end_all)
        .about("End all sessions of a user, at every server of the chain.")
        .fails(&[Escalation])
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
