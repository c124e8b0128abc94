//! Requests that carry a key of their client's making. The key is a row in the transaction of what the request did, so
//! that a repetition finds it whatever became of the answer: here are these rows. While a request is being answered its server has
//! a claim on the key, as another server cannot see what is not committed.

use std::time::Duration;

use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter};
use tillkeep_model::Instant;

use super::keyed_request::current;
use super::pools::Writers;
use crate::Db;
pub use crate::database::keyed_request::{KeyedRequest, Outcome, aside, is_taken, within};
use crate::db::execute;
use crate::entity::idempotency_key::{Column, Entity, Model};

/// Claims the key of a request before anything is done: false when a request with it is being answered, at whichever server. A
/// file has one server, which knows that by itself.
///
/// It lasts so long when its server dies with it. A request that takes longer than that, and the one that came after it, are told
/// apart by the key in their commits.
pub async fn claim(db: &Db, keyed: &KeyedRequest, lasts: Duration) -> Result<bool, DbErr> {
    let Writers::Postgres(conn) = db.writers() else { return Ok(true) };
    let sql = "INSERT INTO idempotency_claims (id, holder, expires_at) \
               VALUES ($1, $2, CURRENT_TIMESTAMP + $3 * INTERVAL '1 millisecond') ON CONFLICT (id) DO UPDATE \
               SET holder = excluded.holder, expires_at = excluded.expires_at \
               WHERE idempotency_claims.expires_at <= CURRENT_TIMESTAMP";
    let millis = i64::try_from(lasts.as_millis()).unwrap_or(i64::MAX);
    // A statement by itself is a transaction, and one way to the database and back.
    Ok(execute(conn, sql, [keyed.id.as_str().into(), keyed.holder.into(), millis.into()]).await? == 1)
}

/// Gives the claim of a request back that was answered, unless another one has it meanwhile.
pub async fn give_back(db: &Db, keyed: &KeyedRequest) -> Result<(), DbErr> {
    let Writers::Postgres(conn) = db.writers() else { return Ok(()) };
    let sql = "DELETE FROM idempotency_claims WHERE id = $1 AND holder = $2";
    execute(conn, sql, [keyed.id.as_str().into(), keyed.holder.into()]).await?;
    Ok(())
}

/// Removes the claims of servers that died.
pub async fn prune_claims(db: &Db) -> Result<(), DbErr> {
    let Writers::Postgres(conn) = db.writers() else { return Ok(()) };
    execute(conn, "DELETE FROM idempotency_claims WHERE expires_at <= CURRENT_TIMESTAMP", []).await?;
    Ok(())
}

/// Writes the key of a request of which the work went [`aside`].
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
