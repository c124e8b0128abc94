//! Every stock change except sales; a delta, never changed after creation.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::{Cost, Instant, JsonText, Qty};

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "inventory_adjustments")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub store_id: Uuid,
    pub created_at: Instant,
    pub updated_at: Instant,
    pub product_id: Uuid,
    pub reason: String,
    pub quantity_change: Qty,
    pub quantity_before: Qty,
    pub quantity_after: Qty,
    #[serde(skip_serializing_if = "Cost::is_withheld")]
    pub unit_cost: Option<Cost>,
    /// The average cost at the store after this row.
    #[serde(skip_serializing_if = "Cost::is_withheld")]
    pub average_cost_after: Option<Cost>,
    pub reference_type: Option<String>,
    pub reference_id: Option<Uuid>,
    pub reference_line_id: Option<Uuid>,
    pub user_id: Option<Uuid>,
    pub user_name: Option<String>,
    pub note: Option<String>,
    pub business_date: String,
    pub occurred_at: Instant,
    #[serde(skip)]
    pub synced: bool,
    #[serde(skip_deserializing)]
    pub received_at: Option<Instant>,
    #[serde(skip)]
    pub last_envelope_at: Option<Instant>,
    #[serde(skip_deserializing)]
    pub flags: JsonText,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
