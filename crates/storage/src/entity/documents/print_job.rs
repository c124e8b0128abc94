//! Papers on their way to a printer of this store.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::{Instant, JsonText};

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "print_jobs")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub created_at: Instant,
    pub updated_at: Instant,
    pub register_id: Uuid,
    pub sale_id: Option<Uuid>,
    pub kind: String,
    /// 0 for the first paper, then which copy it is.
    pub copy: i32,
    pub state: String,
    pub attempts: i32,
    pub opens_drawer: bool,
    pub error: Option<String>,
    pub requested_by: Option<Uuid>,
    /// What a paper of no sale says, as it was when it was asked for.
    pub content: Option<JsonText>,
    /// The drawer or the ZZ that it was asked of, where that was named.
    pub of_id: Option<Uuid>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
