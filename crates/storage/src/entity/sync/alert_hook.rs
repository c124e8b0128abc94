//! An address that alerts or sales are posted to.

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
    /// `alerts` or `sales`.
    pub what: String,
    /// A list of kinds of alerts; empty where sales are told.
    pub kinds: JsonText,
    /// Sales of all stores are told, and not those of its `alert_hook_stores` alone.
    pub all_stores: bool,
    pub is_active: bool,
    /// Of what people set of it.
    pub version: i64,
    /// The last post that was tried, and what came of it; without a status there was no answer.
    pub last_at: Option<Instant>,
    pub last_status: Option<i32>,
    pub last_text: Option<String>,
    pub last_attempts: Option<i32>,
    /// Sales are told up to this place of `sale_news`.
    pub told_to: i64,
    /// The last place of the message that is under way, and what that is called at every try.
    pub sending_to: Option<i64>,
    pub event_id: Option<Uuid>,
    /// Tries of that message.
    pub attempts: i32,
    /// When sales may be posted next.
    pub due_at: Instant,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
