//! At headquarters: how many customers a store has made in one hour. `docs/sync.md`, rule U16.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::Instant;

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "new_customers")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub store_id: Uuid,
    /// When the hour began that is counted.
    pub hour: Instant,
    pub made: i64,
    /// Since when it made more than it may, without a day in between, and when it did last.
    pub beyond_since: Option<Instant>,
    pub beyond_at: Option<Instant>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
