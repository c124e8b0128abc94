//! The roles of a user. An assignment taken away travels as a tombstone, and every change gives the user's row a new
//! version: what verifies a PIN reaches or leaves stores with it.

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};
use serde_json::json;
use tillkeep_http::auth::found;
use tillkeep_http::auth::people::of_caller;
use tillkeep_http::directory::roles::codes_of;
use tillkeep_http::directory::users::{AssignmentView, assignments_of};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::extract::TwoIds;
use tillkeep_http::resource::Check;
use tillkeep_http::{Auth, Body, Caller, Created, Id, NoContent};
use tillkeep_model::permission::code::UsersManageRoles;
use tillkeep_model::permission::{Fresh, Requirement, is_beyond_a_till};
use tillkeep_model::{ErrorCode, Instant, fields};
use tillkeep_storage::db::{Turn, take_turn};
use tillkeep_storage::entity::user_store_role::{Column, Entity, Model};
use tillkeep_storage::entity::{role, store, user};
use tillkeep_storage::sea_orm::sea_query::{Expr, IntoCondition};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use tillkeep_storage::{Tx, audit, user_pins};
use utoipa::ToSchema;
use uuid::Uuid;

use super::fields::KIND;
use super::grants;
use crate::backoffice::references::living;
use crate::backoffice::rows;

/// Assignments in one request at the most.
const MOST: usize = 200;

/// A role to be given to a user; without a store it counts in all of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Grant {
    role_id: Uuid,
    #[serde(default)]
    store_id: Option<Uuid>,
}

impl Grant {
    pub(super) const fn everywhere(role_id: Uuid) -> Self {
        Self { role_id, store_id: None }
    }
}

/// `POST /users/{id}/roles`
pub(super) async fn assign(
    caller: Caller<Fresh<UsersManageRoles>>,
    Id(id): Id,
    Body(body): Body<Grant>,
) -> Result<Created<AssignmentView>> {
    of_caller(&caller, id).await?;
    let mut act = caller.begin().await?;
    // Before any person is locked: whoever ends PINs locks others.
    take_turn(&*act, Turn::Pin).await?;
    // The user is locked: of two requests with the same role the second one sees the first.
    let user = rows::find_to_change::<user::Entity>(&act, &KIND, id).await?;
    check(&act, &caller, "", std::slice::from_ref(&body)).await?;
    let same = Entity::find()
        .filter(Column::UserId.eq(id))
        .filter(Column::RoleId.eq(body.role_id))
        .filter(body.store_id.map_or_else(|| Column::StoreId.is_null(), |store| Column::StoreId.eq(store)))
        .filter(Column::DeletedAt.is_null());
    if same.one(&**act).await?.is_some() {
        return Err(Error::new(ErrorCode::Duplicate, "this user has this role there already"));
    }
    let now = caller.now();
    outgrow(&mut act, caller.auth(), &user, &body, now).await?;
    let added = insert(&mut act, id, std::slice::from_ref(&body), now).await?;
    touch_user(&mut act, id).await?;
    let ended = found::part(caller.auth(), &mut act, id, &caller.audit("pin.shared"), now).await?;
    audit::record_all(&act, ended.lines.clone(), now).await?;
    act.done(rows::entry(&caller, "user.role.grant", fields::user::BOOK.table, id, json!(body))).await?;
    ended.tell(caller.auth());
    let assignments = assignments_of(caller.reader(), &[id]).await?.remove(&id).unwrap_or_default();
    let made = assignments.into_iter().find(|row| added.contains(&row.id));
    made.map(Created::new).ok_or_else(|| Error::not_found("assignment"))
}

/// A user whose rights grow beyond a till's changes a PIN that is too short for that, or of unknown length.
async fn outgrow(tx: &mut Tx, auth: &Auth, user: &user::Model, grant: &Grant, now: Instant) -> Result<()> {
    let reaches = |codes: &HashMap<Uuid, BTreeSet<String>>| codes.values().flatten().any(|code| is_beyond_a_till(code));
    let held = Entity::find().filter(Column::UserId.eq(user.id)).filter(Column::DeletedAt.is_null()).all(&*tx).await?;
    let held = codes_of(&*tx, held.into_iter().map(|row| row.role_id)).await?;
    if user.pin_hash.is_none() || reaches(&held) || !reaches(&codes_of(&*tx, [grant.role_id]).await?) {
        return Ok(());
    }
    let digits = user_pins::of(&*tx, [user.id]).await?.get(&user.id).and_then(|pin| pin.digits);
    if digits
        .is_some_and(|digits| usize::try_from(digits).is_ok_and(|digits| digits >= auth.pin_min_length_beyond_a_till))
    {
        return Ok(());
    }
    user_pins::note(tx, user.id).await?;
    tx.update::<user::Entity>(|people| {
        people
            .col_expr(user::Column::MustChangePin, Expr::value(true))
            .col_expr(user::Column::UpdatedAt, Expr::value(now))
            .filter(user::Column::Id.eq(user.id))
    })
    .await?;
    Ok(())
}

/// `DELETE /users/{id}/roles/{assignmentId}`
pub(super) async fn unassign(
    caller: Caller<Fresh<UsersManageRoles>>,
    TwoIds(id, assignment_id): TwoIds,
) -> Result<NoContent> {
    of_caller(&caller, id).await?;
    let mut act = caller.begin().await?;
    let user = rows::find_to_change::<user::Entity>(&act, &KIND, id).await?;
    let row = Entity::find_by_id(assignment_id)
        .filter(Column::UserId.eq(id))
        .filter(Column::DeletedAt.is_null())
        .lock_exclusive()
        .one(&**act)
        .await?
        .ok_or_else(|| Error::not_found("assignment"))?;
    refuse_outside(&caller, row.store_id)?;
    let codes = codes_of(&**act, [row.role_id]).await?;
    grants::refuse_escalation(&caller, codes.values().flatten(), row.store_id)?;
    if row.role_id == grants::administrator() && row.store_id.is_none() && user.is_active {
        grants::keep_an_administrator(&act, id).await?;
    }
    end(&mut act, Column::Id.eq(assignment_id), caller.now()).await?;
    touch_user(&mut act, id).await?;
    let details = json!({"roleId": row.role_id, "storeId": row.store_id});
    act.done(rows::entry(&caller, "user.role.revoke", fields::user::BOOK.table, id, details)).await?;
    Ok(NoContent)
}

/// Every role of a user ends.
pub(super) async fn end_all(tx: &mut Tx, user_id: Uuid, now: Instant) -> Result<()> {
    end(tx, Column::UserId.eq(user_id), now).await
}

async fn end(tx: &mut Tx, which: impl IntoCondition, now: Instant) -> Result<()> {
    tx.update::<Entity>(|given| {
        given
            .col_expr(Column::DeletedAt, Expr::value(Some(now)))
            .col_expr(Column::UpdatedAt, Expr::value(now))
            .filter(which)
            .filter(Column::DeletedAt.is_null())
    })
    .await?;
    Ok(())
}

/// 403 for an assignment in a store where the caller gives no roles away.
fn refuse_outside<P: Requirement>(caller: &Caller<P>, store: Option<Uuid>) -> Result<()> {
    match (grants::granting_stores(caller), store) {
        (None, _) => Ok(()),
        (Some(stores), Some(store)) if stores.contains(&store) => Ok(()),
        _ => Err(Error::new(ErrorCode::Scope, "this is outside of the stores where you may give roles")),
    }
}

/// Refuses grants of what does not exist, of more than the caller holds, or outside the caller's stores. `list` is the
/// name of the list in the request.
pub(super) async fn check<P: Requirement>(tx: &Tx, caller: &Caller<P>, list: &str, wanted: &[Grant]) -> Result<()> {
    let role_ids: BTreeSet<Uuid> = wanted.iter().map(|grant| grant.role_id).collect();
    let known = living::<role::Entity>(tx, role_ids.iter().copied()).await?;
    let stores = living::<store::Entity>(tx, wanted.iter().filter_map(|grant| grant.store_id)).await?;
    let mut check = Check::default();
    check.that(wanted.len() <= MOST, list, "has too many entries");
    for (index, grant) in wanted.iter().enumerate() {
        let of = |name: &str| if list.is_empty() { name.to_owned() } else { format!("{list}[{index}].{name}") };
        check.that(known.contains(&grant.role_id), &of("roleId"), "is no role").that(
            grant.store_id.is_none_or(|id| stores.contains(&id)),
            &of("storeId"),
            "is no store",
        );
    }
    check.finish()?;
    let codes = codes_of(tx, role_ids).await?;
    for grant in wanted {
        grants::refuse_escalation(caller, codes.get(&grant.role_id).into_iter().flatten(), grant.store_id)?;
        refuse_outside(caller, grant.store_id)?;
    }
    Ok(())
}

/// Adds assignments that were checked; their ids.
pub(super) async fn insert(tx: &mut Tx, user_id: Uuid, wanted: &[Grant], now: Instant) -> Result<Vec<Uuid>> {
    let rows: Vec<Model> = wanted
        .iter()
        .map(|grant| Model {
            id: Uuid::now_v7(),
            created_at: now,
            updated_at: now,
            user_id,
            role_id: grant.role_id,
            store_id: grant.store_id,
            ..Model::default()
        })
        .collect();
    let ids = rows.iter().map(|row| row.id).collect();
    tx.insert_all::<Entity>(rows).await?;
    Ok(ids)
}

async fn touch_user(tx: &mut Tx, id: Uuid) -> Result<()> {
    tx.update::<user::Entity>(|people| people.filter(user::Column::Id.eq(id))).await?;
    Ok(())
}
