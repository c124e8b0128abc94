//! What headquarters knows of a user's PIN besides what verifies it. [`crate::user_pins`].

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::Instant;

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "user_pins")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub user_id: Uuid,
    /// When a PIN was made for them last, which they did not choose.
    pub made_at: Option<Instant>,
    /// For whom counts what they propose until a day after that; null for themselves.
    pub counts_for: Option<Uuid>,
    /// Digits of the PIN; null when they were not counted.
    pub digits: Option<i16>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
