//! The key that a client gave a request, with what came of it.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::Instant;

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "idempotency_keys")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    /// A hash of who asked, the route and the key.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub route: String,
    /// A hash of path, query and body, without any PIN.
    pub request_hash: String,
    /// Of the answer; null while it is on its way, and for one that is not kept.
    pub status: Option<i16>,
    pub answer: Option<String>,
    pub created_at: Instant,
    pub expires_at: Instant,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
