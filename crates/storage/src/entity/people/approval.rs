//! Approvals of a second person: one action each, for two minutes. The token itself is not kept.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::Instant;

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "approvals")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub created_at: Instant,
    pub permission: String,
    pub approver_user_id: Uuid,
    pub requester_user_id: Uuid,
    pub terminal_id: String,
    pub reason: String,
    pub context_hash: String,
    pub token_hash: String,
    pub expires_at: Instant,
    pub used_at: Option<Instant>,
    /// The sale or the drawer that it was used for.
    pub used_by_id: Option<Uuid>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
