//! Sales and refunds; written once by the store that made them.

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::Expr;
use serde::{Deserialize, Deserializer, Serialize};
use tillkeep_model::{Cost, Instant, JsonText, Money};

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "sales")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub store_id: Uuid,
    pub created_at: Instant,
    pub updated_at: Instant,
    pub receipt_number: String,
    pub register_id: Uuid,
    pub register_code: String,
    pub register_session_id: Uuid,
    pub sale_type: String,
    pub status: String,
    pub business_date: String,
    pub started_at: Instant,
    pub completed_at: Instant,
    pub cashier_user_id: Uuid,
    pub cashier_name: String,
    pub sales_rep_id: Option<Uuid>,
    pub customer_id: Option<Uuid>,
    pub customer_name: Option<String>,
    pub original_sale_id: Option<Uuid>,
    pub original_receipt_number: Option<String>,
    pub exchange_group_id: Option<Uuid>,
    pub currency_code: String,
    pub tax_rounding: String,
    pub tax_exempt: bool,
    pub list_amount: Money,
    pub special_discount: Money,
    pub line_discount: Money,
    pub cart_discount: Money,
    pub net_amount: Money,
    pub tax_amount: Money,
    pub total_amount: Money,
    pub cash_rounding: Money,
    pub change_amount: Money,
    #[serde(skip_serializing_if = "Cost::is_withheld")]
    pub cost_amount: Cost,
    pub refunded_amount: Money,
    pub tax_lines: JsonText,
    pub cart_discount_type: Option<String>,
    pub cart_discount_value: Option<i64>,
    pub cart_discount_reason: Option<String>,
    pub cart_discount_reason_code: Option<String>,
    pub approvals: JsonText,
    pub voided_at: Option<Instant>,
    pub voided_by: Option<Uuid>,
    pub void_reason: Option<String>,
    pub void_reason_code: Option<String>,
    #[serde(skip)]
    pub reprint_count: i32,
    pub note: Option<String>,
    /// Of a payment on an account: more than is owed was meant.
    pub prepaid: bool,
    /// Whom an invoice of it names, as it was typed in.
    pub buyer: Option<JsonText>,
    /// What was taken off its cart before it was paid.
    pub removed: Option<JsonText>,
    #[serde(skip)]
    pub synced: bool,
    #[serde(skip_deserializing)]
    pub received_at: Option<Instant>,
    #[serde(skip)]
    pub last_envelope_at: Option<Instant>,
    #[serde(deserialize_with = "said_by_a_store")]
    pub flags: JsonText,
    /// Its receipt number [from its end](from_its_end), at headquarters alone.
    #[serde(skip)]
    pub receipt_end: Option<String>,
}

/// The flag of a sale of which more was given back than was sold, or that was voided as well.
pub const OVER_REFUNDED: &str = "over_refunded";

/// The flag of a sale of another time than its store's clock showed, which was too far behind.
pub const CLOCK_BEHIND: &str = "clock_behind_register";

/// The flag of a refund of a sale that headquarters will never have: a user there settled it without applying it.
pub const OF_A_LOST_SALE: &str = "original_not_at_headquarters";

/// The flags that only the store of a sale can know.
pub const SAID_BY_STORES: [&str; 2] = [CLOCK_BEHIND, OF_A_LOST_SALE];

/// Of the flags that a sale travels with those that only its store can know, and the one that goes with figures of headquarters when a
/// store gets its sales back; a push sets that anew.
fn said_by_a_store<'de, D: Deserializer<'de>>(deserializer: D) -> Result<JsonText, D::Error> {
    let said = serde_json::Value::deserialize(deserializer)?;
    let is_said = |known: &&str| said.as_array().is_some_and(|flags| flags.iter().any(|flag| flag == *known));
    let kept: Vec<&str> = SAID_BY_STORES.into_iter().chain([OVER_REFUNDED]).filter(is_said).collect();
    Ok(JsonText::new(&kept))
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// A receipt number as it is looked for by its end, in any case: its letters backwards, as the step that added the column has them.
#[must_use]
pub fn from_its_end(receipt_number: &str) -> String {
    receipt_number.chars().rev().map(|letter| letter.to_ascii_lowercase()).collect()
}

/// Whether headquarters has something to say of it, or nothing: as the index of the few that are flagged says it, with nothing to be
/// filled in.
#[must_use]
pub fn is_flagged(flagged: bool) -> Expr {
    Expr::cust(if flagged { "flags <> '[]'" } else { "flags = '[]'" })
}
