//! Pictures of products by their hash. At headquarters all that a product has, at a store those that its tills asked for: they
//! are no type that is pulled, only the hash travels with the product.

use sea_orm::sea_query::OnConflict;
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbErr, EntityTrait, IntoActiveModel, PaginatorTrait, QueryFilter, QueryOrder,
    QuerySelect,
};
use tillkeep_model::Instant;

use crate::db::execute;
use crate::entity::product;
use crate::entity::product_picture::{Column, Entity, Model};

/// So long a picture stays that no product has any more: a store may not have heard yet of the one that came after it.
const KEPT_MS: i64 = 24 * 3600 * 1000;

/// The content of a picture, as base64.
pub async fn find(conn: &impl ConnectionTrait, hash: &str, size: i32) -> Result<Option<String>, DbErr> {
    Ok(Entity::find_by_id((hash.to_owned(), size)).one(conn).await?.map(|row| row.content))
}

/// Whether a product has it, a deleted one as well: it may come back.
pub async fn is_named(conn: &impl ConnectionTrait, hash: &str) -> Result<bool, DbErr> {
    Ok(product::Entity::find().filter(product::Column::PictureHash.eq(hash)).count(conn).await? > 0)
}

/// Keeps a picture. One that is there is as new as if it came now, so that it is not forgotten before its product is written.
pub async fn keep(conn: &impl ConnectionTrait, picture: Model) -> Result<(), DbErr> {
    let or_renewed = OnConflict::columns([Column::Hash, Column::Size])
        .update_columns([Column::Content, Column::CreatedAt, Column::UnusedSince])
        .to_owned();
    Entity::insert(picture.into_active_model()).on_conflict(or_renewed).exec_without_returning(conn).await?;
    Ok(())
}

/// Notes that a product has it no more.
pub async fn let_go(conn: &impl ConnectionTrait, hash: &str, now: Instant) -> Result<(), DbErr> {
    let sql = "UPDATE product_pictures SET unused_since = $1 WHERE hash = $2";
    execute(conn, sql, [now.into(), hash.into()]).await?;
    Ok(())
}

/// Removes what no product has had for a day. It looks at what was let go, and not at all that there is.
pub async fn forget_unused(conn: &impl ConnectionTrait, now: Instant) -> Result<u64, DbErr> {
    let before = now.plus_millis(-KEPT_MS);
    let sql = "DELETE FROM product_pictures WHERE unused_since < $1 \
               AND NOT EXISTS (SELECT 1 FROM products p WHERE p.picture_hash = product_pictures.hash)";
    let forgotten = execute(conn, sql, [before.into()]).await?;
    // What other products have is let go when they do.
    let sql = "UPDATE product_pictures SET unused_since = NULL WHERE unused_since < $1";
    execute(conn, sql, [before.into()]).await?;
    Ok(forgotten)
}

/// Removes the oldest of more than `most`.
pub async fn forget_beyond(conn: &impl ConnectionTrait, most: u64) -> Result<(), DbErr> {
    let newest_first = Entity::find().order_by_desc(Column::CreatedAt).order_by_desc(Column::Hash);
    let Some(last) = newest_first.offset(most).limit(1).one(conn).await? else { return Ok(()) };
    Entity::delete_many().filter(Column::CreatedAt.lte(last.created_at)).exec(conn).await?;
    Ok(())
}
