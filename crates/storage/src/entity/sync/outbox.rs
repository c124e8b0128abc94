//! What HQ has not confirmed yet, written in the transaction of the document.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::Instant;

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "sync_outbox")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub seq: i64,
    /// The identity of the database that it was made in; `seq` goes on when that changes.
    pub node_epoch: String,
    pub entity_type: String,
    pub entity_id: Uuid,
    pub depends_on: Option<Uuid>,
    pub action: String,
    /// The entity as it travels. Empty in what was sent long ago: then it is made again from the document.
    pub payload: String,
    pub timestamp: Instant,
    pub attempts: i32,
    pub last_error: Option<String>,
    pub created_at: Instant,
    pub last_attempt_at: Option<Instant>,
    pub dead_lettered_at: Option<Instant>,
    /// The columns that headquarters is to take of it, as JSON; all of them without.
    pub changed: Option<String>,
    /// Since when it is sent alone, because there was no verdict on it while headquarters answered other requests.
    pub waits_alone_since: Option<Instant>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
