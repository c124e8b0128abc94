//! PINs that were made for another user and not chosen yet, whose word the proposals of such an account are, and whose PINs are
//! the same. At headquarters alone. `docs/security.md`, PINs.

use std::collections::{HashMap, HashSet};

use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, IntoActiveModel, QueryFilter, QuerySelect};
use tillkeep_model::permission::ADMINISTRATOR;
use tillkeep_model::{Instant, ids};
use uuid::Uuid;

use crate::Tx;
use crate::db::{execute, query};
use crate::entity::user_pin::{Column, Entity, Model};
use crate::entity::{user, user_store_role};
use crate::many::select_in;

/// An account that is younger, or got a PIN later than so long ago, proposes in the name of who made it.
const YOUNG_MS: i64 = 24 * 3600 * 1000;
/// First PINs that one round ends at the most.
const ENDED_AT_ONCE: u64 = 500;

/// What is known of the PINs of these people.
pub async fn of(
    conn: &impl ConnectionTrait,
    people: impl IntoIterator<Item = Uuid>,
) -> Result<HashMap<Uuid, Model>, DbErr> {
    let rows = select_in(conn, Entity::find(), Column::UserId, people).await?;
    Ok(rows.into_iter().map(|row| (row.user_id, row)).collect())
}

async fn of_one(conn: &impl ConnectionTrait, user_id: Uuid) -> Result<Option<Model>, DbErr> {
    Entity::find_by_id(user_id).one(conn).await
}

async fn put(tx: &Tx, row: Model, changed: &[Column]) -> Result<(), DbErr> {
    Entity::insert(row.into_active_model())
        .on_conflict(OnConflict::column(Column::UserId).update_columns(changed.iter().copied()).to_owned())
        .exec_without_returning(tx)
        .await?;
    Ok(())
}

/// A PIN was made for a user, by the one whom their proposals count for.
pub async fn made(tx: &Tx, user_id: Uuid, counts_for: Option<Uuid>, digits: i16, now: Instant) -> Result<(), DbErr> {
    let row = Model { user_id, made_at: Some(now), counts_for, digits: Some(digits) };
    put(tx, row, &[Column::MadeAt, Column::CountsFor, Column::Digits]).await
}

/// A user chose a PIN.
pub async fn chosen(tx: &Tx, user_id: Uuid, digits: i16) -> Result<(), DbErr> {
    put(tx, Model { user_id, digits: Some(digits), ..Model::default() }, &[Column::Digits]).await
}

/// A user has to change a PIN that was not made for them: it is no first one.
pub async fn note(tx: &Tx, user_id: Uuid) -> Result<(), DbErr> {
    put(tx, Model { user_id, ..Model::default() }, &[Column::UserId]).await
}

/// Whether the PIN of `user` is one that was made for them.
fn is_first(user: &user::Model, pin: &Model) -> bool {
    let since = |made: Instant| user.pin_changed_at.is_none_or(|changed| made >= changed);
    user.must_change_pin && pin.made_at.is_some_and(since)
}

/// When the first PIN of `user` was made, if theirs is one.
pub fn first_since(user: &user::Model, pin: &Model) -> Option<Instant> {
    pin.made_at.filter(|_| is_first(user, pin))
}

/// The person for whom counts what `user` proposes. Whoever makes accounts, and accounts that make accounts, is one person, since
/// what is noted with an account is the one at the beginning.
pub async fn counts_for(conn: &impl ConnectionTrait, user: &user::Model, now: Instant) -> Result<Uuid, DbErr> {
    let Some(pin) = of_one(conn, user.id).await? else { return Ok(user.id) };
    let lately = pin.made_at.is_some_and(|made| now.millis_since(made) < YOUNG_MS);
    let another = pin.counts_for.filter(|_| lately || is_first(user, &pin));
    Ok(another.unwrap_or(user.id))
}

/// Whether a first PIN of `user` that lasts for `life_ms` is over.
pub async fn is_expired(
    conn: &impl ConnectionTrait,
    user: &user::Model,
    life_ms: i64,
    now: Instant,
) -> Result<bool, DbErr> {
    if !user.must_change_pin {
        return Ok(false);
    }
    let pin = of_one(conn, user.id).await?;
    let since = pin.as_ref().and_then(|pin| first_since(user, pin));
    Ok(since.is_some_and(|made| now.millis_since(made) >= life_ms) && !is_last_way_in(conn, user.id).await?)
}

/// Whether no user but `user_id` could let an administrator in: their first PIN lasts until it is used.
async fn is_last_way_in(conn: &impl ConnectionTrait, user_id: Uuid) -> Result<bool, DbErr> {
    use user_store_role::Column as Given;
    let holders = user_store_role::Entity::find()
        .filter(Given::RoleId.eq(ids::role(ADMINISTRATOR)))
        .filter(Given::StoreId.is_null())
        .filter(Given::DeletedAt.is_null())
        .all(conn)
        .await?;
    let (own, others): (Vec<_>, Vec<_>) = holders.into_iter().partition(|given| given.user_id == user_id);
    if own.is_empty() {
        return Ok(false);
    }
    let others = user::Entity::find()
        .filter(user::Column::Id.is_in(others.into_iter().map(|given| given.user_id)))
        .filter(user::Column::IsActive.eq(true))
        .filter(user::Column::DeletedAt.is_null())
        .filter(user::Column::PinHash.is_not_null())
        .filter(user::Column::MustChangePin.eq(false));
    Ok(others.one(conn).await?.is_none())
}

/// First PINs of which it was not noted when they were made, by a release before or a server of one beside this, count from now.
pub async fn note_unknown(tx: &Tx, now: Instant) -> Result<(), DbErr> {
    let sql = "INSERT INTO user_pins (user_id, made_at) SELECT u.id, $1 FROM users u \
               WHERE u.must_change_pin AND u.deleted_at IS NULL AND u.pin_hash IS NOT NULL \
               AND NOT EXISTS (SELECT 1 FROM user_pins p WHERE p.user_id = u.id) ON CONFLICT (user_id) DO NOTHING";
    execute(tx, sql, [now.into()]).await?;
    Ok(())
}

/// Active people with a first PIN made before `before`: those that still open something, or all.
pub async fn expired(conn: &impl ConnectionTrait, before: Instant, only_good: bool) -> Result<Vec<user::Model>, DbErr> {
    let good = if only_good { "AND u.pin_hash IS NOT NULL " } else { "" };
    let sql = format!(
        "SELECT u.id FROM users u JOIN user_pins p ON p.user_id = u.id WHERE u.must_change_pin AND u.is_active \
         AND u.deleted_at IS NULL {good}AND p.made_at <= $1 \
         AND (u.pin_changed_at IS NULL OR p.made_at >= u.pin_changed_at) ORDER BY p.made_at, u.id LIMIT {ENDED_AT_ONCE}"
    );
    let rows = query(conn, &sql, [before.into()]).await?;
    let ids: Vec<Uuid> = rows.iter().map(|row| row.try_get("", "id")).collect::<Result<_, _>>()?;
    let mut over = Vec::new();
    for user in user::Entity::find().filter(user::Column::Id.is_in(ids)).all(conn).await? {
        if !is_last_way_in(conn, user.id).await? {
            over.push(user);
        }
    }
    Ok(over)
}

/// Those of `others` who have a role in a store where `user_id` has one; a role everywhere is one in each.
pub async fn in_one_store(conn: &impl ConnectionTrait, user_id: Uuid, others: &[Uuid]) -> Result<HashSet<Uuid>, DbErr> {
    use user_store_role::Column as Given;
    let given: Vec<(Uuid, Option<Uuid>)> = user_store_role::Entity::find()
        .select_only()
        .columns([Given::UserId, Given::StoreId])
        .filter(Given::DeletedAt.is_null())
        .filter(Given::UserId.is_in(others.iter().copied().chain([user_id])))
        .into_tuple()
        .all(conn)
        .await?;
    let (own, theirs): (Vec<_>, Vec<_>) = given.into_iter().partition(|(user, _)| *user == user_id);
    let own: HashSet<Option<Uuid>> = own.into_iter().map(|(_, store)| store).collect();
    let meets = |store: Option<Uuid>| match store {
        None => !own.is_empty(),
        Some(_) => own.contains(&None) || own.contains(&store),
    };
    Ok(theirs.into_iter().filter(|(_, store)| meets(*store)).map(|(user, _)| user).collect())
}

/// How a look-up key begins that no PIN has.
pub const WITHHELD: &str = "withheld ";

/// In place of a look-up key: no user signs in with this PIN alone, at whatever server. It is not left out, since servers look at all
/// rows without one, and find it.
pub fn withheld(user_id: Uuid) -> String {
    format!("{WITHHELD}{user_id}")
}

pub fn is_withheld(lookup: &str) -> bool {
    lookup.starts_with(WITHHELD)
}
