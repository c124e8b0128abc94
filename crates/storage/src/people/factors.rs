//! Second factors of people at headquarters: what was set up, codes on paper, and what a user was asked for. What may happen
//! once is one statement, and its rows decide, because several servers share the database.

use std::collections::HashSet;

use sea_orm::sea_query::Expr;
use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, DbErr, EntityTrait, IntoActiveModel, PaginatorTrait, QueryFilter,
    QueryOrder, QuerySelect,
};
use tillkeep_model::Instant;
use uuid::Uuid;

use crate::Tx;
use crate::db::query;
use crate::entity::{factor_challenge, factor_use, recovery_code, second_factor};
use crate::many::find_in;

pub use crate::entity::factor_challenge::Model as Challenge;
pub use crate::entity::second_factor::Model as Factor;

/// Open challenges of one person at the most; the oldest makes room.
pub const CHALLENGES: u64 = 10;

/// What a user has set up, in that order.
pub async fn of(conn: &impl ConnectionTrait, user_id: Uuid) -> Result<Vec<Factor>, DbErr> {
    use second_factor::Column;
    second_factor::Entity::find()
        .filter(Column::UserId.eq(user_id))
        .order_by_asc(Column::CreatedAt)
        .order_by_asc(Column::Id)
        .all(conn)
        .await
}

/// Whether a user has a second factor.
pub async fn has(conn: &impl ConnectionTrait, user_id: Uuid) -> Result<bool, DbErr> {
    let of_them = second_factor::Entity::find().filter(second_factor::Column::UserId.eq(user_id));
    Ok(of_them.limit(1).one(conn).await?.is_some())
}

/// Those of `users` who have one.
pub async fn among(conn: &impl ConnectionTrait, users: &[Uuid]) -> Result<HashSet<Uuid>, DbErr> {
    let sql = "SELECT DISTINCT user_id FROM second_factors WHERE user_id IN ($list)";
    find_in(conn, sql, &[], users.iter().copied()).await?.iter().map(|row| row.try_get("", "user_id")).collect()
}

/// Recovery codes that a user has not used.
pub async fn codes_left(conn: &impl ConnectionTrait, user_id: Uuid) -> Result<u64, DbErr> {
    use recovery_code::Column;
    let left = recovery_code::Entity::find().filter(Column::UserId.eq(user_id)).filter(Column::UsedAt.is_null());
    left.count(conn).await
}

/// Adds a factor. It counts as a use: a database that has one has a number that tells a copy of it.
pub async fn add(tx: &Tx, factor: Factor) -> Result<(), DbErr> {
    count_use(tx).await?;
    second_factor::Entity::insert(factor.into_active_model()).exec_without_returning(tx).await?;
    Ok(())
}

/// Removes one factor of a user, and with the last one their recovery codes; what was removed.
pub async fn remove(tx: &Tx, user_id: Uuid, id: Uuid) -> Result<Option<Factor>, DbErr> {
    let all = of(tx, user_id).await?;
    let Some(factor) = all.iter().find(|factor| factor.id == id).cloned() else { return Ok(None) };
    if all.len() == 1 {
        forget(tx, user_id).await?;
    } else {
        second_factor::Entity::delete_by_id(id).exec(tx).await?;
    }
    Ok(Some(factor))
}

/// Removes all factors of a user, with their codes and what they were asked for; how many factors.
pub async fn forget(tx: &Tx, user_id: Uuid) -> Result<u64, DbErr> {
    let of_them = factor_challenge::Column::UserId.eq(user_id);
    factor_challenge::Entity::delete_many().filter(of_them).exec(tx).await?;
    forget_codes(tx, user_id).await?;
    let of_them = second_factor::Column::UserId.eq(user_id);
    Ok(second_factor::Entity::delete_many().filter(of_them).exec(tx).await?.rows_affected)
}

async fn forget_codes(tx: &Tx, user_id: Uuid) -> Result<(), DbErr> {
    recovery_code::Entity::delete_many().filter(recovery_code::Column::UserId.eq(user_id)).exec(tx).await?;
    Ok(())
}

/// Gives a user these recovery codes instead of those from before.
pub async fn replace_codes(tx: &Tx, user_id: Uuid, hashes: Vec<String>, now: Instant) -> Result<(), DbErr> {
    forget_codes(tx, user_id).await?;
    let row =
        |code_hash| recovery_code::Model { id: Uuid::now_v7(), user_id, code_hash, created_at: now, used_at: None };
    let rows = hashes.into_iter().map(|hash| row(hash).into_active_model());
    recovery_code::Entity::insert_many(rows).exec_without_returning(tx).await?;
    Ok(())
}

/// Whether a user has this recovery code and has not used it.
pub async fn has_code(conn: &impl ConnectionTrait, user_id: Uuid, hash: &str) -> Result<bool, DbErr> {
    Ok(recovery_code::Entity::find().filter(unused(user_id, hash)).one(conn).await?.is_some())
}

fn unused(user_id: Uuid, hash: &str) -> Condition {
    use recovery_code::Column;
    Condition::all().add(Column::UserId.eq(user_id)).add(Column::CodeHash.eq(hash)).add(Column::UsedAt.is_null())
}

/// Uses a recovery code up; whether it was there.
pub async fn use_code(tx: &Tx, user_id: Uuid, hash: &str, now: Instant) -> Result<bool, DbErr> {
    let used = recovery_code::Entity::update_many()
        .col_expr(recovery_code::Column::UsedAt, Expr::value(now))
        .filter(unused(user_id, hash))
        .exec(tx)
        .await?;
    Ok(used.rows_affected == 1)
}

/// Uses the code of a step of time up; whether neither it nor a later one was used before.
pub async fn use_step(tx: &Tx, id: Uuid, step: i64, now: Instant) -> Result<bool, DbErr> {
    use second_factor::Column;
    let earlier = Condition::any().add(Column::LastStep.is_null()).add(Column::LastStep.lt(step));
    let used = second_factor::Entity::update_many()
        .col_expr(Column::LastStep, Expr::value(step))
        .col_expr(Column::LastUsedAt, Expr::value(now))
        .filter(Column::Id.eq(id))
        .filter(earlier)
        .exec(tx)
        .await?;
    Ok(used.rows_affected == 1)
}

/// Notes the use of a passkey, with its counter in `secret`; whether it is still there.
pub async fn use_passkey(tx: &Tx, id: Uuid, secret: &str, now: Instant) -> Result<bool, DbErr> {
    use second_factor::Column;
    let used = second_factor::Entity::update_many()
        .col_expr(Column::Secret, Expr::value(secret))
        .col_expr(Column::LastUsedAt, Expr::value(now))
        .filter(Column::Id.eq(id))
        .exec(tx)
        .await?;
    Ok(used.rows_affected == 1)
}

/// Keeps what a user is asked for.
pub async fn ask(tx: &Tx, challenge: Challenge) -> Result<(), DbErr> {
    use factor_challenge::{Column, Entity};
    let open = Entity::find()
        .filter(Column::UserId.eq(challenge.user_id))
        .order_by_desc(Column::CreatedAt)
        .order_by_desc(Column::Id)
        .offset(CHALLENGES - 1)
        .limit(1000)
        .all(tx)
        .await?;
    Entity::delete_many().filter(Column::Id.is_in(open.into_iter().map(|row| row.id))).exec(tx).await?;
    Entity::insert(challenge.into_active_model()).exec_without_returning(tx).await?;
    Ok(())
}

/// What a user was asked for, when it is still good for `purpose` in this session.
pub async fn asked(
    conn: &impl ConnectionTrait,
    id: Uuid,
    (user_id, session_id): (Uuid, Option<Uuid>),
    purpose: &str,
    now: Instant,
) -> Result<Option<Challenge>, DbErr> {
    let found = factor_challenge::Entity::find_by_id(id).one(conn).await?;
    Ok(found.filter(|row| {
        (row.user_id, row.session_id, row.purpose.as_str()) == (user_id, session_id, purpose) && row.expires_at > now
    }))
}

/// Takes a challenge; whether this is the first time.
pub async fn take(tx: &Tx, id: Uuid) -> Result<bool, DbErr> {
    Ok(factor_challenge::Entity::delete_by_id(id).exec(tx).await?.rows_affected == 1)
}

/// Removes what was not answered in time.
pub async fn prune(tx: &Tx, now: Instant) -> Result<(), DbErr> {
    factor_challenge::Entity::delete_many().filter(factor_challenge::Column::ExpiresAt.lte(now)).exec(tx).await?;
    Ok(())
}

const ALL: &str = "all";

/// Codes that were used, as this database knows.
pub async fn uses(conn: &impl ConnectionTrait) -> Result<i64, DbErr> {
    Ok(factor_use::Entity::find_by_id(ALL.to_owned()).one(conn).await?.map_or(0, |row| row.uses))
}

/// Counts the use of a code; how many there were.
pub async fn count_use(tx: &Tx) -> Result<i64, DbErr> {
    let sql = "INSERT INTO factor_uses (id, uses) VALUES ($1, 1) \
               ON CONFLICT (id) DO UPDATE SET uses = factor_uses.uses + 1 RETURNING uses";
    let rows = query(tx, sql, [ALL.into()]).await?;
    rows.first().map_or_else(|| Err(DbErr::RecordNotFound(ALL.to_owned())), |row| row.try_get("", "uses"))
}

/// Makes worthless what an older copy of the database brings back: every recovery code, and the codes of apps up to the next step of
/// time.
pub async fn distrust_all(tx: &Tx, now: Instant) -> Result<(), DbErr> {
    let uses = uses(tx).await?;
    distrust(tx, uses + 1, next_step(now), now).await.map(drop)
}

/// Seconds in which the code of an app is good.
const STEP_SECONDS: i64 = 30;

/// The step of time after that of `now`, which is the last one of which the code may have been used.
pub const fn next_step(now: Instant) -> i64 {
    now.millis().div_euclid(1000 * STEP_SECONDS) + 1
}

/// As [`distrust_all`], once `known` uses say that this is an older copy; whether this is the first time.
pub async fn distrust(tx: &Tx, known: i64, step: i64, now: Instant) -> Result<bool, DbErr> {
    use second_factor::Column;
    let sql = "INSERT INTO factor_uses (id, uses) VALUES ($1, $2) \
               ON CONFLICT (id) DO UPDATE SET uses = excluded.uses WHERE factor_uses.uses < excluded.uses RETURNING uses";
    if query(tx, sql, [ALL.into(), known.into()]).await?.is_empty() {
        return Ok(false);
    }
    recovery_code::Entity::update_many()
        .col_expr(recovery_code::Column::UsedAt, Expr::value(now))
        .filter(recovery_code::Column::UsedAt.is_null())
        .exec(tx)
        .await?;
    let earlier = Condition::any().add(Column::LastStep.is_null()).add(Column::LastStep.lt(step));
    second_factor::Entity::update_many().col_expr(Column::LastStep, Expr::value(step)).filter(earlier).exec(tx).await?;
    Ok(true)
}
