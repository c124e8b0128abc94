//! The routes that set up a chain. `docs/api.md` lists them; each row kind is a file.

pub mod customers;
pub mod departments;
pub mod plain;
pub mod products;
pub mod roles;
pub mod rows;
pub mod sales;
pub mod store_prices;
pub mod stores;
mod tax_group_rates;
pub mod tax_groups;
pub mod tax_rates;
pub mod tenders;
pub mod users;

use crate::routes::Routes;
use tillkeep_http::Caller;
use tillkeep_http::error::{Error, Result};
use tillkeep_model::ErrorCode;
use tillkeep_model::permission::Requirement;
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, PaginatorTrait, QueryFilter, Select};
use uuid::Uuid;

/// 409 for a row that others still point to.
pub(crate) fn refuse_in_use(count: u64, by: &str) -> Result<()> {
    if count == 0 {
        return Ok(());
    }
    Err(Error::new(ErrorCode::InUse, format!("{count} {by} still use this row; move them first")))
}

/// Whether a living row of `E` has this id.
pub(crate) async fn lives<E>(conn: &impl ConnectionTrait, id: Uuid) -> Result<bool>
where
    E: EntityTrait,
    E::Model: Send + Sync,
{
    let select = E::find().filter(rows::column::<E>("id")?.eq(id)).filter(rows::column::<E>("deleted_at")?.is_null());
    Ok(select.count(conn).await? > 0)
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
}
