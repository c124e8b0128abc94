//! A drawer from its opening to its close.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::{Instant, JsonText, Money};

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "register_sessions")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub store_id: Uuid,
    pub created_at: Instant,
    pub updated_at: Instant,
    pub register_id: Uuid,
    pub register_code: String,
    pub session_number: i32,
    pub status: String,
    pub business_date: String,
    pub opened_by: Uuid,
    /// Who has it now; nothing for whoever opened it.
    pub owner_id: Option<Uuid>,
    /// Who got it from whom and when, the oldest first.
    pub owners: JsonText,
    pub opened_at: Instant,
    pub opening_float: Money,
    pub opening_denominations: Option<JsonText>,
    pub counted_by: Option<Uuid>,
    pub counted_at: Option<Instant>,
    pub counts: Option<JsonText>,
    /// Counts that another one followed.
    pub earlier_counts: JsonText,
    pub closed_by: Option<Uuid>,
    pub closed_at: Option<Instant>,
    pub forced: bool,
    pub close_note: Option<String>,
    pub close_reason_code: Option<String>,
    pub expected_cash: Option<Money>,
    pub counted_cash: Option<Money>,
    pub cash_variance: Option<Money>,
    pub cash_movements: JsonText,
    pub no_sale_count: i32,
    /// Of the safe: they travel with the drawer that was the last one.
    pub safe_movements: JsonText,
    pub totals: Option<JsonText>,
    pub first_receipt_number: Option<String>,
    pub last_receipt_number: Option<String>,
    pub sale_count: Option<i32>,
    pub running_total: Option<Money>,
    pub zz_number: Option<i32>,
    /// The same of the series of the whole store.
    pub store_zz_number: Option<i32>,
    #[serde(skip)]
    pub synced: bool,
    #[serde(skip_deserializing)]
    pub received_at: Option<Instant>,
    #[serde(skip)]
    pub last_envelope_at: Option<Instant>,
    /// What HQ found to look at; empty at a store.
    #[serde(skip_deserializing)]
    pub flags: JsonText,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
