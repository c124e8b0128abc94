//! Gapless counters, raised inside the transaction of the document that takes the number.

use std::collections::BTreeMap;

use sea_orm::{ConnectionTrait, DbErr, EntityTrait, Value};

use crate::db::{execute, placeholders, query};
use crate::entity::number_series;

/// The series of the outbox: the numbers of its entries, and the time of the last one in milliseconds since 1970.
pub const OUTBOX: &str = "outbox";
pub const OUTBOX_TIME: &str = "outbox_time";

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

/// The next number of each of `names`, and the next moment of the series `time`, which is `earliest` or one after its last:
/// all of it in one statement.
pub async fn next_at(
    conn: &impl ConnectionTrait,
    names: &[&str],
    time: &str,
    earliest: i64,
) -> Result<BTreeMap<String, i64>, DbErr> {
    let rows = names.iter().map(|name| (*name, 1)).chain([(time, earliest)]);
    let values: Vec<Value> = rows.flat_map(|(name, value)| [Value::from(name), value.into()]).collect();
    let tuples: Vec<String> = (0..=names.len()).map(|row| format!("({})", placeholders(2 * row + 1, 2))).collect();
    let sql = format!(
        "INSERT INTO number_series (name, last_value) VALUES {} ON CONFLICT (name) DO UPDATE SET last_value = \
         CASE WHEN number_series.name <> ${last} THEN number_series.last_value + excluded.last_value \
         WHEN number_series.last_value >= excluded.last_value THEN number_series.last_value + 1 \
         ELSE excluded.last_value END RETURNING name, last_value",
        tuples.join(", "),
        last = values.len() - 1,
    );
    let found = query(conn, &sql, values).await?;
    found.iter().map(|row| Ok((row.try_get("", "name")?, row.try_get("", "last_value")?))).collect()
}

/// Raises `name` to at least `value`: a store restored from an old copy must not give a number twice.
pub async fn raise(conn: &impl ConnectionTrait, name: &str, value: i64) -> Result<u64, DbErr> {
    let sql = "INSERT INTO number_series (name, last_value) VALUES ($1, $2) \
               ON CONFLICT (name) DO UPDATE SET last_value = excluded.last_value \
               WHERE number_series.last_value < excluded.last_value";
    execute(conn, sql, [name.into(), value.into()]).await
}

/// `name` goes on after `value`, whatever it was.
pub async fn set(conn: &impl ConnectionTrait, name: &str, value: i64) -> Result<(), DbErr> {
    let sql = "INSERT INTO number_series (name, last_value) VALUES ($1, $2) \
               ON CONFLICT (name) DO UPDATE SET last_value = excluded.last_value";
    execute(conn, sql, [name.into(), value.into()]).await?;
    Ok(())
}

/// The last number of `name`; 0 before the first.
pub async fn last(conn: &impl ConnectionTrait, name: &str) -> Result<i64, DbErr> {
    let rows = query(conn, "SELECT last_value FROM number_series WHERE name = $1", [name.into()]).await?;
    rows.first().map_or(Ok(0), |row| row.try_get("", "last_value"))
}

/// The last number of every series.
pub async fn all(conn: &impl ConnectionTrait) -> Result<BTreeMap<String, i64>, DbErr> {
    let rows = number_series::Entity::find().all(conn).await?;
    Ok(rows.into_iter().map(|row| (row.name, row.last_value)).collect())
}
