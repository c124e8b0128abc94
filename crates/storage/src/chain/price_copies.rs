//! What a store's row of a product copies from it: the default price, unless the store has a price of its own, and the cost.
//! `docs/sync.md`, *Copies of the default price*.

use sea_orm::DbErr;
use tillkeep_model::Instant;
use uuid::Uuid;

use crate::entity::store_product;
use crate::many::execute_in;
use crate::{Tx, versions};

/// Copies what these products have by now. A row that has it already gets no new version: neither does one with a price of its own
/// when the cost is the same.
pub async fn follow(tx: &mut Tx, products: &[Uuid], now: Instant) -> Result<(), DbErr> {
    let sql = format!(
        "UPDATE store_product_dynamic SET \
         price = CASE WHEN has_price_override THEN store_product_dynamic.price ELSE p.price END, \
         cost = p.cost, updated_at = $1, sync_version = {} FROM products p \
         WHERE p.id = store_product_dynamic.product_id AND p.id IN ($list) \
         AND (store_product_dynamic.cost <> p.cost \
         OR (NOT has_price_override AND store_product_dynamic.price <> p.price))",
        versions::UNSTAMPED
    );
    if execute_in(tx, &sql, &[now.into()], products.iter().copied()).await? > 0 {
        tx.wrote::<store_product::Entity>()?;
    }
    Ok(())
}
