//! How far a store has pulled each type. `docs/sync.md`, rule D2.

use std::collections::HashMap;

use sea_orm::{ConnectionTrait, DbErr, EntityTrait, Value};
use tillkeep_model::{Instant, wire};
use uuid::Uuid;

use crate::Tx;
use crate::db::execute;
use crate::entity::sequence;
use crate::registry::SyncType;

/// How far a type was pulled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    pub version: i64,
    pub reloading: bool,
    /// The tag of `version`, when HQ said one. Rule D8.
    pub tag: Option<Uuid>,
}

impl Cursor {
    const fn new(row: &sequence::Model) -> Self {
        Self { version: row.last_version, reloading: row.reloading, tag: row.tag }
    }

    /// Where the type is once `answer`, which goes on from here, is kept.
    #[must_use]
    pub const fn after(self, answer: &wire::PullAnswer) -> Self {
        Self { version: answer.latest_version, reloading: self.reloading && answer.has_more, tag: answer.tag }
    }
}

/// The cursor of every type that was pulled at least once.
pub async fn cursors(conn: &impl ConnectionTrait) -> Result<HashMap<String, Cursor>, DbErr> {
    let rows = sequence::Entity::find().all(conn).await?;
    Ok(rows.into_iter().map(|row| (row.entity_type.clone(), Cursor::new(&row))).collect())
}

/// How far `entity` was pulled.
pub async fn cursor(conn: &impl ConnectionTrait, entity: &SyncType) -> Result<Cursor, DbErr> {
    let row = sequence::Entity::find_by_id(entity.name.to_owned()).one(conn).await?;
    Ok(row.as_ref().map(Cursor::new).unwrap_or_default())
}

/// Moves the cursor of `entity`, in the transaction of its rows (rule D2).
pub async fn set_cursor(tx: &Tx, entity: &SyncType, cursor: Cursor, pulled_at: Option<Instant>) -> Result<(), DbErr> {
    let sql = "INSERT INTO sequences (entity_type, last_version, last_pulled_at, reloading, tag) \
               VALUES ($1, $2, $3, $4, $5) \
               ON CONFLICT (entity_type) DO UPDATE SET last_version = excluded.last_version, \
               last_pulled_at = COALESCE(excluded.last_pulled_at, sequences.last_pulled_at), \
               reloading = excluded.reloading, tag = excluded.tag";
    let values: [Value; 5] =
        [entity.name.into(), cursor.version.into(), pulled_at.into(), cursor.reloading.into(), cursor.tag.into()];
    execute(tx, sql, values).await?;
    Ok(())
}
