//! Lines of a purchase order. `store_id` repeats the order's, for the store filter.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::{Cost, Instant, Money, Qty};

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "purchase_order_items")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub created_at: Instant,
    pub updated_at: Instant,
    pub deleted_at: Option<Instant>,
    pub sync_version: i64,
    pub purchase_order_id: Uuid,
    pub store_id: Uuid,
    pub line_no: i32,
    pub product_id: Uuid,
    pub description: String,
    pub supplier_sku: Option<String>,
    pub ordered_quantity: Qty,
    pub received_quantity: Qty,
    pub cancelled_quantity: Qty,
    #[serde(skip_serializing_if = "Cost::is_withheld")]
    pub unit_cost: Cost,
    pub line_amount: Money,
    #[serde(skip_serializing_if = "Cost::is_withheld")]
    pub received_cost: Option<Cost>,
    #[serde(skip)]
    pub synced: bool,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
