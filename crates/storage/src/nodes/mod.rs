//! What HQ knows of the installation behind a store: its database's identity, its ticket, its clock, its outbox.

mod heard;
mod newer;
mod sent;
mod settled;

use std::collections::HashMap;

use sea_orm::sea_query::{Expr, OnConflict};
use sea_orm::{ConnectionTrait, DbErr, EntityTrait, IdenStatic, IntoActiveModel, Iterable, QuerySelect};
use tillkeep_model::Instant;
use uuid::Uuid;

use crate::Tx;
use crate::db::{execute, query};
use crate::entity::store_node::{ASKS_NEVER, Column, Entity, Model};
pub use heard::{Heard, Line, Said, hear};
pub use sent::{epochs, lacks_recent, long_kept, lowest_missing, numbers_twice};
pub use settled::{Settled, acknowledged, never_refused, to_acknowledge};

pub async fn find(conn: &impl ConnectionTrait, store: Uuid) -> Result<Option<Model>, DbErr> {
    Entity::find_by_id(store).one(conn).await
}

/// All of them by store, as they are shown, without the texts that handshakes alone ask for: those are most of a row.
pub async fn shown(conn: &impl ConnectionTrait) -> Result<HashMap<Uuid, Model>, DbErr> {
    let is_left_out = |column: &Column| {
        use Column::{Fingerprints, LastTicket, NodeEpoch, Processes, StoreVersion, Ticket, ToldFingerprints};
        matches!(column, NodeEpoch | Ticket | LastTicket | StoreVersion | Fingerprints | ToldFingerprints | Processes)
    };
    let mut select = Entity::find().select_only().columns(Column::iter().filter(|column| !is_left_out(column)));
    for column in Column::iter().filter(is_left_out) {
        select = select.expr_as(Expr::cust("CAST('' AS TEXT)"), column.as_str());
    }
    Ok(select.all(conn).await?.into_iter().map(|row| (row.store_id, row)).collect())
}

/// The tickets of handshakes that are good, the newest one last.
pub fn tickets(node: &Model) -> Vec<&str> {
    node.last_ticket.split(' ').chain([node.ticket.as_str()]).filter(|ticket| !ticket.is_empty()).collect()
}

/// Writes the row, but what [`hear`], [`note_processes`] and [`crate::pin_keys`] write: that only where there was no row.
pub async fn save(conn: &impl ConnectionTrait, row: Model) -> Result<(), DbErr> {
    // A handshake that read the row a moment ago must not undo what was heard since.
    let heard = |column: &Column| {
        use Column::{
            Alarms, ConnectedNode, ConnectionAt, DeadLettered, EndedBecause, HeartbeatAt, LastSeenAt, OldestPendingAt,
            OutboxAt, OutboxPending, PinKeyAskedAt, PinKeyClosed, PinKeyFor, ProcessHeardAt, Processes, UptimeMs,
        };
        matches!(
            column,
            LastSeenAt
                | OutboxPending
                | DeadLettered
                | OldestPendingAt
                | Alarms
                | OutboxAt
                | EndedBecause
                | ConnectionAt
                | Processes
                | ConnectedNode
                | HeartbeatAt
                | UptimeMs
                | PinKeyAskedAt
                | PinKeyClosed
                | PinKeyFor
                | ProcessHeardAt
        )
    };
    let update = Column::iter().filter(|column| !matches!(column, Column::StoreId) && !heard(column));
    Entity::insert(row.into_active_model())
        .on_conflict(OnConflict::column(Column::StoreId).update_columns(update).to_owned())
        .exec_without_returning(conn)
        .await?;
    Ok(())
}

/// Whether `store` knows that what it sent is to wait, and tries it again: release 0.1.0 and whoever speaks the specification alone
/// take that for a refusal.
pub async fn knows_to_wait(conn: &impl ConnectionTrait, store: Uuid) -> Result<bool, DbErr> {
    let node = find(conn, store).await?;
    // Whoever asked once who signs in knows it, whatever release a later handshake names: whoever stole the token would name one.
    let knows = |node: Model| {
        let is_named = !node.store_version.is_empty() && !node.store_version.starts_with("0.1.");
        is_named || node.sign_in != ASKS_NEVER
    };
    Ok(node.is_some_and(knows))
}

/// The processes of each store, as text.
pub async fn processes(conn: &impl ConnectionTrait) -> Result<Vec<(Uuid, String)>, DbErr> {
    let sql = "SELECT store_id, processes FROM store_nodes WHERE processes <> ''";
    let rows = query(conn, sql, []).await?;
    rows.iter().map(|row| Ok((row.try_get("", "store_id")?, row.try_get("", "processes")?))).collect()
}

/// The same of stores that shook hands since then.
pub async fn processes_since(conn: &impl ConnectionTrait, since: Instant) -> Result<Vec<(Uuid, String)>, DbErr> {
    let sql = "SELECT store_id, processes FROM store_nodes WHERE processes <> '' AND handshake_at >= $1";
    let rows = query(conn, sql, [since.into()]).await?;
    rows.iter().map(|row| Ok((row.try_get("", "store_id")?, row.try_get("", "processes")?))).collect()
}

/// The same of one store, which no other server notes meanwhile.
pub async fn locked_processes(tx: &Tx, store: Uuid) -> Result<String, DbErr> {
    let row = Entity::find_by_id(store).lock_exclusive().one(tx).await?;
    Ok(row.map(|row| row.processes).unwrap_or_default())
}

pub async fn note_processes(conn: &impl ConnectionTrait, store: Uuid, processes: &str) -> Result<(), DbErr> {
    execute(conn, "UPDATE store_nodes SET processes = $2 WHERE store_id = $1", [store.into(), processes.into()])
        .await?;
    Ok(())
}

/// Every store that is in use.
pub async fn stores(conn: &impl ConnectionTrait) -> Result<Vec<Uuid>, DbErr> {
    let sql = "SELECT id FROM stores WHERE deleted_at IS NULL";
    query(conn, sql, []).await?.iter().map(|row| row.try_get("", "id")).collect()
}
