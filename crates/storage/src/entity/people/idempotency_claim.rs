//! A request with a key that some server of headquarters is answering.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::Instant;

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "idempotency_claims")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    /// As of [`super::idempotency_key`].
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    /// Which of the requests with this key it is.
    pub holder: Uuid,
    /// By the clock of the database. Its server died with it when that is over.
    pub expires_at: Instant,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
