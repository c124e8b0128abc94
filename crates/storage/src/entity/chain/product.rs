//! What is sold. One row serves every store; a store's own price lives in `store_product_dynamic`.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::{Bps, Cost, Instant, JsonText, Money, Qty};

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "products")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub created_at: Instant,
    pub updated_at: Instant,
    pub deleted_at: Option<Instant>,
    pub sync_version: i64,
    pub sku: String,
    /// As SKUs are compared.
    #[serde(skip)]
    pub sku_folded: String,
    /// As it is looked for at headquarters: [`crate::sought`].
    #[serde(skip)]
    pub search_text: Option<String>,
    pub barcode: Option<String>,
    pub barcodes: JsonText,
    /// `[{code, quantity, price?}]`: codes of several units at once.
    pub packs: JsonText,
    pub plu: Option<String>,
    pub name: String,
    pub short_name: Option<String>,
    pub description: Option<String>,
    pub department_id: Uuid,
    pub tax_group_id: Uuid,
    pub default_supplier_id: Option<Uuid>,
    pub product_type: String,
    pub unit_of_measure: String,
    pub quantity_decimals: i16,
    pub is_weighed: bool,
    pub price: Money,
    #[serde(skip_serializing_if = "Cost::is_withheld")]
    pub cost: Cost,
    #[serde(skip_serializing_if = "Cost::is_withheld")]
    pub min_price: Option<Cost>,
    pub is_open_price: bool,
    pub named_at_till: bool,
    /// Is sold with it, in the same quantity: a deposit.
    pub charge_product_id: Option<Uuid>,
    pub allow_discount: bool,
    pub max_discount_bps: Option<Bps>,
    pub is_returnable: bool,
    pub track_stock: bool,
    pub age_restriction: Option<i16>,
    pub reorder_point: Qty,
    pub reorder_quantity: Qty,
    pub brand: Option<String>,
    pub image_url: Option<String>,
    /// Of the picture that was uploaded; `product_pictures` has it.
    pub picture_hash: Option<String>,
    pub tags: JsonText,
    pub is_active: bool,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
