//! Stores whose rotated token was asked for once more than it is given: until the token is replaced or taken back.

use std::collections::HashMap;

use tillkeep_http::error::Result;
use tillkeep_model::Instant;
use tillkeep_storage::entity::store;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use uuid::Uuid;

use super::{Asked, Notice, OfStore};
use crate::sync::standing::refused_handovers;

const KIND: &str = "token_asked_again";

pub(super) async fn find(asked: &Asked<'_>) -> Result<Vec<Notice>> {
    let conn = asked.caller.reader();
    let scope = asked.caller.stores();
    let mut refused: HashMap<Uuid, Instant> = refused_handovers(conn).await?.into_iter().collect();
    refused.retain(|id, _| scope.as_ref().is_none_or(|stores| stores.contains(id)));
    let Some(at) = refused.values().min().copied() else { return Ok(Vec::new()) };
    let rows = store::Entity::find()
        .filter(store::Column::Id.is_in(refused.into_keys()))
        .filter(store::Column::DeletedAt.is_null())
        .order_by_asc(store::Column::Code);
    let stores: Vec<OfStore> =
        rows.all(conn).await?.into_iter().map(|row| OfStore { id: row.id, code: row.code }).collect();
    if stores.is_empty() {
        return Ok(Vec::new());
    }
    let text = "With the replaced token of these stores the new one was asked for after somebody had it, or by another installation of \
                the store, and nothing was given. A lost answer or a restored store does that; so does whoever has a copy of its \
                machine. Replace the token without a grace, and bring the new one to the shop.";
    let count = Some(stores.len());
    Ok(vec![Notice { kind: KIND, at, count, users: Vec::new(), stores, text: text.to_owned() }])
}
