//! Versions: the order in which stores learn of changes. See `docs/sync.md`, rule D1.
//!
//! A row is written with version [`UNSTAMPED`]; as the last thing before the commit each type's counter is raised by
//! the number of such rows, and each row gets a version of its own. The counter's row lock is held until the commit,
//! so versions become visible in the order in which they were given.

use std::collections::BTreeMap;

use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter};
use uuid::Uuid;

use crate::Tx;
use crate::db::{Change, Row, execute, placeholders, query};
use crate::entity::sync_counter;
use crate::registry::{self, Scope, SyncType};

/// The version of a row that its transaction has not stamped yet; never visible outside of it.
pub const UNSTAMPED: i64 = 0;
/// The scope of a counter that is not kept per store.
const EVERYWHERE: Uuid = Uuid::nil();

pub(crate) async fn stamp(
    conn: &impl ConnectionTrait,
    entity: &SyncType,
    changes: &mut Vec<Change>,
) -> Result<(), DbErr> {
    let (name, table) = (entity.name, entity.table.name());
    if entity.whole {
        let raised = query(
            conn,
            "INSERT INTO sync_counters (entity_type, scope, value) VALUES ($1, $2, 1) \
             ON CONFLICT (entity_type, scope) DO UPDATE SET value = sync_counters.value + 1 RETURNING value",
            [name.into(), EVERYWHERE.into()],
        )
        .await?;
        changes.extend(raised.iter().filter_map(|row| Some(change(name, None, row.try_get("", "value").ok()?))));
        return Ok(());
    }
    let parties = match entity.scope {
        Scope::Parties => {
            let sql = format!(
                "SELECT from_store_id AS s FROM {table} WHERE sync_version = {UNSTAMPED} \
                 UNION SELECT to_store_id FROM {table} WHERE sync_version = {UNSTAMPED}"
            );
            query(conn, &sql, []).await?
        }
        Scope::Everyone | Scope::Store => Vec::new(),
    };
    let by_store = entity.scope == Scope::Store;
    // The nil scope is bound where the type has one counter, and left out where each store has its own.
    let values = || [Some(name.into()), (!by_store).then(|| EVERYWHERE.into())].into_iter().flatten();
    let raise = format!(
        "INSERT INTO sync_counters (entity_type, scope, value) \
         SELECT $1, {scope}, COUNT(*) FROM {table} WHERE sync_version = {UNSTAMPED} {group} \
         HAVING COUNT(*) > 0 ORDER BY 2 \
         ON CONFLICT (entity_type, scope) DO UPDATE SET value = sync_counters.value + excluded.value \
         RETURNING scope, value",
        scope = if by_store { "store_id" } else { "$2" },
        group = if by_store { "GROUP BY store_id" } else { "" },
    );
    let raised = query(conn, &raise, values()).await?;
    if raised.is_empty() {
        return Ok(());
    }
    let (partition, column, join) = if by_store {
        ("PARTITION BY store_id", "store_id,", "c.scope = r.store_id")
    } else {
        ("", "", "c.scope = $2")
    };
    let stamp = format!(
        "UPDATE {table} SET sync_version = c.value - r.n + r.i \
         FROM (SELECT id, {column} ROW_NUMBER() OVER ({partition} ORDER BY id) AS i, \
               COUNT(*) OVER ({partition}) AS n FROM {table} WHERE sync_version = {UNSTAMPED}) r \
         JOIN sync_counters c ON c.entity_type = $1 AND {join} WHERE {table}.id = r.id"
    );
    execute(conn, &stamp, values()).await?;
    let head = |row: &Row| Ok::<_, DbErr>((row.try_get::<Uuid>("", "scope")?, row.try_get::<i64>("", "value")?));
    for row in &raised {
        let (scope, version) = head(row)?;
        match entity.scope {
            Scope::Everyone => changes.push(change(name, None, version)),
            Scope::Store => changes.push(change(name, Some(scope), version)),
            Scope::Parties => {
                for party in &parties {
                    changes.push(change(name, Some(party.try_get("", "s")?), version));
                }
            }
        }
    }
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

/// Gives these rows of `entity` a new version with the commit, so that stores pull them again.
pub async fn unstamp(tx: &mut Tx, entity: &SyncType, ids: &[Uuid]) -> Result<(), DbErr> {
    for chunk in ids.chunks(1000) {
        let sql = format!(
            "UPDATE {} SET sync_version = {UNSTAMPED} WHERE id IN ({})",
            entity.table.name(),
            placeholders(1, chunk.len())
        );
        execute(tx, &sql, chunk.iter().map(|id| (*id).into())).await?;
    }
    tx.touch(entity.name);
    Ok(())
}
