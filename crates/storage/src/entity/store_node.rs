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
    /// The ticket that was handed out last, and the known one that was presented for it: the answer may have been lost.
    pub ticket: String,
    pub last_ticket: String,
    pub last_seq: i64,
    pub store_version: String,
    /// What the store and HQ had as columns when the store last took an answer, and at the last answer given.
    pub fingerprints: String,
    pub told_fingerprints: String,
    /// When another installation than before was last noticed.
    pub other_installation_at: Option<Instant>,
    pub clock_offset_ms: Option<i64>,
    pub outbox_pending: i64,
    pub dead_lettered: i64,
    pub oldest_pending_at: Option<Instant>,
    /// What is wrong with it, as `Alarm::write` writes it.
    pub alarms: String,
    /// When the store said so of its outbox and its alarms.
    pub outbox_at: Option<Instant>,
    pub handshake_at: Option<Instant>,
    pub last_seen_at: Option<Instant>,
    /// Why its last connection ended; nothing while there is one. One of `wire::Ended`.
    pub ended_because: Option<String>,
    /// When its last connection began, or ended.
    pub connection_at: Option<Instant>,
    /// Its processes, and those that run beside it, as JSON.
    pub processes: String,
    /// The server of headquarters that holds its socket; nothing while there is none.
    pub connected_node: Option<Uuid>,
    /// Its last heartbeat, and how long its process had run then.
    pub heartbeat_at: Option<Instant>,
    pub uptime_ms: i64,
    /// How many of its registers have no enrolled till, by its last handshake; null when that says nothing of it.
    pub unenrolled: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
