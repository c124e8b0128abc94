//! A sale with its lines and payments: one document in the database, in the outbox and in answers.

use std::collections::BTreeMap;

use serde::Serialize;
use tillkeep_model::pricing::TenderKind;
use tillkeep_model::state::SaleStatus;
use tillkeep_model::{Instant, JsonText, Money};
use tillkeep_storage::entity::{chain_entry, sale, sale_item, sale_payment};
use tillkeep_storage::fiscal::Rows;
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder};
use tillkeep_storage::{DbErr, Lines};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::act::Record;
use crate::chain::Chained;

/// Serialised as it is answered and as it travels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct SaleDocument {
    #[serde(flatten)]
    pub sale: sale::Model,
    #[serde(rename = "saleItems")]
    pub items: Vec<sale_item::Model>,
    #[serde(rename = "salePayments")]
    pub payments: Vec<sale_payment::Model>,
    /// Its places in the chain of its register. `docs/chain.md`.
    #[serde(rename = "chainEntries")]
    pub entries: Vec<chain_entry::Model>,
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
        let mut document = Self::without_lines(sale);
        fill(conn, std::slice::from_mut(&mut document)).await?;
        Ok(document)
    }
}

/// The refunds of the sale `id` that were made at this store, the first one first, without their lines.
pub(crate) async fn refund_rows(conn: &impl ConnectionTrait, id: Uuid) -> Result<Vec<sale::Model>, DbErr> {
    sale::Entity::find()
        .filter(sale::Column::OriginalSaleId.eq(id))
        .filter(sale::Column::Status.ne(SaleStatus::Voided.word()))
        .order_by_asc(sale::Column::CompletedAt)
        .order_by_asc(sale::Column::Id)
        .all(conn)
        .await
}

/// Reads the lines of `documents`: three statements, however many documents there are.
async fn fill(conn: &impl ConnectionTrait, documents: &mut [SaleDocument]) -> Result<(), DbErr> {
    let places: BTreeMap<Uuid, usize> =
        documents.iter().enumerate().map(|(place, document)| (document.sale.id, place)).collect();
    let items = sale_item::Entity::find()
        .filter(sale_item::Column::SaleId.is_in(places.keys().copied()))
        .order_by_asc(sale_item::Column::LineNo);
    for item in items.all(conn).await? {
        documents[places[&item.sale_id]].items.push(item);
    }
    let payments = sale_payment::Entity::find()
        .filter(sale_payment::Column::SaleId.is_in(places.keys().copied()))
        .order_by_asc(sale_payment::Column::LineNo);
    for payment in payments.all(conn).await? {
        documents[places[&payment.sale_id]].payments.push(payment);
    }
    let entries = chain_entry::Entity::find()
        .filter(chain_entry::Column::SaleId.is_in(places.keys().copied()))
        .order_by_asc(chain_entry::Column::LineNo);
    for entry in entries.all(conn).await? {
        documents[places[&entry.sale_id]].entries.push(entry);
    }
    Ok(())
}

impl Chained for SaleDocument {
    fn rows(&self) -> Rows<'_> {
        Rows { sale: &self.sale, items: self.items.iter().collect(), payments: self.payments.iter().collect() }
    }

    fn entries(&mut self) -> &mut Vec<chain_entry::Model> {
        &mut self.entries
    }
}

impl SaleDocument {
    fn without_lines(sale: sale::Model) -> Self {
        Self { sale, items: Vec::new(), payments: Vec::new(), entries: Vec::new() }
    }

    /// Those of `sales`, in their order.
    pub(crate) async fn load_all(conn: &impl ConnectionTrait, sales: Vec<sale::Model>) -> Result<Vec<Self>, DbErr> {
        let mut documents: Vec<Self> = sales.into_iter().map(Self::without_lines).collect();
        if !documents.is_empty() {
            fill(conn, &mut documents).await?;
        }
        Ok(documents)
    }

    /// The moment of its transaction, which its receipts are in the order of.
    pub(crate) fn done_at(&mut self, at: Instant, is_corrected: bool) {
        let sale = &mut self.sale;
        (sale.created_at, sale.updated_at, sale.completed_at) = (at, at, at);
        sale.started_at = sale.started_at.min(at);
        if is_corrected {
            self.flag(sale::CLOCK_BEHIND);
        }
    }

    /// Says something of it that only this store can know.
    pub(crate) fn flag(&mut self, flag: &str) {
        let said = self.sale.flags.0.as_array().into_iter().flatten().filter_map(|said| said.as_str());
        let flags: Vec<&str> = said.filter(|said| *said != flag).chain([flag]).collect();
        self.sale.flags = JsonText::new(&flags);
    }

    /// What it puts on the account of its customer; below zero what it takes off that.
    pub(crate) fn on_account(&self) -> Money {
        let on_account = self.payments.iter().filter(|payment| payment.tender_kind == TenderKind::OnAccount);
        on_account.map(|payment| payment.amount).sum()
    }

    /// Its lines and payments, ready to be stored.
    pub(crate) fn lines(&self, conn: &impl ConnectionTrait) -> [Lines; 2] {
        [Lines::new::<sale_item::Entity>(&self.items, conn), Lines::new::<sale_payment::Entity>(&self.payments, conn)]
    }

    /// Its newest entry in the chain, which was made in this transaction.
    pub(crate) fn newest_entry(&self, conn: &impl ConnectionTrait) -> Lines {
        Lines::new::<chain_entry::Entity>(&self.entries[self.entries.len().saturating_sub(1)..], conn)
    }
}
