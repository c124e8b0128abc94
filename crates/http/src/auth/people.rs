//! Who may see whom, and who may act on whom.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tillkeep_model::ErrorCode;
use tillkeep_model::permission::Requirement;
use tillkeep_storage::DbErr;
use tillkeep_storage::entity::{user, user_store_role};
use tillkeep_storage::registry::fold;
use tillkeep_storage::sea_orm::sea_query::SelectStatement;
use tillkeep_storage::sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QuerySelect, QueryTrait, Select};
use uuid::Uuid;

use super::{Access, Auth, Caller};
use crate::error::{Error, Result};
use crate::names::normal;

/// The users with a role in one of `stores`, and with one that counts in all of them if `or_all`.
pub(crate) fn staff(stores: impl IntoIterator<Item = Uuid>, or_all: bool) -> SelectStatement {
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

/// Who has this name, as it is kept now or as it was typed: release 0.1.0 kept it so.
pub(crate) async fn of_name(auth: &Auth, typed: &str) -> std::result::Result<Option<user::Model>, DbErr> {
    let (kept, folded) = (fold(&normal(typed)), fold(typed));
    let found = user::Entity::find()
        .filter(user::Column::UsernameFolded.is_in([kept.as_str(), folded.as_str()]))
        .filter(user::Column::DeletedAt.is_null())
        .all(auth.db.reader())
        .await?;
    Ok(found.into_iter().max_by_key(|user| user.username_folded == folded))
}

/// Cuts users to those of the caller's stores.
pub fn visible<P: Requirement>(caller: &Caller<P>, select: Select<user::Entity>) -> Select<user::Entity> {
    match caller.stores() {
        None => select,
        Some(stores) => select.filter(user::Column::Id.in_subquery(staff(stores, false))),
    }
}

/// The user `id`; 404 for one outside the caller's stores.
pub async fn of_caller<P: Requirement>(caller: &Caller<P>, id: Uuid) -> Result<user::Model> {
    let select = user::Entity::find_by_id(id).filter(user::Column::DeletedAt.is_null());
    let found = visible(caller, select).one(caller.reader()).await?;
    found.ok_or_else(|| Error::not_found("user"))
}

/// A person whom the caller may see by the permission of the route; 404 for one outside of the caller's stores.
pub async fn person_of<P: Requirement>(caller: &Caller<P>, user_id: Uuid) -> Result<Arc<Access>> {
    of_caller(caller, user_id).await?;
    let person = caller.auth().access_of(user_id).await?;
    person.ok_or_else(|| Error::not_found("user"))
}

/// 403 when one of `codes` is not the caller's own in `store` (`None`: everywhere).
pub fn refuse_escalation<'a, P: Requirement>(
    caller: &Caller<P>,
    codes: impl IntoIterator<Item = &'a String>,
    store: Option<Uuid>,
) -> Result<()> {
    let held_there = |code: &str| match (caller.access.stores(&[code], caller.store_id), store) {
        (None, _) => true,
        (Some(stores), Some(store)) => stores.contains(&store),
        (Some(_), None) => false,
    };
    let missing: Vec<&String> = codes.into_iter().filter(|code| !held_there(code)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let text = "a user gives and takes only what they hold themselves, in the same stores";
    Err(Error::new(ErrorCode::Escalation, text).with("missing", missing))
}

/// Whoever sets a person's PIN can sign in as that person: 403 when that would be more than the caller holds. The same
/// goes for ending the sessions of a user who holds more.
pub fn refuse_impersonation<P: Requirement>(caller: &Caller<P>, person: &Access) -> Result<()> {
    if person.user.id == caller.user_id {
        return Ok(());
    }
    let mut by_store: BTreeMap<Option<Uuid>, BTreeSet<&String>> = BTreeMap::new();
    // At a store only the roles that count there: a store knows no others.
    for assignment in person.counting(caller.auth().home_store()) {
        by_store.entry(assignment.store_id).or_default().extend(assignment.codes.iter());
    }
    by_store.into_iter().try_for_each(|(store, codes)| refuse_escalation(caller, codes, store))
}
