//! An attempt while its PIN is looked at, in one of the counters that it was counted in. [`crate::attempts`].

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::Instant;

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "pin_attempts_under_way")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub attempt_id: Uuid,
    /// The row of `pin_attempts`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub counter_id: Uuid,
    /// The run of the server that is to judge it.
    pub judge_id: Uuid,
    pub begun_at: Instant,
    /// What the counter was when it was counted there.
    pub day: Instant,
    pub minute_at: Instant,
    pub in_a_row: i32,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
