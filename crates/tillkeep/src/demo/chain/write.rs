//! The chain into the database of a headquarters.

use std::collections::BTreeMap;

use tillkeep_storage::entity::{store, user};
use tillkeep_storage::sea_orm::{ActiveModelTrait, EntityName, EntityTrait, IntoActiveModel, Iterable, ModelTrait};
use tillkeep_storage::{DbErr, Tx, barcodes, db, series};
use uuid::Uuid;

use super::{Chain, DemoUser};

/// Writes the whole chain; the versions are stamped by the commit. `hash` gives the PIN's hash and look-up key.
///
/// The rows that every headquarters has must be there. A chain that is there already is left as it is.
pub async fn write(tx: &mut Tx, chain: &Chain, hash: impl FnMut(&DemoUser) -> (String, String)) -> Result<(), DbErr> {
    let first = chain.stores.first().map(|store| store.id);
    if store::Entity::find_by_id(first.unwrap_or_default()).one(tx).await?.is_some() {
        return Ok(());
    }
    let users = with_pins(&chain.users, hash);
    insert(tx, &chain.stores).await?;
    insert(tx, &chain.tax_rates).await?;
    insert(tx, &chain.tax_groups).await?;
    insert(tx, &chain.tax_group_rates).await?;
    insert(tx, &chain.tenders).await?;
    insert(tx, &chain.departments).await?;
    insert(tx, &chain.suppliers).await?;
    insert(tx, &chain.products).await?;
    let codes: BTreeMap<Uuid, Vec<String>> = chain
        .products
        .iter()
        .map(|product| (product.id, barcodes::codes(product.barcode.as_deref(), &product.barcodes.0)))
        .collect();
    barcodes::replace(tx, &codes).await?;
    insert(tx, &chain.product_suppliers).await?;
    insert(tx, &users).await?;
    insert(tx, &chain.user_store_roles).await?;
    insert(tx, &chain.customers).await?;
    // Headquarters goes on after the numbers that are taken.
    series::raise(tx, "customer", i64::try_from(chain.customers.len()).unwrap_or(i64::MAX)).await?;
    insert(tx, &chain.specials).await?;
    insert(tx, &chain.sales_reps).await?;
    insert(tx, &chain.store_products).await
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

/// Inserts rows of one type, some hundred in a statement, and notes that they want versions.
async fn insert<M>(tx: &mut Tx, rows: &[M]) -> Result<(), DbErr>
where
    M: ModelTrait + IntoActiveModel<<M::Entity as EntityTrait>::ActiveModel>,
    <M::Entity as EntityTrait>::ActiveModel: ActiveModelTrait<Entity = M::Entity> + Send,
{
    let columns = <M::Entity as EntityTrait>::Column::iter().count();
    for chunk in rows.chunks(db::rows_per_statement(columns)) {
        let chunk: Vec<_> = chunk.iter().cloned().map(IntoActiveModel::into_active_model).collect();
        M::Entity::insert_many(chunk).exec_without_returning(tx).await?;
    }
    tx.touch(M::Entity::default().table_name());
    Ok(())
}
