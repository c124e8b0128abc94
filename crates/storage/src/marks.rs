//! Marks: random ids that HQ writes into its database now and then while it changes, and that every store is told of. A
//! plain file copy of the database that is put back does not know the marks that stores have seen since, so that it is
//! noticed although it kept its epoch. `docs/sync.md`, rule D8.

use sea_orm::{ActiveModelTrait, ConnectionTrait, DbErr, EntityTrait, IntoActiveModel, QueryOrder};
use tillkeep_model::Instant;
use uuid::Uuid;

use crate::Tx;
use crate::db::execute;
use crate::entity::sync_mark::{Column, Entity, Model};

/// The newest mark, if there is one.
pub async fn newest(conn: &impl ConnectionTrait) -> Result<Option<Uuid>, DbErr> {
    let row = Entity::find().order_by_desc(Column::At).order_by_desc(Column::Id).one(conn).await?;
    Ok(row.map(|row| row.id))
}

/// Whether this database has made `mark`.
pub async fn knows(conn: &impl ConnectionTrait, mark: Uuid) -> Result<bool, DbErr> {
    Ok(Entity::find_by_id(mark).one(conn).await?.is_some())
}

/// Makes a mark, and forgets those that are so old that whoever still has one may load anew.
pub async fn make(tx: &Tx, now: Instant, forget_before: Instant) -> Result<Uuid, DbErr> {
    let id = Uuid::now_v7();
    Model { id, at: now }.into_active_model().insert(tx).await?;
    execute(tx, "DELETE FROM sync_marks WHERE at < $1", [forget_before.into()]).await?;
    Ok(id)
}
