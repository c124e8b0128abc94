//! Orders to suppliers, made at headquarters or in the store they are for.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::{Instant, JsonText, Money};

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "purchase_orders")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub created_at: Instant,
    pub updated_at: Instant,
    pub deleted_at: Option<Instant>,
    pub sync_version: i64,
    pub po_number: String,
    pub store_id: Uuid,
    pub supplier_id: Uuid,
    pub origin: String,
    pub status: String,
    pub order_date: Option<String>,
    pub expected_date: Option<String>,
    pub currency_code: String,
    pub subtotal_amount: Money,
    pub freight_amount: Money,
    pub tax_amount: Money,
    pub total_amount: Money,
    pub created_by: Option<Uuid>,
    pub submitted_by: Option<Uuid>,
    pub submitted_at: Option<Instant>,
    pub approved_by: Option<Uuid>,
    pub approved_at: Option<Instant>,
    pub ordered_at: Option<Instant>,
    pub sent_via: Option<String>,
    pub closed_by: Option<Uuid>,
    pub closed_at: Option<Instant>,
    pub rejected_reason: Option<String>,
    pub cancelled_reason: Option<String>,
    pub conflict_note: Option<String>,
    pub notes: Option<String>,
    pub receipts: JsonText,
    pub last_supplier_document: Option<String>,
    #[serde(skip)]
    pub synced: bool,
    /// What HQ found to look at.
    pub flags: JsonText,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
