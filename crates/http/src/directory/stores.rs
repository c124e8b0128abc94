//! Stores as both servers list them.

use std::borrow::Cow;

use serde::Serialize;
use tillkeep_model::permission::code::{StoresView, TransfersCreate};
use tillkeep_storage::entity::store::{Column, Entity, Model};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use utoipa::openapi::schema::{AnyOfBuilder, Schema};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{__dev::ComposeSchema, PartialSchema, ToSchema};
use uuid::Uuid;

use crate::List;
use crate::auth::Caller;
use crate::describe::{Listing, Lists};
use crate::error::Result;
use crate::resource::{self, ListSpec};

/// What may be asked of the list of stores.
pub const LIST: ListSpec = ListSpec {
    search: &["code", "name", "city"],
    filters: &["code", "countryCode", "region"],
    sort: &["code", "name", "city", "createdAt"],
};

/// The list of stores.
pub struct Stores;

impl Listing for Stores {
    type Row = Entity;
    const SPEC: ListSpec = LIST;
}

/// A store as a user sees it who only sends goods there.
#[derive(Serialize, ToSchema)]
#[schema(as = StoreSummary)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    id: Uuid,
    code: String,
    name: String,
    is_active: bool,
}

/// A store, as much of it as the caller may see.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Shown {
    Full(Box<Model>),
    Summary(Summary),
}

/// Written by hand: a whole store is a summary too, and "one of them" would be none.
impl ComposeSchema for Shown {
    fn compose(_: Vec<RefOr<Schema>>) -> RefOr<Schema> {
        let named = |name| Ref::from_schema_name(name);
        AnyOfBuilder::new().item(named(Model::name())).item(named(Summary::name())).into()
    }
}

impl ToSchema for Shown {
    fn name() -> Cow<'static, str> {
        "StoreShown".into()
    }
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        Model::schemas(schemas);
        schemas.push((Model::name().into_owned(), Model::schema()));
        schemas.push((Summary::name().into_owned(), Summary::schema()));
    }
}

/// `GET /stores`: with `stores.view` the stores where it is held; else every store in short form, as goods can be sent
/// to any of them.
pub async fn list(
    caller: Caller<(StoresView, TransfersCreate)>,
    Lists { query, .. }: Lists<Stores>,
) -> Result<List<Shown>> {
    const VIEW: &[&str] = &["stores.view"];
    let full = caller.may(VIEW);
    let mut select = Entity::find();
    if let Some(stores) = caller.access.stores(VIEW, caller.store_id).filter(|_| full) {
        select = select.filter(Column::Id.is_in(stores));
    }
    let stores = resource::list(caller.reader(), &LIST, &query, select).await?;
    if full {
        return Ok(stores.map(|row: Model| Shown::Full(Box::new(row))));
    }
    let short =
        |row: Model| Shown::Summary(Summary { id: row.id, code: row.code, name: row.name, is_active: row.is_active });
    Ok(stores.map(short))
}
