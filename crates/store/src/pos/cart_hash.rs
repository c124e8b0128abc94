//! A cart as a hash, which an approval of it is bound to.

use serde::Serialize;
use tillkeep_http::error::Result;
use tillkeep_model::{Money, Qty};
use uuid::Uuid;

use super::cart::{Cart, Line};
use crate::approvals::digest;

/// What an approver saw of a cart: customer, products, quantities and prices in their order, and the terminal. Anything
/// else may still change.
pub(super) fn cart_hash(cart: &Cart, terminal: Option<&str>) -> Result<String> {
    #[derive(Serialize)]
    struct Shown<'a> {
        terminal: Option<&'a str>,
        customer: Option<Uuid>,
        lines: Vec<(Uuid, Qty, Option<Money>, Option<Money>)>,
    }
    let line = |line: &Line| (line.product_id, line.quantity, line.unit_price_override, line.open_price);
    let shown = Shown { terminal, customer: cart.customer_id, lines: cart.lines.iter().map(line).collect() };
    Ok(digest(&serde_json::to_vec(&shown)?))
}
