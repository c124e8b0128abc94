//! Rows that a store received, and what is done beside writing them: [`Arriving`] as the entries of their types ask for it.

use std::collections::BTreeMap;

use sea_orm::sea_query::{Alias, Expr, ExprTrait, OnConflict};
use sea_orm::{DbErr, IdenStatic};
use tillkeep_model::{Instant, Qty, ids};
use uuid::Uuid;

use crate::entity::{product, store_product};
use crate::registry::{Arriving, Doing, Step};
use crate::rows::Row;
use crate::sql::bulk;
use crate::{Tx, accounts, barcodes, kept_verifiers, staff};

/// Rows of one page, while they are written.
pub(crate) struct Received<'tx> {
    tx: &'tx Tx,
    store_id: Uuid,
    now: Instant,
    pub rows: Vec<Box<dyn Row>>,
    /// Whether none of them was here.
    pub are_new: bool,
    goods: Option<Goods>,
}

impl<'tx> Received<'tx> {
    pub(crate) const fn new(tx: &'tx Tx, store_id: Uuid, now: Instant, rows: Vec<Box<dyn Row>>) -> Self {
        Self { tx, store_id, now, rows, are_new: false, goods: None }
    }

    pub(crate) async fn take(&mut self, steps: &[Step]) -> Result<(), DbErr> {
        for step in steps {
            step(self).await?;
        }
        Ok(())
    }
}

impl Arriving for Received<'_> {
    fn note_goods(&mut self) -> Doing<'_, ()> {
        self.goods = Some(Goods::new(self.store_id, &self.rows, self.now));
        Box::pin(async { Ok(()) })
    }

    fn write_goods(&mut self) -> Doing<'_, ()> {
        Box::pin(async {
            match self.goods.take() {
                Some(goods) => goods.write(self.tx, self.are_new).await,
                None => Ok(()),
            }
        })
    }

    fn forget_stray_codes(&mut self) -> Doing<'_, ()> {
        Box::pin(barcodes::forget_strays(self.tx))
    }

    fn start_levels(&mut self) -> Doing<'_, ()> {
        for row in &mut self.rows {
            row.set(store_product::Column::Quantity.as_str(), Qty::ZERO.into());
        }
        Box::pin(async { Ok(()) })
    }

    fn keep_verifiers(&mut self) -> Doing<'_, ()> {
        Box::pin(kept_verifiers::withdrawn(self.tx, self.store_id, &self.rows, self.now))
    }

    fn forget_verifiers(&mut self) -> Doing<'_, ()> {
        Box::pin(kept_verifiers::changed(self.tx, self.store_id))
    }

    fn end_sessions(&mut self) -> Doing<'_, ()> {
        Box::pin(staff::end_sessions_of_inactive(self.tx, self.now))
    }

    fn settle_charges(&mut self) -> Doing<'_, ()> {
        Box::pin(accounts::counted(self.tx))
    }
}

/// What a store keeps beside its products.
struct Goods {
    /// The codes of each product.
    codes: BTreeMap<Uuid, Vec<String>>,
    rows: Vec<store_product::Model>,
}

impl Goods {
    fn new(store_id: Uuid, products: &[Box<dyn Row>], now: Instant) -> Self {
        let mut codes = BTreeMap::new();
        let mut rows = Vec::with_capacity(products.len());
        for product in products.iter().filter_map(|row| row.typed::<product::Model>()) {
            let all = || barcodes::codes(product.barcode.as_deref(), &product.barcodes.0, &product.packs.0);
            let wanted = if product.deleted_at.is_some() { Vec::new() } else { all() };
            codes.insert(product.id, wanted);
            rows.push(store_product::Model {
                id: ids::store_product(store_id, product.id),
                store_id,
                product_id: product.id,
                price: product.price,
                cost: product.cost,
                reorder_point: product.reorder_point,
                reorder_quantity: product.reorder_quantity,
                is_stocked: true,
                created_at: now,
                updated_at: now,
                ..store_product::Model::default()
            });
        }
        Self { codes, rows }
    }

    /// Pull rule 4: every product has a row of this store, at the default price unless the store has a price of its own.
    async fn write(self, tx: &Tx, are_new: bool) -> Result<(), DbErr> {
        use store_product::Column;
        let table = store_product::Entity;
        let sent = |column: Column| Expr::col((Alias::new("excluded"), column));
        let price =
            Expr::case(Expr::col((table, Column::HasPriceOverride)).eq(true), Expr::col((table, Column::Price)))
                .finally(sent(Column::Price));
        let conflict = OnConflict::columns([Column::StoreId, Column::ProductId])
            .update_columns([Column::Cost, Column::UpdatedAt])
            .value(Column::Price, price)
            .to_owned();
        if are_new {
            barcodes::add(tx, &self.codes).await?;
            bulk::add::<store_product::Entity>(tx, self.rows, conflict).await?;
        } else {
            barcodes::replace(tx, &self.codes).await?;
            bulk::insert::<store_product::Entity>(tx, self.rows, Some(conflict)).await?;
        }
        Ok(())
    }
}
