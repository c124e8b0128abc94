//! The routes that set up a chain. `docs/api.md` lists them; each row kind is a file.

pub mod customers;
pub mod departments;
pub mod drawers;
pub mod plain;
pub mod products;
pub mod roles;
pub mod rows;
pub mod sales;
mod stock;
pub mod store_prices;
pub mod stores;
pub mod suppliers;
mod tax_group_rates;
pub mod tax_groups;
pub mod tax_rates;
pub mod tenders;
pub mod users;

use std::collections::BTreeSet;

use crate::routes::Routes;
use tillkeep_http::Caller;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::Query;
use tillkeep_model::ErrorCode;
use tillkeep_model::permission::Requirement;
use tillkeep_storage::Tx;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Select};
use uuid::Uuid;

/// 409 for a row that others still point to.
pub(crate) fn refuse_in_use(count: u64, by: &str) -> Result<()> {
    if count == 0 {
        return Ok(());
    }
    Err(Error::new(ErrorCode::InUse, format!("{count} {by} still use this row; move them first")))
}

/// Whether a living row of `E` has this id. If so nobody changes or deletes it before the transaction ends: who deletes a
/// row locks it before counting what names it.
pub(crate) async fn lives<E: EntityTrait>(tx: &Tx, id: Uuid) -> Result<bool> {
    Ok(!living::<E>(tx, [id]).await?.is_empty())
}

/// Those of `ids` that [`lives`] holds for, locked in one order.
pub(crate) async fn living<E: EntityTrait>(tx: &Tx, ids: impl IntoIterator<Item = Uuid>) -> Result<BTreeSet<Uuid>> {
    let id = rows::column::<E>("id")?;
    let select = E::find()
        .select_only()
        .column(id)
        .filter(id.is_in(ids))
        .filter(rows::column::<E>("deleted_at")?.is_null())
        .order_by_asc(id);
    Ok(select.lock_shared().into_tuple::<Uuid>().all(tx).await?.into_iter().collect())
}

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

/// The routes of every room.
pub fn routes(routes: Routes) -> Routes {
    routes
        .with(stores::routes)
        .with(tax_rates::routes)
        .with(tax_groups::routes)
        .with(tenders::routes)
        .with(departments::routes)
        .with(products::routes)
        .with(store_prices::routes)
        .with(customers::routes)
        .with(users::routes)
        .with(roles::routes)
        .with(sales::routes)
        .with(suppliers::routes)
        .with(drawers::routes)
        .with(stock::routes)
}
