//! Entries of the chains of documents: one for each sale, refund, settlement and void. `docs/chain.md`.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::{Instant, Money};

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "chain_entries")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub sale_id: Uuid,
    pub store_id: Uuid,
    /// 1 for the document itself, 2 for its void.
    pub line_no: i32,
    pub chain_id: Uuid,
    pub register_code: String,
    /// Without a gap in its chain, from 1.
    pub number: i64,
    pub kind: String,
    /// Of the form that is hashed.
    pub version: i32,
    pub at: Instant,
    /// Of the entry before; empty at the first one.
    pub previous_hash: String,
    /// The last hash that is known of the chain before of the same register.
    pub follows: Option<String>,
    pub hash: String,
    pub running_total: Money,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
