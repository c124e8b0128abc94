//! Special prices and deals with their windows.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::{Bps, Instant, Money};

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "product_specials")]
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
    pub product_id: Option<Uuid>,
    pub department_id: Option<Uuid>,
    pub store_id: Option<Uuid>,
    pub mix_group: Option<String>,
    #[sea_orm(column_name = "type")]
    #[serde(rename = "type")]
    pub kind: String,
    pub percent_bps: Option<Bps>,
    pub amount: Option<Money>,
    pub fixed_price: Option<Money>,
    pub buy_quantity: Option<i32>,
    pub get_quantity: Option<i32>,
    pub get_discount_bps: Option<Bps>,
    pub bundle_quantity: Option<i32>,
    pub bundle_price: Option<Money>,
    pub max_per_sale: Option<i32>,
    pub start_date: Option<String>,
    pub end_date: Option<String>,
    pub days_of_week: i32,
    pub start_time: Option<String>,
    pub end_time: Option<String>,
    pub priority: i32,
    pub is_stackable: bool,
    pub requires_customer: bool,
    pub is_active: bool,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
