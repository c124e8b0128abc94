//! Users as both servers show them. What verifies a PIN is in no answer: everything leaves through [`UserView`].

use std::collections::HashMap;

use serde::Serialize;
use tillkeep_model::Instant;
use tillkeep_model::permission::code::UsersView;
use tillkeep_storage::entity::user::{Column, Entity, Model};
use tillkeep_storage::entity::{role, user_store_role};
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::auth::Caller;
use crate::auth::people::{of_caller, staff, visible};
use crate::describe::{Listing, Lists, More};
use crate::error::Result;
use crate::extract::Id;
use crate::resource::{self, ListSpec};
use crate::{Answer, List};

const LIST: ListSpec = ListSpec {
    search: &["username", "displayName", "employeeCode", "email", "phone"],
    filters: &["employeeCode"],
    sort: &["username", "displayName", "employeeCode", "createdAt", "updatedAt"],
};

/// The list of users.
pub struct Users;

impl Listing for Users {
    type Row = Entity;
    const SPEC: ListSpec = LIST;
    const MORE: &'static [(&'static str, More)] = &[("storeId", More::Id)];
}

/// A user as everybody may see them.
#[derive(Debug, Serialize, ToSchema)]
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
#[derive(Debug, Serialize, ToSchema)]
pub struct UserDetail {
    #[serde(flatten)]
    user: UserView,
    assignments: Vec<AssignmentView>,
}

/// One role of a user, everywhere or in one store.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AssignmentView {
    pub id: Uuid,
    role_id: Uuid,
    role_code: String,
    role_name: String,
    store_id: Option<Uuid>,
}

/// A user with the roles they have now.
pub async fn detail(conn: &impl ConnectionTrait, user: Model) -> Result<UserDetail> {
    Ok(UserDetail { assignments: assignments_of(conn, user.id).await?, user: user.into() })
}

/// The living assignments of a user, in the order they were made.
pub async fn assignments_of(conn: &impl ConnectionTrait, user_id: Uuid) -> Result<Vec<AssignmentView>> {
    use user_store_role::Column;
    let found = user_store_role::Entity::find()
        .filter(Column::UserId.eq(user_id))
        .filter(Column::DeletedAt.is_null())
        .order_by_asc(Column::CreatedAt)
        .order_by_asc(Column::Id)
        .all(conn)
        .await?;
    let ids = found.iter().map(|row| row.role_id);
    let roles = role::Entity::find().filter(role::Column::Id.is_in(ids)).all(conn).await?;
    let roles: HashMap<Uuid, role::Model> = roles.into_iter().map(|row| (row.id, row)).collect();
    let shown = |row: user_store_role::Model| {
        let role = roles.get(&row.role_id)?;
        Some(AssignmentView {
            id: row.id,
            role_id: row.role_id,
            role_code: role.code.clone(),
            role_name: role.name.clone(),
            store_id: row.store_id,
        })
    };
    Ok(found.into_iter().filter_map(shown).collect())
}

/// `GET /users?search&storeId&active`: with `storeId` those whose roles count in that store.
pub async fn list(caller: Caller<UsersView>, Lists { mut query, .. }: Lists<Users>) -> Result<List<UserView>> {
    let mut select = visible(&caller, Entity::find());
    if let Some(store_id) = resource::take_id(&mut query, "storeId")? {
        caller.at_store(store_id)?;
        select = select.filter(Column::Id.in_subquery(staff([store_id], true)));
    }
    let page = resource::list(caller.db().reader(), &LIST, &query, select).await?;
    Ok(page.map(UserView::from))
}

/// `GET /users/{id}`
pub async fn get(caller: Caller<UsersView>, Id(id): Id) -> Result<Answer<UserDetail>> {
    let user = of_caller(&caller, id).await?;
    detail(caller.db().reader(), user).await.map(Answer)
}

/// `GET /users/{id}/roles`
pub async fn assignments(caller: Caller<UsersView>, Id(id): Id) -> Result<Answer<Vec<AssignmentView>>> {
    let user = of_caller(&caller, id).await?;
    assignments_of(caller.db().reader(), user.id).await.map(Answer)
}
