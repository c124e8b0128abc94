//! At headquarters: a document that was refused and that a user resolved without applying it. It is at its store alone.
//! `docs/sync.md`, rule U12.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::{Instant, Money};

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "unapplied_documents")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub store_id: Uuid,
    #[sea_orm(primary_key, auto_increment = false)]
    pub entity_type: String,
    /// As its store calls it.
    #[sea_orm(primary_key, auto_increment = false)]
    pub entity_id: Uuid,
    /// The drawer that it is of, as headquarters has it.
    pub session_id: Option<Uuid>,
    /// The number that was printed on it.
    pub number: Option<String>,
    pub customer_id: Option<Uuid>,
    /// What it has put on the account of its customer here.
    pub on_account: Money,
    pub noted_at: Instant,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
