//! The audit log: append-only, each row chained to the one before by a hash. `docs/security.md`.

use sea_orm::{ActiveModelTrait, DbErr, EntityTrait, IntoActiveModel, QueryOrder};
use sha2::{Digest, Sha256};
use tillkeep_model::{Instant, JsonText};
use uuid::Uuid;

use crate::Tx;
use crate::db::{Turn, take_turn};
use crate::entity::audit_log::{Column, Entity, Model};

/// What somebody did.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    pub user_id: Option<Uuid>,
    pub approver_id: Option<Uuid>,
    pub terminal_id: Option<String>,
    /// A word such as `login`, `store.provision`, `role.permissions`.
    pub action: &'static str,
    pub entity_type: Option<&'static str>,
    pub entity_id: Option<String>,
    pub details: serde_json::Value,
}

/// Appends `entry` in the transaction of the deed. Writers wait for each other from here to their commit, so this is
/// the last thing a transaction does before it.
pub async fn record(tx: &Tx, entry: Entry, now: Instant) -> Result<(), DbErr> {
    take_turn(tx, Turn::Audit).await?;
    let last = Entity::find().order_by_desc(Column::Seq).one(tx).await?;
    let (seq, previous) = last.map_or((0, String::new()), |row| (row.seq, row.hash));
    let mut row = Model {
        seq: seq + 1,
        at: now,
        user_id: entry.user_id,
        approver_id: entry.approver_id,
        terminal_id: entry.terminal_id,
        action: entry.action.to_owned(),
        entity_type: entry.entity_type.map(str::to_owned),
        entity_id: entry.entity_id,
        details: JsonText(entry.details),
        previous_hash: previous,
        hash: String::new(),
    };
    row.hash = hash(&row);
    row.into_active_model().insert(tx).await?;
    Ok(())
}

/// SHA-256 over the row without its own hash; the previous hash is part of it.
pub fn hash(row: &Model) -> String {
    let canonical = serde_json::json!([
        row.seq,
        row.at,
        row.user_id,
        row.approver_id,
        row.terminal_id,
        row.action,
        row.entity_type,
        row.entity_id,
        row.details,
        row.previous_hash
    ]);
    hex::encode(Sha256::digest(canonical.to_string().as_bytes()))
}
