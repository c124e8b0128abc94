//! The chain into the database of a headquarters.

use std::collections::BTreeMap;

use tillkeep_storage::entity::{
    customer, department, product, product_special, product_supplier, sales_rep, store, store_product, supplier,
    tax_group, tax_group_rate, tax_rate, tender, user, user_store_role,
};
use tillkeep_storage::sea_orm::EntityTrait;
use tillkeep_storage::{DbErr, Tx, barcodes, series};
use uuid::Uuid;

use super::users::DemoUser;
use super::whole::Chain;

/// Writes the whole chain; the versions are stamped by the commit. `hash` gives the PIN's hash and look-up key.
///
/// The rows that every headquarters has must be there. A chain that is there already is left as it is.
pub async fn write(tx: &mut Tx, chain: &Chain, hash: impl FnMut(&DemoUser) -> (String, String)) -> Result<(), DbErr> {
    let first = chain.stores.first().map(|store| store.id);
    if store::Entity::find_by_id(first.unwrap_or_default()).one(tx).await?.is_some() {
        return Ok(());
    }
    let users = with_pins(&chain.users, hash);
    tx.insert_all::<store::Entity>(chain.stores.clone()).await?;
    tx.insert_all::<tax_rate::Entity>(chain.tax_rates.clone()).await?;
    tx.insert_all::<tax_group::Entity>(chain.tax_groups.clone()).await?;
    tx.insert_all::<tax_group_rate::Entity>(chain.tax_group_rates.clone()).await?;
    tx.insert_all::<tender::Entity>(chain.tenders.clone()).await?;
    tx.insert_all::<department::Entity>(chain.departments.clone()).await?;
    tx.insert_all::<supplier::Entity>(chain.suppliers.clone()).await?;
    // What is charged with a product stands there before it.
    let (plain, charged): (Vec<_>, Vec<_>) =
        chain.products.iter().cloned().partition(|product| product.charge_product_id.is_none());
    tx.insert_all::<product::Entity>(plain).await?;
    tx.insert_all::<product::Entity>(charged).await?;
    let codes: BTreeMap<Uuid, Vec<String>> = chain
        .products
        .iter()
        .map(|product| {
            let codes = barcodes::codes(product.barcode.as_deref(), &product.barcodes.0, &product.packs.0);
            (product.id, codes)
        })
        .collect();
    barcodes::replace(tx, &codes).await?;
    tx.insert_all::<product_supplier::Entity>(chain.product_suppliers.clone()).await?;
    tx.insert_all::<user::Entity>(users).await?;
    tx.insert_all::<user_store_role::Entity>(chain.user_store_roles.clone()).await?;
    tx.insert_all::<customer::Entity>(chain.customers.clone()).await?;
    // Headquarters goes on after the numbers that are taken.
    series::raise(tx, "customer", i64::try_from(chain.customers.len()).unwrap_or(i64::MAX)).await?;
    tx.insert_all::<product_special::Entity>(chain.specials.clone()).await?;
    tx.insert_all::<sales_rep::Entity>(chain.sales_reps.clone()).await?;
    tx.insert_all::<store_product::Entity>(chain.store_products.clone()).await
}

fn with_pins(users: &[DemoUser], mut hash: impl FnMut(&DemoUser) -> (String, String)) -> Vec<user::Model> {
    let with_pin = |user: &DemoUser| {
        let (pin_hash, pin_lookup) = hash(user);
        let mut model = user.model.clone();
        model.pin_hash = Some(pin_hash);
        model.pin_lookup = Some(pin_lookup);
        model
    };
    users.iter().map(with_pin).collect()
}
