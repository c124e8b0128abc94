//! What the sales and the drawers of a list come to, all of them and not those of a page alone.

use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select,
};
use tillkeep_model::Money;
use tillkeep_model::state::{SaleStatus, SessionStatus};
use tillkeep_model::words::SaleType;
use uuid::Uuid;

use super::sums::{amount, counted, summed, summed_as};
use crate::db::{Row, query};
use crate::entity::sale::{Column, Entity};
use crate::entity::{register_session, sale_payment};

/// The documents of one currency. Those that were voided are counted, and their amounts are in no sum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sums {
    pub currency_code: String,
    /// Sales, refunds and payments on accounts that were not voided.
    pub count: i64,
    pub refunds: i64,
    pub voided: i64,
    pub net: Money,
    pub tax: Money,
    pub total: Money,
    pub cash_rounding: Money,
    /// Of the total what refunds gave back, below zero.
    pub refunded: Money,
}

/// What `select` comes to, by currency.
pub async fn sums(conn: &impl ConnectionTrait, select: Select<Entity>) -> Result<Vec<Sums>, DbErr> {
    let counts = format!("status <> '{}'", SaleStatus::Voided.word());
    let gives_back = format!("{counts} AND sale_type = '{}'", SaleType::Refund.word());
    let figures = [
        format!("{} AS documents", counted(&counts)),
        format!("{} AS refunds", counted(&gives_back)),
        "CAST(COUNT(*) AS BIGINT) AS listed".to_owned(),
        summed("net_amount", &counts),
        summed("tax_amount", &counts),
        summed("total_amount", &counts),
        summed("cash_rounding", &counts),
        summed_as("total_amount", &gives_back, "refunded"),
    ];
    let rows = grouped(conn, select, Column::CurrencyCode, figures).await?;
    rows.iter()
        .map(|row| {
            let (count, listed): (i64, i64) = (row.try_get("", "documents")?, row.try_get("", "listed")?);
            Ok(Sums {
                currency_code: row.try_get("", "currency_code")?,
                count,
                refunds: row.try_get("", "refunds")?,
                voided: listed - count,
                net: amount(row, "net_amount")?,
                tax: amount(row, "tax_amount")?,
                total: amount(row, "total_amount")?,
                cash_rounding: amount(row, "cash_rounding")?,
                refunded: amount(row, "refunded")?,
            })
        })
        .collect()
}

/// The drawers of one store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfDrawers {
    pub store: Uuid,
    pub count: i64,
    /// Those that are not closed.
    pub open: i64,
    /// Those that were closed by force.
    pub forced: i64,
    /// Those of which the cash was counted.
    pub counted: i64,
    pub counted_cash: Money,
    /// What is over never makes up for what is short.
    pub over: Money,
    /// Never above zero.
    pub short: Money,
}

/// What drawers come to, by store.
pub async fn drawers(
    conn: &impl ConnectionTrait,
    select: Select<register_session::Entity>,
) -> Result<Vec<OfDrawers>, DbErr> {
    let figures = [
        "CAST(COUNT(*) AS BIGINT) AS listed".to_owned(),
        format!("{} AS open_drawers", counted(&format!("status <> '{}'", SessionStatus::Closed.word()))),
        format!("{} AS forced_drawers", counted("forced")),
        format!("{} AS counted_drawers", counted("counted_cash IS NOT NULL")),
        summed("counted_cash", "counted_cash IS NOT NULL"),
        summed_as("cash_variance", "cash_variance > 0", "over_by"),
        summed_as("cash_variance", "cash_variance < 0", "short_by"),
    ];
    let rows = grouped(conn, select, register_session::Column::StoreId, figures).await?;
    rows.iter()
        .map(|row| {
            Ok(OfDrawers {
                store: row.try_get("", "store_id")?,
                count: row.try_get("", "listed")?,
                open: row.try_get("", "open_drawers")?,
                forced: row.try_get("", "forced_drawers")?,
                counted: row.try_get("", "counted_drawers")?,
                counted_cash: amount(row, "counted_cash")?,
                over: amount(row, "over_by")?,
                short: amount(row, "short_by")?,
            })
        })
        .collect()
}

/// The rows of a list put together by a column, with these figures, in the order of that column.
async fn grouped<E: EntityTrait>(
    conn: &impl ConnectionTrait,
    select: Select<E>,
    by: E::Column,
    figures: impl IntoIterator<Item = String>,
) -> Result<Vec<Row>, DbErr> {
    let mut select = select.select_only().column(by);
    for figure in figures {
        select = select.expr(Expr::cust(figure));
    }
    let statement = select.group_by(by).order_by_asc(by).build(conn.get_database_backend());
    let values = statement.values.map(|values| values.0).unwrap_or_default();
    query(conn, &statement.sql, values).await
}

/// Sales that are not as most are: with another `column` than `most`, as the index of those says it. A value that is bound
/// would not be known to be one of them.
#[must_use]
pub fn unlike_most(select: Select<Entity>, column: &str, most: &str) -> Select<Entity> {
    select.filter(Expr::cust(format!("sales.{column} <> '{most}'")))
}

/// Payments of a tender that few sales were paid with: these are read, and put in their order. Of another tender a list goes
/// through sales in its order, and soon has those of a page.
const FEW: u64 = 5000;

/// Whether few sales were paid with this tender.
pub async fn is_rare(conn: &impl ConnectionTrait, tender_code: &str) -> Result<bool, DbErr> {
    use sale_payment::Column as Payment;
    // In an index that has both, however wide the payments are.
    let payments = sale_payment::Entity::find().select_only().column(Payment::SaleId);
    let beyond: Option<Uuid> =
        payments.filter(Payment::TenderCode.eq(tender_code)).offset(FEW).limit(1).into_tuple().one(conn).await?;
    Ok(beyond.is_none())
}

/// Sales of which something was paid, or paid back, with a tender, which is a rare one or not.
#[must_use]
pub fn paid_with(select: Select<Entity>, tender_code: &str, is_rare: bool) -> Select<Entity> {
    use sale_payment::Column as Payment;
    let mut payments =
        sale_payment::Entity::find().select_only().column(Payment::SaleId).filter(Payment::TenderCode.eq(tender_code));
    if !is_rare {
        // Looked up for each sale, which the list goes through in its own order.
        let of_it = Expr::col((sale_payment::Entity, Payment::SaleId)).eq(Expr::col((Entity, Column::Id)));
        payments = payments.filter(of_it);
    }
    select.filter(Column::Id.in_subquery(payments.into_query()))
}

/// How many of all sales [`paid_with`] finds, counted along the payments.
pub async fn count_paid_with(conn: &impl ConnectionTrait, tender_code: &str) -> Result<u64, DbErr> {
    let sql = "SELECT CAST(COUNT(DISTINCT sale_id) AS BIGINT) AS n FROM sale_payments WHERE tender_code = $1";
    let rows = query(conn, sql, [tender_code.into()]).await?;
    let count: i64 = rows.first().map_or(Ok(0), |row| row.try_get("", "n"))?;
    Ok(u64::try_from(count).unwrap_or_default())
}
