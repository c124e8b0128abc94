//! A cart as a hash, which an approval of it is bound to.

use serde::Serialize;
use tillkeep_http::error::Result;
use tillkeep_model::pricing::CartLine;
use tillkeep_model::{Money, Qty};
use uuid::Uuid;

use super::cart::{Cart, DiscountEntry, Line};
use super::pricing::Priced;
use crate::approvals::digest;

/// What an approver saw.
#[derive(Serialize)]
struct Shown<'a> {
    terminal: Option<&'a str>,
    customer: Option<Uuid>,
    lines: Vec<ShownLine<'a>>,
    discount: Option<ShownDiscount<'a>>,
    total: Money,
}

#[derive(Serialize)]
struct ShownLine<'a> {
    product: Uuid,
    quantity: Option<Qty>,
    changed: Option<Money>,
    open: Option<Money>,
    reason: (Option<&'a str>, Option<&'a str>),
    code: Option<&'a str>,
    name: Option<&'a str>,
    discount: Option<ShownDiscount<'a>>,
}

#[derive(Serialize)]
struct ShownDiscount<'a> {
    kind: &'static str,
    value: i64,
    reason: (Option<&'a str>, Option<&'a str>),
}

/// The terminal, the customer, and the whole cart with all that was typed into it and what it comes to. A special that ends
/// changes the total, and with it what was approved.
pub(super) fn cart_hash(cart: &Cart, priced: &Priced<'_>, terminal: Option<&str>) -> Result<String> {
    let lines = cart.lines.iter().zip(priced.entered());
    let shown = Shown {
        terminal,
        customer: cart.customer_id,
        lines: lines.map(|(line, place)| shown(line, quantity(line, &priced.lines[place]))).collect(),
        discount: cart.cart_discount.as_ref().and_then(discount),
        total: priced.cart.total,
    };
    Ok(digest(&serde_json::to_vec(&shown)?))
}

/// How much a label with a price is of follows from the price of the shelf; what it costs is in the total.
fn quantity(line: &Line, priced: &CartLine) -> Option<Qty> {
    if priced.printed.is_some() { line.quantity } else { Some(priced.quantity) }
}

fn shown(line: &Line, quantity: Option<Qty>) -> ShownLine<'_> {
    ShownLine {
        product: line.product_id,
        quantity,
        changed: line.unit_price_override,
        open: line.open_price,
        reason: (line.reason(), line.override_reason_code.as_deref()),
        code: line.code(),
        name: line.name(),
        discount: line.line_discount.as_ref().and_then(discount),
    }
}

fn discount(entry: &DiscountEntry) -> Option<ShownDiscount<'_>> {
    let checked = entry.checked()?;
    Some(ShownDiscount {
        kind: checked.word(),
        value: checked.value(),
        reason: (entry.reason.as_deref(), entry.reason_code.as_deref()),
    })
}
