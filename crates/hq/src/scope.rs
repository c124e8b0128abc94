//! Lists of rows that belong to stores show those of the stores where the caller may see them.

use tillkeep_http::Caller;
use tillkeep_http::error::Result;
use tillkeep_http::resource::Query;
use tillkeep_model::permission::Requirement;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, Select};

/// Cuts rows of stores to those where the caller holds the permission of the route.
pub(crate) fn in_scope<E: EntityTrait, P: Requirement>(
    caller: &Caller<P>,
    select: Select<E>,
    store: E::Column,
) -> Select<E> {
    match caller.stores() {
        None => select,
        Some(stores) => select.filter(store.is_in(stores)),
    }
}

/// Refuses a list of a store that the caller may not see; without one it is cut by [`in_scope`].
pub(crate) fn named_store<P: Requirement>(caller: &Caller<P>, query: &Query) -> Result<()> {
    query.get("storeId").and_then(|id| id.parse().ok()).map_or(Ok(()), |store_id| caller.at_store(store_id))
}
