//! The addresses that alerts or sales are posted to.

use std::collections::HashMap;

use sea_orm::sea_query::OnConflict;
use sea_orm::{ConnectionTrait, DbErr, EntityTrait, IntoActiveModel, PaginatorTrait, QueryOrder, QuerySelect};
use uuid::Uuid;

use super::deliveries;
use crate::Tx;
use crate::db::execute;
use crate::entity::alert_hook::{Column, Entity, Model};
use crate::entity::alert_hook_store;
use crate::sql::bulk;

/// What a hook is told.
pub const ALERTS: &str = "alerts";
pub const SALES: &str = "sales";

/// All of them, the oldest first.
pub async fn all(conn: &impl ConnectionTrait) -> Result<Vec<Model>, DbErr> {
    Entity::find().order_by_asc(Column::CreatedAt).order_by_asc(Column::Id).all(conn).await
}

pub async fn count(conn: &impl ConnectionTrait) -> Result<u64, DbErr> {
    Entity::find().count(conn).await
}

pub async fn find(conn: &impl ConnectionTrait, id: Uuid) -> Result<Option<Model>, DbErr> {
    Entity::find_by_id(id).one(conn).await
}

/// As [`find`], and no other transaction changes it before this one ends.
pub async fn find_to_change(tx: &Tx, id: Uuid) -> Result<Option<Model>, DbErr> {
    Entity::find_by_id(id).lock_exclusive().one(tx).await
}

pub async fn add(tx: &Tx, hook: Model) -> Result<(), DbErr> {
    Entity::insert(hook.into_active_model()).exec_without_returning(tx).await?;
    Ok(())
}

/// Writes what people set of a hook. What waits for one that is no longer in use is given up.
pub async fn change(tx: &Tx, hook: Model) -> Result<(), DbErr> {
    let (id, is_active) = (hook.id, hook.is_active);
    let set = [
        Column::UpdatedAt,
        Column::Url,
        Column::Secret,
        Column::Kinds,
        Column::AllStores,
        Column::IsActive,
        Column::Version,
        Column::SendingTo,
        Column::EventId,
        Column::DueAt,
    ];
    Entity::insert(hook.into_active_model())
        .on_conflict(OnConflict::column(Column::Id).update_columns(set).to_owned())
        .exec_without_returning(tx)
        .await?;
    if is_active { Ok(()) } else { deliveries::give_up_of(tx, id).await }
}

/// The stores of which each hook is told the sales, by their ids; one that is told of all has none.
pub async fn stores(conn: &impl ConnectionTrait) -> Result<HashMap<Uuid, Vec<Uuid>>, DbErr> {
    use alert_hook_store::{Column, Entity};
    let mut stores: HashMap<Uuid, Vec<Uuid>> = HashMap::new();
    for row in Entity::find().order_by_asc(Column::StoreId).all(conn).await? {
        stores.entry(row.hook_id).or_default().push(row.store_id);
    }
    Ok(stores)
}

/// Sets of which stores a hook is told the sales.
pub async fn set_stores(tx: &Tx, hook_id: Uuid, stores: &[Uuid]) -> Result<(), DbErr> {
    execute(tx, "DELETE FROM alert_hook_stores WHERE hook_id = $1", [hook_id.into()]).await?;
    let rows = stores.iter().map(|store_id| alert_hook_store::Model { hook_id, store_id: *store_id }).collect();
    bulk::insert::<alert_hook_store::Entity>(tx, rows, None).await?;
    Ok(())
}

/// Removes a hook with what was on its way to it; false when there is none.
pub async fn remove(tx: &Tx, id: Uuid) -> Result<bool, DbErr> {
    deliveries::remove_of(tx, id).await?;
    set_stores(tx, id, &[]).await?;
    Ok(execute(tx, "DELETE FROM alert_hooks WHERE id = $1", [id.into()]).await? > 0)
}
