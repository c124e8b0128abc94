//! Where a user signed in to headquarters before: browsers by a key that they keep, and addresses. What strangers try does not
//! make them wait. Few of each person count, or whoever has an account would make places without end. `docs/security.md`.

use sea_orm::sea_query::OnConflict;
use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, DbErr, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder, QuerySelect,
    QueryTrait,
};
use tillkeep_model::Instant;
use uuid::Uuid;

use crate::Tx;
use crate::entity::known_place::{Column, Entity, Model};
use crate::entity::user;

/// A place that no user signs in from any more is forgotten.
const KEPT_MS: i64 = 90 * 24 * 3600 * 1000;
/// Browsers of one person.
pub const BROWSERS: usize = 10;
/// Addresses of one person: each has a count of its own.
pub const ADDRESSES: usize = 3;
const ADDRESS: &str = "address ";

/// What an address is known by.
pub fn of_address(origin: &str) -> String {
    format!("{ADDRESS}{origin}")
}

fn known(mark: &str, now: Instant) -> Condition {
    Condition::all().add(Column::Mark.eq(mark)).add(Column::LastAt.gt(now.plus_millis(-KEPT_MS)))
}

/// The place with this mark from which `user_id` signed in before.
pub async fn of(conn: &impl ConnectionTrait, user_id: Uuid, mark: &str, now: Instant) -> Result<Option<Model>, DbErr> {
    Entity::find().filter(Column::UserId.eq(user_id)).filter(known(mark, now)).one(conn).await
}

/// The place with this mark from which a user signed in before who may still do so; of several whoever was first.
pub async fn of_anybody(conn: &impl ConnectionTrait, mark: &str, now: Instant) -> Result<Option<Model>, DbErr> {
    let alive = user::Entity::find()
        .select_only()
        .column(user::Column::Id)
        .filter(user::Column::IsActive.eq(true))
        .filter(user::Column::DeletedAt.is_null());
    let found = Entity::find().filter(known(mark, now)).filter(Column::UserId.in_subquery(alive.into_query()));
    found.order_by_asc(Column::CreatedAt).order_by_asc(Column::Id).one(conn).await
}

/// Notes that a user with a locked row signed in there; those that they used least recently are forgotten. The id of the place.
pub async fn note(tx: &Tx, user_id: Uuid, mark: &str, now: Instant) -> Result<Uuid, DbErr> {
    let row = Model { id: Uuid::now_v7(), user_id, mark: mark.to_owned(), created_at: now, last_at: now };
    Entity::insert(row.into_active_model())
        .on_conflict(OnConflict::columns([Column::UserId, Column::Mark]).update_column(Column::LastAt).to_owned())
        .exec_without_returning(tx)
        .await?;
    let addresses = format!("{ADDRESS}%");
    let (kind, most) = if mark.starts_with(ADDRESS) {
        (Column::Mark.like(addresses), ADDRESSES)
    } else {
        (Column::Mark.not_like(addresses), BROWSERS)
    };
    let rows: Vec<Model> = Entity::find()
        .filter(Column::UserId.eq(user_id))
        .filter(kind)
        .order_by_desc(Column::LastAt)
        .order_by_desc(Column::Id)
        .all(tx)
        .await?;
    // The newest stays, whatever a clock that was ahead has written of others.
    let gone = rows.iter().filter(|row| row.mark != mark).skip(most - 1).map(|row| row.id);
    Entity::delete_many().filter(Column::Id.is_in(gone)).exec(tx).await?;
    let place = rows.iter().find(|row| row.mark == mark).map(|row| row.id);
    place.ok_or_else(|| DbErr::RecordNotFound(format!("a place of {user_id}")))
}

/// Nothing is known of where a user signed in: they got a new PIN from another one.
pub async fn forget(tx: &Tx, user_id: Uuid) -> Result<(), DbErr> {
    Entity::delete_many().filter(Column::UserId.eq(user_id)).exec(tx).await?;
    Ok(())
}

/// Forgets places from which no user signs in any more.
pub async fn prune(tx: &Tx, now: Instant) -> Result<(), DbErr> {
    Entity::delete_many().filter(Column::LastAt.lte(now.plus_millis(-KEPT_MS))).exec(tx).await?;
    Ok(())
}
