//! An event of an alert on its way to a hook.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::Instant;

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "alert_deliveries")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// Of the beginning of an alert, or of its end: the same for all hooks and all tries.
    pub event_id: Uuid,
    pub alert_id: Uuid,
    pub hook_id: Uuid,
    pub created_at: Instant,
    /// `waiting`, `sent` or `given_up`.
    pub state: String,
    /// What is posted, to the letter.
    pub body: String,
    pub attempts: i32,
    pub first_at: Option<Instant>,
    pub due_at: Instant,
    pub last_at: Option<Instant>,
    pub last_status: Option<i32>,
    pub last_text: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
