//! Who may give what to whom. No user grows beyond what they hold, and the chain never loses its last administrator.

use std::collections::BTreeSet;

use tillkeep_http::Caller;
pub use tillkeep_http::auth::people::{refuse_escalation, refuse_impersonation};
use tillkeep_http::error::{Error, Result};
use tillkeep_model::permission::{ADMINISTRATOR, Requirement};
use tillkeep_model::{ErrorCode, ids};
use tillkeep_storage::Tx;
use tillkeep_storage::entity::{role, user, user_store_role};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QuerySelect, QueryTrait};
use uuid::Uuid;

/// The role that always holds everything.
pub fn administrator() -> Uuid {
    ids::role(ADMINISTRATOR)
}

/// 409 unless a user other than `user_id` is an active administrator of all stores.
pub async fn keep_an_administrator(tx: &Tx, user_id: Uuid) -> Result<()> {
    use user_store_role::Column;
    // The role is locked, so that two administrators do not remove each other at once.
    role::Entity::find_by_id(administrator()).lock_exclusive().one(tx).await?;
    let holders = user_store_role::Entity::find()
        .select_only()
        .column(Column::UserId)
        .filter(Column::RoleId.eq(administrator()))
        .filter(Column::StoreId.is_null())
        .filter(Column::DeletedAt.is_null());
    let others = user::Entity::find()
        .filter(user::Column::Id.ne(user_id))
        .filter(user::Column::IsActive.eq(true))
        .filter(user::Column::DeletedAt.is_null())
        .filter(user::Column::Id.in_subquery(holders.into_query()));
    if others.count(tx).await? > 0 {
        return Ok(());
    }
    Err(Error::new(ErrorCode::LastAdmin, "this is the last active administrator of all stores"))
}

/// Whether the user holds the Administrator role in all stores.
pub async fn is_administrator(tx: &Tx, user_id: Uuid) -> Result<bool> {
    use user_store_role::Column;
    let held = user_store_role::Entity::find()
        .filter(Column::UserId.eq(user_id))
        .filter(Column::RoleId.eq(administrator()))
        .filter(Column::StoreId.is_null())
        .filter(Column::DeletedAt.is_null());
    Ok(held.count(tx).await? > 0)
}

/// The stores where the caller may give roles away; `None` is all of them.
pub fn granting_stores<P: Requirement>(caller: &Caller<P>) -> Option<BTreeSet<Uuid>> {
    caller.access.stores(&["users.manage_roles"], caller.store_id)
}
