//! What stays of a success when its row of `sync_log` is pruned: one row for each envelope and number, as narrow as may be.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::Instant;

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "sync_log_kept")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    /// Of [`super::sync_log_node`].
    #[sea_orm(primary_key, auto_increment = false)]
    pub node: i32,
    /// The number of its store, for whoever looks for an entity.
    pub store: i32,
    /// 0 for what came without a number: they count from 1.
    #[sea_orm(primary_key, auto_increment = false)]
    pub seq: i64,
    pub envelope_at: Instant,
    /// As in `sync_log`.
    pub said_at: Option<Instant>,
    pub first_seen_at: Instant,
    /// The first half of the hash in `sync_log`. Only envelopes of one entity and one time are told apart by it.
    #[sea_orm(primary_key, auto_increment = false)]
    pub hash: Uuid,
    pub entity_id: Uuid,
    /// How often it was applied: 0 for what was left aside; more than once is a fault.
    pub applied: i16,
    /// How often it had a warning.
    pub warned: i16,
    pub entity_type: String,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
