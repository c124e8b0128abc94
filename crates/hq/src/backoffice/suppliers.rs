//! Suppliers, to be read: who delivers what. Nothing orders from them yet.

use tillkeep_http::describe::{Listing, Lists};
use tillkeep_http::error::Result;
use tillkeep_http::resource::{self, ListSpec};
use tillkeep_http::{Caller, List};
use tillkeep_model::permission::code::SuppliersView;
use tillkeep_storage::entity::supplier::{Entity, Model};
use tillkeep_storage::sea_orm::EntityTrait;

use crate::state::Routes;

const LIST: ListSpec = ListSpec { search: &["code", "name"], filters: &["code"], sort: &["name", "code", "createdAt"] };

/// The list of suppliers.
pub(crate) struct Suppliers;

impl Listing for Suppliers {
    type Row = Entity;
    const SPEC: ListSpec = LIST;
}

/// `GET /suppliers`
pub(crate) async fn list(caller: Caller<SuppliersView>, Lists { query, .. }: Lists<Suppliers>) -> Result<List<Model>> {
    resource::list(caller.reader(), &LIST, &query, Entity::find()).await
}

/// The routes of suppliers.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes.get("/suppliers", list).about("List suppliers, a page at a time.")
}
