//! One row for each entity operation. Specification, section 2.7.

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::Expr;
use serde::{Deserialize, Serialize};
use tillkeep_model::Instant;

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "sync_log")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub store_id: Uuid,
    pub direction: String,
    pub entity_type: String,
    pub entity_id: String,
    pub action: String,
    pub status: String,
    pub code: Option<String>,
    pub error: Option<String>,
    pub warning: Option<String>,
    /// When a user said that nothing is left to be done about the warning.
    pub warning_settled_at: Option<Instant>,
    pub envelope: Option<String>,
    /// In place of an envelope that can never be taken, or was taken with a warning and is longer: its first 16 KiB. Its hash is the SHA-256 of all of it.
    pub beginning: Option<String>,
    /// Bytes of the envelope as it came.
    pub length: Option<i64>,
    pub hash: String,
    /// The time of the envelope as it is compared.
    pub envelope_at: Option<Instant>,
    /// What it says itself, where that is not believed.
    pub said_at: Option<Instant>,
    pub seq: Option<i64>,
    pub node_epoch: Option<String>,
    pub retry_count: i32,
    pub first_seen_at: Instant,
    pub last_seen_at: Instant,
    pub resolved_by: Option<Uuid>,
    pub resolved_at: Option<Instant>,
    pub note: Option<String>,
    pub to_acknowledge: bool,
    /// The ticket of the handshake in which the store was notified.
    pub told_in: String,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// Bytes of the envelope as it is kept.
#[must_use]
pub fn envelope_bytes() -> Expr {
    Expr::cust("CAST(OCTET_LENGTH(COALESCE(envelope, '')) AS BIGINT)")
}

/// The envelope, when it has no more than so many bytes.
#[must_use]
pub fn envelope_within(bytes: usize) -> Expr {
    Expr::cust(format!("CASE WHEN OCTET_LENGTH(envelope) <= {bytes} THEN envelope END"))
}
