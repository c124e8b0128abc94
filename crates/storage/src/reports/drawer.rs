//! What one drawer sold and took, for its X and Z reports: a few statements for all of it. What belongs to a drawer names it; no time
//! decides that.

use sea_orm::{ConnectionTrait, DbErr, Value};
use tillkeep_model::pricing::{PriceSource, TenderKind};
use tillkeep_model::state::{PaymentStatus, SaleStatus};
use tillkeep_model::words::{ParkedState, SaleType};
use tillkeep_model::{JsonText, Money, Qty};
use uuid::Uuid;

use super::sums::counted;
use crate::db::query;

/// A sale, refund or payment on an account, voided or not.
#[derive(Clone, Debug)]
pub struct Document {
    pub receipt_number: String,
    pub sale_type: String,
    pub status: String,
    pub cashier_user_id: Uuid,
    pub list: Money,
    pub special_discount: Money,
    pub line_discount: Money,
    pub cart_discount: Money,
    pub net: Money,
    pub tax: Money,
    pub total: Money,
    pub cash_rounding: Money,
    pub tax_lines: JsonText,
    /// What was taken off its cart before it was paid.
    pub removed: Option<JsonText>,
}

/// All of a drawer.
pub async fn documents(conn: &impl ConnectionTrait, session: Uuid) -> Result<Vec<Document>, DbErr> {
    let sql = "SELECT receipt_number, sale_type, status, cashier_user_id, list_amount, special_discount, line_discount, \
               cart_discount, net_amount, tax_amount, total_amount, cash_rounding, tax_lines, removed \
               FROM sales WHERE register_session_id = $1";
    let rows = query(conn, sql, [session.into()]).await?;
    rows.iter()
        .map(|row| {
            Ok(Document {
                receipt_number: row.try_get("", "receipt_number")?,
                sale_type: row.try_get("", "sale_type")?,
                status: row.try_get("", "status")?,
                cashier_user_id: row.try_get("", "cashier_user_id")?,
                list: row.try_get("", "list_amount")?,
                special_discount: row.try_get("", "special_discount")?,
                line_discount: row.try_get("", "line_discount")?,
                cart_discount: row.try_get("", "cart_discount")?,
                net: row.try_get("", "net_amount")?,
                tax: row.try_get("", "tax_amount")?,
                total: row.try_get("", "total_amount")?,
                cash_rounding: row.try_get("", "cash_rounding")?,
                tax_lines: row.try_get("", "tax_lines")?,
                removed: row.try_get("", "removed")?,
            })
        })
        .collect()
}

/// What was sold and given back of one department; of no department where the id is none.
#[derive(Clone, Debug)]
pub struct Department {
    pub id: Option<Uuid>,
    /// As it is called now.
    pub name: Option<String>,
    pub quantity: Qty,
    pub net: Money,
    /// Lines that were sold with a discount that a person gave.
    pub discounted: i64,
    /// Lines whose prices have their taxes in them.
    pub inclusive: i64,
}

/// The lines of what was not voided, by department; with a `cashier` those of theirs alone.
pub async fn departments(
    conn: &impl ConnectionTrait,
    session: Uuid,
    cashier: Option<Uuid>,
) -> Result<Vec<Department>, DbErr> {
    let mut values: Vec<Value> = vec![session.into(), SaleStatus::Voided.word().into(), SaleType::Sale.word().into()];
    values.extend(cashier.map(Value::from));
    let by = if cashier.is_some() { "AND s.cashier_user_id = $4" } else { "" };
    let sql = format!(
        "SELECT i.department_id, d.name AS department, CAST(SUM(i.quantity) AS BIGINT) AS quantity, \
         CAST(SUM(i.net_amount) AS BIGINT) AS net, {} AS discounted, {} AS inclusive \
         FROM sales s JOIN sale_items i ON i.sale_id = s.id LEFT JOIN departments d ON d.id = i.department_id \
         WHERE s.register_session_id = $1 AND s.status <> $2 {by} GROUP BY i.department_id, d.name",
        counted("i.line_discount <> 0 AND s.sale_type = $3"),
        counted("i.price_includes_tax"),
    );
    let rows = query(conn, &sql, values).await?;
    rows.iter()
        .map(|row| {
            Ok(Department {
                id: row.try_get("", "department_id")?,
                name: row.try_get("", "department")?,
                quantity: Qty(row.try_get("", "quantity")?),
                net: Money(row.try_get("", "net")?),
                discounted: row.try_get("", "discounted")?,
                inclusive: row.try_get("", "inclusive")?,
            })
        })
        .collect()
}

/// A line that was sold at a price that a person set.
#[derive(Clone, Copy, Debug)]
pub struct Override {
    pub regular_price: Money,
    pub unit_price: Money,
    pub quantity: Qty,
}

pub async fn overrides(conn: &impl ConnectionTrait, session: Uuid) -> Result<Vec<Override>, DbErr> {
    let sql = "SELECT i.regular_price, i.unit_price, i.quantity FROM sales s JOIN sale_items i ON i.sale_id = s.id \
               WHERE s.register_session_id = $1 AND s.status <> $2 AND s.sale_type = $3 AND i.price_source = $4";
    let (voided, sale) = (SaleStatus::Voided.word(), SaleType::Sale.word());
    let values = [session.into(), voided.into(), sale.into(), PriceSource::Override.as_str().into()];
    let rows = query(conn, sql, values).await?;
    rows.iter()
        .map(|row| {
            Ok(Override {
                regular_price: row.try_get("", "regular_price")?,
                unit_price: row.try_get("", "unit_price")?,
                quantity: row.try_get("", "quantity")?,
            })
        })
        .collect()
}

/// What was paid with one tender.
#[derive(Clone, Debug)]
pub struct Tender {
    pub id: Option<Uuid>,
    pub code: String,
    pub kind: String,
    pub count: i64,
    /// What counted towards sales, never what was handed over.
    pub amount: Money,
    /// Of `amount` what refunds gave back, below zero.
    pub refunds: Money,
    /// Of `amount` what payments on accounts took.
    pub settlements: Money,
}

/// The payments of what was not voided, by tender.
pub async fn tenders(conn: &impl ConnectionTrait, session: Uuid) -> Result<Vec<Tender>, DbErr> {
    let of = |kind: &str| format!("CAST(SUM(CASE WHEN s.sale_type = {kind} THEN p.amount ELSE 0 END) AS BIGINT)");
    let sql = format!(
        "SELECT p.tender_id, p.tender_code, p.tender_kind, CAST(COUNT(*) AS BIGINT) AS payments, \
         CAST(SUM(p.amount) AS BIGINT) AS amount, {} AS refunds, {} AS settlements \
         FROM sales s JOIN sale_payments p ON p.sale_id = s.id \
         WHERE s.register_session_id = $1 AND s.status <> $2 AND p.status <> $3 \
         GROUP BY p.tender_id, p.tender_code, p.tender_kind ORDER BY p.tender_code, p.tender_kind",
        of("$4"),
        of("$5"),
    );
    let values = [
        session.into(),
        SaleStatus::Voided.word().into(),
        PaymentStatus::Voided.word().into(),
        SaleType::Refund.word().into(),
        SaleType::Settlement.word().into(),
    ];
    let rows = query(conn, &sql, values).await?;
    rows.iter()
        .map(|row| {
            Ok(Tender {
                id: row.try_get("", "tender_id")?,
                code: row.try_get("", "tender_code")?,
                kind: row.try_get("", "tender_kind")?,
                count: row.try_get("", "payments")?,
                amount: Money(row.try_get("", "amount")?),
                refunds: Money(row.try_get("", "refunds")?),
                settlements: Money(row.try_get("", "settlements")?),
            })
        })
        .collect()
}

/// What payments on accounts got off what is owed.
#[must_use]
pub fn settled(tenders: &[Tender]) -> Money {
    -tenders
        .iter()
        .filter(|tender| tender.kind == TenderKind::OnAccount)
        .map(|tender| tender.settlements)
        .sum::<Money>()
}

/// What the controls of a drawer count beside its sales.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Approvals that its documents, movements and closes have used up.
    pub approvals: i64,
    pub abandoned: i64,
    /// Carts that its till holds: parked there, or resumed there and not sold yet.
    pub parked: i64,
}

pub async fn counts(conn: &impl ConnectionTrait, session: Uuid, register: Uuid) -> Result<Counts, DbErr> {
    let sql = "SELECT (SELECT COUNT(*) FROM approvals WHERE used_by_id = $1 \
               OR used_by_id IN (SELECT id FROM sales WHERE register_session_id = $1) \
               OR used_by_id IN (SELECT id FROM cash_movements WHERE session_id = $1)) AS approvals, \
               (SELECT COUNT(*) FROM parked_carts WHERE session_id = $1 AND state = $3) AS abandoned, \
               (SELECT COUNT(*) FROM parked_carts p JOIN registers r ON r.id = $2 WHERE \
               (p.state = $4 AND p.terminal_id = r.terminal_id) OR (p.state = $5 AND p.resumed_at_terminal = r.terminal_id \
               AND NOT EXISTS (SELECT 1 FROM sales s WHERE s.id = p.sale_id))) AS parked";
    let words = [ParkedState::Abandoned, ParkedState::Parked, ParkedState::Resumed];
    let [abandoned, parked, resumed] = words.map(ParkedState::word);
    let values = [session.into(), register.into(), abandoned.into(), parked.into(), resumed.into()];
    let rows = query(conn, sql, values).await?;
    let Some(row) = rows.first() else { return Ok(Counts::default()) };
    Ok(Counts {
        approvals: row.try_get("", "approvals")?,
        abandoned: row.try_get("", "abandoned")?,
        parked: row.try_get("", "parked")?,
    })
}

/// What was taken off the carts of a drawer that were abandoned, each with who dropped it: that need not be who parked it.
pub async fn removed_from_abandoned(
    conn: &impl ConnectionTrait,
    session: Uuid,
) -> Result<Vec<(Uuid, JsonText)>, DbErr> {
    let sql = "SELECT COALESCE(abandoned_by, cashier_user_id) AS dropped_by, removed FROM parked_carts \
               WHERE session_id = $1 AND state = $2 AND removed IS NOT NULL";
    let rows = query(conn, sql, [session.into(), ParkedState::Abandoned.word().into()]).await?;
    rows.iter().map(|row| Ok((row.try_get("", "dropped_by")?, row.try_get("", "removed")?))).collect()
}
