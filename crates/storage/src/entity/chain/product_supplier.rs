//! From whom a product is bought, and on what terms.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::{Cost, Instant, Money, Qty};

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "product_suppliers")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub created_at: Instant,
    pub updated_at: Instant,
    pub deleted_at: Option<Instant>,
    pub sync_version: i64,
    pub product_id: Uuid,
    pub supplier_id: Uuid,
    pub supplier_sku: Option<String>,
    #[serde(skip_serializing_if = "Cost::is_withheld")]
    pub cost: Cost,
    pub case_pack_quantity: Qty,
    pub min_order_quantity: Qty,
    pub lead_time_days: Option<i32>,
    pub is_primary: bool,
    pub last_cost: Option<Money>,
    pub last_ordered_at: Option<Instant>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
