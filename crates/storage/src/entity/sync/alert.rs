//! Something that is wrong, or was: one row from when it was found until long after its end.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::Instant;

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "alerts")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// Such as `store_silent`.
    pub kind: String,
    /// The code of a store, or the name of a server of headquarters.
    pub subject: String,
    pub store_id: Option<Uuid>,
    pub severity: String,
    /// For people.
    pub text: String,
    /// `firing` or `ended`.
    pub state: String,
    /// Since when it is so, as far as that is known.
    pub since: Instant,
    /// When it was found, or found to be over.
    pub at: Instant,
    pub ended_at: Option<Instant>,
    /// Kind and subject while it fires.
    pub open_key: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
