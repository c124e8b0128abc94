//! Gapless counters, raised inside the transaction of the document that takes the number.

use std::collections::BTreeMap;

use sea_orm::{ConnectionTrait, DbErr, EntityTrait};

use crate::db::{execute, query};
use crate::entity::number_series;

/// The next number of `name` (`receipt:02`, `session:02`, `customer`, `outbox`), from 1.
pub async fn next(conn: &impl ConnectionTrait, name: &str) -> Result<i64, DbErr> {
    take(conn, name, 1).await
}

/// The last of the next `count` numbers of `name`.
pub async fn take(conn: &impl ConnectionTrait, name: &str, count: i64) -> Result<i64, DbErr> {
    let sql = "INSERT INTO number_series (name, last_value) VALUES ($1, $2) \
               ON CONFLICT (name) DO UPDATE SET last_value = number_series.last_value + excluded.last_value \
               RETURNING last_value";
    let row = query(conn, sql, [name.into(), count.into()]).await?;
    row.first().ok_or_else(|| DbErr::RecordNotFound(name.to_owned()))?.try_get("", "last_value")
}

/// Raises `name` to at least `value`: a store restored from an old copy must not give a number twice.
pub async fn raise(conn: &impl ConnectionTrait, name: &str, value: i64) -> Result<u64, DbErr> {
    let sql = "INSERT INTO number_series (name, last_value) VALUES ($1, $2) \
               ON CONFLICT (name) DO UPDATE SET last_value = excluded.last_value \
               WHERE number_series.last_value < excluded.last_value";
    execute(conn, sql, [name.into(), value.into()]).await
}

/// The last number of every series.
pub async fn all(conn: &impl ConnectionTrait) -> Result<BTreeMap<String, i64>, DbErr> {
    let rows = number_series::Entity::find().all(conn).await?;
    Ok(rows.into_iter().map(|row| (row.name, row.last_value)).collect())
}
