//! Which products sold best, less what came back. Nothing of what they cost.

use std::collections::BTreeSet;

use sea_orm::{ConnectionTrait, DbErr, Value};
use tillkeep_model::state::SaleStatus;
use tillkeep_model::words::SaleType;
use tillkeep_model::{Money, Qty};
use uuid::Uuid;

use super::closed_drawers::one_of;
use super::sums::{PART, amount, counted, summed};
use crate::db::{Row, query};

/// What the best is measured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Amount,
    Quantity,
}

/// Sales that count.
#[derive(Clone, Copy, Debug)]
pub struct Range<'a> {
    /// Business dates, both of them in it.
    pub from: &'a str,
    pub to: &'a str,
    /// `None` is all of them.
    pub stores: Option<&'a BTreeSet<Uuid>>,
}

/// A product in one currency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BestSeller {
    pub currency_code: String,
    pub product: Uuid,
    /// As it is called now; as it was sold when headquarters does not have it.
    pub sku: String,
    pub name: String,
    pub unit_of_measure: String,
    /// Lines of sales; what came back takes none away.
    pub lines: i64,
    pub quantity: Qty,
    pub net: Money,
    pub total: Money,
}

/// The best `limit` products of each currency, the best first.
pub async fn best(conn: &impl ConnectionTrait, by: By, range: Range<'_>, limit: u8) -> Result<Vec<BestSeller>, DbErr> {
    let mut values: Vec<Value> =
        vec![SaleStatus::Voided.word().into(), SaleType::Sale.word().into(), range.from.into(), range.to.into()];
    let here = one_of("s.store_id", range.stores, &mut values);
    let measure = match by {
        By::Amount => "net_amount",
        By::Quantity => "quantity",
    };
    let sql = format!(
        "WITH lines AS (SELECT s.currency_code, s.sale_type, i.product_id, i.sku, i.product_name, i.unit_of_measure, \
         i.quantity, i.net_amount, i.total_amount FROM sales s JOIN sale_items i ON i.sale_id = s.id \
         WHERE s.business_date >= $3 AND s.business_date <= $4 AND s.status <> $1 AND {here}), \
         products_sold AS (SELECT l.currency_code, l.product_id, MAX(l.sku) AS said_sku, MAX(l.product_name) AS said_name, \
         MAX(l.unit_of_measure) AS said_unit, {} AS sold_lines, {}, {}, {} FROM lines l \
         GROUP BY l.currency_code, l.product_id), \
         placed AS (SELECT q.*, ROW_NUMBER() OVER (PARTITION BY q.currency_code \
         ORDER BY q.{measure}_above * {PART}.0 + q.{measure}_below DESC, q.product_id) AS place FROM products_sold q) \
         SELECT q.*, p.sku, p.name, p.unit_of_measure FROM placed q LEFT JOIN products p ON p.id = q.product_id \
         WHERE q.place <= {limit} ORDER BY q.currency_code, q.place",
        counted("l.sale_type = $2"),
        summed("quantity", "TRUE"),
        summed("net_amount", "TRUE"),
        summed("total_amount", "TRUE"),
    );
    query(conn, &sql, values).await?.iter().map(best_seller).collect()
}

fn best_seller(row: &Row) -> Result<BestSeller, DbErr> {
    let called = |now: &str, said: &str| -> Result<String, DbErr> {
        let now: Option<String> = row.try_get("", now)?;
        now.map_or_else(|| row.try_get("", said), Ok)
    };
    Ok(BestSeller {
        currency_code: row.try_get("", "currency_code")?,
        product: row.try_get("", "product_id")?,
        sku: called("sku", "said_sku")?,
        name: called("name", "said_name")?,
        unit_of_measure: called("unit_of_measure", "said_unit")?,
        lines: row.try_get("", "sold_lines")?,
        quantity: Qty(amount(row, "quantity")?.0),
        net: amount(row, "net_amount")?,
        total: amount(row, "total_amount")?,
    })
}
