//! A sale with its lines and payments: one document in the database, in the outbox and in answers.

use serde::Serialize;
use tillkeep_storage::db::rows_per_statement;
use tillkeep_storage::entity::{sale, sale_item, sale_payment};
use tillkeep_storage::sea_orm::sea_query::OnConflict;
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder};
use tillkeep_storage::{DbErr, Tx};
use utoipa::ToSchema;
use uuid::Uuid;

/// Serialised as it is answered and as it travels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = SaleDocument)]
pub struct Document {
    #[serde(flatten)]
    pub sale: sale::Model,
    #[serde(rename = "saleItems")]
    pub items: Vec<sale_item::Model>,
    #[serde(rename = "salePayments")]
    pub payments: Vec<sale_payment::Model>,
}

impl Document {
    /// The stored document `id`.
    pub async fn find(conn: &impl ConnectionTrait, id: Uuid) -> Result<Option<Self>, DbErr> {
        match sale::Entity::find_by_id(id).one(conn).await? {
            Some(sale) => Self::of(conn, sale).await.map(Some),
            None => Ok(None),
        }
    }

    /// `sale` with what belongs to it.
    pub async fn of(conn: &impl ConnectionTrait, sale: sale::Model) -> Result<Self, DbErr> {
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

    /// Stores the sale itself; false when one with its id is there.
    pub async fn insert_sale(&self, tx: &Tx) -> Result<bool, DbErr> {
        let unless_there = OnConflict::column(sale::Column::Id).do_nothing().to_owned();
        let insert = sale::Entity::insert(self.sale.clone().into_active_model()).on_conflict(unless_there);
        Ok(insert.exec_without_returning(tx).await? > 0)
    }

    /// Stores what belongs to the sale.
    pub async fn insert_lines(&self, tx: &Tx) -> Result<(), DbErr> {
        for items in self.items.chunks(rows_per_statement(41)) {
            let items = items.iter().cloned().map(IntoActiveModel::into_active_model);
            sale_item::Entity::insert_many(items).exec_without_returning(tx).await?;
        }
        if !self.payments.is_empty() {
            let payments = self.payments.iter().cloned().map(IntoActiveModel::into_active_model);
            sale_payment::Entity::insert_many(payments).exec_without_returning(tx).await?;
        }
        Ok(())
    }
}
