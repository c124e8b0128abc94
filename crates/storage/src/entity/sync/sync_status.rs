//! Counters per store, type and direction, updated in place. Specification, section 2.7.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::Instant;

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "sync_status")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub store_id: Uuid,
    #[sea_orm(primary_key, auto_increment = false)]
    pub entity_type: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub direction: String,
    pub last_success_at: Option<Instant>,
    pub last_error_at: Option<Instant>,
    pub last_error: Option<String>,
    pub pending_count: i32,
    /// Bytes that are kept of what failed.
    pub pending_bytes: i64,
    pub total_pushed: i64,
    pub total_pulled: i64,
    pub last_since_version: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
