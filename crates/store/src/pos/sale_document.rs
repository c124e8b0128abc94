//! A sale with its lines and payments: one document in the database, in the outbox and in answers.

use serde::Serialize;
use tillkeep_model::{Instant, JsonText};
use tillkeep_storage::DbErr;
use tillkeep_storage::db::rows_per_statement;
use tillkeep_storage::entity::{sale, sale_item, sale_payment};
use tillkeep_storage::sea_orm::{
    ColumnTrait, ConnectionTrait, DbBackend, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder, QueryTrait,
    Statement,
};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::act::Record;

/// Serialised as it is answered and as it travels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct SaleDocument {
    #[serde(flatten)]
    pub sale: sale::Model,
    #[serde(rename = "saleItems")]
    pub items: Vec<sale_item::Model>,
    #[serde(rename = "salePayments")]
    pub payments: Vec<sale_payment::Model>,
}

impl Record for SaleDocument {
    type Row = sale::Entity;
    const NOUN: &'static str = "a sale";

    fn id(&self) -> Uuid {
        self.sale.id
    }

    fn created_at(&self) -> Instant {
        self.sale.created_at
    }

    fn row(&self) -> sale::ActiveModel {
        self.sale.clone().into_active_model()
    }

    async fn load(conn: &impl ConnectionTrait, sale: sale::Model) -> Result<Self, DbErr> {
        let items = sale_item::Entity::find()
            .filter(sale_item::Column::SaleId.eq(sale.id))
            .order_by_asc(sale_item::Column::LineNo)
            .all(conn)
            .await?;
        let payments = sale_payment::Entity::find()
            .filter(sale_payment::Column::SaleId.eq(sale.id))
            .order_by_asc(sale_payment::Column::LineNo)
            .all(conn)
            .await?;
        Ok(Self { sale, items, payments })
    }
}

impl SaleDocument {
    /// The moment of its transaction, which its receipts are in the order of.
    pub(crate) fn done_at(&mut self, at: Instant, is_corrected: bool) {
        let sale = &mut self.sale;
        (sale.created_at, sale.updated_at, sale.completed_at) = (at, at, at);
        sale.started_at = sale.started_at.min(at);
        if is_corrected {
            sale.flags = JsonText::new(&[sale::CLOCK_BEHIND]);
        }
    }

    /// What stores the lines and payments of the sale. To be made before anybody waits for it: the texts are long.
    #[expect(clippy::disallowed_methods, reason = "the entry in the outbox is that of the sale")]
    pub(crate) fn inserts_of_lines(&self, backend: DbBackend) -> Vec<Statement> {
        let of_items = |items: &[sale_item::Model]| {
            let items = items.iter().cloned().map(IntoActiveModel::into_active_model);
            sale_item::Entity::insert_many(items).build(backend)
        };
        let payments = self.payments.iter().cloned().map(IntoActiveModel::into_active_model);
        let of_payments =
            (!self.payments.is_empty()).then(|| sale_payment::Entity::insert_many(payments).build(backend));
        self.items.chunks(rows_per_statement(43)).map(of_items).chain(of_payments).collect()
    }
}
