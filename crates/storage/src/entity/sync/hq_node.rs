//! A server of headquarters that runs, or ran a moment ago. `docs/sync.md`, "Several servers of headquarters".

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::Instant;

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "hq_nodes")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    /// Of this run of the server: another start has another one.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub name: String,
    pub release: String,
    pub started_at: Instant,
    /// By the clock of the database, as those of two servers may differ.
    pub heard_at: Instant,
    /// It reaches the message broker.
    pub has_broker: bool,
    /// Stores that are connected to it.
    pub sockets: i64,
    /// The keys in front of its lists: those that it would sign with.
    pub people_key: String,
    pub sync_key: String,
    /// It takes no more sockets, and is gone soon.
    pub leaving: bool,
    /// How far its clock is ahead of that of the database.
    pub clock_offset_ms: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
