//! Ways to pay.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::{Instant, Money};

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "tenders")]
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
    pub kind: String,
    pub opens_drawer: bool,
    pub counts_in_close: bool,
    pub allows_change: bool,
    pub requires_reference: bool,
    pub is_refundable: bool,
    pub is_voidable: bool,
    pub requires_customer: bool,
    pub min_amount: Option<Money>,
    pub max_amount: Option<Money>,
    pub sort_order: i32,
    pub is_active: bool,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
