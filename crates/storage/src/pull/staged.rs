//! Types with rows that make sense only together: what a store pulled of them lies aside until all of it is here, and becomes visible in
//! one transaction. `docs/sync.md`, rule D2.

use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect};
use serde_json::value::RawValue;
use tillkeep_model::{Instant, wire};
use uuid::Uuid;

use super::apply::{self, Cursor, Page};
use crate::db::execute;
use crate::entity::staged_cursor;
use crate::entity::staged_row::{Column, Entity, Model};
use crate::registry::SyncType;
use crate::sql::bulk;
use crate::{Tx, fault};

/// Rows that are in memory at a time while they become visible.
const CHUNK: usize = 500;

/// How far a type is here.
#[derive(Clone, Copy)]
pub struct TypeCursor {
    pub entity: &'static SyncType,
    pub cursor: Cursor,
    /// Something of it is not visible yet.
    pub is_staged: bool,
}

async fn staged(conn: &impl ConnectionTrait, entity: &SyncType) -> Result<Option<Cursor>, DbErr> {
    if !entity.is_staged() {
        return Ok(None);
    }
    let row = staged_cursor::Entity::find_by_id(entity.name.to_owned()).one(conn).await?;
    Ok(row.map(|row| Cursor { version: row.version, reloading: row.reloading, tag: row.tag }))
}

/// How far `entity` is here, visible or not: where a pull goes on.
pub async fn cursor(conn: &impl ConnectionTrait, entity: &SyncType) -> Result<Cursor, DbErr> {
    match staged(conn, entity).await? {
        Some(cursor) => Ok(cursor),
        None => apply::cursor(conn, entity).await,
    }
}

/// How far each of `types` is here.
pub async fn places(conn: &impl ConnectionTrait, types: &[&'static SyncType]) -> Result<Vec<TypeCursor>, DbErr> {
    let mut places = Vec::with_capacity(types.len());
    for entity in types {
        let staged = staged(conn, entity).await?;
        let cursor = match staged {
            Some(cursor) => cursor,
            None => apply::cursor(conn, entity).await?,
        };
        places.push(TypeCursor { entity, cursor, is_staged: staged.is_some() });
    }
    Ok(places)
}

/// Rows of `entity` that lie aside.
pub async fn count(conn: &impl ConnectionTrait, entity: &SyncType) -> Result<i64, DbErr> {
    let rows = Entity::find().filter(Column::EntityType.eq(entity.name)).filter(Column::Content.is_not_null());
    Ok(i64::try_from(rows.count(conn).await?).unwrap_or(i64::MAX))
}

/// Lays a page aside and moves the cursor of what lies there; how many rows it had. A row that comes again takes the place of the one
/// before, so that they are never more than headquarters has.
pub async fn page(tx: &Tx, entity: &SyncType, page: Page) -> Result<usize, DbErr> {
    fault::point("apply.page")?;
    let from = cursor(tx, entity).await?;
    page.must_fit(entity, from)?;
    let Page { answer, rows, .. } = page;
    let (next, count) = (from.after(&answer), rows.len());
    if count == 0 && answer.left_out.is_empty() && next == from {
        // It brings nothing that could become visible.
        return Ok(0);
    }
    let row = |row_id, content| Model { entity_type: entity.name.to_owned(), row_id, content };
    let mut kept = Vec::with_capacity(count);
    for sent in &rows {
        let text = sent.to_json().map_err(|error| DbErr::Json(error.to_string()))?;
        kept.push(row(sent.uuid("id").unwrap_or_default(), Some(text)));
    }
    let key = || OnConflict::columns([Column::EntityType, Column::RowId]);
    bulk::insert::<Entity>(tx, kept, Some(key().update_column(Column::Content).to_owned())).await?;
    // A copy that came before headquarters could not read it any more is the good one.
    let unread = answer.left_out.iter().map(|id| row(*id, None)).collect();
    bulk::insert::<Entity>(tx, unread, Some(key().do_nothing().to_owned())).await?;
    fault::point("apply.rows")?;
    let sql = "INSERT INTO staged_cursors (entity_type, version, reloading, tag) VALUES ($1, $2, $3, $4) \
               ON CONFLICT (entity_type) DO UPDATE SET version = excluded.version, reloading = excluded.reloading, \
               tag = excluded.tag";
    execute(tx, sql, [entity.name.into(), next.version.into(), next.reloading.into(), next.tag.into()]).await?;
    fault::point("apply.cursor")?;
    Ok(count)
}

/// Makes visible what lies aside of types that are all here; how many rows. Nothing happens, and the answer is `None`, when one of them is not
/// any more where `places` has it.
pub async fn show(tx: &Tx, places: &[TypeCursor], store_id: Uuid, now: Instant) -> Result<Option<usize>, DbErr> {
    for place in places {
        if place.cursor.reloading || cursor(tx, place.entity).await? != place.cursor {
            return Ok(None);
        }
    }
    let mut count = 0;
    for place in places.iter().filter(|place| place.is_staged) {
        count += apply_all(tx, place, store_id, now).await?;
    }
    Ok(Some(count))
}

/// Applies the rows of one type as pages, the last of which moves the cursor.
async fn apply_all(tx: &Tx, place: &TypeCursor, store_id: Uuid, now: Instant) -> Result<usize, DbErr> {
    let TypeCursor { entity, cursor: end, .. } = *place;
    let visible = apply::cursor(tx, entity).await?;
    let mut count = 0;
    loop {
        let rows = Entity::find().filter(Column::EntityType.eq(entity.name)).order_by_asc(Column::RowId);
        let rows = rows.limit(CHUNK as u64).all(tx).await?;
        let has_more = rows.len() == CHUNK;
        let last = rows.last().map(|row| row.row_id).unwrap_or_default();
        let Cursor { version, tag, .. } = if has_more { visible } else { end };
        let mut answer = wire::PullAnswer {
            entity_type: entity.name.to_owned(),
            since_version: visible.version,
            rows: Vec::with_capacity(rows.len()),
            latest_version: version,
            has_more,
            epoch: String::new(),
            tag,
            total: None,
            left_out: Vec::new(),
        };
        for row in rows {
            match row.content {
                Some(text) => {
                    answer.rows.push(RawValue::from_string(text).map_err(|error| DbErr::Json(error.to_string()))?);
                }
                None => answer.left_out.push(row.row_id),
            }
        }
        count += apply::page(tx, entity, store_id, Page::read(entity, answer)?, now).await?;
        if !has_more {
            apply::forget_staged(tx, entity).await?;
            return Ok(count);
        }
        let sql = "DELETE FROM staged_rows WHERE entity_type = $1 AND row_id <= $2";
        execute(tx, sql, [entity.name.into(), last.into()]).await?;
    }
}
