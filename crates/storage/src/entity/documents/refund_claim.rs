//! At headquarters: what stores are about to give back, until the document of it comes.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::{Instant, JsonText};

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "refund_claims")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    /// Of the refund; of a void the id of the sale.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub sale_id: Uuid,
    pub store_id: Uuid,
    pub created_at: Instant,
    /// `[{saleItemId, quantity}]`.
    pub lines: JsonText,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
