//! Users. What verifies a PIN is in no answer: everything leaves through [`UserView`].

mod assignments;
mod create;
pub mod grants;
mod pin;

pub use assignments::{assign, list as assignments, unassign};
pub use create::create;
pub use pin::set_pin;

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use serde_json::{Map, Value as Json, json};
use tillkeep_http::auth::{Revocation, Sessions};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::{self, Check, Fields, ListSpec, Query};
use tillkeep_http::{Answer, Body, Caller, Id, List, Params};
use tillkeep_model::permission::Requirement;
use tillkeep_model::permission::code::{UsersEdit, UsersView};
use tillkeep_model::{ErrorCode, Instant};
use tillkeep_storage::Tx;
use tillkeep_storage::entity::user::{Column, Entity, Model};
use tillkeep_storage::entity::user_store_role;
use tillkeep_storage::registry::fold;
use tillkeep_storage::sea_orm::sea_query::SelectStatement;
use tillkeep_storage::sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect, QueryTrait, Select,
};
use uuid::Uuid;

use super::rows::{self, Kind};
use crate::Hq;
use assignments::AssignmentView;

const KIND: Kind = Kind {
    name: "users",
    singular: "user",
    fields: Fields {
        writable: &["username", "displayName", "employeeCode", "email", "phone", "mustChangePin", "isActive"],
        required: &["username", "displayName"],
    },
    defaults: |_| json!({"isActive": true}),
    unique: &[("employeeCode", ErrorCode::Duplicate)],
    hidden: &["pinHash", "pinLookup", "usernameFolded"],
};

const LIST: ListSpec = ListSpec {
    search: &["username", "displayName", "employeeCode", "email", "phone"],
    filters: &["employeeCode"],
    sort: &["username", "displayName", "employeeCode", "createdAt", "updatedAt"],
};

/// A user as everybody may see them.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UserView {
    id: Uuid,
    username: String,
    display_name: String,
    employee_code: Option<String>,
    email: Option<String>,
    phone: Option<String>,
    must_change_pin: bool,
    pin_changed_at: Option<Instant>,
    is_active: bool,
    last_login_at: Option<Instant>,
    created_at: Instant,
    updated_at: Instant,
    deleted_at: Option<Instant>,
    sync_version: i64,
}

impl From<Model> for UserView {
    fn from(row: Model) -> Self {
        Self {
            id: row.id,
            username: row.username,
            display_name: row.display_name,
            employee_code: row.employee_code,
            email: row.email,
            phone: row.phone,
            must_change_pin: row.must_change_pin,
            pin_changed_at: row.pin_changed_at,
            is_active: row.is_active,
            last_login_at: row.last_login_at,
            created_at: row.created_at,
            updated_at: row.updated_at,
            deleted_at: row.deleted_at,
            sync_version: row.sync_version,
        }
    }
}

/// A user with their roles.
#[derive(Debug, Serialize)]
pub struct UserDetail {
    #[serde(flatten)]
    user: UserView,
    assignments: Vec<AssignmentView>,
}

async fn detail(conn: &impl ConnectionTrait, user: Model) -> Result<UserDetail> {
    Ok(UserDetail { assignments: assignments::of(conn, user.id).await?, user: user.into() })
}

/// The users with a role in one of `stores`, and with one that counts in all of them if `or_all`.
fn staff(stores: impl IntoIterator<Item = Uuid>, or_all: bool) -> SelectStatement {
    use user_store_role::Column;
    let mut counts = Condition::any().add(Column::StoreId.is_in(stores));
    if or_all {
        counts = counts.add(Column::StoreId.is_null());
    }
    user_store_role::Entity::find()
        .select_only()
        .column(Column::UserId)
        .filter(Column::DeletedAt.is_null())
        .filter(counts)
        .into_query()
}

/// Cuts users to those of the caller's stores.
fn visible<P: Requirement>(caller: &Caller<P>, select: Select<Entity>) -> Select<Entity> {
    match caller.stores() {
        None => select,
        Some(stores) => select.filter(Column::Id.in_subquery(staff(stores, false))),
    }
}

/// 404 for a user outside the caller's stores.
async fn of_caller<P: Requirement>(caller: &Caller<P>, id: Uuid) -> Result<Model> {
    let select = Entity::find_by_id(id).filter(Column::DeletedAt.is_null());
    let found = visible(caller, select).one(caller.db().reader()).await?;
    found.ok_or_else(|| Error::not_found(KIND.singular))
}

/// `GET /users?search&storeId&active`: with `storeId` those whose roles count in that store.
pub async fn list(caller: Caller<UsersView>, Params(mut query): Params<Query>) -> Result<List<UserView>> {
    let mut select = visible(&caller, Entity::find());
    if let Some(store_id) = resource::take_id(&mut query, "storeId")? {
        caller.at_store(store_id)?;
        select = select.filter(Column::Id.in_subquery(staff([store_id], true)));
    }
    let page = resource::list(caller.db().reader(), &LIST, &query, select).await?;
    Ok(page.map(UserView::from))
}

pub async fn get(caller: Caller<UsersView>, Id(id): Id) -> Result<Answer<UserDetail>> {
    let user = of_caller(&caller, id).await?;
    detail(caller.db().reader(), user).await.map(Answer)
}

pub async fn edit(
    caller: Caller<UsersEdit>,
    State(hq): State<Arc<Hq>>,
    Id(id): Id,
    Body(body): Body<Map<String, Json>>,
) -> Result<Answer<UserDetail>> {
    change(&hq, &caller, id, body).await.map(Answer)
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

async fn change(hq: &Hq, caller: &Caller<UsersEdit>, id: Uuid, body: Map<String, Json>) -> Result<UserDetail> {
    of_caller(caller, id).await?;
    let now = caller.now();
    let check = async |tx: &mut Tx, old: &Model, new: &mut Model| {
        check(tx, new).await?;
        match (old.is_active, new.is_active) {
            (true, false) => {
                if grants::is_administrator(tx, id).await? {
                    grants::keep_an_administrator(tx, id).await?;
                }
                if id == caller.user_id {
                    return Err(Error::new(ErrorCode::SelfDeactivation, "nobody deactivates themselves"));
                }
                Sessions::revoke(&**tx, Revocation::AllOf(id), "the user was deactivated", now).await?;
            }
            (false, true) => pin::refuse_taken(tx, new).await?,
            _ => {}
        }
        Ok(())
    };
    let after = async |_: &mut Tx, _: &Model, _: &Model| Ok(());
    let row = rows::change::<Entity, _>(hq, caller, &KIND, id, body, check, after).await?;
    if !row.is_active {
        hq.auth.sessions.ended(Revocation::AllOf(id));
    }
    detail(caller.db().reader(), row).await
}

/// Completes or refuses a user about to be written.
async fn check(tx: &Tx, row: &mut Model) -> Result<()> {
    let trimmed = row.username.trim() == row.username && !row.username.contains(char::is_control);
    row.username_folded = fold(&row.username);
    let mut check = Check::default();
    check
        .text(&row.username, "username", 50)
        .that(trimmed, "username", "must not begin or end with a space")
        .text(&row.display_name, "displayName", 100)
        .optional(row.email.as_deref(), "email", 200)
        .optional(row.phone.as_deref(), "phone", 40);
    if let Some(code) = &row.employee_code {
        check.text(code, "employeeCode", 40);
    }
    check.finish()?;
    if resource::taken::<Entity>(tx, row.id, "username_folded", row.username_folded.as_str()).await? {
        return Err(Error::new(ErrorCode::UsernameTaken, "another user has this name").at("username"));
    }
    Ok(())
}

/// The stores where the caller may give roles away; `None` is all of them.
fn granting_stores<P: Requirement>(caller: &Caller<P>) -> Option<BTreeSet<Uuid>> {
    caller.access.stores(&["users.manage_roles"], caller.store_id)
}
