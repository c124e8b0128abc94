//! Requests that carry a key of their client's making. The key is a row in the transaction of what the request did, so
//! that a repetition finds it whatever became of the answer: here are these rows.

use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter};
use tillkeep_model::Instant;

use crate::Db;
use crate::db::execute;
use crate::entity::idempotency_key::{Column, Entity, Model};
use crate::keyed_request::current;
pub use crate::keyed_request::{KeyedRequest, Outcome, aside, is_taken, within};

/// Writes the key of a request whose work went [`aside`].
pub async fn done(db: &Db) -> Result<(), DbErr> {
    if current().is_some() {
        db.begin().await?.commit().await?;
    }
    Ok(())
}

/// The row of a key that still counts.
pub async fn find(conn: &impl ConnectionTrait, id: &str, now: Instant) -> Result<Option<Model>, DbErr> {
    Entity::find_by_id(id.to_owned()).filter(Column::ExpiresAt.gt(now)).one(conn).await
}

/// Keeps the answer of a request that was done.
pub async fn keep_answer(db: &Db, id: &str, status: u16, answer: &str) -> Result<(), DbErr> {
    let tx = db.begin_aside().await?;
    let status = i16::try_from(status).ok();
    let sql = "UPDATE idempotency_keys SET status = $2, answer = $3 WHERE id = $1";
    execute(&tx, sql, [id.into(), status.into(), answer.into()]).await?;
    tx.commit().await?;
    Ok(())
}

/// Lets a key be tried again: its request was refused after all, and what it committed says no more than that.
pub async fn release(db: &Db, id: &str) -> Result<(), DbErr> {
    let tx = db.begin_aside().await?;
    Entity::delete_by_id(id.to_owned()).exec(&tx).await?;
    tx.commit().await?;
    Ok(())
}

/// Removes the keys that count no more.
pub async fn prune(conn: &impl ConnectionTrait, now: Instant) -> Result<u64, DbErr> {
    Ok(Entity::delete_many().filter(Column::ExpiresAt.lte(now)).exec(conn).await?.rows_affected)
}
