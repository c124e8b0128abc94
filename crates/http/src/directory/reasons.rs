//! Why somebody did what is out of the ordinary: the list that headquarters keeps.

use tillkeep_model::permission::code::{InventoryAdjust, PosSell, StoresView};
use tillkeep_storage::entity::reason::{Entity, Model};
use tillkeep_storage::sea_orm::EntityTrait;

use crate::answer::List;
use crate::auth::Caller;
use crate::describe::{Listing, Lists};
use crate::error::Result;
use crate::resource::{self, ListSpec};

pub const LIST: ListSpec = ListSpec {
    search: &["code", "name"],
    filters: &["kind"],
    sort: &["sortOrder", "kind", "code", "name", "createdAt"],
};

/// The list of reasons.
pub struct Reasons;

impl Listing for Reasons {
    type Row = Entity;
    const SPEC: ListSpec = LIST;
}

/// `GET /reasons?kind`
pub async fn list(
    caller: Caller<(PosSell, InventoryAdjust, StoresView)>,
    Lists { query, .. }: Lists<Reasons>,
) -> Result<List<Model>> {
    resource::list(caller.reader(), &LIST, &query, Entity::find()).await
}
