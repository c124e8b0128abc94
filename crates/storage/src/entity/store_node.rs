//! What HQ knows of the installation behind a store: its database's identity, ticket, clock and outbox.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::Instant;

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "store_nodes")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub store_id: Uuid,
    pub node_epoch: String,
    pub ticket: String,
    pub last_seq: i64,
    pub store_version: String,
    pub fingerprints: String,
    pub clock_offset_ms: Option<i64>,
    pub outbox_pending: i64,
    pub dead_lettered: i64,
    pub oldest_pending_at: Option<Instant>,
    pub handshake_at: Option<Instant>,
    pub last_seen_at: Option<Instant>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
