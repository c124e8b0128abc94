//! People who sign in. The verifiers travel to a store only for people who may work there.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::Instant;

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "users")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub created_at: Instant,
    pub updated_at: Instant,
    pub deleted_at: Option<Instant>,
    pub sync_version: i64,
    pub username: String,
    #[serde(skip)]
    pub username_folded: String,
    pub display_name: String,
    pub employee_code: Option<String>,
    pub email: Option<String>,
    pub phone: Option<String>,
    pub pin_hash: Option<String>,
    pub pin_lookup: Option<String>,
    pub pin_changed_at: Option<Instant>,
    /// Sessions from before it are over, at every server; null is no bound.
    pub sessions_valid_from: Option<Instant>,
    pub must_change_pin: bool,
    pub is_active: bool,
    #[serde(skip)]
    pub last_login_at: Option<Instant>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
