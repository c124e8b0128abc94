//! How far the audit log of a store's database was, and what its last row hashed to, when HQ last heard of it on a day.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "audit_heads")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub store_id: Uuid,
    #[sea_orm(primary_key, auto_increment = false)]
    pub node_epoch: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub day: String,
    pub seq: i64,
    pub hash: String,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
