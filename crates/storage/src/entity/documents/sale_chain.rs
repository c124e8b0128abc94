//! The newest entry of each chain of documents: where a store goes on, and what headquarters has.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::{Instant, Money};

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "sale_chains")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub chain_id: Uuid,
    pub store_id: Uuid,
    pub register_code: String,
    pub number: i64,
    pub hash: String,
    pub running_total: Money,
    /// The hash of the chain before that an entry has named last.
    pub follows: Option<String>,
    pub updated_at: Instant,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
