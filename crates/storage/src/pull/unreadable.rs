//! Rows that HQ cannot read: noted when a pull leaves them out, and sent once they are mended. `docs/sync.md`, rule D13.

use std::collections::BTreeMap;

use sea_orm::sea_query::OnConflict;
use sea_orm::{ConnectionTrait, DbErr, EntityTrait, IntoActiveModel, QueryOrder};
use tillkeep_model::Instant;
use uuid::Uuid;

use crate::entity::unreadable_row::{Column, Entity, Model};
use crate::many::execute_in;
use crate::registry::{self, SyncType};
use crate::rows::Unread;
use crate::{Tx, pull};

/// Rows that are known at the most: a type with more of them is not sent with gaps, it is not sent.
pub const MOST: usize = 1000;

/// What is known, by type and id.
pub async fn known(conn: &impl ConnectionTrait) -> Result<Vec<Model>, DbErr> {
    Entity::find().order_by_asc(Column::EntityType).order_by_asc(Column::RowId).all(conn).await
}

/// What is to be noted of a row that was left out; nothing of one that has no id although its type has ids.
pub fn row(entity: &SyncType, unread: &Unread, now: Instant) -> Option<Model> {
    let row_id = unread.id.or_else(|| entity.replace_all.then(Uuid::nil))?;
    let own = unread.table == entity.table.name();
    let field =
        unread.column.as_ref().map(|column| if own { column.clone() } else { format!("{}.{column}", unread.table) });
    Some(Model { entity_type: entity.name.to_owned(), row_id, field, noticed_at: now })
}

/// Notes rows; those that are noted stay as they are.
pub async fn note(tx: &Tx, rows: Vec<Model>) -> Result<(), DbErr> {
    let key = OnConflict::columns([Column::EntityType, Column::RowId]).do_nothing().to_owned();
    Entity::insert_many(rows.into_iter().map(IntoActiveModel::into_active_model))
        .on_conflict(key)
        .exec_without_returning(tx)
        .await?;
    Ok(())
}

/// Looks at the known rows again: what can be read now is forgotten here and gets a new version, so that the stores that
/// went on without it pull it. What is left.
pub async fn look_again(tx: &mut Tx) -> Result<Vec<Model>, DbErr> {
    let mut left = Vec::new();
    let mut by_type: BTreeMap<String, Vec<Model>> = BTreeMap::new();
    for row in known(&*tx).await? {
        by_type.entry(row.entity_type.clone()).or_default().push(row);
    }
    for (name, rows) in by_type {
        let ids: Vec<Uuid> = rows.iter().map(|row| row.row_id).collect();
        let Some(entity) = registry::find(&name) else { continue };
        let unread: Vec<Uuid> =
            pull::unread(tx, entity, &ids).await?.iter().map(|row| row.id.unwrap_or_default()).collect();
        let (still, mended): (Vec<Model>, Vec<Model>) = rows.into_iter().partition(|row| unread.contains(&row.row_id));
        left.extend(still);
        let mended: Vec<Uuid> = mended.iter().map(|row| row.row_id).collect();
        if mended.is_empty() {
            continue;
        }
        let sql = "DELETE FROM unreadable_rows WHERE entity_type = $1 AND row_id IN ($list)";
        execute_in(tx, sql, &[name.into()], mended.iter().copied()).await?;
        // What comes whole was not sent at all, and what only stores send is never pulled.
        if entity.is_pulled() && !entity.replace_all {
            tx.restamp(entity, &mended).await?;
        }
    }
    Ok(left)
}
