//! An address that alerts are posted to.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::{Instant, JsonText};

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "alert_hooks")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub created_at: Instant,
    pub updated_at: Instant,
    pub url: String,
    /// What posts are signed with; sealed.
    pub secret: String,
    /// A list of kinds of alerts.
    pub kinds: JsonText,
    pub is_active: bool,
    /// Of what people set of it.
    pub version: i64,
    /// The last post that was tried, and what came of it; without a status there was no answer.
    pub last_at: Option<Instant>,
    pub last_status: Option<i32>,
    pub last_text: Option<String>,
    pub last_attempts: Option<i32>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
