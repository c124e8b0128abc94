//! What a user was asked for: to show a second factor, or to finish setting one up. Each is taken once.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::Instant;

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "factor_challenges")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub user_id: Uuid,
    /// What it is good for: `login`, `confirm`, `totp` or `passkey`.
    pub purpose: String,
    /// The session that it belongs to; none at a sign-in.
    pub session_id: Option<Uuid>,
    /// What the answer is held against; sealed.
    pub state: String,
    /// The right PIN that was counted as a wrong one, until the second step succeeds.
    pub attempt: Option<String>,
    pub created_at: Instant,
    pub expires_at: Instant,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
