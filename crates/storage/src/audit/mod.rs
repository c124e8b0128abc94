//! The audit log: append-only, each row chained to the one before by a hash. `docs/security.md`.

pub mod heads;

use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use sha2::{Digest, Sha256};
pub use tillkeep_model::wire::AuditHead as Head;
use tillkeep_model::{Instant, JsonText};
use uuid::Uuid;

use crate::Tx;
use crate::db::{Turn, take_turn};
use crate::entity::audit_log::{Column, Entity, Model};
use crate::sql::bulk;

/// What a user did.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    pub user_id: Option<Uuid>,
    pub approver_id: Option<Uuid>,
    pub terminal_id: Option<String>,
    /// Where the request came from; kept among the details.
    pub address: Option<String>,
    /// A word such as `login`, `store.provision`, `role.permissions`.
    pub action: &'static str,
    pub entity_type: Option<&'static str>,
    pub entity_id: Option<String>,
    pub details: serde_json::Value,
}

/// Appends `entry` in the transaction of the action. Writers wait for each other from here to their commit, so this is
/// the last thing a transaction does before it.
pub async fn record(tx: &Tx, entry: Entry, now: Instant) -> Result<(), DbErr> {
    record_all(tx, vec![entry], now).await
}

/// As [`record`], for several entries in their order.
pub async fn record_all(tx: &Tx, entries: Vec<Entry>, now: Instant) -> Result<(), DbErr> {
    if entries.is_empty() {
        return Ok(());
    }
    take_turn(tx, Turn::Audit).await?;
    let mut head = head(tx).await?;
    let mut rows = Vec::with_capacity(entries.len());
    for entry in entries {
        let mut details = entry.details;
        if let Some(address) = entry.address {
            match &mut details {
                serde_json::Value::Object(keys) => drop(keys.insert("address".to_owned(), address.into())),
                serde_json::Value::Null => details = serde_json::json!({"address": address}),
                other => details = serde_json::json!({"address": address, "what": other.take()}),
            }
        }
        let mut row = Model {
            seq: head.seq + 1,
            at: now,
            user_id: entry.user_id,
            approver_id: entry.approver_id,
            terminal_id: entry.terminal_id,
            action: entry.action.to_owned(),
            entity_type: entry.entity_type.map(str::to_owned),
            entity_id: entry.entity_id,
            details: JsonText(details),
            previous_hash: head.hash,
            hash: String::new(),
        };
        row.hash = hash(&row);
        head = Head { seq: row.seq, hash: row.hash.clone() };
        rows.push(row);
    }
    bulk::together::<Entity>(tx, rows, None).await?;
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

/// The end of the log as it is.
pub async fn head(conn: &impl ConnectionTrait) -> Result<Head, DbErr> {
    let last = Entity::find().order_by_desc(Column::Seq).one(conn).await?;
    Ok(last.map_or_else(Head::default, |row| Head { seq: row.seq, hash: row.hash }))
}

/// Rows read at once by [`verify`].
const PAGE: u64 = 5_000;

/// What is wrong with the log, and in which row.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    #[error("row {0} is missing: the row after {prev} is {found}", prev = .0 - 1, found = .1)]
    Missing(i64, i64),
    #[error("row {0} does not follow from the row before it: one of the two was replaced")]
    NotChained(i64),
    #[error("row {0} was changed: its content does not have the hash that was written with it")]
    Changed(i64),
    #[error(
        "row {0} was there before and is not any more, or is another one now: the end of the log was cut off or replaced"
    )]
    HeadLost(i64),
}

/// Checks every row from the first: numbered without a gap, chained, and with the content it was written with. `known`
/// is a head that was noted earlier. The new head, or the first thing that is wrong.
pub async fn verify(conn: &impl ConnectionTrait, known: Option<&Head>) -> Result<Result<Head, Broken>, DbErr> {
    let mut head = Head::default();
    loop {
        let rows = Entity::find().filter(Column::Seq.gt(head.seq)).order_by_asc(Column::Seq).limit(PAGE);
        let rows = rows.all(conn).await?;
        if rows.is_empty() {
            break;
        }
        for row in rows {
            if row.seq != head.seq + 1 {
                return Ok(Err(Broken::Missing(head.seq + 1, row.seq)));
            }
            if row.previous_hash != head.hash {
                return Ok(Err(Broken::NotChained(row.seq)));
            }
            if hash(&row) != row.hash {
                return Ok(Err(Broken::Changed(row.seq)));
            }
            head = Head { seq: row.seq, hash: row.hash };
            if known.is_some_and(|known| known.seq == head.seq && known.hash != head.hash) {
                return Ok(Err(Broken::HeadLost(head.seq)));
            }
        }
    }
    match known {
        Some(known) if known.seq > head.seq => Ok(Err(Broken::HeadLost(known.seq))),
        _ => Ok(Ok(head)),
    }
}
