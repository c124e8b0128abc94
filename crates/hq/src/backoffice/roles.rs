//! Roles and what they hold. A role counts wherever it is assigned, so changing what it holds needs the codes
//! everywhere.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::json;
use tillkeep_http::describe::{Change, Draft, Write};
use tillkeep_http::directory::roles::{LIST, RoleView, codes_of, view};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::{Expected, Fields, ListSpec};
use tillkeep_http::{Answer, Body, Caller, Created, Id, NoContent, Params};
use tillkeep_model::permission::code::RolesManage;
use tillkeep_model::permission::{ALL, Fresh};
use tillkeep_model::{ErrorCode, Instant, fields, ids};
use tillkeep_storage::Tx;
use tillkeep_storage::entity::role::{Column, Entity, Model};
use tillkeep_storage::entity::{role_permission, user_store_role};
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};
use utoipa::ToSchema;
use uuid::Uuid;

use super::conflict::{self, Named};
use super::plain::{Of, Rules};
use super::references::refuse_in_use;
use super::rows::{self, Kind};
use super::users::grants;
use crate::state::Routes;

impl Rules for Entity {
    const KIND: Kind = Kind {
        book: &fields::user::ROLE,
        singular: "role",
        unique: &[("code", ErrorCode::DuplicateCode)],
        hidden: &[],
    };

    const LIST: ListSpec = LIST;

    async fn check(_: &mut Tx, old: Option<&Model>, _: &mut Model, _: Instant) -> Result<()> {
        if old.is_some_and(|old| old.is_system) {
            return Err(system_role());
        }
        Ok(())
    }

    async fn deletable(tx: &mut Tx, row: &Model, _: Instant) -> Result<()> {
        if row.is_system {
            return Err(system_role());
        }
        let used = user_store_role::Entity::find()
            .filter(user_store_role::Column::RoleId.eq(row.id))
            .filter(user_store_role::Column::DeletedAt.is_null());
        refuse_in_use(used.count(tx).await?, "assignments")?;
        put_codes(tx, row.id, &BTreeSet::new()).await
    }
}

fn system_role() -> Error {
    Error::new(ErrorCode::SystemRole, "this role belongs to every installation and stays as it is")
}

/// A new role.
pub(crate) struct NewRole;

impl Write for NewRole {
    type Row = Entity;
    const FIELDS: Fields = Entity::KIND.fields();
    type More = Holds;

    fn name() -> Cow<'static, str> {
        "Role".into()
    }
}

/// What a new role holds.
#[derive(Deserialize, ToSchema)]
pub(crate) struct Holds {
    permissions: Option<Vec<String>>,
}

pub(crate) async fn create(
    caller: Caller<Fresh<RolesManage>>,
    Body(draft): Body<Draft<NewRole>>,
) -> Result<Created<RoleView>> {
    caller.everywhere()?;
    let now = caller.now();
    let (body, Holds { permissions }) = draft.parted()?;
    let wanted = known_codes(permissions.unwrap_or_default())?;
    grants::refuse_escalation(&caller, &wanted, None)?;
    let check = async |tx: &mut Tx, new: &mut Model| Entity::check(tx, None, new, now).await;
    let after = async |tx: &mut Tx, new: &Model| put_codes(tx, new.id, &wanted).await;
    let Created { data, new } = rows::create::<Entity, _>(&caller, &Entity::KIND, body, check, after).await?;
    Ok(Created { data: view(caller.reader(), data).await?, new })
}

pub(crate) async fn edit(
    caller: Caller<Fresh<RolesManage>>,
    Id(id): Id,
    Body(body): Body<Change<Of<Entity>>>,
) -> Result<Answer<RoleView>> {
    caller.everywhere()?;
    let now = caller.now();
    let check = async |tx: &mut Tx, old: &Model, new: &mut Model| Entity::check(tx, Some(old), new, now).await;
    let after = async |_: &mut Tx, _: &Model, _: &Model| Ok(());
    let role = rows::change::<Entity, _>(&caller, &Entity::KIND, id, body.keys, check, after).await?;
    view(caller.reader(), role).await.map(Answer)
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = RolePermissions)]
pub(crate) struct Codes {
    permissions: Vec<String>,
    /// The `syncVersion` of the role that the change is based on; another one is refused.
    #[serde(default)]
    expected_version: Option<i64>,
}

/// `PUT /roles/{id}/permissions`: whole replacement; the Administrator holds everything, always. What a role holds has no
/// version of its own, so the role gets a new one with it.
pub(crate) async fn put_permissions(
    caller: Caller<Fresh<RolesManage>>,
    Id(id): Id,
    Body(body): Body<Codes>,
) -> Result<Answer<RoleView>> {
    let wanted = known_codes(body.permissions)?;
    caller.everywhere()?;
    let mut act = caller.begin().await?;
    let role = rows::find_to_change::<Entity>(&act, &Entity::KIND, id).await?;
    if role.id == grants::administrator() {
        return Err(system_role());
    }
    let held = codes_of(&**act, [id]).await?.remove(&id).unwrap_or_default();
    let current = || Ok(serde_json::to_value(RoleView { role: role.clone(), permissions: held.clone() })?);
    let named = Named { entity_type: Entity::KIND.name(), id: Some(id), changed_at: Some(role.updated_at) };
    conflict::refuse_outdated(&act, &named, (body.expected_version, role.sync_version), current).await?;
    // What is taken is judged like what is given: whoever holds the role loses it everywhere.
    grants::refuse_escalation(&caller, wanted.symmetric_difference(&held), None)?;
    if wanted == held {
        return Ok(Answer(RoleView { role, permissions: held }));
    }
    put_codes(&mut act, id, &wanted).await?;
    act.update::<Entity>(|roles| {
        roles.col_expr(Column::UpdatedAt, Expr::value(caller.now())).filter(Column::Id.eq(id))
    })
    .await?;
    let details = json!({"from": held, "to": wanted});
    act.done(rows::entry(&caller, "role.permissions", Entity::KIND.name(), id, details)).await?;
    let role = rows::written::<Entity>(caller.reader(), &Entity::KIND, id).await?;
    Ok(Answer(RoleView { role, permissions: wanted }))
}

pub(crate) async fn delete(
    caller: Caller<Fresh<RolesManage>>,
    Id(id): Id,
    Params(Expected { expected_version }): Params<Expected>,
) -> Result<NoContent> {
    caller.everywhere()?;
    let now = caller.now();
    let check = async |tx: &mut Tx, role: &Model| {
        let held = codes_of(&**tx, [id]).await?.remove(&id).unwrap_or_default();
        grants::refuse_escalation(&caller, &held, None)?;
        Entity::deletable(tx, role, now).await
    };
    rows::delete::<Entity, _>(&caller, &Entity::KIND, (id, expected_version), check).await?;
    Ok(NoContent)
}

/// Codes that exist, each once; a pattern is no code.
fn known_codes(sent: Vec<String>) -> Result<BTreeSet<String>> {
    if let Some(code) = sent.iter().find(|code| !ALL.contains(&code.as_str())) {
        let shown: String = code.chars().take(60).collect();
        return Err(Error::new(ErrorCode::UnknownPermission, format!("{shown} is no permission")).at("permissions"));
    }
    Ok(sent.into_iter().collect())
}

/// Makes `wanted` what the role holds. Rows of this kind have no version: stores take them whole.
async fn put_codes(tx: &mut Tx, role_id: Uuid, wanted: &BTreeSet<String>) -> Result<()> {
    use role_permission::Column;
    tx.remove::<role_permission::Entity>(|held| held.filter(Column::RoleId.eq(role_id))).await?;
    let row = |code: &String| role_permission::Model { role_id, permission_id: ids::permission(code) };
    tx.insert_all::<role_permission::Entity>(wanted.iter().map(row).collect()).await?;
    Ok(())
}

/// The routes that write roles; those that read them are in `tillkeep_http::directory`.
pub(crate) fn routes(routes: Routes) -> Routes {
    use ErrorCode::{DuplicateCode, Escalation, IdReused, InUse, SystemRole, UnknownPermission, VersionConflict};
    routes
        .post("/roles", create)
        .about("Make a new role.")
        .fails(&[IdReused, DuplicateCode, UnknownPermission, Escalation])
        .patch("/roles/{id}", edit)
        .about("Change the name of a role.")
        .fails(&[VersionConflict, DuplicateCode, SystemRole])
        .put("/roles/{id}/permissions", put_permissions)
        .about("Replace what a role holds.")
        .fails(&[VersionConflict, SystemRole, UnknownPermission, Escalation])
        .delete("/roles/{id}", delete)
        .about("Delete a role, in all stores too.")
        .fails(&[VersionConflict, SystemRole, InUse, Escalation])
}
