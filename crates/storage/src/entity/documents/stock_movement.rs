//! The ledger behind every stock level; its unique key makes each effect happen once.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::{Instant, Qty};

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "stock_movements")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub store_id: Uuid,
    pub product_id: Uuid,
    pub movement_type: String,
    pub quantity_change: Qty,
    pub quantity_after: Option<Qty>,
    pub source_id: Uuid,
    pub source_line_id: Uuid,
    pub business_date: String,
    pub occurred_at: Instant,
    pub created_at: Instant,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
