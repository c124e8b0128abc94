//! How far each receiver of sales is: the message that is under way to it, and when it is tried next. Until it was taken nothing behind
//! it goes out, and it is tried for good.

use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, Value};
use tillkeep_model::Instant;
use uuid::Uuid;

use super::deliveries::{Answer, IN_HAND_MS, note_answer, pause_ms};
use crate::Tx;
use crate::db::{execute, query};
use crate::entity::alert_hook::{Column, Entity, Model};

/// The longest wait from a try to the next one.
const LONGEST_PAUSE_MS: i64 = 5 * 60 * 1000;

/// When the next receiver may be told of something, of what has a place up to `head`.
pub async fn next_due(conn: &impl ConnectionTrait, head: i64) -> Result<Option<Instant>, DbErr> {
    let sql = "SELECT MIN(due_at) AS due FROM alert_hooks WHERE what = 'sales' AND is_active = TRUE AND told_to < $1";
    query(conn, sql, [head.into()]).await?.first().map_or(Ok(None), |row| row.try_get("", "due"))
}

/// Takes the receivers in hand that may be told of something now: no other server posts to them meanwhile.
pub async fn take(tx: &Tx, head: i64, now: Instant) -> Result<Vec<Model>, DbErr> {
    // Whoever waited for another one to take one finds it due no more.
    let sql = "UPDATE alert_hooks SET attempts = attempts + 1, due_at = $2 \
               WHERE what = 'sales' AND is_active = TRUE AND told_to < $3 AND due_at <= $1 RETURNING id";
    let rows = query(tx, sql, [now.into(), now.plus_millis(IN_HAND_MS).into(), head.into()]).await?;
    let ids: Vec<Uuid> = rows.iter().map(|row| row.try_get("", "id")).collect::<Result<_, _>>()?;
    Entity::find().filter(Column::Id.is_in(ids)).all(tx).await
}

/// Notes that the message `event_id`, up to the place `up_to`, is posted to `hook` from now on, at every try; false when that was
/// changed or told meanwhile.
pub async fn begin(tx: &Tx, hook: &Model, event_id: Uuid, up_to: i64) -> Result<bool, DbErr> {
    let sql = "UPDATE alert_hooks SET event_id = $2, sending_to = $3 \
               WHERE id = $1 AND event_id IS NULL AND told_to = $4 AND version = $5";
    let values: [Value; 5] = [hook.id.into(), event_id.into(), up_to.into(), hook.told_to.into(), hook.version.into()];
    Ok(execute(tx, sql, values).await? > 0)
}

/// Nothing up to the place `up_to` is for `hook`.
pub async fn pass(tx: &Tx, hook: &Model, up_to: i64, now: Instant) -> Result<(), DbErr> {
    let sql = "UPDATE alert_hooks SET told_to = $2, event_id = NULL, sending_to = NULL, attempts = 0, due_at = $3 \
               WHERE id = $1 AND told_to = $4 AND version = $5";
    let values: [Value; 5] = [hook.id.into(), up_to.into(), now.into(), hook.told_to.into(), hook.version.into()];
    execute(tx, sql, values).await?;
    Ok(())
}

/// Notes what came of a try of the message `event_id`, or of none where it could not be made: the next one may go, or this one is tried
/// again.
pub async fn settle(tx: &Tx, hook: &Model, event_id: Option<Uuid>, answer: &Answer, now: Instant) -> Result<(), DbErr> {
    if answer.is_good() {
        // Where somebody changed what it is told meanwhile, another message is made of the same.
        let sql = "UPDATE alert_hooks SET told_to = sending_to, event_id = NULL, sending_to = NULL, attempts = 0, due_at = $3 \
                   WHERE id = $1 AND event_id = $2";
        execute(tx, sql, [hook.id.into(), event_id.into(), now.into()]).await?;
    } else {
        let next = now.plus_millis(pause_ms(hook.attempts).min(LONGEST_PAUSE_MS));
        // Whoever changes a hook has it tried at once.
        let sql = "UPDATE alert_hooks SET due_at = $2 WHERE id = $1 AND told_to = $3 AND version = $4";
        let values: [Value; 4] = [hook.id.into(), next.into(), hook.told_to.into(), hook.version.into()];
        execute(tx, sql, values).await?;
    }
    note_answer(tx, hook.id, answer, hook.attempts, now).await
}
