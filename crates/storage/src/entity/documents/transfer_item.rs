//! Lines of a transfer.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::{Cost, Qty};

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "transfer_items")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub transfer_id: Uuid,
    pub line_no: i32,
    pub product_id: Uuid,
    pub sku: String,
    pub product_name: String,
    pub requested_quantity: Qty,
    pub approved_quantity: Option<Qty>,
    pub sent_quantity: Option<Qty>,
    pub received_quantity: Qty,
    pub damaged_quantity: Qty,
    #[serde(skip_serializing_if = "Cost::is_withheld")]
    pub unit_cost: Option<Cost>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
