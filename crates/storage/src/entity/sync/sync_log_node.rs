//! The databases of stores that rows of [`super::sync_log_kept`] are from, each under a short number.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::Instant;

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "sync_log_nodes")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i32,
    /// The number of the store: the id of the first of its databases here.
    pub store: i32,
    pub store_id: Uuid,
    /// Empty for what came without one.
    pub node_epoch: String,
    /// The newest `first_seen_at` of its rows, so that whoever asks for later ones reads none of them.
    pub kept_until: Instant,
    /// The newest `envelope_at` of its rows.
    pub envelope_until: Instant,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
