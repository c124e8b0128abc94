//! Lines of a sale.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::{Cost, JsonText, Money, Qty};

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "sale_items")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub sale_id: Uuid,
    pub line_no: i32,
    pub product_id: Uuid,
    pub sku: String,
    pub barcode: Option<String>,
    pub product_name: String,
    pub department_id: Option<Uuid>,
    pub unit_of_measure: String,
    pub quantity: Qty,
    pub regular_price: Money,
    pub unit_price: Money,
    pub price_source: String,
    pub price_includes_tax: bool,
    pub list_amount: Money,
    pub special_discount: Money,
    pub line_discount: Money,
    pub cart_discount: Money,
    pub special_details: JsonText,
    pub line_discount_type: Option<String>,
    pub line_discount_value: Option<i64>,
    pub discount_reason: Option<String>,
    pub net_amount: Money,
    pub tax_amount: Money,
    pub total_amount: Money,
    pub tax_group_id: Option<Uuid>,
    pub tax_details: JsonText,
    #[serde(skip_serializing_if = "Cost::is_withheld")]
    pub unit_cost: Option<Cost>,
    #[serde(skip_serializing_if = "Cost::is_withheld")]
    pub cost_amount: Cost,
    pub override_reason: Option<String>,
    pub override_approved_by: Option<Uuid>,
    pub discount_approved_by: Option<Uuid>,
    pub sales_rep_id: Option<Uuid>,
    pub original_sale_item_id: Option<Uuid>,
    pub refunded_quantity: Qty,
    pub restock: Option<bool>,
    pub return_reason: Option<String>,
    pub return_reason_code: Option<String>,
    /// Whether its store kept stock of the product when it was sold; a program that does not know says nothing.
    pub tracked: Option<bool>,
    /// The average cost at its store after this line, of a refund that went back to the shelf.
    #[serde(skip_serializing_if = "Cost::is_withheld")]
    pub average_cost_after: Option<Cost>,
    pub age_confirmed: Option<bool>,
    /// The code by which it came into the cart, where that says a quantity or a price.
    pub scanned_code: Option<String>,
    pub note: Option<String>,
    pub serial: Option<String>,
    pub override_reason_code: Option<String>,
    pub discount_reason_code: Option<String>,
    /// The line whose deposit it is.
    pub charge_of: Option<Uuid>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
