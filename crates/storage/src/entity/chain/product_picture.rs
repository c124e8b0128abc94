//! Pictures of products, each in two sizes. Headquarters has all of them, a store those that its tills asked for.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::Instant;

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "product_pictures")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    /// Of what is shown, in all sizes.
    #[sea_orm(primary_key, auto_increment = false)]
    pub hash: String,
    /// Pixels of a side.
    #[sea_orm(primary_key, auto_increment = false)]
    pub size: i32,
    /// A JPEG, as base64.
    pub content: String,
    /// When it was uploaded, or came to this store.
    pub created_at: Instant,
    /// When a product had it last that has another one now, or none; headquarters looks whether others have it.
    pub unused_since: Option<Instant>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
