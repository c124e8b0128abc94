//! A row that headquarters keeps under another id than its store has, since another store had used that one. `docs/sync.md`,
//! rule U9.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "kept_ids")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub kept_id: Uuid,
    pub store_id: Uuid,
    /// The table of the row, which may be that of a line.
    pub entity_type: String,
    /// The id that it has at its store.
    pub sent_id: Uuid,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
