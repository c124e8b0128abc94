//! The servers of one headquarters, as their database knows them: each says every second that it runs, and one that says
//! nothing for 15 seconds is gone. The clock is that of the database.

use std::collections::{BTreeMap, HashMap};

use sea_orm::sea_query::OnConflict;
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbBackend, DbErr, EntityTrait, IntoActiveModel, Iterable, QueryFilter, QueryOrder,
};
use tillkeep_model::Instant;
use uuid::Uuid;

use crate::db::{Row, execute, query};
use crate::entity::hq_node::{Column, Entity, Model};

/// A server that was silent for so long holds no socket any more.
const GONE_AFTER_MS: i64 = 15_000;
/// The row of one that is gone stays for so long: it may have been paused, and what it holds is not let go at once.
const FORGET_AFTER_MS: i64 = 60_000;

/// The time of day by the clock of the database, which all servers share; on `SQLite` that of this machine is as good.
pub async fn time(conn: &impl ConnectionTrait, here: Instant) -> Result<Instant, DbErr> {
    if conn.get_database_backend() != DbBackend::Postgres {
        return Ok(here);
    }
    let sql = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS now";
    let rows = query(conn, sql, []).await?;
    let row = rows.first().ok_or_else(|| DbErr::Custom("the database does not say what time it is".to_owned()))?;
    Ok(Instant::from_millis(row.try_get("", "now")?))
}

/// Says that a server runs.
pub async fn beat(conn: &impl ConnectionTrait, row: Model) -> Result<(), DbErr> {
    let others = Column::iter().filter(|column| !matches!(column, Column::Id | Column::StartedAt));
    Entity::insert(row.into_active_model())
        .on_conflict(OnConflict::column(Column::Id).update_columns(others).to_owned())
        .exec_without_returning(conn)
        .await?;
    Ok(())
}

/// The servers that are not gone, the oldest first.
pub async fn alive(conn: &impl ConnectionTrait, now: Instant) -> Result<Vec<Model>, DbErr> {
    let since = now.plus_millis(-GONE_AFTER_MS);
    Entity::find()
        .filter(Column::HeardAt.gt(since))
        .order_by_asc(Column::StartedAt)
        .order_by_asc(Column::Id)
        .all(conn)
        .await
}

/// A server stops.
pub async fn leave(conn: &impl ConnectionTrait, id: Uuid) -> Result<(), DbErr> {
    Entity::delete_by_id(id).exec(conn).await?;
    Ok(())
}

/// Removes servers that are gone for long.
pub async fn forget(conn: &impl ConnectionTrait, now: Instant) -> Result<(), DbErr> {
    Entity::delete_many().filter(Column::HeardAt.lt(now.plus_millis(-FORGET_AFTER_MS))).exec(conn).await?;
    Ok(())
}

/// Of each type how many counters it has and what they add up to: another sum means that a head of it moved.
pub type Sums = BTreeMap<String, (i64, i64)>;

/// The sums of all types: one row for each, however many stores there are.
pub async fn sums(conn: &impl ConnectionTrait) -> Result<Sums, DbErr> {
    let sql = "SELECT entity_type, COUNT(*) AS counters, CAST(SUM(value) AS BIGINT) AS total FROM sync_counters \
               GROUP BY entity_type";
    let of =
        |row: &Row| Ok((row.try_get("", "entity_type")?, (row.try_get("", "counters")?, row.try_get("", "total")?)));
    query(conn, sql, []).await?.iter().map(of).collect()
}

/// Stores with sockets that another server than `here` took over since `since`, with that server and the moment.
pub async fn connected_elsewhere(
    conn: &impl ConnectionTrait,
    here: Uuid,
    since: Instant,
) -> Result<Vec<(Uuid, Uuid, Instant)>, DbErr> {
    let sql = "SELECT store_id, connected_node, connection_at FROM store_nodes \
               WHERE connection_at >= $2 AND connected_node <> $1";
    let of = |row: &Row| {
        Ok((row.try_get("", "store_id")?, row.try_get("", "connected_node")?, row.try_get("", "connection_at")?))
    };
    query(conn, sql, [here.into(), since.into()]).await?.iter().map(of).collect()
}

/// What the dashboard shows of a store that may have changed at another server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    node: Option<Uuid>,
    connection_at: Option<Instant>,
    pending: i64,
    dead_lettered: i64,
}

/// How the stores stand of which something was heard since `since`.
pub async fn standing_since(conn: &impl ConnectionTrait, since: Instant) -> Result<HashMap<Uuid, Shown>, DbErr> {
    let sql = "SELECT store_id, connected_node, connection_at, outbox_pending, dead_lettered FROM store_nodes \
               WHERE outbox_at >= $1 OR connection_at >= $1";
    let of = |row: &Row| {
        let shown = Shown {
            node: row.try_get("", "connected_node")?,
            connection_at: row.try_get("", "connection_at")?,
            pending: row.try_get("", "outbox_pending")?,
            dead_lettered: row.try_get("", "dead_lettered")?,
        };
        Ok((row.try_get("", "store_id")?, shown))
    };
    query(conn, sql, [since.into()]).await?.iter().map(of).collect()
}

/// The stores that servers held which do not run any more are connected to none.
pub async fn let_go(conn: &impl ConnectionTrait) -> Result<(), DbErr> {
    let sql = "UPDATE store_nodes SET connected_node = NULL WHERE connected_node IS NOT NULL \
               AND connected_node NOT IN (SELECT id FROM hq_nodes)";
    execute(conn, sql, []).await?;
    Ok(())
}

/// Stores with an entry that was settled, or a type to load again, that no handshake has named to them.
pub async fn stores_to_notify(conn: &impl ConnectionTrait) -> Result<Vec<Uuid>, DbErr> {
    let sql = "SELECT DISTINCT store_id FROM sync_log WHERE to_acknowledge AND (seq IS NOT NULL OR direction = 'pull') \
               AND told_in = ''";
    query(conn, sql, []).await?.iter().map(|row| row.try_get("", "store_id")).collect()
}
