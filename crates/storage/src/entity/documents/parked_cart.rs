//! Carts that wait to be taken up again, and those that were given up.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::{Instant, JsonText, Money};

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "parked_carts")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub created_at: Instant,
    pub updated_at: Instant,
    pub terminal_id: String,
    pub session_id: Option<Uuid>,
    pub business_date: String,
    pub cashier_user_id: Uuid,
    pub label: Option<String>,
    pub customer_id: Option<Uuid>,
    /// As it was sent.
    pub cart: JsonText,
    /// Its quote when it was parked: what changed since is said against it.
    pub priced: JsonText,
    pub item_count: i32,
    pub total_at_park: Money,
    pub state: String,
    pub parked_at: Instant,
    pub resumed_at: Option<Instant>,
    pub resumed_by: Option<Uuid>,
    pub resumed_at_terminal: Option<String>,
    /// Of the sale that it becomes; given when it is taken up.
    pub sale_id: Option<Uuid>,
    pub abandoned_at: Option<Instant>,
    pub abandoned_by: Option<Uuid>,
    pub abandon_reason: Option<String>,
    pub abandon_reason_code: Option<String>,
    pub removed: Option<JsonText>,
    /// The times that it was parked in place of a sale: `parked_carts::Earlier`.
    pub earlier: JsonText,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
