//! What a document does besides being stored: stock, and what somebody should look at. Push rule 4 of the
//! specification, section 4.3; `docs/sync.md`, rule U9.

use tillkeep_model::adjustment::Reason;
use tillkeep_model::sale_check::{self, LineFigures, SaleFigures};
use tillkeep_model::{Instant, Money, Qty};

use crate::accounts;
use crate::averages::Position;
use crate::registry::{Child, Row, SyncType};
use crate::stock::{Kind, Movement};

/// The stock movements of one stored document, which its store made at `position`; `children` in the registry's order.
pub(crate) fn movements(
    entity: &str,
    row: &dyn Row,
    children: &[Vec<Box<dyn Row>>],
    position: Option<Position>,
) -> Vec<Movement> {
    match entity {
        "sales" => sale(row, children.first().map_or(&[], Vec::as_slice), position),
        "inventory_adjustments" => vec![adjustment(row, position)],
        _ => Vec::new(),
    }
}

/// What a document has put on the account of its customer; `lines` are those of a child and its place.
pub(super) fn charged<'a>(
    entity: &'static SyncType,
    row: &dyn Row,
    lines: impl FnOnce(&'static Child, usize) -> Vec<&'a dyn Row>,
) -> i128 {
    let payments = entity.children.iter().enumerate().find(|(_, child)| child.key == "salePayments");
    payments.map_or(0, |(place, child)| accounts::charged_by(row, lines(child, place).into_iter()))
}

/// A void reverses what the sale took, in movements of their own, so that both may arrive in either order.
fn sale(row: &dyn Row, items: &[Box<dyn Row>], position: Option<Position>) -> Vec<Movement> {
    let refund = row.text("sale_type").as_deref() == Some("refund");
    let voided = row.text("status").as_deref() == Some("voided");
    let at = set(row.instant("completed_at")).or(set(row.instant("created_at"))).unwrap_or_default();
    let mut out = Vec::with_capacity(items.len());
    for item in items {
        if refund && item.flag("restock") == Some(false) {
            continue;
        }
        let money = |column| item.integer(column).filter(|_| refund).map(Money);
        let base = Movement {
            kind: if refund { Kind::Refund } else { Kind::Sale },
            product_id: item.uuid("product_id").unwrap_or_default(),
            change: -Qty(item.integer("quantity").unwrap_or_default()),
            source_id: row.uuid("id").unwrap_or_default(),
            line_id: item.uuid("id").unwrap_or_default(),
            business_date: row.text("business_date").unwrap_or_default(),
            at,
            received: false,
            // What is returned to the shelf comes in at the cost at which it left.
            unit_cost: money("unit_cost"),
            tracked: item.flag("tracked"),
            average_after: average(money("average_cost_after"), position),
        };
        if voided {
            let leaves = Movement { unit_cost: None, average_after: None, ..base.clone() };
            out.push(Movement { kind: Kind::SaleVoid, change: -base.change, ..leaves });
        }
        out.push(base);
    }
    out
}

/// What a store says of the average cost counts where it can be told what is newer.
fn average(after: Option<Money>, position: Option<Position>) -> Option<(Money, Position)> {
    after.zip(position)
}

fn adjustment(row: &dyn Row, position: Option<Position>) -> Movement {
    let reason = row.text("reason").unwrap_or_default();
    let priced = Reason::find(&reason).is_some_and(|reason| reason.priced);
    let id = row.uuid("id").unwrap_or_default();
    Movement {
        kind: Kind::Adjustment,
        product_id: row.uuid("product_id").unwrap_or_default(),
        change: Qty(row.integer("quantity_change").unwrap_or_default()),
        source_id: id,
        line_id: id,
        business_date: row.text("business_date").unwrap_or_default(),
        at: set(row.instant("occurred_at")).or(set(row.instant("created_at"))).unwrap_or_default(),
        received: reason == "received",
        unit_cost: row.integer("unit_cost").filter(|_| priced).map(Money),
        // A store adjusts nothing of which it keeps no stock.
        tracked: Some(true),
        average_after: average(row.integer("average_cost_after").map(Money), position),
    }
}

fn set(instant: Option<Instant>) -> Option<Instant> {
    instant.filter(|instant| !instant.is_unset())
}

/// What does not add up in a pushed sale; it is stored all the same.
pub(super) fn flags(entity: &str, row: &dyn Row, children: &[Vec<Box<dyn Row>>]) -> Vec<&'static str> {
    let [items, payments] = children else { return Vec::new() };
    if entity != "sales" {
        return Vec::new();
    }
    let money = |row: &dyn Row, column: &str| Money(row.integer(column).unwrap_or_default());
    let lines: Vec<LineFigures> = items
        .iter()
        .map(|item| LineFigures {
            net: money(&**item, "net_amount"),
            tax: money(&**item, "tax_amount"),
            total: money(&**item, "total_amount"),
        })
        .collect();
    let paid: Vec<Money> = payments
        .iter()
        .filter(|payment| payment.text("status").as_deref() != Some("voided") || voided(row))
        .map(|payment| money(&**payment, "amount"))
        .collect();
    sale_check::flags(&SaleFigures {
        net: money(row, "net_amount"),
        tax: money(row, "tax_amount"),
        total: money(row, "total_amount"),
        cash_rounding: money(row, "cash_rounding"),
        lines: &lines,
        payments: &paid,
    })
}

fn voided(row: &dyn Row) -> bool {
    row.text("status").as_deref() == Some("voided")
}
