//! The whole chain: its parts, in the order in which they need each other.

use chrono::{NaiveDate, NaiveTime};
use tillkeep_model::Instant;
use tillkeep_storage::entity::{
    customer, department, product, product_special, product_supplier, sales_rep, store, store_product, supplier,
    tax_group, tax_group_rate, tax_rate, tender, user_store_role,
};

use super::users::{self, DemoUser};
use super::{catalog, offers, people, stores, supply, taxes, tenders};

/// Most stores a demo has.
pub const MAX_STORES: usize = stores::CODES.len();

/// How long before the anchor date the chain was set up: 30 days, at 09:00 UTC.
const SET_UP_HOURS_BEFORE: i64 = 30 * 24 - 9;

/// A whole chain. Parents stand before the rows that name them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    pub seed: u64,
    pub anchor_date: NaiveDate,
    pub stores: Vec<store::Model>,
    pub departments: Vec<department::Model>,
    pub tax_rates: Vec<tax_rate::Model>,
    /// Without `NONE`, which every headquarters has.
    pub tax_groups: Vec<tax_group::Model>,
    pub tax_group_rates: Vec<tax_group_rate::Model>,
    /// Without `CASH`, which every headquarters has.
    pub tenders: Vec<tender::Model>,
    pub suppliers: Vec<supplier::Model>,
    pub product_suppliers: Vec<product_supplier::Model>,
    pub products: Vec<product::Model>,
    /// The prices that differ from the catalogue's.
    pub store_products: Vec<store_product::Model>,
    pub customers: Vec<customer::Model>,
    pub sales_reps: Vec<sales_rep::Model>,
    pub specials: Vec<product_special::Model>,
    /// The administrator, then store by store one manager and two cashiers.
    pub users: Vec<DemoUser>,
    pub user_store_roles: Vec<user_store_role::Model>,
}

/// Seed of the chain that everybody sees.
pub const SEED: u64 = 20_260_101;

/// The chain of `stores` stores (1 to [`MAX_STORES`]; what is outside is cut to that) as it is 30 days before
/// `anchor_date`. A larger chain contains a smaller one, from three stores on, unchanged.
pub fn chain(seed: u64, anchor_date: NaiveDate, stores: usize) -> Chain {
    let at = set_up_at(anchor_date);
    let stores = stores::all(at, stores.clamp(1, MAX_STORES));
    let products = catalog::products(at);
    let users = users::all(seed, at, stores.len());
    Chain {
        seed,
        anchor_date,
        departments: catalog::departments(at),
        tax_rates: taxes::rates(at),
        tax_groups: taxes::groups(at),
        tax_group_rates: taxes::group_rates(at, &stores),
        tenders: tenders::all(at),
        suppliers: supply::suppliers(at),
        product_suppliers: supply::product_suppliers(at, &products),
        store_products: offers::store_prices(seed, at, &stores, &products),
        customers: people::customers(at),
        sales_reps: people::sales_reps(at, stores.len()),
        specials: offers::specials(at, anchor_date, &products),
        user_store_roles: users::roles(at, &users),
        products,
        stores,
        users,
    }
}

fn set_up_at(anchor_date: NaiveDate) -> Instant {
    Instant::from(anchor_date.and_time(NaiveTime::MIN).and_utc()).plus_millis(-SET_UP_HOURS_BEFORE * 3_600_000)
}
