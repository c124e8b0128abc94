//! What wrong PINs of one origin add up to: a bucket of [`crate::attempts`].

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::Instant;

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "pin_attempts")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    /// Follows from kind, store and subject.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub kind: String,
    /// A terminal, an address, or a keyed hash of the name that was typed.
    pub subject: String,
    pub store_id: Option<Uuid>,
    /// The person with that name, when there is one.
    pub user_id: Option<Uuid>,
    /// The beginning of the day that `wrong_today` counts.
    pub day: Instant,
    pub wrong_today: i32,
    pub in_a_row: i32,
    /// The beginning of the minute that `in_minute` counts.
    pub minute_at: Instant,
    pub in_minute: i32,
    pub blocked_until: Option<Instant>,
    /// Whether the present trouble is in the audit log.
    pub announced: bool,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
