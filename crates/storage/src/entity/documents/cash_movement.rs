//! Money that was put into a drawer or taken out of it, and its openings without a sale.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::{Instant, Money};

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "cash_movements")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub created_at: Instant,
    pub session_id: Uuid,
    pub register_id: Uuid,
    pub business_date: String,
    pub kind: String,
    /// 0 for a drawer that was opened alone.
    pub amount: Money,
    pub reason: String,
    pub reason_code: Option<String>,
    pub user_id: Uuid,
    pub approver_id: Option<Uuid>,
    pub at: Instant,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
