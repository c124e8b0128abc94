//! What was taken from the safe to a bank, and what was corrected of it.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::{Instant, Money};

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "safe_movements")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub created_at: Instant,
    pub kind: String,
    /// Of a correction with its sign.
    pub amount: Money,
    pub slip_number: Option<String>,
    pub reason: Option<String>,
    pub reason_code: Option<String>,
    pub user_id: Uuid,
    pub approver_id: Option<Uuid>,
    pub at: Instant,
    pub business_date: String,
    /// The drawer that carries it to headquarters.
    pub session_id: Option<Uuid>,
    /// Of a correction: the drawer that was closed without a count, and had this in it.
    pub counted_session_id: Option<Uuid>,
    /// Of a correction: what was counted in the safe.
    pub new_balance: Option<Money>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
