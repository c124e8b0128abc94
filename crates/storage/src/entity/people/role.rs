//! Named groups of permissions.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::Instant;

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "roles")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub created_at: Instant,
    pub updated_at: Instant,
    pub deleted_at: Option<Instant>,
    pub sync_version: i64,
    pub code: String,
    pub name: String,
    pub description: Option<String>,
    pub is_system: bool,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
