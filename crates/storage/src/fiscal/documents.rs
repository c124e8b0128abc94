//! Entries of chains in their order, with the documents that they are of; a page of them in memory.

use std::collections::HashMap;

use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{ConnectionTrait, DbErr, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use uuid::Uuid;

use super::content::Rows;
use crate::entity::chain_entry::{Column, Entity, Model};
use crate::entity::{sale, sale_item, sale_payment};
use crate::many::select_in;

/// Entries of a page: of so few, all lines fit into memory.
pub(super) const PAGE: u64 = 500;

/// Documents by their ids.
pub(super) struct Documents {
    sales: HashMap<Uuid, sale::Model>,
    items: HashMap<Uuid, Vec<sale_item::Model>>,
    payments: HashMap<Uuid, Vec<sale_payment::Model>>,
}

impl Documents {
    /// Those of `entries`.
    pub(super) async fn of(conn: &impl ConnectionTrait, entries: &[Model]) -> Result<Self, DbErr> {
        let mut ids: Vec<Uuid> = entries.iter().map(|entry| entry.sale_id).collect();
        ids.sort_unstable();
        ids.dedup();
        let sales = select_in(conn, sale::Entity::find(), sale::Column::Id, ids.iter().copied()).await?;
        let items = select_in(conn, sale_item::Entity::find(), sale_item::Column::SaleId, ids.iter().copied()).await?;
        let payments = select_in(conn, sale_payment::Entity::find(), sale_payment::Column::SaleId, ids).await?;
        Ok(Self {
            sales: sales.into_iter().map(|sale| (sale.id, sale)).collect(),
            items: grouped(items, |item| item.sale_id),
            payments: grouped(payments, |payment| payment.sale_id),
        })
    }

    pub(super) fn rows(&self, sale: Uuid) -> Option<Rows<'_>> {
        Some(Rows {
            sale: self.sales.get(&sale)?,
            items: self.items.get(&sale).into_iter().flatten().collect(),
            payments: self.payments.get(&sale).into_iter().flatten().collect(),
        })
    }
}

fn grouped<T>(rows: Vec<T>, of: impl Fn(&T) -> Uuid) -> HashMap<Uuid, Vec<T>> {
    let mut all: HashMap<Uuid, Vec<T>> = HashMap::new();
    for row in rows {
        all.entry(of(&row)).or_default().push(row);
    }
    all
}

/// How far a reader has come: chain, number and id of the last entry.
pub(super) type Place = (Uuid, i64, Uuid);

/// So many entries behind a place, by chain and number: those of the next chain after those of one.
pub(super) async fn page(
    conn: &impl ConnectionTrait,
    (chain, number, id): Place,
    most: u64,
) -> Result<Vec<Model>, DbErr> {
    let column = |column: Column| Expr::col((Entity, column));
    // Compared as one: each of two conditions beside the other would have the index read from its beginning on every page.
    let place = Expr::tuple([Column::ChainId, Column::Number, Column::Id].map(column));
    let later = place.gt(Expr::tuple([Expr::val(chain), Expr::val(number), Expr::val(id)]));
    let rows = Entity::find().filter(later).order_by_asc(Column::ChainId).order_by_asc(Column::Number);
    rows.order_by_asc(Column::Id).limit(most).all(conn).await
}
