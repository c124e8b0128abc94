//! A sale that was stored or changed, until every receiver of sales was told of it.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::Instant;

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "sale_news")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    /// What was stored together.
    #[sea_orm(primary_key, auto_increment = false)]
    pub batch: Uuid,
    #[sea_orm(primary_key, auto_increment = false)]
    pub sale_id: Uuid,
    pub store_id: Uuid,
    /// When headquarters stored it.
    pub at: Instant,
    /// Its place among all that is told; given after the commit.
    pub place: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
