//! A sale with its lines and payments: one document in the database, in the outbox and in answers.

use serde::Serialize;
use tillkeep_model::{Instant, JsonText};
use tillkeep_storage::entity::{sale, sale_item, sale_payment};
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder};
use tillkeep_storage::{DbErr, Lines};
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

    /// Its lines and payments, ready to be stored.
    pub(crate) fn lines(&self, conn: &impl ConnectionTrait) -> [Lines; 2] {
        [Lines::new::<sale_item::Entity>(&self.items, conn), Lines::new::<sale_payment::Entity>(&self.payments, conn)]
    }
}
