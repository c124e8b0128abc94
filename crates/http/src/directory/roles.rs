//! Roles and what they hold, and the list of all codes.

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;
use tillkeep_model::permission::code::{RolesView, UsersManageRoles};
use tillkeep_model::permission::{ALL, NOT_IN_USE, module_of};
use tillkeep_storage::DbErr;
use tillkeep_storage::entity::role::{Column, Entity, Model};
use tillkeep_storage::entity::{permission, role_permission};
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::auth::Caller;
use crate::describe::{Listing, Lists};
use crate::error::{Error, Result};
use crate::extract::Id;
use crate::resource::{self, ListSpec};
use crate::{Answer, List};

/// What may be asked of the list of roles.
pub const LIST: ListSpec =
    ListSpec { search: &["code", "name"], filters: &["isSystem"], sort: &["code", "name", "createdAt"] };

/// The list of roles.
pub struct Roles;

impl Listing for Roles {
    type Row = Entity;
    const SPEC: ListSpec = LIST;
}

/// A role with what it holds.
#[derive(Serialize, ToSchema)]
pub struct RoleView {
    #[serde(flatten)]
    pub role: Model,
    pub permissions: BTreeSet<String>,
}

/// What roles hold.
pub async fn codes_of(
    conn: &impl ConnectionTrait,
    roles: impl IntoIterator<Item = Uuid>,
) -> Result<HashMap<Uuid, BTreeSet<String>>, DbErr> {
    let held = role_permission::Entity::find().filter(role_permission::Column::RoleId.is_in(roles)).all(conn).await?;
    let names: HashMap<Uuid, String> =
        permission::Entity::find().all(conn).await?.into_iter().map(|row| (row.id, row.code)).collect();
    let mut by_role: HashMap<Uuid, BTreeSet<String>> = HashMap::new();
    for row in held {
        if let Some(code) = names.get(&row.permission_id) {
            by_role.entry(row.role_id).or_default().insert(code.clone());
        }
    }
    Ok(by_role)
}

/// A role with what it holds now.
pub async fn view(conn: &impl ConnectionTrait, role: Model) -> Result<RoleView> {
    Ok(RoleView { permissions: codes_of(conn, [role.id]).await?.remove(&role.id).unwrap_or_default(), role })
}

/// `GET /roles`
pub async fn list(
    caller: Caller<(RolesView, UsersManageRoles)>,
    Lists { query, .. }: Lists<Roles>,
) -> Result<List<RoleView>> {
    let snapshot = caller.snapshot().await?;
    let roles = resource::list(&snapshot, &LIST, &query, Entity::find()).await?;
    let mut codes = codes_of(&snapshot, roles.rows.iter().map(|role: &Model| role.id)).await?;
    Ok(roles.map(|role| RoleView { permissions: codes.remove(&role.id).unwrap_or_default(), role }))
}

/// `GET /roles/{id}`
pub async fn get(caller: Caller<(RolesView, UsersManageRoles)>, Id(id): Id) -> Result<Answer<RoleView>> {
    let snapshot = caller.snapshot().await?;
    let role = Entity::find_by_id(id).filter(Column::DeletedAt.is_null()).one(&snapshot).await?;
    let role = role.ok_or_else(|| Error::not_found("role"))?;
    view(&snapshot, role).await.map(Answer)
}

/// The codes of one module, in the order of the specification.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Module)]
pub struct CodesOfModule {
    module: &'static str,
    permissions: Vec<&'static str>,
    /// Those of them that nothing asks for yet.
    not_in_use: Vec<&'static str>,
}

/// `GET /permissions`
pub async fn permissions(_: Caller<RolesView>) -> Answer<Vec<CodesOfModule>> {
    let mut modules: Vec<CodesOfModule> = Vec::new();
    for code in ALL {
        let module = module_of(code);
        if modules.last().is_none_or(|last| last.module != module) {
            modules.push(CodesOfModule { module, permissions: Vec::new(), not_in_use: Vec::new() });
        }
        let Some(last) = modules.last_mut() else { continue };
        last.permissions.push(code);
        if NOT_IN_USE.contains(code) {
            last.not_in_use.push(code);
        }
    }
    Answer(modules)
}
