//! What both servers take with a new customer, and who buys.

use serde::Deserialize;
use tillkeep_storage::entity::customer::{Entity, Model};
use tillkeep_storage::sea_orm::{ConnectionTrait, EntityTrait};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::error::{Error, Result};

/// What is sent again with a customer who looks like one that is there, when it is another one all the same.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AllowDuplicate {
    pub allow_duplicate: Option<bool>,
}

/// The customer of a cart. A duplicate that was merged buys on the terms of the one it was merged into.
pub async fn buyer(conn: &impl ConnectionTrait, id: Option<Uuid>) -> Result<Option<Model>> {
    /// Merges of merges that are followed.
    const HOPS: usize = 5;
    let mut wanted = id;
    for _ in 0..HOPS {
        let Some(id) = wanted else { return Ok(None) };
        let row = Entity::find_by_id(id).one(conn).await?;
        match row {
            Some(Model { merged_into_id: Some(into), .. }) => wanted = Some(into),
            Some(row) if row.is_active && row.deleted_at.is_none() => return Ok(Some(row)),
            _ => break,
        }
    }
    Err(Error::field("customerId", "is no active customer; choose another or leave it out"))
}
