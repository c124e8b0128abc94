//! Goods on the way from one store to another; `store_id` is the source.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::{Instant, JsonText};

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "transfers")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub created_at: Instant,
    pub updated_at: Instant,
    pub deleted_at: Option<Instant>,
    pub store_id: Uuid,
    pub sync_version: i64,
    pub transfer_number: String,
    pub from_store_id: Uuid,
    pub to_store_id: Uuid,
    pub status: String,
    pub requested_by: Option<Uuid>,
    pub requested_at: Option<Instant>,
    pub approved_by: Option<Uuid>,
    pub approved_at: Option<Instant>,
    pub rejected_reason: Option<String>,
    pub cancelled_reason: Option<String>,
    pub note: Option<String>,
    pub sent_by: Option<Uuid>,
    pub sent_at: Option<Instant>,
    pub carrier: Option<String>,
    pub tracking_number: Option<String>,
    pub received_by: Option<Uuid>,
    pub received_at: Option<Instant>,
    pub receipts: JsonText,
    #[serde(skip)]
    pub synced: bool,
    #[serde(skip)]
    pub last_envelope_at: Option<Instant>,
    /// What HQ found to look at.
    pub flags: JsonText,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
