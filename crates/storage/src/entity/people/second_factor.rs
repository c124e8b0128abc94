//! What a user shows besides a PIN to sign in at headquarters: a passkey, or the codes of an app.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::Instant;

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "second_factors")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub user_id: Uuid,
    /// `passkey` or `totp`.
    pub kind: String,
    /// What its owner calls it.
    pub name: String,
    /// The public key of a passkey, or what the codes follow from; sealed.
    pub secret: String,
    /// The last step of time of which the code was used: each is good once.
    pub last_step: Option<i64>,
    pub created_at: Instant,
    pub last_used_at: Option<Instant>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
