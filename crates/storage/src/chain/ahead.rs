//! Rows that a large write is about to change, locked before the first of them is written.
//!
//! Pushes lock products, what their store has of these, and customers, each type in one order. Who locked them as they come up,
//! part by part of a file, would hold some and wait for others which a push holds that waits for the first: `PostgreSQL` ends one
//! of the two, and it would be the larger one. Locked ahead, rows of one type are waited for in the order of pushes. From one type to
//! the next a push may have another order: when `PostgreSQL` ends an import for that, it is done again from the beginning.

use std::collections::BTreeSet;

use sea_orm::{DbErr, EntityTrait, QueryOrder, QuerySelect};
use tillkeep_model::ids;
use uuid::Uuid;

use crate::Tx;
use crate::db::{Turn, take_turn};
use crate::entity::{customer, product, store_product};
use crate::many::tuples_in;

/// What a write is about to change.
#[derive(Debug, Default)]
pub struct Ahead {
    /// It makes products: who looks for one that is not there waits for that.
    pub makes_products: bool,
    /// The same of customers.
    pub makes_customers: bool,
    pub products: BTreeSet<Uuid>,
    /// Products of which each store's row may follow.
    pub followed: BTreeSet<Uuid>,
    /// What stores have of products, by product and store.
    pub levels: BTreeSet<(Uuid, Uuid)>,
    pub customers: BTreeSet<Uuid>,
}

impl Ahead {
    /// Locks all of it until the end of the transaction.
    pub async fn lock(self, tx: &Tx) -> Result<(), DbErr> {
        // Pushes take these before rows: a document that names what is not there is judged before it is stored.
        for (is_made, turn) in [(self.makes_products, Turn::Product), (self.makes_customers, Turn::Account)] {
            if is_made {
                take_turn(tx, turn).await?;
            }
        }
        let rows = product::Entity::find().select_only().column(product::Column::Id);
        let rows = rows.order_by_asc(product::Column::Id).lock_exclusive();
        let _: Vec<Uuid> = tuples_in(tx, rows, product::Column::Id, self.products).await?;
        let rows = store_product::Entity::find().select_only().column(store_product::Column::Id);
        let rows = rows.order_by_asc(store_product::Column::ProductId).order_by_asc(store_product::Column::StoreId);
        let rows = rows.lock_exclusive();
        let _: Vec<Uuid> = tuples_in(tx, rows.clone(), store_product::Column::ProductId, self.followed).await?;
        let levels = self.levels.into_iter().map(|(product, store)| ids::store_product(store, product));
        let _: Vec<Uuid> = tuples_in(tx, rows, store_product::Column::Id, levels).await?;
        let rows = customer::Entity::find().select_only().column(customer::Column::Id);
        let rows = rows.order_by_asc(customer::Column::Id).lock_exclusive();
        let _: Vec<Uuid> = tuples_in(tx, rows, customer::Column::Id, self.customers).await?;
        Ok(())
    }
}
