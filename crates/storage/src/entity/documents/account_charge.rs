//! At a store: what it sold on account and headquarters' balance of the customer does not contain yet.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::Money;

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "account_charges")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub sale_id: Uuid,
    /// The customer who owns the account: of merged ones the one that is left.
    pub customer_id: Uuid,
    pub amount: Money,
    /// Headquarters does not have the sale, and its balance will not contain it.
    pub stays: bool,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
