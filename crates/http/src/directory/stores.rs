//! Stores as both servers list them.

use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tillkeep_model::permission::code::{StoresView, TransfersCreate};
use tillkeep_storage::entity::store::{Column, Entity, Model};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use uuid::Uuid;

use crate::auth::Caller;
use crate::error::Result;
use crate::extract::Params;
use crate::resource::{self, ListSpec, Query};

/// What may be asked of the list of stores.
pub const LIST: ListSpec = ListSpec {
    search: &["code", "name", "city"],
    filters: &["code", "countryCode", "region"],
    sort: &["code", "name", "city", "createdAt"],
};

/// A store as somebody sees it who only sends goods there.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Short {
    id: Uuid,
    code: String,
    name: String,
    is_active: bool,
}

/// `GET /stores`: with `stores.view` the stores where it is held; else every store in short form, as goods can be sent
/// to any of them.
pub async fn list(caller: Caller<(StoresView, TransfersCreate)>, Params(query): Params<Query>) -> Result<Response> {
    const VIEW: &[&str] = &["stores.view"];
    let full = caller.may(VIEW);
    let mut select = Entity::find();
    if let Some(stores) = caller.access.stores(VIEW, caller.store_id).filter(|_| full) {
        select = select.filter(Column::Id.is_in(stores));
    }
    let stores = resource::list(caller.db().reader(), &LIST, &query, select).await?;
    if full {
        return Ok(stores.into_response());
    }
    let short = |row: Model| Short { id: row.id, code: row.code, name: row.name, is_active: row.is_active };
    Ok(stores.map(short).into_response())
}
