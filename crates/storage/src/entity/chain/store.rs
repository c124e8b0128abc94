//! Stores of the chain, with the settings a till works by.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::{Bps, Instant, JsonText, Money};

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "stores")]
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
    pub legal_name: Option<String>,
    pub tax_registration_no: Option<String>,
    pub address_line1: Option<String>,
    pub address_line2: Option<String>,
    pub city: Option<String>,
    pub region: Option<String>,
    pub postal_code: Option<String>,
    pub country_code: String,
    pub phone: Option<String>,
    pub email: Option<String>,
    pub timezone: String,
    pub currency_code: String,
    pub currency_exponent: i16,
    pub locale: String,
    pub is_active: bool,
    pub provisioned_at: Option<Instant>,
    pub first_seen_at: Option<Instant>,
    pub sync_token_version: i32,
    pub prices_include_tax: bool,
    pub tax_rounding: String,
    pub cash_rounding_increment: i32,
    pub cash_rounding_mode: String,
    pub business_day_start: String,
    pub max_session_hours: i32,
    pub max_line_discount_bps: Bps,
    pub max_cart_discount_bps: Bps,
    pub max_open_price: Option<Money>,
    pub reasons_required: bool,
    pub allow_negative_stock: bool,
    pub blind_close: bool,
    pub cash_variance_limit: Money,
    pub refund_window_days: Option<i32>,
    pub allow_unlinked_refunds: bool,
    pub refund_to_original_tender: bool,
    pub unlinked_refund_limit: Money,
    pub default_float: Money,
    pub four_eyes_documents: bool,
    pub scale_barcode_rules: JsonText,
    pub receipt_header: Option<String>,
    pub receipt_footer: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
