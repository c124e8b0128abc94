//! Posts of alerts on their way to hooks: at least once, the events of an alert in their order, tried again for an hour.

use std::collections::HashMap;

use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QueryOrder, Value};
use tillkeep_model::Instant;
use uuid::Uuid;

use crate::Tx;
use crate::db::{execute, query};
use crate::entity::alert_delivery::{Column, Entity, Model};
use crate::entity::{alert, alert_hook};
use crate::sql::bulk;

/// The states of a post.
pub const WAITING: &str = "waiting";
pub const SENT: &str = "sent";
pub const GIVEN_UP: &str = "given_up";

/// A post is tried for so long, from the first try.
pub const TRIED_FOR_MS: i64 = 3600 * 1000;
/// Seconds from a try to the next one; the last of them from there on.
const PAUSES: [i64; 6] = [5, 15, 60, 180, 300, 600];
/// Other posts of a server that dies with this one in hand wait for it so long.
pub const IN_HAND_MS: i64 = 30_000;

/// A post to be tried, with where it goes.
#[derive(Clone, Debug)]
pub struct Due {
    pub post: Model,
    pub hook: alert_hook::Model,
}

/// What came of a try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Nothing without an answer.
    pub status: Option<u16>,
    /// How it began, or why there was none.
    pub text: String,
}

impl Answer {
    /// Whether it was taken.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.status.is_some_and(|status| (200..300).contains(&status))
    }
}

/// Milliseconds until a post that was tried so often in vain is tried again.
#[must_use]
pub fn pause_ms(attempts: i32) -> i64 {
    let place = usize::try_from(attempts - 1).unwrap_or_default().min(PAUSES.len() - 1);
    PAUSES[place] * 1000
}

/// Whether `hook` is told of this alert: it is of its kinds, and began when the hook was there.
fn hears(hook: &alert_hook::Model, alert: &alert::Model) -> bool {
    let kind = alert.kind.as_str();
    hook.id < alert.id
        && hook.kinds.0.as_array().is_some_and(|kinds| kinds.iter().any(|one| one.as_str() == Some(kind)))
}

/// Puts each of `events` on its way to those of `hooks` that hear of its kind; how many posts that are.
pub(super) async fn enqueue<'a>(
    tx: &Tx,
    events: impl Iterator<Item = (&'a alert::Model, Uuid, String)>,
    hooks: &[alert_hook::Model],
    now: Instant,
) -> Result<u64, DbErr> {
    let mut posts = Vec::new();
    for (alert, event_id, body) in events {
        posts.extend(hooks.iter().filter(|hook| hears(hook, alert)).map(|hook| Model {
            id: Uuid::now_v7(),
            event_id,
            alert_id: alert.id,
            hook_id: hook.id,
            created_at: now,
            state: WAITING.to_owned(),
            body: body.clone(),
            due_at: now,
            ..Model::default()
        }));
    }
    bulk::insert::<Entity>(tx, posts, None).await
}

/// Posts that may be tried, as `d`: for a hook that is in use, and of one alert and hook the oldest alone. Ids rise with time.
const TRIABLE: &str = "FROM alert_deliveries d JOIN alert_hooks h ON h.id = d.hook_id AND h.is_active = TRUE \
     WHERE d.state = 'waiting' AND NOT EXISTS (SELECT 1 FROM alert_deliveries o WHERE o.hook_id = d.hook_id \
     AND o.alert_id = d.alert_id AND o.state = 'waiting' AND o.id < d.id)";

/// Takes at most `most` posts in hand that are due: no other server tries them meanwhile.
pub async fn take(tx: &Tx, most: u64, now: Instant) -> Result<Vec<Due>, DbErr> {
    // Whoever waited for another one to take a post finds it due no more.
    let sql = format!(
        "UPDATE alert_deliveries SET attempts = attempts + 1, first_at = COALESCE(first_at, $1), due_at = $2 \
         WHERE state = 'waiting' AND due_at <= $1 AND id IN (SELECT d.id {TRIABLE} AND d.due_at <= $1 ORDER BY d.due_at, d.id LIMIT {most}) \
         RETURNING id"
    );
    let rows = query(tx, &sql, [now.into(), now.plus_millis(IN_HAND_MS).into()]).await?;
    let ids: Vec<Uuid> = rows.iter().map(|row| row.try_get("", "id")).collect::<Result<_, _>>()?;
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let posts = Entity::find().filter(Column::Id.is_in(ids)).order_by_asc(Column::Id).all(tx).await?;
    let hooks: HashMap<Uuid, alert_hook::Model> =
        alert_hook::Entity::find().all(tx).await?.into_iter().map(|hook| (hook.id, hook)).collect();
    let due = |post: Model| Some(Due { hook: hooks.get(&post.hook_id)?.clone(), post });
    Ok(posts.into_iter().filter_map(due).collect())
}

/// Notes what came of a try, at the post and at its hook: done, to be tried again, or given up after an hour.
pub async fn settle(tx: &Tx, post: &Model, answer: &Answer, now: Instant) -> Result<&'static str, DbErr> {
    let since = post.first_at.unwrap_or(now);
    let next = now.plus_millis(pause_ms(post.attempts));
    let state = if answer.is_good() {
        SENT
    } else if next.millis_since(since) >= TRIED_FOR_MS {
        GIVEN_UP
    } else {
        WAITING
    };
    let status = answer.status.map(i32::from);
    let sql = "UPDATE alert_deliveries SET state = $2, due_at = $3, last_at = $4, last_status = $5, last_text = $6 \
               WHERE id = $1 AND state = $7";
    let values: [Value; 7] = [
        post.id.into(),
        state.into(),
        next.into(),
        now.into(),
        status.into(),
        answer.text.as_str().into(),
        WAITING.into(),
    ];
    execute(tx, sql, values).await?;
    if state != SENT {
        // Other posts to a receiver that fails rest a moment: those to others go first.
        let rest = now.plus_millis(pause_ms(1));
        let sql = "UPDATE alert_deliveries SET due_at = $2 WHERE hook_id = $1 AND state = $3 AND due_at < $2";
        execute(tx, sql, [post.hook_id.into(), rest.into(), WAITING.into()]).await?;
    }
    note_answer(tx, post.hook_id, answer, post.attempts, now).await?;
    Ok(state)
}

/// Notes at a hook what it answered last, at the try of this number.
pub async fn note_answer(tx: &Tx, hook_id: Uuid, answer: &Answer, attempts: i32, now: Instant) -> Result<(), DbErr> {
    let status = answer.status.map(i32::from);
    let sql = "UPDATE alert_hooks SET last_at = $2, last_status = $3, last_text = $4, last_attempts = $5 WHERE id = $1";
    let values: [Value; 5] = [hook_id.into(), now.into(), status.into(), answer.text.as_str().into(), attempts.into()];
    execute(tx, sql, values).await?;
    Ok(())
}

/// When the next post that may be tried is due.
pub async fn next_due(conn: &impl ConnectionTrait) -> Result<Option<Instant>, DbErr> {
    let sql = format!("SELECT MIN(d.due_at) AS due {TRIABLE}");
    query(conn, &sql, []).await?.first().map_or(Ok(None), |row| row.try_get("", "due"))
}

/// The posts that were given up of each hook.
pub async fn given_up(conn: &impl ConnectionTrait) -> Result<HashMap<Uuid, i64>, DbErr> {
    counted(conn, GIVEN_UP).await
}

/// The posts of each hook that are on their way.
pub async fn waiting(conn: &impl ConnectionTrait) -> Result<HashMap<Uuid, i64>, DbErr> {
    counted(conn, WAITING).await
}

async fn counted(conn: &impl ConnectionTrait, state: &str) -> Result<HashMap<Uuid, i64>, DbErr> {
    let sql = "SELECT hook_id, COUNT(*) AS n FROM alert_deliveries WHERE state = $1 GROUP BY hook_id";
    let rows = query(conn, sql, [state.into()]).await?;
    rows.iter().map(|row| Ok((row.try_get("", "hook_id")?, row.try_get("", "n")?))).collect()
}

/// Nothing that waits for this hook is tried any more.
pub(super) async fn give_up_of(tx: &Tx, hook_id: Uuid) -> Result<(), DbErr> {
    let sql = "UPDATE alert_deliveries SET state = $2 WHERE hook_id = $1 AND state = $3";
    execute(tx, sql, [hook_id.into(), GIVEN_UP.into(), WAITING.into()]).await?;
    Ok(())
}

pub(super) async fn remove_of(tx: &Tx, hook_id: Uuid) -> Result<(), DbErr> {
    execute(tx, "DELETE FROM alert_deliveries WHERE hook_id = $1", [hook_id.into()]).await?;
    Ok(())
}

pub(super) async fn forget(tx: &Tx, before: Instant) -> Result<(), DbErr> {
    let sql = "DELETE FROM alert_deliveries WHERE created_at < $1 AND (state <> $2 OR hook_id NOT IN (SELECT id FROM alert_hooks))";
    execute(tx, sql, [before.into(), WAITING.into()]).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pauses_between_tries_grow_and_end_within_the_hour() {
        let pauses: Vec<i64> = (1..=12).map(pause_ms).collect();
        assert!(pauses.is_sorted(), "{pauses:?}");
        assert_eq!((pauses[0], pauses[11]), (5_000, 600_000));
        let tries = (1..).scan(0, |at, attempt| {
            *at += pause_ms(attempt);
            Some(*at)
        });
        assert_eq!(tries.take_while(|at| *at < TRIED_FOR_MS).count(), 10, "tries after the first one");
    }

    #[test]
    fn an_answer_is_good_when_it_says_so_and_follows_nowhere() {
        let answer = |status| Answer { status, text: String::new() };
        for (status, good) in
            [(Some(200), true), (Some(204), true), (Some(302), false), (Some(500), false), (None, false)]
        {
            assert_eq!(answer(status).is_good(), good, "{status:?}");
        }
    }
}
