//! Reports over the reports of drawers: of one register, or of all of the store.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::{Instant, JsonText};

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "zz_reports")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub created_at: Instant,
    pub register_id: Option<Uuid>,
    /// Nothing for one of the store.
    pub register_code: Option<String>,
    pub zz_number: i32,
    pub from_session_number: Option<i32>,
    pub to_session_number: Option<i32>,
    pub from_date: String,
    pub to_date: String,
    pub totals: JsonText,
    pub created_by: Uuid,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
