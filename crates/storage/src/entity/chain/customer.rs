//! Customers, made at headquarters or in any store.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::{Instant, JsonText, Money};

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "customers")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub created_at: Instant,
    pub updated_at: Instant,
    pub deleted_at: Option<Instant>,
    pub sync_version: i64,
    pub customer_number: String,
    pub first_name: Option<String>,
    pub last_name: Option<String>,
    pub company_name: Option<String>,
    pub email: Option<String>,
    /// What tells whether two of them are the same.
    #[serde(skip)]
    pub email_folded: Option<String>,
    pub phone: Option<String>,
    #[serde(skip)]
    pub phone_digits: Option<String>,
    /// As it is looked for at headquarters: [`crate::sought`].
    #[serde(skip)]
    pub search_text: Option<String>,
    pub address_line1: Option<String>,
    pub address_line2: Option<String>,
    pub city: Option<String>,
    pub region: Option<String>,
    pub postal_code: Option<String>,
    pub country_code: Option<String>,
    pub birth_date: Option<String>,
    pub notes: Option<String>,
    pub marketing_opt_in: bool,
    pub tax_exempt: bool,
    pub tax_exempt_number: Option<String>,
    pub credit_limit: Money,
    pub account_balance: Money,
    pub origin_store_id: Option<Uuid>,
    pub merged_into_id: Option<Uuid>,
    pub is_active: bool,
    #[serde(skip)]
    pub synced: bool,
    /// What a user should look at: of HQ, or of a store when HQ does not have its row.
    pub flags: JsonText,
    #[cfg(feature = "next-release")]
    #[serde(default = "standard")]
    pub loyalty_tier: String,
}

#[cfg(feature = "next-release")]
fn standard() -> String {
    "standard".to_owned()
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
