//! Look-up keys that headquarters made for its stores. Each takes a slow hash, so that what was made is kept.

use std::collections::HashMap;

use sea_orm::{ConnectionTrait, DbErr};
use uuid::Uuid;

use crate::db::{execute, query};
use crate::many::{execute_rows, find_in};

/// What a look-up is made from: a person, and the hash at headquarters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    pub id: Uuid,
    pub version: i64,
    pub hash: String,
}

/// A user's look-up, and the source that it was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    pub source: String,
    pub lookup: String,
}

/// Those of `people` with a PIN who come above the version `since`, as many as one page has, by rising version.
pub async fn above(conn: &impl ConnectionTrait, since: i64, limit: u64) -> Result<Vec<Person>, DbErr> {
    let sql = "SELECT id, sync_version, pin_hash FROM users WHERE sync_version > $1 AND pin_hash IS NOT NULL \
               ORDER BY sync_version LIMIT $2";
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = query(conn, sql, [since.into(), limit.into()]).await?;
    let person = |row: &crate::db::Row| -> Result<Person, DbErr> {
        Ok(Person {
            id: row.try_get("", "id")?,
            version: row.try_get("", "sync_version")?,
            hash: row.try_get("", "pin_hash")?,
        })
    };
    // A row that cannot be read is left out of the page as well.
    Ok(rows.iter().filter_map(|row| person(row).ok()).collect())
}

/// How many people come above `since` and below `before`.
pub async fn between(conn: &impl ConnectionTrait, since: i64, before: i64) -> Result<u64, DbErr> {
    let sql = "SELECT COUNT(*) AS number FROM users WHERE sync_version > $1 AND sync_version < $2";
    let rows = query(conn, sql, [since.into(), before.into()]).await?;
    let number: i64 = rows.first().map_or(Ok(0), |row| row.try_get("", "number"))?;
    Ok(u64::try_from(number).unwrap_or_default())
}

/// What was made of these people for `store`.
pub async fn made(
    conn: &impl ConnectionTrait,
    store: Uuid,
    people: impl IntoIterator<Item = Uuid>,
) -> Result<HashMap<Uuid, Made>, DbErr> {
    let sql = "SELECT user_id, source, lookup FROM store_lookups WHERE store_id = $1 AND user_id IN ($list)";
    let rows = find_in(conn, sql, &[store.into()], people).await?;
    let made = |row: &crate::db::Row| -> Result<(Uuid, Made), DbErr> {
        let made = Made { source: row.try_get("", "source")?, lookup: row.try_get("", "lookup")? };
        Ok((row.try_get("", "user_id")?, made))
    };
    rows.iter().map(made).collect()
}

/// Keeps what was made for `store`, and forgets what was made for people who have no role any more.
pub async fn keep(conn: &impl ConnectionTrait, store: Uuid, made: &[(Uuid, Made)]) -> Result<(), DbErr> {
    // In one order: of two servers that make the same neither waits for the other in a circle.
    let mut made: Vec<_> = made.iter().collect();
    made.sort_unstable_by_key(|(user_id, _)| *user_id);
    let rows = made.into_iter().map(|(user_id, made)| {
        [store.into(), (*user_id).into(), made.source.as_str().into(), made.lookup.as_str().into()]
    });
    let sql = "INSERT INTO store_lookups (store_id, user_id, source, lookup) VALUES $rows \
               ON CONFLICT (store_id, user_id) DO UPDATE SET source = excluded.source, lookup = excluded.lookup";
    execute_rows(conn, sql, &[], "(?, ?, ?, ?)", rows).await?;
    let sql = "DELETE FROM store_lookups WHERE store_id = $1 AND user_id NOT IN \
               (SELECT user_id FROM user_store_roles WHERE deleted_at IS NULL)";
    execute(conn, sql, [store.into()]).await?;
    Ok(())
}
