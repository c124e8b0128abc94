//! The routes that set up a chain. `docs/api.md` lists them; each row kind is a file.

mod accounting;
mod chain;
mod choices;
mod conflict;
pub(crate) mod customers;
pub(crate) mod departments;
pub(crate) mod drawers;
mod files;
mod given_back;
pub mod plain;
mod preview;
pub(crate) mod products;
pub(crate) mod reasons;
mod references;
pub(crate) mod roles;
pub(crate) mod rows;
pub(crate) mod sale_documents;
pub mod sales;
pub(crate) mod sales_reps;
mod search;
mod sheets;
mod sought;
pub(crate) mod specials;
mod stock;
pub(crate) mod store_prices;
pub(crate) mod stores;
pub(crate) mod suppliers;
mod tax_group_rates;
pub(crate) mod tax_groups;
pub(crate) mod tax_rates;
pub(crate) mod tenders;
pub mod users;

use crate::state::Routes;

/// The routes of every room.
pub fn routes(routes: Routes) -> Routes {
    routes
        .with(chain::routes)
        .with(accounting::routes)
        .with(stores::routes)
        .with(tax_rates::routes)
        .with(tax_groups::routes)
        .with(tenders::routes)
        .with(departments::routes)
        .with(products::routes)
        .with(specials::routes)
        .with(store_prices::routes)
        .with(sheets::routes)
        .with(preview::routes)
        .with(customers::routes)
        .with(users::routes)
        .with(roles::routes)
        .with(sales::routes)
        .with(search::routes)
        .with(sales_reps::routes)
        .with(reasons::routes)
        .with(suppliers::routes)
        .with(drawers::routes)
        .with(stock::routes)
}
