//! Rows that HQ cannot read and stores were not sent; they wait here for a user who mends them.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::Instant;

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "unreadable_rows")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub entity_type: String,
    /// Nil where the type has no ids.
    #[sea_orm(primary_key, auto_increment = false)]
    pub row_id: Uuid,
    /// What of it cannot be read, where that is known; that of a line has its table before it.
    pub field: Option<String>,
    pub noticed_at: Instant,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
