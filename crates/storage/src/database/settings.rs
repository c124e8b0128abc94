//! Small facts of a database: its epoch, its node, its last contact.

use sea_orm::sea_query::OnConflict;
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbErr, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder, QuerySelect,
};

use crate::entity::sync_state::{Column, Entity, Model};

/// Random id of this database; a restore makes a new one. `docs/sync.md`, rule D8.
pub const EPOCH: &str = "epoch";
/// At headquarters: what new stores begin with.
pub const CHAIN: &str = "chain_defaults";
/// At headquarters: the accounts of the journal.
pub const ACCOUNTS: &str = "accounting_accounts";
/// At several servers of one headquarters: the ids of the keys that sign tokens, never the keys.
pub const PEOPLE_KEY: &str = "signing_key_people";
pub const SYNC_KEY: &str = "signing_key_sync";
/// At a store: the ticket of the last handshake.
pub const TICKET: &str = "hq_ticket";

pub async fn get(conn: &impl ConnectionTrait, key: &str) -> Result<Option<String>, DbErr> {
    Ok(Entity::find_by_id(key.to_owned()).one(conn).await?.map(|row| row.value))
}

/// The facts whose keys begin with `prefix`, in their order.
pub async fn beginning_with(conn: &impl ConnectionTrait, prefix: &str) -> Result<Vec<(String, String)>, DbErr> {
    let rows = Entity::find().filter(Column::Key.starts_with(prefix)).order_by_asc(Column::Key).all(conn).await?;
    // To SQL an underscore is any letter.
    let exact = rows.into_iter().filter(|row| row.key.starts_with(prefix));
    Ok(exact.map(|row| (row.key, row.value)).collect())
}

/// The id of this database.
pub async fn epoch(conn: &impl ConnectionTrait) -> Result<String, DbErr> {
    get(conn, EPOCH).await?.ok_or_else(|| DbErr::RecordNotFound(EPOCH.to_owned()))
}

pub async fn set(conn: &impl ConnectionTrait, key: &str, value: &str) -> Result<(), DbErr> {
    let row = Model { key: key.to_owned(), value: value.to_owned() };
    Entity::insert(row.into_active_model())
        .on_conflict(OnConflict::column(Column::Key).update_column(Column::Value).to_owned())
        .exec_without_returning(conn)
        .await?;
    Ok(())
}

/// The value of `key`, set to `make()` when there is none yet.
pub async fn get_or_set(
    conn: &impl ConnectionTrait,
    key: &str,
    make: impl FnOnce() -> String,
) -> Result<String, DbErr> {
    if let Some(value) = get(conn, key).await? {
        return Ok(value);
    }
    // Of several nodes that start at once the first one decides.
    let row = Model { key: key.to_owned(), value: make() };
    Entity::insert(row.into_active_model())
        .on_conflict(OnConflict::column(Column::Key).do_nothing().to_owned())
        .exec_without_returning(conn)
        .await?;
    get(conn, key).await?.ok_or_else(|| DbErr::RecordNotFound(key.to_owned()))
}

/// As [`get_or_set`], and no other transaction changes the value before this one ends.
pub async fn get_to_change(
    conn: &impl ConnectionTrait,
    key: &str,
    make: impl FnOnce() -> String,
) -> Result<String, DbErr> {
    get_or_set(conn, key, make).await?;
    let row = Entity::find_by_id(key.to_owned()).lock_exclusive().one(conn).await?;
    row.map(|row| row.value).ok_or_else(|| DbErr::RecordNotFound(key.to_owned()))
}
