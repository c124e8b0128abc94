//! Versions: the order in which stores learn of changes. See `docs/sync.md`, rule D1.
//!
//! A row is written with version [`UNSTAMPED`]; as the last thing before the commit each type's counter is raised by
//! the number of such rows, and each row gets a version of its own. The counter's row lock is held until the commit,
//! so versions become visible in the order in which they were given.

use std::collections::BTreeMap;

use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, Value};
use uuid::Uuid;

use crate::db::{Row, execute, query};
use crate::entity::sync_counter;
use crate::registry::{self, Scope, SyncType};

/// The version of a row that its transaction has not stamped yet; never visible outside of it.
pub const UNSTAMPED: i64 = 0;
/// The scope of a counter that is not kept per store.
const EVERYWHERE: Uuid = Uuid::nil();

/// Something that stores can now pull.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    pub entity_type: &'static str,
    /// The one store concerned; `None` is all of them.
    pub store: Option<Uuid>,
    /// The new head of the type in that scope.
    pub version: i64,
    /// The tag of that head, where whoever tells of the change knows it.
    pub tag: Option<Uuid>,
}

/// Gives a version to each row of `entity` that has none, and tells of the new heads in `changes`.
pub(crate) async fn stamp(
    conn: &impl ConnectionTrait,
    entity: &SyncType,
    changes: &mut Vec<Change>,
) -> Result<(), DbErr> {
    let name = entity.name;
    if entity.replace_all {
        changes.push(change(name, None, raise_whole(conn, name).await?));
        return Ok(());
    }
    let parties = if entity.scope == Scope::Parties { parties(conn, entity).await? } else { Vec::new() };
    let raised = raise(conn, entity).await?;
    if raised.is_empty() {
        return Ok(());
    }
    number(conn, entity).await?;
    for (scope, version) in raised {
        match entity.scope {
            Scope::Everyone => changes.push(change(name, None, version)),
            Scope::Store => changes.push(change(name, Some(scope), version)),
            Scope::Parties => changes.extend(parties.iter().map(|party| change(name, Some(*party), version))),
        }
    }
    Ok(())
}

/// Raises the counter of a type that is pulled whole; its new value.
async fn raise_whole(conn: &impl ConnectionTrait, name: &str) -> Result<i64, DbErr> {
    let sql = "INSERT INTO sync_counters (entity_type, scope, value) VALUES ($1, $2, 1) \
               ON CONFLICT (entity_type, scope) DO UPDATE SET value = sync_counters.value + 1 RETURNING value";
    let raised = query(conn, sql, [name.into(), EVERYWHERE.into()]).await?;
    let raised = raised.first().ok_or_else(|| DbErr::Custom(format!("the counter of {name} was not raised")))?;
    raised.try_get("", "value")
}

/// The stores that are concerned by rows without a version.
async fn parties(conn: &impl ConnectionTrait, entity: &SyncType) -> Result<Vec<Uuid>, DbErr> {
    let table = entity.table.name();
    let sql = format!(
        "SELECT from_store_id AS s FROM {table} WHERE sync_version = {UNSTAMPED} \
         UNION SELECT to_store_id FROM {table} WHERE sync_version = {UNSTAMPED}"
    );
    query(conn, &sql, []).await?.iter().map(|row| row.try_get("", "s")).collect()
}

/// What is bound in the statements about `entity`: the nil scope where the type has one counter, and none where each store has
/// its own.
fn values(entity: &SyncType) -> impl Iterator<Item = Value> {
    let everywhere = (entity.scope != Scope::Store).then(|| EVERYWHERE.into());
    [Some(entity.name.into()), everywhere].into_iter().flatten()
}

/// Raises the counters by the number of rows without a version; the new value in each scope.
async fn raise(conn: &impl ConnectionTrait, entity: &SyncType) -> Result<Vec<(Uuid, i64)>, DbErr> {
    let (scope, group) = if entity.scope == Scope::Store { ("store_id", "GROUP BY store_id") } else { ("$2", "") };
    let sql = format!(
        "INSERT INTO sync_counters (entity_type, scope, value) \
         SELECT $1, {scope}, COUNT(*) FROM {table} WHERE sync_version = {UNSTAMPED} {group} \
         HAVING COUNT(*) > 0 ORDER BY 2 \
         ON CONFLICT (entity_type, scope) DO UPDATE SET value = sync_counters.value + excluded.value \
         RETURNING scope, value",
        table = entity.table.name(),
    );
    let head = |row: &Row| Ok((row.try_get("", "scope")?, row.try_get("", "value")?));
    query(conn, &sql, values(entity)).await?.iter().map(head).collect()
}

/// Numbers the rows without a version, up to the new value of their counter.
async fn number(conn: &impl ConnectionTrait, entity: &SyncType) -> Result<(), DbErr> {
    let table = entity.table.name();
    let (partition, column, join) = if entity.scope == Scope::Store {
        ("PARTITION BY store_id", "store_id,", "c.scope = r.store_id")
    } else {
        ("", "", "c.scope = $2")
    };
    let sql = format!(
        "UPDATE {table} SET sync_version = c.value - r.n + r.i \
         FROM (SELECT id, {column} ROW_NUMBER() OVER ({partition} ORDER BY id) AS i, \
               COUNT(*) OVER ({partition}) AS n FROM {table} WHERE sync_version = {UNSTAMPED}) r \
         JOIN sync_counters c ON c.entity_type = $1 AND {join} WHERE {table}.id = r.id"
    );
    execute(conn, &sql, values(entity)).await?;
    Ok(())
}

const fn change(entity_type: &'static str, store: Option<Uuid>, version: i64) -> Change {
    Change { entity_type, store, version, tag: None }
}

/// The head of every type, by scope; the nil scope is everywhere.
pub async fn heads(conn: &impl ConnectionTrait) -> Result<BTreeMap<(String, Uuid), i64>, DbErr> {
    let rows = sync_counter::Entity::find().all(conn).await?;
    Ok(rows.into_iter().map(|row| ((row.entity_type, row.scope), row.value)).collect())
}

/// The heads in the scope of one store, as the database has them now.
pub async fn heads_of_store(conn: &impl ConnectionTrait, store: Uuid) -> Result<BTreeMap<String, i64>, DbErr> {
    let rows = sync_counter::Entity::find().filter(sync_counter::Column::Scope.is_in([EVERYWHERE, store]));
    let known: BTreeMap<(String, Uuid), i64> =
        rows.all(conn).await?.into_iter().map(|row| ((row.entity_type, row.scope), row.value)).collect();
    Ok(registry::pulled()
        .map(|entity| {
            let key = (entity.name.to_owned(), registry::counter_scope(entity, store));
            let head = known.get(&key).copied().unwrap_or_default();
            (key.0, head)
        })
        .collect())
}
