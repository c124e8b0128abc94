//! Users as both servers show them. What verifies a PIN is in no answer: everything leaves through [`UserView`].

use std::collections::{BTreeSet, HashMap, HashSet};

use serde::Serialize;
use tillkeep_model::Instant;
use tillkeep_model::permission::Requirement;
use tillkeep_model::permission::code::UsersView;
use tillkeep_storage::entity::user::{Column, Entity, Model};
use tillkeep_storage::entity::{role, user_store_role};
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder};
use tillkeep_storage::{factors, staff, user_pins};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::auth::people::{of_caller, staff as people_of, visible};
use crate::auth::{Caller, Home};
use crate::describe::{Listing, Lists, More};
use crate::error::{Error, Result};
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
#[serde(rename_all = "camelCase")]
pub struct UserDetail {
    #[serde(flatten)]
    user: UserView,
    /// In the order in which they were given.
    assignments: Vec<AssignmentView>,
    /// Whether they have set up a second factor, as headquarters knows; at a store false.
    has_second_factor: bool,
    /// The newest sale of theirs that headquarters has: who only works at a till signs in at a store, which headquarters
    /// does not hear of. At a store, and without a sale in the stores that the caller sees, null.
    last_seen_at_store: Option<SeenAtStore>,
    /// When the PIN ends that was made for them and that they have not changed yet; it is over when that is past. Null when theirs
    /// is none, or when such PINs do not end, and at a store.
    first_pin_expires_at: Option<Instant>,
    /// Whether they have a PIN: one that another user knows is taken away. Null at a store.
    has_pin: Option<bool>,
}

/// A sale of a user, as the last sign of them.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SeenAtStore {
    store_id: Uuid,
    store_code: String,
    at: Instant,
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
pub async fn detail<P: Requirement>(caller: &Caller<P>, user: Model) -> Result<UserDetail> {
    details(caller, vec![user]).await?.pop().ok_or_else(|| Error::not_found("user"))
}

/// These users, in their order, with their roles and the last sign of each.
async fn details<P: Requirement>(caller: &Caller<P>, users: Vec<Model>) -> Result<Vec<UserDetail>> {
    let conn = caller.reader();
    let ids: Vec<Uuid> = users.iter().map(|user| user.id).collect();
    let mut assignments = assignments_of(conn, &ids).await?;
    let (mut sold, with_factor) = match caller.auth().home {
        Home::Hq => (staff::last_sales(conn, &ids).await?, factors::among(conn, &ids).await?),
        Home::Store(_) => (HashMap::new(), HashSet::new()),
    };
    let (is_hq, stores) = (caller.auth().home == Home::Hq, caller.stores());
    let pins = if is_hq { user_pins::of(conn, ids.iter().copied()).await? } else { HashMap::new() };
    let mut seen = |user_id: &Uuid| {
        let sale =
            sold.remove(user_id).filter(|sale| stores.as_ref().is_none_or(|ids| ids.contains(&sale.store_id)))?;
        Some(SeenAtStore { store_id: sale.store_id, store_code: sale.store_code, at: sale.completed_at })
    };
    let shown = users.into_iter().map(|user| UserDetail {
        assignments: assignments.remove(&user.id).unwrap_or_default(),
        has_second_factor: with_factor.contains(&user.id),
        last_seen_at_store: seen(&user.id),
        first_pin_expires_at: pins.get(&user.id).and_then(|pin| caller.auth().first_pin_ends(&user, pin)),
        has_pin: is_hq.then_some(user.pin_hash.is_some()),
        user: user.into(),
    });
    Ok(shown.collect())
}

/// The living assignments of these users, in the order they were made.
pub async fn assignments_of(conn: &impl ConnectionTrait, users: &[Uuid]) -> Result<HashMap<Uuid, Vec<AssignmentView>>> {
    use user_store_role::Column;
    let found = user_store_role::Entity::find()
        .filter(Column::UserId.is_in(users.iter().copied()))
        .filter(Column::DeletedAt.is_null())
        .order_by_asc(Column::CreatedAt)
        .order_by_asc(Column::Id)
        .all(conn)
        .await?;
    let ids: BTreeSet<Uuid> = found.iter().map(|row| row.role_id).collect();
    let roles = role::Entity::find().filter(role::Column::Id.is_in(ids)).all(conn).await?;
    let roles: HashMap<Uuid, role::Model> = roles.into_iter().map(|row| (row.id, row)).collect();
    let mut by_user: HashMap<Uuid, Vec<AssignmentView>> = HashMap::new();
    for row in found {
        let Some(role) = roles.get(&row.role_id) else { continue };
        by_user.entry(row.user_id).or_default().push(AssignmentView {
            id: row.id,
            role_id: row.role_id,
            role_code: role.code.clone(),
            role_name: role.name.clone(),
            store_id: row.store_id,
        });
    }
    Ok(by_user)
}

/// `GET /users?search&storeId&active`: with `storeId` those whose roles count in that store.
pub async fn list(caller: Caller<UsersView>, Lists { mut query, .. }: Lists<Users>) -> Result<List<UserDetail>> {
    let mut select = visible(&caller, Entity::find());
    if let Some(store_id) = resource::take_id(&mut query, "storeId")? {
        caller.at_store(store_id)?;
        select = select.filter(Column::Id.in_subquery(people_of([store_id], true)));
    }
    let (rows, page) = resource::list(caller.reader(), &LIST, &query, select).await?.split();
    Ok(page.with(details(&caller, rows).await?))
}

/// `GET /users/{id}`
pub async fn get(caller: Caller<UsersView>, Id(id): Id) -> Result<Answer<UserDetail>> {
    let user = of_caller(&caller, id).await?;
    detail(&caller, user).await.map(Answer)
}

/// `GET /users/{id}/roles`
pub async fn assignments(caller: Caller<UsersView>, Id(id): Id) -> Result<Answer<Vec<AssignmentView>>> {
    let user = of_caller(&caller, id).await?;
    let mut found = assignments_of(caller.reader(), &[user.id]).await?;
    Ok(Answer(found.remove(&user.id).unwrap_or_default()))
}
