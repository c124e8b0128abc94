//! What documents of sale come to: so many, and so much, by what they are.

use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QuerySelect, Select};
use tillkeep_model::Money;
use tillkeep_model::state::SaleStatus;
use uuid::Uuid;

use super::sums::PART;
use crate::entity::customer;
use crate::entity::sale::{Column, Entity};

/// The documents of one kind in one currency that were not voided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bought {
    pub currency_code: String,
    pub sale_type: String,
    pub count: i64,
    pub total: Money,
}

/// What `select` comes to.
pub async fn sums(conn: &impl ConnectionTrait, select: Select<Entity>) -> Result<Vec<Bought>, DbErr> {
    let part = |of: &str| Expr::cust(format!("CAST(SUM(sales.total_amount {of} {PART}) AS BIGINT)"));
    let rows: Vec<(String, String, i64, i64, i64)> = select
        .filter(Column::Status.ne(SaleStatus::Voided.word()))
        .select_only()
        .columns([Column::CurrencyCode, Column::SaleType])
        // Under names of columns, whose types the sums are read with.
        .expr_as(Expr::cust("COUNT(*)"), "num_items")
        .expr_as(part("/"), "total_amount")
        .expr_as(part("%"), "net_amount")
        .group_by(Column::CurrencyCode)
        .group_by(Column::SaleType)
        .into_tuple()
        .all(conn)
        .await?;
    let summed = |(currency_code, sale_type, count, above, below)| {
        let total = Money::from_wide(i128::from(above) * PART + i128::from(below));
        Bought { currency_code, sale_type, count, total }
    };
    Ok(rows.into_iter().map(summed).collect())
}

/// A customer, and those who turned out to be the same one.
pub async fn same_customer(conn: &impl ConnectionTrait, id: Uuid) -> Result<Vec<Uuid>, DbErr> {
    let merged = customer::Entity::find().filter(customer::Column::MergedIntoId.eq(id));
    let mut ids: Vec<Uuid> = merged.select_only().column(customer::Column::Id).into_tuple().all(conn).await?;
    ids.push(id);
    Ok(ids)
}
