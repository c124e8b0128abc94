//! Payments of a sale. `amount` counts towards the sale, never what was tendered.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::Money;

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "sale_payments")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub sale_id: Uuid,
    pub line_no: i32,
    pub tender_id: Option<Uuid>,
    pub tender_code: String,
    pub tender_kind: String,
    pub amount: Money,
    pub tendered_amount: Option<Money>,
    pub change_amount: Money,
    pub is_change: bool,
    pub reference: Option<String>,
    pub card_brand: Option<String>,
    pub card_last4: Option<String>,
    pub external_id: Option<String>,
    pub status: String,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
