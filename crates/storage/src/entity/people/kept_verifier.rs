//! What verifies, at a store, a user of whom it asked headquarters: for some days, while there is no line.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::Instant;

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "kept_verifiers")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub user_id: Uuid,
    pub pin_hash: String,
    pub pin_lookup: String,
    /// Of the person, as they were when this was kept: it is worth nothing when one of them is another.
    pub pin_changed_at: Option<Instant>,
    pub updated_at: Instant,
    pub roles: String,
    pub kept_at: Instant,
    pub expires_at: Instant,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
