//! One product in one store: its price there, its stock, its reorder levels.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::{Cost, Instant, Money, Qty};

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "store_product_dynamic")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub created_at: Instant,
    pub updated_at: Instant,
    pub deleted_at: Option<Instant>,
    pub sync_version: i64,
    pub store_id: Uuid,
    pub product_id: Uuid,
    pub price: Money,
    pub has_price_override: bool,
    #[serde(skip_serializing_if = "Cost::is_withheld")]
    pub cost: Cost,
    pub reorder_point: Qty,
    pub reorder_quantity: Qty,
    pub max_quantity: Option<Qty>,
    pub is_stocked: bool,
    pub bin_location: Option<String>,
    pub quantity: Qty,
    #[serde(skip_serializing_if = "Cost::is_withheld")]
    pub average_cost: Option<Cost>,
    pub last_sold_at: Option<Instant>,
    pub last_received_at: Option<Instant>,
    pub last_counted_at: Option<Instant>,
    pub last_synced_at: Option<Instant>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
